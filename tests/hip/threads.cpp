// Many host threads use the device at once: their own streams, memory, events, modules' first use.
#include <thread>

#include "check.h"

__global__ void fill(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = value + i;
}

static void Work(int id) {
  hipStream_t s;
  hipEvent_t event;
  OK(hipStreamCreateWithFlags(&s, id % 2 == 0 ? hipStreamDefault : hipStreamNonBlocking));
  OK(hipEventCreate(&event));
  for (int round = 0; round < 10; round++) {
    const int n = 100 + 50 * id;
    int* p;
    OK(hipMalloc(&p, n * sizeof(int)));
    std::vector<int> out(n);
    fill<<<(n + 63) / 64, 64, 0, s>>>(p, n, id * 1000 + round);
    OK(hipGetLastError());
    OK(hipEventRecord(event, s));
    OK(hipMemcpyAsync(out.data(), p, n * sizeof(int), hipMemcpyDeviceToHost, s));
    OK(hipEventSynchronize(event));
    OK(hipStreamSynchronize(s));
    for (int i = 0; i < n; i++) CHECK(out[i] == id * 1000 + round + i);
    OK(hipFree(p));
  }
  OK(hipEventDestroy(event));
  OK(hipStreamDestroy(s));
}

int main() {
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; id++) threads.emplace_back(Work, id);
  for (std::thread& thread : threads) thread.join();
  return Ok();
}
