"""The HIP runtime that LD_LIBRARY_PATH names."""
import ctypes

hip = ctypes.CDLL("libamdhip64.so")
hip.hipGetErrorString.restype = ctypes.c_char_p


def check(status):
    if status != 0:
        raise RuntimeError(f"HIP error {status}: {hip.hipGetErrorString(status).decode()}")
