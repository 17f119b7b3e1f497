"""The oracle's forward pass in plain torch, read back from its file: what text and drafts its numbers really give.

Attention adds nothing, so a token's state depends on the token alone (and, in the draft, on the state before it).
`clamp=False`, `hidden=False` and `scales=False` break one thing each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors.torch import load_file

from tests.gpu.oracle_codes import E2M1


class Reference:
    """Float32, dequantised once."""

    def __init__(self, folder: Path, clamp: bool = True, hidden: bool = True, skip: str = "") -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.raw = load_file(folder / "model.safetensors")
        self.clamp, self.use_hidden, self.skip = clamp, hidden, skip
        self.layers = self.config["num_hidden_layers"]
        self.embedding = self.raw["model.word_embeddings.weight"].float()
        self.head = self.raw["lm_head.weight"].float()

    def fp8(self, name: str) -> torch.Tensor:
        weight, scale = self.raw[name + ".weight"].float(), self.raw[name + ".weight_scale_inv"]
        return weight * scale.repeat_interleave(128, 0).repeat_interleave(128, 1)[: weight.shape[0], : weight.shape[1]]

    def fp4(self, name: str) -> torch.Tensor:
        packed, scale = self.raw[name + ".weight"].view(torch.uint8), self.raw[name + ".weight_scale_inv"]
        code = torch.stack([packed & 15, packed >> 4], -1).view(packed.shape[0], -1).int()
        value = E2M1[code & 7] * torch.where(code & 8 > 0, -1.0, 1.0)
        return value * scale.float().repeat_interleave(32, 1)

    def _norm(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.config["rms_norm_eps"])

    def _mlp(self, x: torch.Tensor, weights: Iterable[torch.Tensor], limit: float) -> torch.Tensor:
        gate, up, down = weights
        first, second = torch.nn.functional.silu(x @ gate.T), x @ up.T
        if limit and self.clamp:
            first, second = first.clamp(max=limit), second.clamp(-limit, limit)
        return (first * second) @ down.T

    def layer(self, index: int, x: torch.Tensor) -> torch.Tensor:
        name, state = f"model.layers.{index}.mlp", self._norm(x)
        parts = ("gate_proj", "up_proj", "down_proj")
        if index < self.config["first_k_dense_replace"]:
            return x if self.skip == "dense" else x + self._mlp(state, (self.fp8(f"{name}.{p}") for p in parts), 0.0)
        where = "draft " if index == self.layers else ""
        limits = self.config["expert_swiglu_limit_list"]
        limit = limits[index] if index < len(limits) else 0.0
        out = x.clone()
        if self.skip != where + "shared":
            out += self._mlp(state, (self.fp8(f"{name}.shared_experts.{p}") for p in parts), 0.0)
        if self.skip != where + "routed":  # every expert carries alike, so one stands for all
            routed = self._mlp(state, (self.fp4(f"{name}.experts.0.{p}") for p in parts), limit)
            out += self.config["routed_scaling_factor"] * routed
        return out

    def state(self, tokens: torch.Tensor) -> torch.Tensor:
        """The target's last state of each token, normalised."""
        x = self.embedding[tokens]
        for index in range(self.layers):
            x = self.layer(index, x)
        return self._norm(x)

    def says(self, state: torch.Tensor) -> torch.Tensor:
        return (state @ self.head.T).argmax(-1)

    def draft(self, tokens: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
        """What the draft says after each token, given the target's state of the token before it."""
        projection = self.fp8(f"model.layers.{self.layers}.eh_proj")
        states = self._norm(before) if self.use_hidden else torch.zeros_like(before)
        x = torch.cat([self._norm(self.embedding[tokens]), states], -1) @ projection.T
        return self.says(self._norm(self.layer(self.layers, x)))
