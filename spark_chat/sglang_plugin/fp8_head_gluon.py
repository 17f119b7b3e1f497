"""The FP8 head's kernel for 1 to 8 rows of activations, in Gluon: what each thread loads and multiplies is said here.

A program's 8 warps share one tile, 16 rows of the vocabulary: each warp takes an eighth of every 512 columns, so that a
program reads whole runs of memory. The weights go from global memory into the very registers that the tensor cores'
m16n8k16 wants them in (rows of the vocabulary as its 16, rows of activations as its 8): a thread's 16 neighbouring
bytes stand for columns that the instruction thinks apart, and the activations are permuted the same way. So nothing
passes through shared memory but the warps' sums. e4m3 becomes f16 exactly, by one instruction for two. bf16 activations
become f16 once a program, each row brought by a power of two to where its largest is near 2^14: exact down to 2^-29 of
that largest, and within 2^-39 of it below.
While a tile is multiplied, the next is on its way into the same registers. Each half line is fetched with a hint to
bring the whole of its 128 bytes into L2, or the memory serves 64 bytes at a time: 102 us for 403 MB on an H200, 94 with
the hint. More tiles in flight made it slower there, through L2 prefetches (110 us) as through TMA (97 us at 4 rows).
"""

# ruff: noqa: RUF005 - tuples inside a kernel know "+" only

from __future__ import annotations

from triton.experimental import gluon
from triton.experimental.gluon import language as gl

WARPS = gl.constexpr(8)
THREADS = gl.constexpr(256)
TILE = gl.constexpr(16)
COLUMNS = gl.constexpr(512)

_barrier = gl.barrier if hasattr(gl, "barrier") else gl.thread_barrier  # its name in Triton 3.6

_FETCH = gl.constexpr("ld.global.L1::no_allocate.L2::128B.v4.b32 {$0, $1, $2, $3}, [$4];")
_FETCH_OR_ZERO = gl.constexpr("""{
.reg .pred p; setp.ne.b32 p, $5, 0;
mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0;
@p ld.global.v4.b32 {$0, $1, $2, $3}, [$4]; }""")
_LARGER = gl.constexpr("{ .reg .b32 t; and.b32 t, $2, 0x7fff7fff; max.u16x2 $0, $1, t; }")
_PACK = gl.constexpr("cvt.rn.f16x2.f32 $0, $2, $1;")
_MULTIPLY = gl.constexpr("""{
.reg .b16 l, h; .reg .b32 p, q, r, s;
mov.b32 {l, h}, $4; cvt.rn.f16x2.e4m3x2 p, l; cvt.rn.f16x2.e4m3x2 r, h;
mov.b32 {l, h}, $5; cvt.rn.f16x2.e4m3x2 q, l; cvt.rn.f16x2.e4m3x2 s, h;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {p, q, r, s}, {$6, $7}, {$8, $9, $10, $11}; }""")


@gluon.jit
def _fetch(place):
    """16 bytes a thread."""
    return gl.inline_asm_elementwise(_FETCH, "=r,=r,=r,=r,l", [place],
                                     dtype=(gl.int32, gl.int32, gl.int32, gl.int32), is_pure=False, pack=1)  # fmt: skip


@gluon.jit
def _fetch_or_zero(place, present):
    return gl.inline_asm_elementwise(_FETCH_OR_ZERO, "=&r,=&r,=&r,=&r,l,r", [place, present.to(gl.int32)],
                                     dtype=(gl.int32, gl.int32, gl.int32, gl.int32), is_pure=False, pack=1)  # fmt: skip


@gluon.jit
def _larger(largest, word):
    """Of the two activations in a word, without their signs: as integers floats are in order."""
    return gl.inline_asm_elementwise(_LARGER, "=r,r,r", [largest, word], dtype=gl.int32, is_pure=True, pack=1)


@gluon.jit
def _as(value, LAYOUT: gl.constexpr):
    """The same registers under another name."""
    return gl.convert_layout(value, LAYOUT, assert_trivial=True)


@gluon.jit
def _pack(low, high):
    return gl.inline_asm_elementwise(_PACK, "=r,f,f", [low, high], dtype=gl.int32, is_pure=True, pack=1)


@gluon.jit
def _multiply(upper, lower, x0, x1, sums):
    """Four columns of two rows of the vocabulary a thread, by eight rows of activations."""
    return gl.inline_asm_elementwise(
        _MULTIPLY, "=f,=f,=f,=f,r,r,r,r,f,f,f,f", [upper, lower, x0, x1, sums[0], sums[1], sums[2], sums[3]],
        dtype=(gl.float32, gl.float32, gl.float32, gl.float32), is_pure=True, pack=1)  # fmt: skip


@gluon.jit
def _step(upper, lower, b, even, odd):
    """16 columns of two rows of the vocabulary a thread. Two chains of sums, each half as long to wait for."""
    even = _multiply(upper[0], lower[0], b[0], b[1], even)
    odd = _multiply(upper[1], lower[1], b[2], b[3], odd)
    even = _multiply(upper[2], lower[2], b[4], b[5], even)
    odd = _multiply(upper[3], lower[3], b[6], b[7], odd)
    return even, odd


@gluon.jit
def _end(row, whole, share, vocabulary):
    """Where the tile that begins at `row` ends: within the whole tiles anywhere behind it will do."""
    return gl.where(row < whole, vocabulary, gl.minimum(row + share, vocabulary))


@gluon.jit(do_not_specialize=["M", "whole", "share"])
def stream_kernel(x, weight, scale, out, vocabulary, M, whole, share, HIDDEN: gl.constexpr, HALF: gl.constexpr):
    """Programs take turns at tiles for the first `whole` rows, then each takes `share` rows of the rest: a last round
    that only some had a whole tile for would leave the memory idle, 2 % of the time at 37.2 tiles."""
    STEPS: gl.constexpr = HIDDEN // COLUMNS
    EACH: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])  # a value a thread
    i = gl.arange(0, THREADS, layout=EACH)
    warp, g, t = i // 32, i % 32 // 4, i % 4
    step_rows = gl.num_programs(0) * TILE
    row = gl.program_id(0) * TILE
    if whole == 0:
        row = gl.program_id(0) * share

    # The first tile's weights are on their way while the activations are made ready.
    mine = weight.to(gl.int64) + (warp * 64 + t * 16).to(gl.int64)
    last = _end(row, whole, share, vocabulary) - 1
    upper = mine + gl.minimum(row + g, last).to(gl.int64) * HIDDEN
    lower = mine + gl.minimum(row + 8 + g, last).to(gl.int64) * HIDDEN
    w = ()
    for step in gl.static_range(STEPS):
        w = w + (_fetch(upper + step * COLUMNS), _fetch(lower + step * COLUMNS))

    _barrier()  # or the assembler puts them off until the activations are there

    place = x.to(gl.int64) + (g * (HIDDEN * 2) + warp * 128 + t * 32).to(gl.int64)
    b = ()
    for step in gl.static_range(STEPS):
        b = b + (_fetch_or_zero(place + step * (COLUMNS * 2), g < M)
                 + _fetch_or_zero(place + (step * (COLUMNS * 2) + 16), g < M),)  # fmt: skip
    power = gl.full([8], 127, gl.int32, gl.SliceLayout(0, gl.BlockedLayout([1, 1], [1, 32], [WARPS, 1], [1, 0])))
    if not HALF:
        largest = gl.zeros([THREADS], gl.int32, EACH)
        for step in gl.static_range(STEPS):
            for j in gl.static_range(8):
                largest = _larger(largest, b[step][j])
        largest = gl.maximum(largest & 0xFFFF, largest >> 16)
        largest = gl.max(gl.max(gl.reshape(largest, [WARPS, 8, 4]), axis=2), axis=0)  # of a row
        # Exponent field of the power of two that a row is multiplied by. Inf and NaN stay what they are.
        power = gl.convert_layout(gl.minimum(268 - (largest >> 7), 253), power.type.layout)
        up = gl.convert_layout(gl.gather(power, gl.convert_layout(g, power.type.layout), axis=0), EACH)
        up = (up << 23).to(gl.float32, bitcast=True)
        halves = ()
        for step in gl.static_range(STEPS):
            eight = ()
            for j in gl.static_range(8):
                low = (b[step][j] << 16).to(gl.float32, bitcast=True)
                high = (b[step][j] & -65536).to(gl.float32, bitcast=True)
                eight = eight + (_pack(low * up, high * up),)
            halves = halves + (eight,)
        b = halves

    # A tile's 16 x 8 sums lie in shared memory as threads hold them, once a warp: o is thread of its warp, then place.
    sums = gl.allocate_shared_memory(gl.float32, [WARPS, 128], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    WRITE: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [WARPS, 1], [1, 0])
    READ: gl.constexpr = gl.BlockedLayout([WARPS, 1], [1, 32], [1, WARPS], [1, 0])
    o = gl.arange(0, 128, layout=gl.SliceLayout(0, READ))
    m, r = o // 4 % 4 * 2 + o % 2, o // 16 + o // 2 % 2 * 8
    down = gl.gather(254 - power, gl.convert_layout(m, power.type.layout), axis=0)
    down = gl.convert_layout((down << 23).to(gl.float32, bitcast=True), gl.SliceLayout(0, READ))
    target = out + (m.to(gl.int64) * vocabulary + r)
    while row < vocabulary:
        inside = (row + r < _end(row, whole, share, vocabulary)) & (m < M)
        factor = gl.load(scale + row + r, mask=inside, other=0.0) * down
        following = row + step_rows
        if following >= whole:
            following = gl.where(row < whole, whole + gl.program_id(0) * share, vocabulary)
        last = _end(following, whole, share, vocabulary) - 1
        upper = mine + gl.minimum(following + g, last).to(gl.int64) * HIDDEN
        lower = mine + gl.minimum(following + 8 + g, last).to(gl.int64) * HIDDEN
        zero = gl.zeros([THREADS], gl.float32, EACH)
        even, odd = (zero, zero, zero, zero), (zero, zero, zero, zero)
        next = ()
        for step in gl.static_range(STEPS):
            even, odd = _step(w[2 * step], w[2 * step + 1], b[step], even, odd)
            next = next + (_fetch(upper + step * COLUMNS), _fetch(lower + step * COLUMNS))
        w = next
        all = gl.join(gl.join(even[0] + odd[0], even[2] + odd[2]), gl.join(even[1] + odd[1], even[3] + odd[3]))
        sums.store(_as(gl.reshape(all, [WARPS, 128]), WRITE))
        total = gl.sum(sums.load(READ), axis=0)
        gl.store(target + row, total * factor, mask=inside)
        row = following
