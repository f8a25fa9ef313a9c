"""The kernels of Triton's tutorials 01 to 06 in small, and tl.dot in every type, each checked against numpy. `tutorials.py [NAME…]` runs some."""
import sys
import time

import numpy as np
import torch
import triton
import triton.language as tl

random = np.random.default_rng(1)
ARCH = triton.runtime.driver.active.get_current_target().arch


def close(actual, expected, tolerance):
    actual = actual.numpy() if isinstance(actual, torch.Tensor) else actual
    error = np.abs(actual.astype(np.float64) - expected).max()
    assert error <= tolerance * max(1, np.abs(expected).max()), f"error {error}"


def of(values, dtype=None):
    return torch.tensor(values, dtype)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def vector_add():
    n = 98432
    x, y = random.random(n, np.float32), random.random(n, np.float32)
    out = torch.empty(n)
    add_kernel[(triton.cdiv(n, 1024),)](of(x), of(y), out, n, BLOCK=1024)
    assert (out.numpy() == x + y).all()


@triton.jit
def softmax_kernel(out, x, row_stride, rows, columns, BLOCK: tl.constexpr, num_stages: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=num_stages):
        at = tl.arange(0, BLOCK)
        values = tl.load(x + row * row_stride + at, mask=at < columns, other=-float("inf"))
        shifted = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * row_stride + at, shifted / tl.sum(shifted, axis=0), mask=at < columns)


def fused_softmax():
    x = random.standard_normal((61, 781), np.float32)
    out = torch.empty(x.shape)
    softmax_kernel[(16,)](out, of(x), 781, 61, 781, BLOCK=1024, num_stages=2, num_warps=8)
    e = np.exp(x - x.max(1, keepdims=True))
    close(out, e / e.sum(1, keepdims=True), 1e-6)


def configurations():
    return [
        triton.Config({"M": m, "N": n, "K": 32, "GROUP": 2}, num_warps=w, num_stages=2)
        for m, n, w in ((32, 64, 4), (64, 32, 2))
    ]


@triton.jit
def matmul_body(a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                GROUP: tl.constexpr, ACC: tl.constexpr, ACTIVATION: tl.constexpr):
    program = tl.program_id(0)
    rows, columns = tl.cdiv(m, M), tl.cdiv(n, N)
    group = program // (GROUP * columns)
    size = min(rows - group * GROUP, GROUP)
    row = group * GROUP + (program % (GROUP * columns)) % size
    column = (program % (GROUP * columns)) // size
    am = (row * M + tl.arange(0, M)) % m
    bn = (column * N + tl.arange(0, N)) % n
    ks = tl.arange(0, K)
    pa = a + am[:, None] * sam + ks[None, :] * sak
    pb = b + ks[:, None] * sbk + bn[None, :] * sbn
    total = tl.zeros((M, N), ACC)
    for step in range(0, tl.cdiv(k, K)):
        left = tl.load(pa, mask=ks[None, :] < k - step * K, other=0.0)
        right = tl.load(pb, mask=ks[:, None] < k - step * K, other=0.0)
        total = tl.dot(left, right, total, out_dtype=ACC)
        pa += K * sak
        pb += K * sbk
    if ACTIVATION == "leaky_relu":
        total = tl.where(total >= 0, total, 0.01 * total)
    cm = row * M + tl.arange(0, M)
    cn = column * N + tl.arange(0, N)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], total.to(c.dtype.element_ty), mask=(cm[:, None] < m) & (cn[None, :] < n))


matmul_tuned = triton.autotune(configs=configurations(), key=["m", "n", "k"])(matmul_body)


def matmul(a, b, kind=torch.float32, accumulator=tl.float32, activation="", tuned=False):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty(m, n, dtype=kind)
    arguments = (a, b, c, m, n, k, a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1))
    if tuned:
        matmul_tuned[lambda meta: (triton.cdiv(m, meta["M"]) * triton.cdiv(n, meta["N"]),)](
            *arguments, ACC=accumulator, ACTIVATION=activation)
    else:
        matmul_body[(triton.cdiv(m, 32) * triton.cdiv(n, 32),)](
            *arguments, M=32, N=32, K=32, GROUP=2, ACC=accumulator, ACTIVATION=activation)
    return c


def autotuned_matmul():
    a, b = (random.standard_normal(s, np.float32).astype(np.float16) for s in ((128, 96), (96, 128)))
    expected = a.astype(np.float32) @ b.astype(np.float32)
    out = matmul(of(a), of(b), tuned=True, activation="leaky_relu")
    close(out, np.where(expected >= 0, expected, 0.01 * expected), 1e-5)
    assert matmul_tuned.best_config is not None


def bits_of_bfloat(x):
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def float_of_bits(b):
    return (b.astype(np.uint32) << 16).view(np.float32)


def dot_types():
    whole = lambda *s: random.integers(-3, 4, s)
    a, b = whole(64, 64), whole(64, 64)
    exact = a @ b
    for kind, accumulator, out in (
        (torch.float16, tl.float32, torch.float32),
        (torch.float32, tl.float32, torch.float32),
        (torch.float64, tl.float64, torch.float64),
        (torch.int8, tl.int32, torch.int32),
    ):
        result = matmul(of(a.astype(kind.numpy)), of(b.astype(kind.numpy)), out, accumulator)
        assert (result.numpy() == exact).all(), kind
    result = matmul(of(bits_of_bfloat(a), torch.bfloat16), of(bits_of_bfloat(b), torch.bfloat16))
    assert (result.numpy() == exact).all(), "bfloat16"
    # 8-bit floats with 2 fraction bits and bias 15 (e5m2) are the upper bytes of 16-bit floats.
    upper = lambda v: (v.astype(np.float16).view(np.uint16) >> 8).astype(np.uint8)
    result = matmul(of(upper(a), torch.float8_e5m2), of(upper(b), torch.float8_e5m2))
    assert (result.numpy() == exact).all(), "float8_e5m2"


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


def dropout():
    n = 10000
    x = np.ones(n, np.float32)
    results = []
    for seed in (123, 123, 512):
        out = torch.empty(n)
        dropout_kernel[(triton.cdiv(n, 1024),)](of(x), out, n, 0.5, seed, BLOCK=1024)
        results.append(out.numpy())
    assert (results[0] == results[1]).all() and (results[0] != results[2]).any()
    assert set(np.unique(results[0])) == {0.0, 2.0} and abs(results[0].mean() - 1) < 0.05


@triton.jit
def layer_norm_kernel(x, y, w, b, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + at, mask=at < n, other=0.0).to(tl.float32)
    average = tl.sum(values, axis=0) / n
    centred = tl.where(at < n, values - average, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    weight, bias = tl.load(w + at, mask=at < n), tl.load(b + at, mask=at < n)
    tl.store(y + row * stride + at, centred * scale * weight + bias, mask=at < n)


def layer_norm():
    rows, n = 37, 500
    x = random.standard_normal((rows, n), np.float32)
    w, b = random.standard_normal(n, np.float32), random.standard_normal(n, np.float32)
    y, mean, rstd = torch.empty(rows, n), torch.empty(rows), torch.empty(rows)
    layer_norm_kernel[(rows,)](of(x), y, of(w), of(b), mean, rstd, n, n, 1e-5, BLOCK=512, num_warps=4)
    average = x.mean(1, keepdims=True, dtype=np.float64)
    scale = 1 / np.sqrt(x.var(1, keepdims=True, dtype=np.float64) + 1e-5)
    close(mean, average[:, 0], 1e-6)
    close(rstd, scale[:, 0], 1e-5)
    close(y, (x - average) * scale * w + b, 1e-5)


@triton.jit
def attention_kernel(q, k, v, out, scale, length, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr, CAUSAL: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    base = head * length * D
    qs = block * M + tl.arange(0, M)
    ds = tl.arange(0, D)
    queries = tl.load(q + base + qs[:, None] * D + ds[None, :])
    best = tl.full((M,), -float("inf"), tl.float32)
    total = tl.zeros((M,), tl.float32)
    result = tl.zeros((M, D), tl.float32)
    end = (block + 1) * M if CAUSAL else length
    for start in range(0, end, N):
        ks = start + tl.arange(0, N)
        keys = tl.load(k + base + ks[None, :] * D + ds[:, None])
        scores = tl.dot(queries, keys) * scale
        if CAUSAL:
            scores = tl.where(qs[:, None] >= ks[None, :], scores, -float("inf"))
        now = tl.maximum(best, tl.max(scores, 1))
        weights = tl.exp2((scores - now[:, None]) * 1.44269504)
        fade = tl.exp2((best - now) * 1.44269504)
        total = total * fade + tl.sum(weights, 1)
        values = tl.load(v + base + ks[:, None] * D + ds[None, :])
        result = tl.dot(weights.to(tl.float16), values, result * fade[:, None])
        best = now
    tl.store(out + base + qs[:, None] * D + ds[None, :], (result / total[:, None]).to(tl.float16))


def fused_attention():
    heads, length, d = 2, 128, 64
    q, k, v = (random.standard_normal((heads, length, d)).astype(np.float16) for _ in range(3))
    for causal in (False, True):
        out = torch.empty(heads, length, d, dtype=torch.float16)
        attention_kernel[(length // 64, heads)](of(q), of(k), of(v), out, 0.125, length, D=d, M=64, N=32, CAUSAL=causal)
        scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
        if causal:
            scores = np.where(np.tril(np.ones((length, length), np.bool_)), scores, -np.inf)
        weights = np.exp(scores - scores.max(2, keepdims=True))
        close(out, (weights / weights.sum(2, keepdims=True)) @ v.astype(np.float64), 2e-3)


def benchmark():
    x, out = of(np.ones(4096, np.float32)), torch.empty(4096)
    milliseconds = triton.testing.do_bench(
        lambda: add_kernel[(4,)](x, x, out, 4096, BLOCK=1024), warmup=1, rep=5)
    assert milliseconds > 0


ALL = (vector_add, fused_softmax, autotuned_matmul, dot_types, dropout, layer_norm, fused_attention, benchmark)


def run(every):
    """Runs those of `every` that the command line names, or all; the status for the shell."""
    chosen = [f for f in every if f.__name__ in sys.argv[1:]] if len(sys.argv) > 1 else every
    failed = 0
    for test in chosen:
        start = time.perf_counter()
        try:
            test()
            print(f"{ARCH} {test.__name__}: ok, {time.perf_counter() - start:.1f} s", flush=True)
        except Exception as error:  # the others still run
            failed += 1
            print(f"{ARCH} {test.__name__}: {type(error).__name__}: {str(error)[-700:]}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(run(ALL))
