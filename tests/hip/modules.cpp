// hipModule*: from a file and from memory, functions, globals, both ways to pass arguments, mistakes.
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "check.h"

static void Use(hipModule_t module) {
  hipFunction_t scale, pick;
  OK(hipModuleGetFunction(&scale, module, "scale"));
  OK(hipModuleGetFunction(&pick, module, "pick"));
  hipFunction_t none;
  GIVES(hipErrorNotFound, hipModuleGetFunction(&none, module, "absent"));
  const int n = 100;
  float* data = Upload(std::vector<float>(n, 2.0f));
  float factor = 3.0f;
  int count = n;
  void* parameters[] = {&data, &factor, &count};
  OK(hipModuleLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr));
  for (const float x : Download(data, n)) CHECK(x == 11.0f);

  hipDeviceptr_t offset;
  size_t size = 0;
  OK(hipModuleGetGlobal(&offset, &size, module, "offset"));
  CHECK(size == sizeof(int));
  const int zero = 0;
  OK(hipMemcpyHtoD(offset, const_cast<int*>(&zero), sizeof zero));
  GIVES(hipErrorNotFound, hipModuleGetGlobal(&offset, &size, module, "absent"));

  struct {
    float* data;
    float factor;
    int n;
  } packed{data, 2.0f, n};
  size_t packed_size = sizeof packed;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                   HIP_LAUNCH_PARAM_END};
  OK(hipModuleLaunchKernel(scale, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  for (const float x : Download(data, n)) CHECK(x == 22.0f);

  float* out = data;
  short which = 2;
  char add = -1;
  void* of_pick[] = {&out, &which, &add};
  OK(hipModuleLaunchKernel(pick, 1, 1, 1, 1, 1, 1, 0, nullptr, of_pick, nullptr));
  CHECK(Download(data, 1)[0] == 2.5f);
  OK(hipFree(data));
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  hipModule_t module;
  OK(hipModuleLoad(&module, argv[1]));
  Use(module);
  OK(hipModuleUnload(module));
  GIVES(hipErrorNotFound, hipModuleUnload(module));

  std::ifstream file(argv[1], std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  OK(hipModuleLoadData(&module, image.data()));
  hipModule_t second;
  OK(hipModuleLoadDataEx(&second, image.data(), 0, nullptr, nullptr));
  Use(module);
  Use(second);
  OK(hipModuleUnload(module));
  OK(hipModuleUnload(second));

  GIVES(hipErrorFileNotFound, hipModuleLoad(&module, "/no/such/file"));
  GIVES(hipErrorInvalidValue, hipModuleLoadData(&module, nullptr));
  std::string damaged(4096, 'x');
  GIVES(hipErrorInvalidImage, hipModuleLoadData(&module, damaged.data()));
  // Files that end too early are refused, wherever that is.
  const std::string path = std::string(std::getenv("TMPDIR") == nullptr ? "/tmp" : std::getenv("TMPDIR")) + "/wavesmith-cut-" +
                           std::to_string(getpid());
  for (size_t size = 0; size < image.size(); size += 1 + image.size() / 37) {
    std::ofstream(path, std::ios::binary).write(image.data(), static_cast<std::streamsize>(size));
    const hipError_t error = hipModuleLoad(&module, path.c_str());
    if (error == hipSuccess) OK(hipModuleUnload(module));
    CHECK(error == hipErrorInvalidImage || error == hipErrorNoBinaryForGpu || error == hipErrorSharedObjectInitFailed);
  }
  std::remove(path.c_str());
  return Ok();
}
