"""IREE from PyPI in one process: its compiler, and its runtime with the HIP device of `wavesmith exec`.

Usage: iree_programs.py TARGET. Each program of examples/ is compiled for TARGET and for the CPU, called on both with the same numbers, and
compared: integers exactly, floats to half a per cent of the largest value. Exits with 1 when one differs.
"""

import sys
from pathlib import Path

import numpy as np
from iree import compiler, runtime

EXAMPLES = Path(__file__).parents[2] / "examples"
# Program, function, shapes and types of its arguments.
PROGRAMS = [
    ("matmul_f16", "matmul", [((128, 128), np.float16), ((128, 128), np.float16)]),
    ("matmul_f32", "matmul_f32", [((64, 64), np.float32), ((64, 64), np.float32)]),
    ("matmul_i8", "matmul_i8", [((128, 128), np.int8), ((128, 128), np.int8)]),
    ("conv2d", "conv2d", [((1, 18, 18, 16), np.float16), ((3, 3, 16, 32), np.float16)]),
    ("softmax", "softmax", [((8, 256), np.float32)]),
    ("attention", "attention", [((4, 64, 32), np.float16)] * 3),
]


def numbers(shape, kind, random):
    if np.issubdtype(kind, np.integer):
        return random.integers(-8, 8, shape, dtype=kind)
    return random.standard_normal(shape).astype(kind)


def call(driver, code, function, arguments):
    config = runtime.Config(device=runtime.get_device(driver))
    context = runtime.SystemContext(config=config)
    module = runtime.VmModule.copy_buffer(context.instance, code)
    context.add_vm_module(module)
    return context.modules[module.name][function](*arguments).to_host()


def main(target):
    random = np.random.default_rng(7)
    failed = 0
    for name, function, shapes in PROGRAMS:
        source = str(EXAMPLES / f"{name}.mlir")
        arguments = [numbers(shape, kind, random) for shape, kind in shapes]
        gpu = compiler.compile_file(source, target_backends=["rocm"], extra_args=[f"--iree-rocm-target={target}"])
        cpu = compiler.compile_file(
            source, target_backends=["llvm-cpu"], extra_args=["--iree-llvmcpu-target-cpu=generic"]
        )
        got = call("hip", gpu, function, arguments).astype(np.float64)
        wanted = call("local-task", cpu, function, arguments).astype(np.float64)
        exact = np.issubdtype(shapes[0][1], np.integer)
        limit = 0.0 if exact else 0.005 * np.abs(wanted).max()
        off = np.abs(got - wanted).max()
        ok = got.shape == wanted.shape and np.abs(wanted).max() > 0 and off <= limit
        failed += not ok
        print(f"{target} {name}: {'ok' if ok else 'WRONG'}, {got.size} elements, off by {off:.3g} at most")
    print(f"{len(PROGRAMS) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(sys.argv[1]))
