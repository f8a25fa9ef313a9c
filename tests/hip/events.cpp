// Events: times that grow with work, queries, flags, mistakes.
#include <chrono>
#include <thread>

#include "check.h"

__global__ void work(float* p, int rounds) {
  float x = p[threadIdx.x];
  for (int i = 0; i < rounds; i++) x = x * 1.0001f + 0.5f;
  p[threadIdx.x] = x;
}

int main() {
  float* p = Upload(std::vector<float>(256, 1.0f));
  hipEvent_t start, middle, stop;
  OK(hipEventCreate(&start));
  OK(hipEventCreate(&middle));
  OK(hipEventCreateWithFlags(&stop, hipEventBlockingSync));
  float ms = -1;
  GIVES(hipErrorInvalidHandle, hipEventElapsedTime(&ms, start, stop));
  OK(hipEventQuery(start));  // never recorded: complete
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipEventRecord(start, stream));
  work<<<4, 256, 0, stream>>>(p, 10);
  OK(hipEventRecord(middle, stream));
  work<<<64, 256, 0, stream>>>(p, 2000);
  OK(hipEventRecord(stop, stream));
  OK(hipEventSynchronize(stop));
  OK(hipEventQuery(stop));
  float first = -1, second = -1, all = -1;
  OK(hipEventElapsedTime(&first, start, middle));
  OK(hipEventElapsedTime(&second, middle, stop));
  OK(hipEventElapsedTime(&all, start, stop));
  CHECK(first > 0 && second > 0);
  CHECK(std::fabs(all - first - second) < 1e-2f * all + 1e-2f);

  // An event around the sleep of a host function measures it.
  OK(hipEventRecord(start, stream));
  OK(hipLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }, nullptr));
  OK(hipEventRecord(stop, stream));
  OK(hipStreamSynchronize(stream));
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms >= 19.0f);

  // Recorded again and again.
  for (int i = 0; i < 200; i++) {
    OK(hipEventRecord(start, stream));
    work<<<1, 64, 0, stream>>>(p, 1);
    OK(hipStreamWaitEvent(nullptr, start, 0));
  }
  OK(hipDeviceSynchronize());

  hipEvent_t untimed;
  OK(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  OK(hipEventRecord(untimed, stream));
  OK(hipEventSynchronize(untimed));
  GIVES(hipErrorInvalidHandle, hipEventElapsedTime(&ms, start, untimed));
  GIVES(hipErrorInvalidValue, hipEventElapsedTime(nullptr, start, stop));
  GIVES(hipErrorInvalidValue, hipEventCreate(nullptr));

  // hipExtLaunchKernel records around the kernel itself.
  int rounds = 100;
  void* arguments[] = {&p, &rounds};
  OK(hipExtLaunchKernel(reinterpret_cast<const void*>(work), dim3(4), dim3(256), arguments, 0, stream, start, stop, 0));
  OK(hipEventSynchronize(stop));
  OK(hipEventElapsedTime(&ms, start, stop));
  CHECK(ms > 0);
  // Destroyed while a record is pending.
  hipEvent_t brief;
  OK(hipEventCreate(&brief));
  work<<<64, 256, 0, stream>>>(p, 1000);
  OK(hipEventRecord(brief, stream));
  OK(hipEventDestroy(brief));
  CHECK(hipEventDestroy(brief) != hipSuccess);
  for (hipEvent_t e : {start, middle, stop, untimed}) OK(hipEventDestroy(e));
  OK(hipStreamDestroy(stream));
  return Ok();
}
