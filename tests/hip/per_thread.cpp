// Compiled with -fgpu-default-stream=per-thread: each thread's default stream is its own.
#include <atomic>
#include <chrono>
#include <thread>

#include "check.h"

__global__ void store(int* p, int value) { *p = value; }

static std::atomic<bool> go{false};

int main() {
  int* p;
  OK(hipMalloc(&p, 2 * sizeof(int)));
  OK(hipMemset(p, 0, 2 * sizeof(int)));
  OK(hipDeviceSynchronize());
  // This thread's stream is held; the other thread's runs on.
  OK(hipLaunchHostFunc(
      hipStreamPerThread,
      [](void*) {
        while (!go.load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
      },
      nullptr));
  store<<<1, 1>>>(p, 1);
  std::thread([p] {
    store<<<1, 1>>>(p + 1, 2);
    OK(hipStreamSynchronize(nullptr));
    int value = 0;
    OK(hipMemcpy(&value, p + 1, sizeof value, hipMemcpyDeviceToHost));
    CHECK(value == 2);
  }).join();
  go.store(true);
  OK(hipStreamSynchronize(nullptr));
  OK(hipStreamSynchronize(hipStreamPerThread));
  int values[2];
  OK(hipMemcpy(values, p, sizeof values, hipMemcpyDeviceToHost));
  CHECK(values[0] == 1 && values[1] == 2);
  return Ok();
}
