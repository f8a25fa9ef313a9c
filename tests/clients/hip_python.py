"""hip-python: properties of the device, a kernel compiled by hiprtc, launched and read back."""
import array
import ctypes

from hip import hip, hiprtc

SOURCE = b"""extern "C" __global__ void scale(float* x, float factor, int n) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) x[i] *= factor;
}"""


def ok(result):
    error, *values = result if isinstance(result, tuple) else (result,)
    if int(error) != 0:
        raise RuntimeError(str(error))
    return values[0] if len(values) == 1 else values


properties = ok(hip.hipGetDeviceProperties(0))
arch = properties.gcnArchName
arch = arch if isinstance(arch, bytes) else arch.encode()
program = ok(hiprtc.hiprtcCreateProgram(SOURCE, b"scale", 0, None, None))
ok(hiprtc.hiprtcCompileProgram(program, 1, [b"--offload-arch=" + arch]))
code = bytearray(ok(hiprtc.hiprtcGetCodeSize(program)))
ok(hiprtc.hiprtcGetCode(program, code))
kernel = ok(hip.hipModuleGetFunction(ok(hip.hipModuleLoadData(code)), b"scale"))

n = 1000
values = array.array("f", range(n))
memory = ok(hip.hipMalloc(4 * n))
ok(hip.hipMemcpy(memory, values, 4 * n, hip.hipMemcpyKind.hipMemcpyHostToDevice))
ok(hip.hipModuleLaunchKernel(
    kernel, gridDimX=4, gridDimY=1, gridDimZ=1, blockDimX=256, blockDimY=1, blockDimZ=1, sharedMemBytes=0, stream=None,
    kernelParams=None, extra=(memory, ctypes.c_float(2), ctypes.c_int(n))))
ok(hip.hipMemcpy(values, memory, 4 * n, hip.hipMemcpyKind.hipMemcpyDeviceToHost))
ok(hip.hipFree(memory))
assert all(values[i] == 2 * i for i in range(n)), values[:8]
print(arch.decode().split(":")[0], "hip-python: ok")
