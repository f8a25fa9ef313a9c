// Two programs of one device: memory and an event of the parent, opened by the child; a pool's memory; the parent's free while the child still has it.
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void Square(int* values) { values[threadIdx.x] *= values[threadIdx.x]; }

constexpr int kCount = 256;
struct Handles {
  hipIpcMemHandle_t memory;
  hipIpcEventHandle_t event;
};

void Send(int pipe, const void* data, size_t size) { CHECK(write(pipe, data, size) == static_cast<ssize_t>(size)); }
void Receive(int pipe, void* data, size_t size) { CHECK(read(pipe, data, size) == static_cast<ssize_t>(size)); }

int Child(int from_parent, int to_parent) {
  Handles handles;
  Receive(from_parent, &handles, sizeof handles);
  int* values = nullptr;
  int* again = nullptr;
  GIVES(hipErrorInvalidValue, hipIpcOpenMemHandle(reinterpret_cast<void**>(&values), handles.memory, 64));
  OK(hipIpcOpenMemHandle(reinterpret_cast<void**>(&values), handles.memory, hipIpcMemLazyEnablePeerAccess));
  OK(hipIpcOpenMemHandle(reinterpret_cast<void**>(&again), handles.memory, hipIpcMemLazyEnablePeerAccess));
  OK(hipIpcCloseMemHandle(again));
  hipEvent_t event;
  OK(hipIpcOpenEventHandle(&event, handles.event));
  OK(hipStreamWaitEvent(nullptr, event, 0));
  Square<<<1, kCount>>>(values);
  OK(hipEventRecord(event, nullptr));
  OK(hipEventSynchronize(event));
  char word = 'd';
  Send(to_parent, &word, 1);
  // The parent frees it now, and it stays until it is closed here.
  Receive(from_parent, &word, 1);
  CHECK(Download(values, kCount)[3] == 9);
  GIVES(hipErrorInvalidValue, hipFree(values));
  OK(hipIpcCloseMemHandle(values));
  GIVES(hipErrorInvalidValue, hipIpcCloseMemHandle(values));
  OK(hipEventDestroy(event));
  return 0;
}

int main() {
  int down[2];
  int up[2];
  CHECK(pipe(down) == 0 && pipe(up) == 0);
  const pid_t child = fork();
  if (child == 0) return Child(down[0], up[1]);

  std::vector<int> values(kCount);
  for (int i = 0; i < kCount; i++) values[i] = i;
  int* memory = nullptr;
  OK(hipMalloc(&memory, 3 * kCount * sizeof(int)));
  OK(hipMemcpy(memory + kCount, values.data(), kCount * sizeof(int), hipMemcpyHostToDevice));
  Handles handles;
  OK(hipIpcGetMemHandle(&handles.memory, memory + kCount));
  GIVES(hipErrorInvalidValue, hipIpcGetMemHandle(&handles.memory, values.data()));
  hipEvent_t event;
  hipEvent_t plain;
  OK(hipEventCreate(&plain));
  GIVES(hipErrorInvalidConfiguration, hipIpcGetEventHandle(&handles.event, plain));
  OK(hipEventCreateWithFlags(&event, hipEventDisableTiming | hipEventInterprocess));
  OK(hipIpcGetEventHandle(&handles.event, event));
  // What cannot be opened leaves an event of its own.
  hipEvent_t unopened = nullptr;
  GIVES(hipErrorInvalidContext, hipIpcOpenEventHandle(&unopened, handles.event));
  OK(hipEventDestroy(unopened));
  GIVES(hipErrorInvalidValue, hipIpcOpenEventHandle(&unopened, hipIpcEventHandle_t{}));
  OK(hipEventRecord(unopened, nullptr));
  OK(hipEventDestroy(unopened));
  OK(hipEventRecord(event, nullptr));
  void* own = nullptr;
  GIVES(hipErrorInvalidContext, hipIpcOpenMemHandle(&own, handles.memory, hipIpcMemLazyEnablePeerAccess));
  Send(down[1], &handles, sizeof handles);
  char word = 0;
  Receive(up[0], &word, 1);
  OK(hipEventSynchronize(event));
  values = Download(memory + kCount, kCount);
  for (int i = 0; i < kCount; i++) CHECK(values[i] == i * i);
  OK(hipFree(memory));
  Send(down[1], &word, 1);
  int status = -1;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return Ok();
}
