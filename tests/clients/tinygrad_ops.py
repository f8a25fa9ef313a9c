"""tinygrad with DEV=HIP on the virtual GPU: operations, their gradients and a small training, each against tinygrad's own CPU device.

Arguments are names (or parts of names) of what to run; without any, all of it.
"""
import sys
import time

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes, nn
from tinygrad.helpers import Context

rng = np.random.default_rng(3)
HOST = "CPU"


def numbers(*shape, low=-2.0, high=2.0):
    return rng.uniform(low, high, shape).astype(np.float32)


def integers(*shape, low=-50, high=50):
    return rng.integers(low, high, shape).astype(np.int32)


# Name, function, inputs, whether gradients are compared too.
CASES = []


def case(name, function, *inputs, gradient=True, tolerance=1e-4):
    CASES.append((name, function, inputs, gradient, tolerance))


for shape in [(45, 65)]:
    tag = "x".join(map(str, shape))
    for name in ["exp", "sin", "cos", "tanh", "sigmoid", "relu", "gelu", "silu", "abs", "neg", "square", "erf", "softplus", "mish",
                 "elu", "celu", "hardswish", "leakyrelu", "relu6", "softsign", "quick_gelu", "sinh", "atan", "asinh", "logsigmoid"]:
        function = {"leakyrelu": "leaky_relu"}.get(name, name)
        if hasattr(Tensor, function):
            case(f"{name} {tag}", lambda x, f=function: getattr(x, f)(), numbers(*shape))
    for name in ["log", "log2", "sqrt", "rsqrt", "reciprocal"]:
        case(f"{name} {tag}", lambda x, f=name: getattr(x, f)(), numbers(*shape, low=0.1, high=4))
    for name in ["floor", "ceil", "trunc", "round", "sign", "isnan", "isinf"]:
        case(f"{name} {tag}", lambda x, f=name: getattr(x, f)(), numbers(*shape), gradient=False)
    for name, function in [("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("mul", lambda a, b: a * b),
                           ("div", lambda a, b: a / (b * b + 1)), ("maximum", lambda a, b: a.maximum(b)),
                           ("minimum", lambda a, b: a.minimum(b)), ("pow", lambda a, b: (a * a + 0.1) ** b),
                           ("where", lambda a, b: (a > b).where(a, b))]:
        case(f"{name} {tag}", function, numbers(*shape), numbers(*shape))
    for name, function in [("lt", lambda a, b: a < b), ("eq", lambda a, b: a == b), ("ne", lambda a, b: a != b), ("ge", lambda a, b: a >= b)]:
        case(f"{name} {tag}", function, integers(*shape, low=0, high=3), integers(*shape, low=0, high=3), gradient=False)
    for name, function in [("int add", lambda a, b: a + b), ("int mul", lambda a, b: a * b), ("int div", lambda a, b: a // b),
                           ("int mod", lambda a, b: a % b), ("xor", lambda a, b: a ^ b), ("and", lambda a, b: a & b),
                           ("or", lambda a, b: a | b), ("shift", lambda a, b: (a & 1023).lshift(3).rshift(1) + b)]:
        case(f"{name} {tag}", function, integers(*shape), integers(*shape, low=1, high=9), gradient=False)

x3 = numbers(7, 33, 19)
for name in ["sum", "mean", "max", "min", "std", "var", "logsumexp"]:
    for axis in [None, 1] if name == "logsumexp" else [None, (0, 2)]:
        case(f"{name} axis {axis}", lambda x, f=name, a=axis: getattr(x, f)(axis=a), x3, gradient=name not in ("max", "min"))
case("prod", lambda x: x.prod(axis=1), numbers(6, 9))
for name in ["softmax", "log_softmax", "cumsum", "cumprod", "cummax"]:
    for axis in [0, 1]:
        result = (lambda x, f=name, a=axis: getattr(x, f)(axis=a)[0]) if name == "cummax" else (lambda x, f=name, a=axis: getattr(x, f)(axis=a))
        case(f"{name} axis {axis}", result, numbers(12, 21), gradient=name in ("softmax", "log_softmax", "cumsum"))
case("argmax", lambda x: x.argmax(axis=1), numbers(31, 40), gradient=False)
case("argmin", lambda x: x.argmin(), numbers(31, 40), gradient=False)
case("sort", lambda x: x.sort(dim=1)[0], numbers(4, 37), gradient=False)
case("topk", lambda x: x.topk(5)[0], numbers(4, 37), gradient=False)
case("any all", lambda x: (x > 1.9).any(axis=0).cat((x > -1.9).all(axis=0)), numbers(20, 20), gradient=False)
case("large sum", lambda x: x.sum(), numbers(1024, 257), tolerance=1e-2)

for m, k, n in [(1, 1, 1), (5, 7, 3), (64, 64, 64), (99, 45, 65), (128, 256, 64)]:
    case(f"matmul {m}x{k}x{n}", lambda a, b: a @ b, numbers(m, k), numbers(k, n), tolerance=1e-3)
case("matmul batched", lambda a, b: a @ b, numbers(3, 5, 12, 9), numbers(3, 5, 9, 14), tolerance=1e-3)
case("dot", lambda a, b: a.dot(b), numbers(45), numbers(45))
case("einsum", lambda a, b: Tensor.einsum("bij,bjk->bki", a, b), numbers(2, 9, 11), numbers(2, 11, 5))
for kind in ["half", "bfloat16"]:
    case(f"matmul {kind} 64", lambda a, b, k=kind: (a.cast(getattr(dtypes, k)) @ b.cast(getattr(dtypes, k))).float(), numbers(64, 64), numbers(64, 64),
         gradient=False, tolerance=0.2 if kind == "bfloat16" else 0.03)
case("attention", lambda q, k, v: q.scaled_dot_product_attention(k, v), numbers(2, 4, 16, 8), numbers(2, 4, 16, 8), numbers(2, 4, 16, 8), tolerance=1e-3)
case("attention causal", lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True), numbers(1, 2, 16, 8), numbers(1, 2, 16, 8),
     numbers(1, 2, 16, 8), tolerance=1e-3)

for name, size, weight, options in [("conv2d", (1, 3, 12, 12), (6, 3, 3, 3), {}), ("conv2d padded", (2, 4, 9, 9), (5, 4, 3, 3), {"padding": 1}),
                                    ("conv2d strided", (1, 3, 15, 13), (4, 3, 5, 3), {"stride": 2}),
                                    ("conv2d grouped", (1, 6, 8, 8), (6, 3, 3, 3), {"groups": 2}),
                                    ("conv2d dilated", (1, 2, 14, 14), (3, 2, 3, 3), {"dilation": 2}), ("conv1d", (2, 3, 40), (5, 3, 7), {}),
                                    ("conv3d", (1, 2, 6, 6, 6), (3, 2, 3, 3, 3), {})]:
    case(name, lambda x, w, o=options: x.conv2d(w, **o), numbers(*size), numbers(*weight), tolerance=1e-3)
case("conv_transpose2d", lambda x, w: x.conv_transpose2d(w, stride=2), numbers(1, 3, 6, 6), numbers(3, 4, 3, 3), tolerance=1e-3)
case("max_pool2d", lambda x: x.max_pool2d(), numbers(2, 3, 16, 16))
case("avg_pool2d", lambda x: x.avg_pool2d((3, 3), stride=2), numbers(2, 3, 17, 17))
case("interpolate", lambda x: x.interpolate((13, 17), mode="linear"), numbers(1, 2, 7, 8), gradient=False)
case("layernorm", lambda x: x.layernorm(), numbers(6, 32), tolerance=1e-3)
case("batchnorm", lambda x, w, b: x.batchnorm(w, b, x.mean(axis=(0, 2, 3)), 1 / (x.var(axis=(0, 2, 3)) + 1e-5).sqrt()), numbers(3, 4, 5, 5), numbers(4),
     numbers(4), tolerance=1e-3)

m = numbers(12, 18)
for name, function in [("transpose", lambda x: x.transpose()), ("reshape", lambda x: x.reshape(9, 24) * 2), ("permute", lambda x: x.reshape(3, 4, 18).permute(2, 0, 1) + 1),
                       ("expand", lambda x: x.reshape(12, 1, 18).expand(12, 5, 18) * 3), ("flip", lambda x: x.flip(0, 1)), ("pad", lambda x: x.pad(((1, 2), (3, 0)))),
                       ("shrink", lambda x: x.shrink(((2, 9), (1, 17)))), ("slice", lambda x: x[1:11:3, ::-2]), ("cat", lambda x: x.cat(x * 2, dim=1)),
                       ("stack", lambda x: Tensor.stack(x, x + 1)), ("tile", lambda x: x.repeat((2, 3))), ("roll", lambda x: x.roll(5, 1)),
                       ("tril", lambda x: x.tril()), ("triu", lambda x: x.triu(2)), ("diagonal", lambda x: x[:12, :12].diagonal()), ("unfold", lambda x: x.unfold(1, 4, 3)),
                       ("chunk", lambda x: x.chunk(5, dim=1)[2] + 0), ("one_hot", lambda x: (x.abs() * 3).cast(dtypes.int).one_hot(7))]:
    case(name, function, m, gradient=name != "one_hot")
case("gather", lambda x, i: x.gather(1, i), numbers(8, 16), integers(8, 5, low=0, high=16), gradient=False)
case("index", lambda x, i: x[i], numbers(30, 7), integers(11, low=0, high=30), gradient=False)
case("scatter", lambda x, i, s: x.scatter(1, i, s), numbers(5, 9), np.argsort(rng.random((5, 4)), axis=1).astype(np.int32), numbers(5, 4), gradient=False)
case("masked_fill", lambda x: x.masked_fill(x > 0.5, -3.0), numbers(17, 23))
case("clip", lambda x: x.clip(-0.5, 1.1), numbers(17, 23))
case("cross entropy", lambda x, y: x.sparse_categorical_crossentropy(y), numbers(32, 10), integers(32, low=0, high=10), gradient=False)
case("linspace arange eye", lambda x: x[:10, :10] + Tensor.arange(10).to(x.device) + Tensor.eye(10).to(x.device), m)
kinds = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "half", "float", "double", "bool"]
for a, b in zip(kinds, kinds[4:] + kinds[:4]):
    case(f"cast {a} to {b}", lambda x, a=a, b=b: x.abs().cast(getattr(dtypes, a)).cast(getattr(dtypes, b)), numbers(100, low=0, high=100), gradient=False)
case("double arithmetic", lambda x: (x.cast(dtypes.double).exp() / 3).sin(), numbers(64), gradient=False)
case("int64 arithmetic", lambda x: x.cast(dtypes.int64) * 1234567891011 // 977, integers(64, low=1), gradient=False)


def evaluate(function, inputs, device, gradient):
    tensors = [Tensor(value, device=device) for value in inputs]
    results = [function(*tensors)]
    if gradient:
        results += results[0].sum().gradient(*tensors)
    return [result.numpy() for result in results]


def close(got, wanted, tolerance):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    if not np.issubdtype(wanted.dtype, np.floating):
        return bool((got == wanted).all())
    return np.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def train():
    """A small network learns XOR of signs; the compiled step runs again and again."""
    data = numbers(64, 2)
    target = ((data[:, 0] > 0) ^ (data[:, 1] > 0)).astype(np.int32)
    Tensor.manual_seed(1)
    first, second = nn.Linear(2, 16), nn.Linear(16, 2)
    optimizer = nn.optim.Adam([first.weight, first.bias, second.weight, second.bias], lr=0.05)
    inputs, answers = Tensor(data), Tensor(target)

    @TinyJit
    def step():
        optimizer.zero_grad()
        loss = second(first(inputs).tanh()).sparse_categorical_crossentropy(answers)
        loss.backward()
        return loss.realize(*optimizer.schedule_step())

    with Context(TRAINING=1):
        losses = [step().item() for _ in range(60)]
    return losses[0], losses[-1]


def main():
    wanted = sys.argv[1:]
    passed = failed = 0
    started = time.monotonic()
    for name, function, inputs, gradient, tolerance in CASES:
        if wanted and not any(w in name for w in wanted):
            continue
        try:
            ours = evaluate(function, inputs, Device.DEFAULT, gradient)
            host = evaluate(function, inputs, HOST, gradient)
            is_right = all(close(a, b, tolerance) for a, b in zip(ours, host))
            message = "wrong numbers"
        except Exception as error:  # one case's error is that case's failure
            is_right, message = False, f"{type(error).__name__}: {str(error)[:200]}"
        passed, failed = passed + is_right, failed + (not is_right)
        if passed % 50 == 0:
            print(f"{passed} passed, {time.monotonic() - started:.0f} s", flush=True)
        if not is_right:
            print(f"{name}: {message}", flush=True)
    if not wanted or "train" in wanted:
        before, after = train()
        is_right = after < before / 3
        passed, failed = passed + is_right, failed + (not is_right)
        print(f"train: loss {before:.3f} to {after:.3f}: {'ok' if is_right else 'did not learn'}")
    print(f"tinygrad {Device[Device.DEFAULT].arch}: {passed} passed, {failed} failed, {time.monotonic() - started:.1f} s")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
