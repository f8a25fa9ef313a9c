// Memory of other drivers by a descriptor, and what nothing of this device can be: their semaphores, graphics. Functions of HIP 7.
#include <unistd.h>

#include "check.h"

struct SemaphoreParams {
  const void* semaphores;
  const void* params;
  unsigned count;
};
extern "C" {
hipError_t hipMemGetHandleForAddressRange(void*, hipDeviceptr_t, size_t, int, unsigned long long);
hipError_t hipGraphAddExternalSemaphoresSignalNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t,
                                                   const SemaphoreParams*);
hipError_t hipGraphExternalSemaphoresSignalNodeGetParams(hipGraphNode_t, SemaphoreParams*);
hipError_t hipGraphExternalSemaphoresWaitNodeGetParams(hipGraphNode_t, SemaphoreParams*);
}

namespace {

__global__ void AddOne(float* v) { v[threadIdx.x] += 1; }

void CheckMemory() {
  std::vector<float> values(512, 0.5f);
  float* const memory = Upload(values);
  int descriptor = -1;
  OK(hipMemGetHandleForAddressRange(&descriptor, memory, 2048, 1, 0));
  hipExternalMemoryHandleDesc desc{};
  desc.type = hipExternalMemoryHandleTypeOpaqueFd;
  desc.handle.fd = descriptor;
  desc.size = 2048;
  hipExternalMemory_t external = nullptr;
  OK(hipImportExternalMemory(&external, &desc));
  hipExternalMemoryBufferDesc part{};
  part.offset = 1024;
  part.size = 1024;
  void* mapped = nullptr;
  OK(hipExternalMemoryGetMappedBuffer(&mapped, external, &part));
  AddOne<<<1, 256>>>(static_cast<float*>(mapped));
  values = Download(memory, 512);
  CHECK(values[255] == 0.5f && values[256] == 1.5f && values[511] == 1.5f);
  part.size = 2048;
  GIVES(hipErrorInvalidValue, hipExternalMemoryGetMappedBuffer(&mapped, external, &part));
  OK(hipDestroyExternalMemory(external));
  GIVES(hipErrorInvalidValue, hipDestroyExternalMemory(external));
  // The memory is still the program's.
  CHECK(Download(memory, 1)[0] == 0.5f);

  desc.handle.fd = STDIN_FILENO;
  GIVES(hipErrorOutOfMemory, hipImportExternalMemory(&external, &desc));
  desc.size = 0;
  GIVES(hipErrorInvalidValue, hipImportExternalMemory(&external, &desc));
  close(descriptor);
  OK(hipFree(memory));
}

void CheckSemaphores() {
  hipExternalSemaphoreHandleDesc desc{};
  desc.type = hipExternalSemaphoreHandleTypeOpaqueFd;
  desc.handle.fd = 5;
  hipExternalSemaphore_t semaphore;
  GIVES(hipErrorNotSupported, hipImportExternalSemaphore(&semaphore, &desc));
  GIVES(hipErrorInvalidValue, hipImportExternalSemaphore(nullptr, &desc));
  GIVES(hipErrorInvalidValue, hipDestroyExternalSemaphore(nullptr));
  GIVES(hipErrorInvalidValue, hipSignalExternalSemaphoresAsync(nullptr, nullptr, 1, nullptr));

  // A node that signals none.
  hipGraph_t graph;
  hipGraphNode_t node;
  OK(hipGraphCreate(&graph, 0));
  const SemaphoreParams params{&desc, &desc, 0};
  OK(hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, &params));
  GIVES(hipErrorInvalidValue, hipGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, nullptr));
  SemaphoreParams back{};
  OK(hipGraphExternalSemaphoresSignalNodeGetParams(node, &back));
  CHECK(back.semaphores == &desc && back.count == 0);
  GIVES(hipErrorInvalidValue, hipGraphExternalSemaphoresWaitNodeGetParams(node, &back));
  hipGraphExec_t executable;
  OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(executable, nullptr));
  OK(hipDeviceSynchronize());
}

void CheckGraphics() {
  unsigned count;
  int device;
  GIVES(hipErrorInvalidValue, hipGLGetDevices(&count, &device, 1, hipGLDeviceListAll));
  GIVES(hipErrorInvalidValue, hipGraphicsMapResources(0, nullptr, nullptr));
  GIVES(hipErrorInvalidValue, hipGraphicsUnregisterResource(nullptr));
}

}  // namespace

int main() {
  CheckMemory();
  CheckSemaphores();
  CheckGraphics();
  return Ok();
}
