"""torch.cuda, which is HIP: devices, streams and events."""
import ctypes

from ._hip import check, hip


def is_available():
    count = ctypes.c_int()
    return hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value > 0


def current_device():
    device = ctypes.c_int()
    check(hip.hipGetDevice(ctypes.byref(device)))
    return device.value


def set_device(number):
    check(hip.hipSetDevice(ctypes.c_int(number)))


def get_device_capability(number=0):
    major, minor = ctypes.c_int(), ctypes.c_int()
    check(hip.hipDeviceComputeCapability(ctypes.byref(major), ctypes.byref(minor), ctypes.c_int(number)))
    return major.value, minor.value


def synchronize():
    check(hip.hipDeviceSynchronize())


class Stream:
    def __init__(self, handle=0):
        self.cuda_stream = handle


def current_stream(number=0):
    return Stream()


class Event:
    def __init__(self, enable_timing=False, **_):
        handle = ctypes.c_void_p()
        check(hip.hipEventCreate(ctypes.byref(handle)))
        self.handle = handle

    def record(self, stream=None):
        check(hip.hipEventRecord(self.handle, ctypes.c_void_p(stream.cuda_stream if stream else 0)))

    def synchronize(self):
        check(hip.hipEventSynchronize(self.handle))

    def elapsed_time(self, end):
        milliseconds = ctypes.c_float()
        check(hip.hipEventElapsedTime(ctypes.byref(milliseconds), self.handle, end.handle))
        return milliseconds.value

    def __del__(self):
        hip.hipEventDestroy(self.handle)
