"""What Triton's users write beyond the tutorials, each checked against numpy: atomics, scans, sorts, histograms, small floats, scaled products,
compiler options, persistent kernels, descriptors, device functions, prints and assertions, the cache and ahead-of-time compilation.

`features.py [NAME…]` runs some.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from tutorials import ARCH, bits_of_bfloat, close, float_of_bits, matmul_body, of, run

random = np.random.default_rng(7)


@triton.jit
def atomic_kernel(x, whole, real, least, most, lock, mask, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.atomic_add(whole + values % BINS, 1, mask=at < n)
    tl.atomic_add(real + values % BINS, values.to(tl.float32), mask=at < n, sem="relaxed")
    tl.atomic_min(least, tl.min(tl.where(at < n, values, 1 << 30)))
    tl.atomic_max(most, tl.max(values), scope="sys")
    tl.atomic_or(mask + values % 2, 1 << (values % 31), mask=at < n)
    # A lock by compare and exchange around an addition that is not atomic.
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(lock + 1, tl.load(lock + 1, volatile=True) + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def atomics():
    n = 5000
    x = random.integers(0, 100000, n).astype(np.int32)
    whole, real = of(np.zeros(10, np.int32)), of(np.zeros(10, np.float32))
    least, most, lock, mask = (of(np.array(v, np.int32)) for v in ([1 << 30], [-1], [0, 0], [0, 0]))
    atomic_kernel[(20,)](of(x), whole, real, least, most, lock, mask, n, BINS=10, BLOCK=256)
    assert (whole.numpy() == np.bincount(x % 10, minlength=10)).all()
    close(real, np.bincount(x % 10, weights=x, minlength=10), 1e-5)
    assert least.numpy()[0] == x.min() and most.numpy()[0] == x.max()
    assert list(lock.numpy()) == [0, 20], lock.numpy()
    assert list(mask.numpy()) == [np.bitwise_or.reduce(1 << (x[x % 2 == i] % 31)) for i in range(2)]


@triton.jit
def small_atomic_kernel(half, wide, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(half + at % 8, tl.full((BLOCK,), 0.5, half.dtype.element_ty), mask=at < n)
    tl.atomic_add(wide + at % 4, (at + 1).to(wide.dtype.element_ty) * (1 << 20), mask=at < n)


def small_and_wide_atomics():
    for kind, get in ((torch.float16, lambda t: t.numpy()), (torch.bfloat16, lambda t: float_of_bits(t.numpy()))):
        for wide in (torch.int64, torch.float64):
            half, sums = torch.zeros(8, dtype=kind), torch.zeros(4, dtype=wide)
            small_atomic_kernel[(4,)](half, sums, 1000, BLOCK=256)
            assert (get(half) == 62.5).all(), (kind, get(half))
            assert (sums.numpy() == [((np.arange(1000) + 1) * (np.arange(1000) % 4 == i)).sum() << 20 for i in range(4)]).all(), wide


@triton.jit
def decayed(al, bl, ar, br):
    return al * ar, bl * ar + br


@triton.jit
def scan_kernel(x, y, sums, products, states, backward, ROWS: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.load(x + at), tl.load(y + at)
    tl.store(sums + at, tl.cumsum(a, 1))
    tl.store(products + at, tl.cumprod(a, 0))
    _, state = tl.associative_scan((a, b), 1, decayed)
    tl.store(states + at, state)
    tl.store(backward + at, tl.cumsum(b, 1, reverse=True))


def scans():
    x, y = random.uniform(0.5, 1.1, (8, 256)).astype(np.float32), random.standard_normal((8, 256), np.float32)
    results = [torch.empty(8, 256) for _ in range(4)]
    for warps in (1, 4):
        scan_kernel[(1,)](of(x), of(y), *results, ROWS=8, N=256, num_warps=warps)
        state, states = np.zeros(8), np.empty((8, 256))
        for i in range(256):
            state = x[:, i].astype(np.float64) * state + y[:, i]
            states[:, i] = state
        for got, wanted in zip(results, (np.cumsum(x, 1), np.cumprod(x, 0), states, np.cumsum(y[:, ::-1], 1)[:, ::-1])):
            close(got, wanted, 1e-5)


@triton.jit
def sort_kernel(x, up, down, best, where, top, ROWS: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * N + tl.arange(0, N)[None, :]
    values = tl.load(x + at)
    tl.store(up + at, tl.sort(values))
    tl.store(down + at, tl.sort(values, descending=True))
    tl.store(top + tl.arange(0, ROWS)[:, None] * 8 + tl.arange(0, 8)[None, :], tl.topk(values, 8))
    most, index = tl.max(values, 1, return_indices=True)
    tl.store(best + tl.arange(0, ROWS), most)
    tl.store(where + tl.arange(0, ROWS), index)


def sorts():
    for kind in (np.float32, np.int32, np.float16):
        x = random.integers(-500, 500, (4, 128)).astype(kind)
        up, down, best, top = of(x), of(x), of(x[:, 0]), of(x[:, :8].copy())
        where = of(np.zeros(4, np.int32))
        sort_kernel[(1,)](of(x), up, down, best, where, top, ROWS=4, N=128)
        wanted = np.sort(x, 1)
        assert (up.numpy() == wanted).all() and (down.numpy() == wanted[:, ::-1]).all(), kind
        assert (top.numpy() == wanted[:, :-9:-1]).all(), kind
        assert (best.numpy() == x.max(1)).all() and (where.numpy() == x.argmax(1)).all(), kind


@triton.jit
def histogram_kernel(x, bins, flips, gathered, n, N: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at, mask=at < n, other=0)
    tl.store(bins + tl.arange(0, BINS), tl.histogram(values, BINS, mask=at < n))
    tl.store(flips + at, tl.flip(values))
    tl.store(gathered + at, tl.gather(values, (at * 7) % N, 0))


def histogram():
    x = random.integers(0, 32, 1000).astype(np.int32)
    bins, flips, gathered = of(np.zeros(32, np.int32)), of(np.zeros(1024, np.int32)), of(np.zeros(1024, np.int32))
    histogram_kernel[(1,)](of(x), bins, flips, gathered, 1000, N=1024, BINS=32)
    padded = np.concatenate([x, np.zeros(24, np.int32)])
    assert (bins.numpy() == np.bincount(x, minlength=32)).all()
    assert (flips.numpy() == padded[::-1]).all() and (gathered.numpy() == padded[(np.arange(1024) * 7) % 1024]).all()


def decode(bits, exponent, fraction, bias):
    """The numbers of small floats without infinities; a NaN of theirs is not asked for here."""
    bits = bits.astype(np.int64)
    sign = np.where(bits >> (exponent + fraction) & 1, -1.0, 1.0)
    e, f = bits >> fraction & ((1 << exponent) - 1), bits & ((1 << fraction) - 1)
    return sign * np.where(e == 0, f * 2.0 ** (1 - bias - fraction), (1 + f / (1 << fraction)) * 2.0 ** (e - bias))


@triton.jit
def scaled_kernel(a, b, sa, sb, c, K: tl.constexpr, KA: tl.constexpr, M: tl.constexpr, KIND: tl.constexpr):
    rows, ks = tl.arange(0, M), tl.arange(0, KA)
    left = tl.load(a + rows[:, None] * KA + ks[None, :])
    right = tl.load(b + ks[:, None] * M + rows[None, :])
    blocks = tl.arange(0, K // 32)
    total = tl.dot_scaled(left, tl.load(sa + rows[:, None] * (K // 32) + blocks[None, :]), KIND,
                          right, tl.load(sb + rows[:, None] * (K // 32) + blocks[None, :]), KIND)
    tl.store(c + rows[:, None] * M + rows[None, :], total)


def scaled_product():
    m, k = 32, 128
    for kind in ("e5m2", "e4m3", "e2m1"):
        ka = k // 2 if kind == "e2m1" else k
        a, b = (random.integers(0, 256, s).astype(np.uint8) & (0xff if kind == "e2m1" else 0xbf) for s in ((m, ka), (ka, m)))
        sa, sb = (random.integers(124, 131, (m, k // 32)).astype(np.uint8) for _ in range(2))
        out = torch.empty(m, m)
        types = {"e5m2": torch.float8_e5m2, "e4m3": torch.uint8, "e2m1": torch.uint8}[kind]
        scaled_kernel[(1,)](of(a, types), of(b, types), of(sa), of(sb), out, K=k, KA=ka, M=m, KIND=kind)
        if kind == "e2m1":
            wide = lambda v, axis: decode(np.stack([v & 15, v >> 4], axis + 1).reshape([k if i == axis else m for i in range(2)]), 2, 1, 1)
            left, right = wide(a, 1), wide(b, 0)
        else:
            left, right = (decode(v, *((5, 2, 15) if kind == "e5m2" else (4, 3, 7))) for v in (a, b))
        left = left * np.repeat(2.0 ** (sa.astype(np.float64) - 127), 32, 1)
        right = right * np.repeat(2.0 ** (sb.astype(np.float64) - 127), 32, 1).T
        close(out, left @ right, 1e-5 if ARCH.startswith("gfx950") else 1e-2)


@triton.jit
def fp8_kernel(x, out, back, KIND: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, N)
    small = tl.load(x + at).to(KIND)
    tl.store(out + at, small.to(tl.uint8, bitcast=True))
    tl.store(back + at, small.to(tl.float32))


def fp8_conversions():
    x = np.concatenate([random.uniform(-200, 200, 768), random.uniform(-0.02, 0.02, 256)]).astype(np.float32)
    kinds = [(tl.float8e5, 5, 2, 15)]
    if ARCH.startswith("gfx942"):
        kinds += [(tl.float8e4b8, 4, 3, 8), (tl.float8e5b16, 5, 2, 16)]
    if ARCH.startswith("gfx950"):
        kinds += [(tl.float8e4nv, 4, 3, 7)]
    for kind, exponent, fraction, bias in kinds:
        out, back = torch.empty(1024, dtype=torch.uint8), torch.empty(1024)
        fp8_kernel[(1,)](of(x), out, back, KIND=kind, N=1024)
        everything = np.arange(128, dtype=np.uint8)
        table = decode(everything, exponent, fraction, bias)
        table = table[: {(4, 7): 127, (5, 15): 124}.get((exponent, bias), 128)]
        nearest = np.abs(np.abs(x)[:, None].astype(np.float64) - table[None, :]).min(1)
        got = back.numpy().astype(np.float64)
        assert (np.abs(got - x) <= nearest + 1e-12).all(), (kind, x[np.abs(got - x) > nearest][:4], got[np.abs(got - x) > nearest][:4])
        assert (decode(out.numpy(), exponent, fraction, bias) == got).all(), kind


def compiler_options():
    a, b = (random.standard_normal((96, 96)).astype(np.float16) for _ in range(2))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    for options in ({"num_stages": 1}, {"num_stages": 3}, {"waves_per_eu": 2}, {"matrix_instr_nonkdim": 16}, {"matrix_instr_nonkdim": 32},
                    {"kpack": 2}, {"num_warps": 8}, {"num_warps": 1, "schedule_hint": "attention"}, {"enable_fp_fusion": False}):
        if "kpack" in options and ARCH.startswith("gfx950"):
            continue
        c = torch.empty(96, 96)
        matmul_body[(9,)](of(a), of(b), c, 96, 96, 96, 96, 1, 96, 1, 96, 1, M=32, N=32, K=32, GROUP=2, ACC=tl.float32, ACTIVATION="", **options)
        close(c, expected, 1e-5)


@triton.jit
def persistent_kernel(a, b, c, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PROGRAMS: tl.constexpr):
    tiles = tl.cdiv(m, M) * tl.cdiv(n, N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        row, column = tile // tl.cdiv(n, N) * M, tile % tl.cdiv(n, N) * N
        left = tl.make_tensor_descriptor(a, (m, k), (k, 1), (M, K))
        right = tl.make_tensor_descriptor(b, (k, n), (n, 1), (K, N))
        total = tl.zeros((M, N), tl.float32)
        for step in range(0, k, K):
            total += tl.dot(left.load([row, step]), right.load([step, column]))
        tl.make_tensor_descriptor(c, (m, n), (n, 1), (M, N)).store([row, column], total)


def persistent_product():
    a, b = random.standard_normal((100, 72)).astype(np.float16), random.standard_normal((72, 96)).astype(np.float16)
    c = torch.empty(100, 96)
    persistent_kernel[(5,)](of(a), of(b), c, 100, 96, 72, M=32, N=32, K=32, PROGRAMS=5)
    close(c, a.astype(np.float32) @ b.astype(np.float32), 1e-5)


@triton.jit
def descriptor_kernel(x, out, rows, columns, M: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, (rows, columns), (columns, 1), (M, N))
    target = tl.make_tensor_descriptor(out, (rows, columns), (columns, 1), (M, N))
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    target.store([row, column], source.load([row, column]) * 2 + 1)


def tensor_descriptors():
    x = random.standard_normal((50, 72), np.float32)
    out = torch.zeros(50, 72)
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    descriptor_kernel[(4, 3)](of(x), out, 50, 72, M=16, N=32)
    close(out, x * 2 + 1, 1e-6)


@triton.jit
def functions_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at)
    results = (libdevice.asin(values), libdevice.tanh(values), libdevice.log1p(values + 1), libdevice.expm1(values), libdevice.pow(values + 2, values),
               libdevice.nextafter(values, values + 1) - values, libdevice.hypot(values, values + 2), libdevice.fmod(values, tl.full((N,), 0.3, values.dtype)), libdevice.popc((values * 100).to(tl.int32)).to(values.dtype),
               libdevice.rint(values * 10), tl.erf(values), tl.fma(values, values, values), tl.math.rsqrt(values + 2), libdevice.j0(values), libdevice.erfinv(values))
    for i in tl.static_range(15):
        tl.store(out + i * N + at, results[i])


def device_functions():
    import math
    for kind in (np.float32, np.float64):
        x = random.uniform(-0.99, 0.99, 256).astype(kind)
        out = torch.empty(15, 256, dtype=torch.float32 if kind == np.float32 else torch.float64)
        functions_kernel[(1,)](of(x), out, N=256)
        v = x.astype(np.float64)
        bits = [bin(int(t) & 0xffffffff).count('1') for t in x * kind(100)]
        got = out.numpy().astype(np.float64)
        wanted = [np.arcsin(v), np.tanh(v), np.log1p(v + 1), np.expm1(v), (v + 2) ** v, np.nextafter(x, x + 1) - x, np.hypot(v, v + 2), np.fmod(v, kind(0.3)), bits,
                  np.rint(v * 10), [math.erf(t) for t in v], v * v + v, 1 / np.sqrt(v + 2)]
        for i, values in enumerate(wanted):
            tolerance = 1e-5 if kind == np.float32 or i == 7 else 1e-12
            error = np.abs(got[i] - values).max()
            assert error <= tolerance, (kind, i, error)
        assert abs(np.interp(0.5, *map(np.array, zip(*sorted(zip(v, got[13]))))) - 0.93846980724) < 1e-3
        assert np.abs([math.erf(t) - s for t, s in zip(got[14], v)]).max() < 1e-5


@triton.jit
def printing_kernel(x, n, N: tl.constexpr):
    at = tl.arange(0, N)
    values = tl.load(x + at)
    tl.device_print("number", values, hex=False)
    tl.device_assert(values < n, "too large")


def run_again(part, environment):
    """A part of this file in a process of its own: what it says, and with which status it ends."""
    done = subprocess.run([sys.executable, "-W", "ignore", __file__, part], env={**os.environ, **environment}, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def print_child():
    printing_kernel[(2,)](of(np.arange(64, dtype=np.int32)), 64, N=64)
    torch.cuda.synchronize()


def assert_child():
    printing_kernel[(1,)](of(np.arange(64, dtype=np.int32)), 63, N=64, debug=True)
    torch.cuda.synchronize()


def device_print_and_assert():
    status, text = run_again("print_child", {})
    assert status == 0, text
    assert len(set(re.findall(r"pid \([01], 0, 0\) idx \( *(?:\d+)\) number: \d+", text))) == 128, text[:600]
    status, text = run_again("assert_child", {"TRITON_DEBUG": "1"})
    assert status != 0 and "too large" in text, (status, text[:600])


def kept_cache():
    with tempfile.TemporaryDirectory() as folder:
        for count in range(2):
            status, text = run_again("sorts", {"TRITON_CACHE_DIR": folder})
            assert status == 0, text
            files = {p: os.stat(os.path.join(d, p)).st_mtime_ns for d, _, names in os.walk(folder) for p in names if p.endswith(".hsaco")}
            assert files and (count == 0 or files == before), "compiled again"
            before = files


def ahead_of_time():
    source = ("import triton\nimport triton.language as tl\n\n@triton.jit\ndef scale(x, out, n, factor, BLOCK: tl.constexpr):\n"
              "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)\n")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scale.py")
        with open(path, "w") as file:
            file.write(source)
        command = [sys.executable, "-W", "ignore", "-m", "triton.tools.compile", path, "--kernel-name", "scale", "--signature",
                   "*fp32:16, *fp32:16, i32, fp32, 256", "--grid", "4, 1, 1", "--out-path", os.path.join(folder, "scale"), "--out-name", "scale"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made = [name for name in os.listdir(folder) if name != "scale.py" and not name.startswith("__")]
        assert any(name.endswith((".cpp", ".c")) for name in made), made
        text = "".join(open(os.path.join(folder, name)).read() for name in made)
        match = re.search(r"unsigned char \w+\[\d*\] *= *\{([^}]*)\}", text)
        assert match, made
        code = bytes(int(v, 16) for v in re.findall(r"0x[0-9a-fA-F]+", match.group(1)))
        run_code_object(code)


def run_code_object(code):
    import ctypes
    from torch._hip import check, hip
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(hip.hipModuleLoadData(ctypes.byref(module), code))
    check(hip.hipModuleGetFunction(ctypes.byref(function), module, b"scale"))
    x, out = of(np.arange(1000, dtype=np.float32)), torch.zeros(1000)
    null = ctypes.c_void_p()
    values = [ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(out.data_ptr()), ctypes.c_int(1000), ctypes.c_float(2.5), null, null]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    check(hip.hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, null, pointers, null))
    assert (out.numpy() == np.arange(1000) * 2.5).all()


CHILDREN = (print_child, assert_child)
ALL = (atomics, small_and_wide_atomics, scans, sorts, histogram, scaled_product, fp8_conversions, compiler_options,
       persistent_product, tensor_descriptors, device_functions, device_print_and_assert, kept_cache, ahead_of_time)
if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in [f.__name__ for f in CHILDREN]:
        globals()[sys.argv[1]]()
        sys.exit(0)
    sys.exit(run(ALL))
