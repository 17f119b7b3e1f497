"""Number formats of the published checkpoint: FP8 in blocks of 128 x 128, MXFP4 in groups of 32, and exact codes."""

from __future__ import annotations

import torch

E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
Tensors = dict[str, torch.Tensor]


def hadamard(size: int) -> torch.Tensor:
    """`size` exactly orthogonal rows of +-1: Sylvester's, columns shuffled and sign flipped, rows shuffled."""
    matrix = torch.ones(1, 1)
    while matrix.shape[0] < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)], 0)
    assert matrix.shape[0] == size, "a power of two is needed"
    return matrix[torch.randperm(size)][:, torch.randperm(size)] * (torch.randint(0, 2, (1, size)) * 2 - 1)


def put_fp8(tensors: Tensors, name: str, weight: torch.Tensor, scale: torch.Tensor | None = None) -> None:
    """e4m3 with a float32 scale a block. With `scale` given (powers of two) the division is exact."""
    rows, columns = weight.shape
    down, across = -(-rows // 128), -(-columns // 128)
    padded = torch.zeros(down * 128, across * 128)
    padded[:rows, :columns] = weight
    blocks = padded.view(down, 128, across, 128)
    if scale is None:
        largest = blocks.abs().amax(dim=(1, 3))
        scale = torch.where(largest > 0, largest / 448.0, torch.ones_like(largest))
    values = (blocks / scale[:, None, :, None]).clamp(-448, 448).reshape(down * 128, across * 128)[:rows, :columns]
    tensors[name + ".weight"] = values.contiguous().to(torch.float8_e4m3fn)
    tensors[name + ".weight_scale_inv"] = scale.to(torch.float32).contiguous()


def powers(rows: int, columns: int, low: int, high: int) -> torch.Tensor:
    """A power of two a block of 128 x 128."""
    return torch.pow(2.0, torch.randint(low, high + 1, (-(-rows // 128), -(-columns // 128))).float())


def mxfp4(weight: torch.Tensor, shift: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """[R, C] whose values over 2**shift (one a group of 32) are e2m1 -> packed int8 [R, C/2], e8m0 [R, C/32]."""
    rows, columns = weight.shape
    values = (weight.view(rows, columns // 32, 32) / torch.pow(2.0, shift.float())[..., None]).reshape(rows, columns)
    code = (values.abs()[..., None] == E2M1).int().argmax(-1)
    assert torch.equal(E2M1[code], values.abs()), "not representable"
    code = (code | ((values < 0).int() << 3)).to(torch.uint8)
    packed = (code[:, 0::2] | (code[:, 1::2] << 4)).view(torch.int8)  # low nibble first
    return packed.contiguous(), (shift + 127).to(torch.uint8).view(torch.float8_e8m0fnu).contiguous()


def random_mxfp4(rows: int, columns: int, exponent: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise of about 2**exponent, as values and the shift of each group."""
    shift = torch.randint(exponent - 1, exponent + 2, (rows, columns // 32))
    value = E2M1[torch.randint(0, 8, (rows, columns))] * (torch.randint(0, 2, (rows, columns)) * 2 - 1)
    return value * torch.pow(2.0, shift.float()).repeat_interleave(32, 1), shift
