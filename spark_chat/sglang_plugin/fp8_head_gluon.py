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
def _four(words, EACH: gl.constexpr):
    """[THREADS, 4] -> four [THREADS]."""
    even, odd = gl.split(gl.reshape(words, [THREADS, 2, 2]))
    first, third = gl.split(even)
    second, fourth = gl.split(odd)
    return _as(first, EACH), _as(second, EACH), _as(third, EACH), _as(fourth, EACH)


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


@gluon.jit(do_not_specialize=["M"])
def stream_kernel(x, weight, scale, out, counter, vocabulary, M, HIDDEN: gl.constexpr, HALF: gl.constexpr,
                  COUNTED: gl.constexpr, SHARED: gl.constexpr):  # fmt: skip
    STEPS: gl.constexpr = HIDDEN // COLUMNS
    EACH: gl.constexpr = gl.BlockedLayout([1], [32], [WARPS], [0])  # a value a thread
    FOUR: gl.constexpr = gl.BlockedLayout([1, 4], [32, 1], [WARPS, 1], [1, 0])
    i = gl.arange(0, THREADS, layout=EACH)
    warp, g, t = i // 32, i % 32 // 4, i % 4
    programs = gl.num_programs(0)
    tiles = gl.cdiv(vocabulary, TILE)
    tile = gl.program_id(0)
    following = tile + programs

    # The first tile's weights are on their way while the activations are made ready.
    mine = weight.to(gl.int64) + (warp * 64 + t * 16).to(gl.int64)
    upper = mine + gl.minimum(tile * TILE + g, vocabulary - 1).to(gl.int64) * HIDDEN
    lower = mine + gl.minimum(tile * TILE + 8 + g, vocabulary - 1).to(gl.int64) * HIDDEN
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
    if SHARED:  # each thread's own words, so that registers are free for a third program a multiprocessor
        kept = gl.allocate_shared_memory(gl.int32, [STEPS * 2, THREADS, 4], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
        for step in gl.static_range(STEPS):
            for h in gl.static_range(2):
                words = gl.join(gl.join(b[step][4 * h], b[step][4 * h + 2]),
                                gl.join(b[step][4 * h + 1], b[step][4 * h + 3]))  # fmt: skip
                kept.index(step * 2 + h).store(_as(gl.reshape(words, [THREADS, 4]), FOUR))

    # A tile's 16 x 8 sums lie in shared memory as threads hold them, once a warp: o is thread of its warp, then place.
    sums = gl.allocate_shared_memory(gl.float32, [WARPS, 128], gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    ids = gl.allocate_shared_memory(gl.int32, [THREADS], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    WRITE: gl.constexpr = gl.BlockedLayout([1, 4], [1, 32], [WARPS, 1], [1, 0])
    READ: gl.constexpr = gl.BlockedLayout([WARPS, 1], [1, 32], [1, WARPS], [1, 0])
    o = gl.arange(0, 128, layout=gl.SliceLayout(0, READ))
    m, r = o // 4 % 4 * 2 + o % 2, o // 16 + o // 2 % 2 * 8
    down = gl.gather(254 - power, gl.convert_layout(m, power.type.layout), axis=0)
    down = gl.convert_layout((down << 23).to(gl.float32, bitcast=True), gl.SliceLayout(0, READ))
    target = out + (m.to(gl.int64) * vocabulary + r)
    while tile < tiles:
        row = tile * TILE
        inside = (row + r < vocabulary) & (m < M)
        factor = gl.load(scale + row + r, mask=inside, other=0.0) * down
        if COUNTED:  # multiprocessors differ in speed, by their way to the memory
            fresh = gl.atomic_add(counter + i, i * 0 + 1, mask=i == 0, sem="relaxed")
        upper = mine + gl.minimum(following * TILE + g, vocabulary - 1).to(gl.int64) * HIDDEN
        lower = mine + gl.minimum(following * TILE + 8 + g, vocabulary - 1).to(gl.int64) * HIDDEN
        zero = gl.zeros([THREADS], gl.float32, EACH)
        even, odd = (zero, zero, zero, zero), (zero, zero, zero, zero)
        next = ()
        for step in gl.static_range(STEPS):
            if SHARED:
                eight = _four(kept.index(step * 2).load(FOUR), EACH) + _four(kept.index(step * 2 + 1).load(FOUR), EACH)
                even, odd = _step(w[2 * step], w[2 * step + 1], eight, even, odd)
            else:
                even, odd = _step(w[2 * step], w[2 * step + 1], b[step], even, odd)
            next = next + (_fetch(upper + step * COLUMNS), _fetch(lower + step * COLUMNS))
        w = next
        all = gl.join(gl.join(even[0] + odd[0], even[2] + odd[2]), gl.join(even[1] + odd[1], even[3] + odd[3]))
        sums.store(_as(gl.reshape(all, [WARPS, 128]), WRITE))
        if COUNTED:
            ids.store(fresh)
        total = gl.sum(sums.load(READ), axis=0)
        gl.store(target + row, total * factor, mask=inside)
        tile = following
        if COUNTED:
            # One step of the counter a tile: who sees the last one sets it back for the next launch.
            gl.store(counter + i, i * 0, mask=(i == 0) & (fresh == tiles - 1))
            following = gl.max(ids.slice(0, 1).load(EACH), axis=0) + 2 * programs
        else:
            following += programs
