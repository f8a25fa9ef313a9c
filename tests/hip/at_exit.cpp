// A static object's destructor uses HIP: the variables of the main thread, the library's among them, are gone by then.
#include "check.h"

extern "C" {
hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
hipError_t hipSetupArgument(const void* argument, size_t size, size_t offset);
hipError_t hipLaunchByPtr(const void* host_function);
}

__global__ void Add(int* to, int value) { atomicAdd(to, value); }

struct Last {
  int* sum = nullptr;
  ~Last() {
    Add<<<1, 64>>>(sum, 1);
    OK(hipGetLastError());
    Add<<<1, 64, 0, hipStreamPerThread>>>(sum, 2);
    OK(hipStreamSynchronize(hipStreamPerThread));
    OK(hipConfigureCall(dim3(1), dim3(32), 0, nullptr));
    const int value = 100;
    OK(hipSetupArgument(&sum, sizeof sum, 0));
    OK(hipSetupArgument(&value, sizeof value, sizeof sum));
    OK(hipLaunchByPtr(reinterpret_cast<const void*>(Add)));
    hipCtx_t context;
    OK(hipCtxCreate(&context, 0, 0));
    OK(hipCtxDestroy(context));
    OK(hipDeviceSynchronize());
    CHECK(Download(sum, 1)[0] == 2 * 192 + 32 * 100);
    OK(hipFree(sum));
    Ok();
  }
};

int main() {
  // Made in main: globals are destroyed after the program's kernels.
  static Last last;
  last.sum = Upload(std::vector<int>{0});
  Add<<<1, 64>>>(last.sum, 1);
  Add<<<1, 64, 0, hipStreamPerThread>>>(last.sum, 2);
  OK(hipDeviceSynchronize());
}
