// Several devices: counts, a thread's device, variables and streams of each, peers, copies between them, contexts.
#include <thread>

#include "check.h"

__device__ int counter;
__managed__ int shared_by_all = 5;

__global__ void add(int* out, int value) {
  counter += value;
  *out = counter + shared_by_all;
}

__global__ void mark(int* out) { atomicAdd(out, 1); }

// One cooperative launch on several devices is the same on each.
static void Cooperative(int devices) {
  int* marks = nullptr;
  OK(hipHostMalloc(reinterpret_cast<void**>(&marks), sizeof(int), hipHostMallocDefault));
  *marks = 0;
  void* arguments[] = {&marks};
  std::vector<hipLaunchParams> launches(devices);
  for (int d = 0; d < devices; d++) {
    OK(hipSetDevice(d));
    launches[d] = {reinterpret_cast<void*>(mark), dim3(2), dim3(32), arguments, 0, nullptr};
    OK(hipStreamCreate(&launches[d].stream));
  }
  OK(hipLaunchCooperativeKernelMultiDevice(launches.data(), devices, 0));
  for (const auto& launch : launches) OK(hipStreamSynchronize(launch.stream));
  CHECK(*marks == devices * 64);
  const auto refused = [&](auto change) {
    std::vector<hipLaunchParams> others = launches;
    change(others[1]);
    GIVES(hipErrorInvalidValue, hipLaunchCooperativeKernelMultiDevice(others.data(), devices, 0));
  };
  refused([](hipLaunchParams& launch) { launch.func = reinterpret_cast<void*>(add); });
  refused([](hipLaunchParams& launch) { launch.gridDim.y = 2; });
  refused([](hipLaunchParams& launch) { launch.blockDim.x = 64; });
  refused([](hipLaunchParams& launch) { launch.sharedMem = 1024; });
  for (const auto& launch : launches) OK(hipStreamDestroy(launch.stream));
  OK(hipHostFree(marks));
  OK(hipSetDevice(0));
}

int main() {
  int count = 0;
  OK(hipGetDeviceCount(&count));
  CHECK(count == 3);
  int at = -1;
  OK(hipGetDevice(&at));
  CHECK(at == 0);
  GIVES(hipErrorInvalidDevice, hipSetDevice(3));

  Cooperative(count);

  // Each device has variables of its own; managed ones are common.
  int* out[3];
  for (int d = 0; d < count; d++) {
    OK(hipSetDevice(d));
    OK(hipMalloc(&out[d], 4));
    add<<<1, 1>>>(out[d], 10 * (d + 1));
    add<<<1, 1>>>(out[d], 1);
    OK(hipDeviceSynchronize());
    int got = 0;
    OK(hipMemcpy(&got, out[d], 4, hipMemcpyDeviceToHost));
    CHECK(got == 10 * (d + 1) + 1 + 5);
    hipPointerAttribute_t a;
    OK(hipPointerGetAttributes(&a, out[d]));
    CHECK(a.device == d);
  }
  int value = 0;
  OK(hipSetDevice(1));
  OK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), 4));
  CHECK(value == 21);

  // A thread begins with device 0, whatever others have set.
  int of_thread = -1;
  std::thread([&] { (void)hipGetDevice(&of_thread); }).join();
  CHECK(of_thread == 0);
  OK(hipGetDevice(&at));
  CHECK(at == 1);

  // A stream keeps its device; a launch follows the stream.
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipSetDevice(2));
  add<<<1, 1, 0, stream>>>(out[1], 100);
  OK(hipStreamSynchronize(stream));
  OK(hipMemcpy(&value, out[1], 4, hipMemcpyDefault));
  CHECK(value == 121 + 5);
  hipEvent_t event;
  OK(hipEventCreate(&event));
  GIVES(hipErrorInvalidHandle, hipEventRecord(event, stream));
  OK(hipStreamDestroy(stream));

  // Peers.
  int can = 0;
  OK(hipDeviceCanAccessPeer(&can, 0, 2));
  CHECK(can == 1);
  OK(hipDeviceCanAccessPeer(&can, 1, 1));
  CHECK(can == 0);
  GIVES(hipErrorInvalidDevice, hipDeviceEnablePeerAccess(2, 0));
  OK(hipDeviceEnablePeerAccess(0, 0));
  GIVES(hipErrorPeerAccessAlreadyEnabled, hipDeviceEnablePeerAccess(0, 0));
  OK(hipDeviceDisablePeerAccess(0));
  GIVES(hipErrorPeerAccessNotEnabled, hipDeviceDisablePeerAccess(0));
  OK(hipMemcpyPeer(out[0], 0, out[2], 2, 4));
  GIVES(hipErrorInvalidDevice, hipMemcpyPeer(out[0], 0, out[2], 3, 4));
  OK(hipMemcpy(&value, out[0], 4, hipMemcpyDeviceToHost));
  CHECK(value == 31 + 5);
  uint32_t link = 0, hops = 0;
  OK(hipExtGetLinkTypeAndHopCount(0, 1, &link, &hops));
  CHECK(link == 4 && hops == 1);

  // Properties tell them apart.
  char first[64], second[64];
  OK(hipDeviceGetPCIBusId(first, sizeof first, 0));
  OK(hipDeviceGetPCIBusId(second, sizeof second, 2));
  CHECK(std::strcmp(first, second) != 0);
  OK(hipDeviceGetByPCIBusId(&at, second));
  CHECK(at == 2);

  // Contexts are devices.
  hipCtx_t before, made, now;
  OK(hipCtxGetCurrent(&before));
  OK(hipCtxCreate(&made, 0, 1));
  OK(hipGetDevice(&at));
  CHECK(at == 1 && made != before);
  OK(hipCtxPopCurrent(&now));
  CHECK(now == made);
  OK(hipGetDevice(&at));
  CHECK(at == 2);

  // Pools.
  hipMemPool_t pools[2];
  OK(hipDeviceGetDefaultMemPool(&pools[0], 0));
  OK(hipDeviceGetDefaultMemPool(&pools[1], 1));
  CHECK(pools[0] != pools[1]);
  void* pooled;
  OK(hipMallocFromPoolAsync(&pooled, 4096, pools[1], nullptr));
  hipPointerAttribute_t a;
  OK(hipPointerGetAttributes(&a, pooled));
  CHECK(a.device == 1);
  OK(hipFreeAsync(pooled, nullptr));
  OK(hipDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
