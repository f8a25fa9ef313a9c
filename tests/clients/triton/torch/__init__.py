"""The part of torch that Triton's AMD driver and its tutorials use, on the HIP runtime that `wavesmith exec` provides.

A tensor is memory of hipMalloc with a shape, strides and a dtype; what is not a kernel's work is done by numpy on a copy. torch itself is not used:
its wheels for HIP are not on PyPI, and its CPU wheel has no tensors with a device address.
"""
import ctypes
import math

import numpy as np

from . import cuda, version  # noqa: F401
from ._hip import check, hip


class dtype:
    def __init__(self, name, size, numpy_name):
        self.name, self.itemsize, self.numpy = name, size, np.dtype(numpy_name)
        self.is_floating_point = name.startswith(("float", "bfloat"))

    def __repr__(self):
        return f"torch.{self.name}"


float64 = double = dtype("float64", 8, "float64")
float32 = float = dtype("float32", 4, "float32")
float16 = half = dtype("float16", 2, "float16")
# numpy has no bfloat16 and no 8-bit floats: their bits.
bfloat16 = dtype("bfloat16", 2, "uint16")
float8_e5m2 = dtype("float8_e5m2", 1, "uint8")
float8_e4m3fnuz = dtype("float8_e4m3fnuz", 1, "uint8")
int64 = long = dtype("int64", 8, "int64")
int32 = int = dtype("int32", 4, "int32")
int16 = dtype("int16", 2, "int16")
int8 = dtype("int8", 1, "int8")
uint8 = dtype("uint8", 1, "uint8")
bool = dtype("bool", 1, "bool")
_OF_NUMPY = {str(d.numpy): d for d in (float64, float32, float16, int64, int32, int16, int8, uint8, bool)}


class device:
    def __init__(self, kind, index=0):
        self.type, self.index = str(kind).split(":")[0], index

    def __eq__(self, other):
        return self.type == (other.type if isinstance(other, device) else str(other).split(":")[0])

    def __repr__(self):
        return f"device('{self.type}')"


class _Storage:
    """Memory of the device that lives as long as a tensor uses it."""

    def __init__(self, size):
        pointer = ctypes.c_void_p()
        check(hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(max(size, 1))))
        self.pointer = pointer.value

    def __del__(self):
        hip.hipFree(ctypes.c_void_p(self.pointer))


class Tensor:
    def __init__(self, storage, kind, shape, strides=None, offset=0):
        self._storage, self.dtype, self.shape, self._offset = storage, kind, tuple(shape), offset
        if strides is None:
            strides, step = [], 1
            for n in reversed(self.shape):
                strides.insert(0, step)
                step *= n
        self._strides = tuple(strides)
        self.device = device("cuda")

    def data_ptr(self):
        return self._storage.pointer + self._offset * self.dtype.itemsize

    def stride(self, axis=None):
        return self._strides if axis is None else self._strides[axis]

    def size(self, axis=None):
        return self.shape if axis is None else self.shape[axis]

    def numel(self):
        return math.prod(self.shape)

    def element_size(self):
        return self.dtype.itemsize

    def is_contiguous(self):
        return Tensor(self._storage, self.dtype, self.shape)._strides == self._strides

    def numpy(self):
        """A copy of what the tensor has now."""
        extent = 1 + sum((n - 1) * s for n, s in zip(self.shape, self._strides)) if self.numel() else 0
        flat = np.empty(extent, self.dtype.numpy)
        check(hip.hipMemcpy(flat.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(self.data_ptr()), ctypes.c_size_t(flat.nbytes), 2))
        strides = [s * self.dtype.itemsize for s in self._strides]
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides).copy()

    def cpu(self):
        return self.numpy()

    def copy_(self, values):
        values = np.ascontiguousarray(np.broadcast_to(values, self.shape), self.dtype.numpy)
        if not self.is_contiguous():
            raise NotImplementedError("copies go to contiguous tensors")
        check(hip.hipMemcpy(ctypes.c_void_p(self.data_ptr()), values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes), 1))
        return self

    def zero_(self):
        check(hip.hipMemset(ctypes.c_void_p(self.data_ptr()), 0, ctypes.c_size_t(self.numel() * self.dtype.itemsize)))
        return self

    def transpose(self, a, b):
        shape, strides = list(self.shape), list(self._strides)
        shape[a], shape[b] = shape[b], shape[a]
        strides[a], strides[b] = strides[b], strides[a]
        return Tensor(self._storage, self.dtype, shape, strides, self._offset)

    @property
    def T(self):
        return self.transpose(0, 1)

    def clone(self):
        return tensor(self.numpy(), self.dtype)


def empty(*shape, dtype=float32, device=None, **_):
    if len(shape) == 1 and not isinstance(shape[0], (type(1), np.integer)):
        shape = tuple(shape[0])
    return Tensor(_Storage(math.prod(shape) * dtype.itemsize), dtype, shape)


def zeros(*shape, dtype=float32, device=None, **_):
    return empty(*shape, dtype=dtype).zero_()


def empty_like(other, **changes):
    return empty(other.shape, dtype=changes.get("dtype", other.dtype))


def tensor(values, dtype=None, device=None):
    values = np.asarray(values)
    kind = dtype or _OF_NUMPY[str(values.dtype)]
    return empty(values.shape, dtype=kind).copy_(values)
