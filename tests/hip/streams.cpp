// Streams: order within one, waits between them, default-stream semantics, callbacks, host functions, priorities, bad handles.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

__global__ void add(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 2 + value;
}
__global__ void copy(const int* from, int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

static std::atomic<int> calls{0};

int main() {
  const int n = 1000;
  int *a, *b;
  OK(hipMalloc(&a, n * sizeof(int)));
  OK(hipMalloc(&b, n * sizeof(int)));
  hipStream_t s, t;
  OK(hipStreamCreate(&s));
  OK(hipStreamCreateWithFlags(&t, hipStreamNonBlocking));
  unsigned flags = 9;
  OK(hipStreamGetFlags(t, &flags));
  CHECK(flags == hipStreamNonBlocking);

  // Order: memset, 3 kernels, copy.
  OK(hipMemsetAsync(a, 0, n * sizeof(int), s));
  for (int k = 1; k <= 3; k++) add<<<(n + 63) / 64, 64, 0, s>>>(a, n, k);
  std::vector<int> host(n);
  OK(hipMemcpyAsync(host.data(), a, n * sizeof(int), hipMemcpyDeviceToHost, s));
  OK(hipStreamSynchronize(s));
  for (const int x : host) CHECK(x == 11);
  OK(hipStreamQuery(s));

  // A host function holds the stream; the other runs on; the wait by event orders them.
  static std::atomic<bool> go{false};
  OK(hipLaunchHostFunc(
      s,
      [](void*) {
        while (!go.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      },
      nullptr));
  add<<<(n + 63) / 64, 64, 0, s>>>(a, n, 1);
  GIVES(hipErrorNotReady, hipStreamQuery(s));
  GIVES(hipErrorNotReady, hipGetLastError());
  OK(hipMemsetAsync(b, 0xff, n * sizeof(int), t));
  OK(hipStreamSynchronize(t));
  CHECK(Download(b, 0).empty());
  hipEvent_t event;
  OK(hipEventCreate(&event));
  OK(hipEventRecord(event, s));
  OK(hipStreamWaitEvent(t, event, 0));
  copy<<<(n + 63) / 64, 64, 0, t>>>(a, b, n);
  GIVES(hipErrorNotReady, hipEventQuery(event));
  go.store(true);
  OK(hipStreamSynchronize(t));
  for (const int x : Download(b, n)) CHECK(x == 23);

  // The default stream waits for blocking streams, and they for it.
  go.store(false);
  OK(hipLaunchHostFunc(
      s, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }, nullptr));
  add<<<(n + 63) / 64, 64, 0, s>>>(a, n, 4);
  copy<<<(n + 63) / 64, 64>>>(a, b, n);
  add<<<(n + 63) / 64, 64, 0, s>>>(a, n, 0);
  OK(hipDeviceSynchronize());
  for (const int x : Download(b, n)) CHECK(x == 50);
  for (const int x : Download(a, n)) CHECK(x == 100);

  // Callbacks come in order, once each, with the stream and the user's data.
  static std::vector<int> seen;
  static int data[3] = {1, 2, 3};
  for (int& d : data) {
    OK(hipStreamAddCallback(
        s,
        [](hipStream_t, hipError_t status, void* user) {
          if (status == hipSuccess) seen.push_back(*static_cast<int*>(user));
          calls++;
        },
        &d, 0));
  }
  OK(hipStreamSynchronize(s));
  CHECK(calls == 3 && seen == (std::vector<int>{1, 2, 3}));

  int least = 9, greatest = 9;
  OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(least >= greatest);
  hipStream_t urgent;
  OK(hipStreamCreateWithPriority(&urgent, hipStreamDefault, greatest));
  int priority = 9;
  OK(hipStreamGetPriority(urgent, &priority));
  CHECK(priority == greatest);
  OK(hipStreamDestroy(urgent));
  OK(hipStreamDestroy(s));
  OK(hipStreamDestroy(t));
  CHECK(hipStreamDestroy(s) != hipSuccess);
  CHECK(hipStreamSynchronize(s) != hipSuccess);
  GIVES(hipErrorInvalidValue, hipStreamCreateWithFlags(&s, 77));
  GIVES(hipErrorInvalidResourceHandle, hipStreamDestroy(nullptr));
  return Ok();
}
