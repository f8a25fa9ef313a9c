// Several devices: counts, a thread's device, variables and streams of each, peers, copies between them, contexts.
#include <thread>

#include "check.h"

__device__ int counter;
__managed__ int shared_by_all = 5;

__global__ void add(int* out, int value) {
  counter += value;
  *out = counter + shared_by_all;
}

int main() {
  int count = 0;
  OK(hipGetDeviceCount(&count));
  CHECK(count == 3);
  int at = -1;
  OK(hipGetDevice(&at));
  CHECK(at == 0);
  GIVES(hipErrorInvalidDevice, hipSetDevice(3));

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
