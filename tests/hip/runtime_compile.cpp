// A kernel that is compiled at run time by hiprtc; the result is the sum of what it wrote.
#include <hip/hiprtc.h>

#include <string>

#include "check.h"

static const char* const kSource = R"(
extern "C" __global__ void scale(float* x, int n, float f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * f + 1.0f;
}
extern "C" __global__ void halve(__half* x) { x[threadIdx.x] = __hmul(x[threadIdx.x], __float2half(0.5f)); }
)";

static void CompileOk(hiprtcResult result) {
  if (result == HIPRTC_SUCCESS) return;
  fprintf(stderr, "%s\n", hiprtcGetErrorString(result));
  exit(3);
}

int main() {
  hiprtcProgram program;
  CompileOk(hiprtcCreateProgram(&program, kSource, "scale.hip", 0, nullptr, nullptr));
  const char* options[] = {"--offload-arch=gfx942"};
  CompileOk(hiprtcCompileProgram(program, 1, options));
  size_t size = 0;
  CompileOk(hiprtcGetCodeSize(program, &size));
  std::string code(size, '\0');
  CompileOk(hiprtcGetCode(program, code.data()));
  hipModule_t module;
  hipFunction_t kernel;
  OK(hipModuleLoadData(&module, code.data()));
  OK(hipModuleGetFunction(&kernel, module, "scale"));
  int n = 256;
  float host[256];
  for (int i = 0; i < n; i++) host[i] = static_cast<float>(i);
  float* device = nullptr;
  float factor = 2;
  OK(hipMalloc(reinterpret_cast<void**>(&device), sizeof host));
  OK(hipMemcpy(device, host, sizeof host, hipMemcpyHostToDevice));
  void* arguments[] = {&device, &n, &factor};
  OK(hipModuleLaunchKernel(kernel, 4, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  OK(hipMemcpy(host, device, sizeof host, hipMemcpyDeviceToHost));
  double sum = 0;
  for (const float value : host) sum += value;
  printf("sum %g\n", sum);
  return 0;
}
