// What the HSA tests share: checks that end the program, the GPU with its pools and kernels, dispatch through AQL packets.
#pragma once
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "hsa/abi.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) ::test::Fail(__FILE__, __LINE__, #condition);                   \
  } while (0)
#define STATUS(expected, call) ::test::Expect(__FILE__, __LINE__, #call, expected, call)
#define OK(call) STATUS(HSA_STATUS_SUCCESS, call)

namespace test {

[[noreturn]] inline void Fail(const char* file, int line, const char* what) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what);
  std::exit(1);
}

inline void Expect(const char* file, int line, const char* what, int expected, hsa_status_t status) {
  if (static_cast<int>(status) == expected) return;
  const char* text = "unknown status";
  hsa_status_string(status, &text);
  std::fprintf(stderr, "%s:%d: %s gave 0x%x (%s), not 0x%x\n", file, line, what, static_cast<unsigned>(status), text,
               static_cast<unsigned>(expected));
  std::exit(1);
}

struct Kernel {
  uint64_t object = 0;
  uint32_t kernarg = 0;
  uint32_t group = 0;
  uint32_t scratch = 0;
};

std::vector<uint8_t> ReadFile(const char* path);

// The agents, one pool of each kind, an executable with the test kernels.
struct Gpu {
  explicit Gpu(const char* code_object);
  ~Gpu();

  hsa_agent_t gpu{}, cpu{};
  hsa_amd_memory_pool_t coarse{}, fine{};
  hsa_executable_t executable{};

  template <typename T>
  T* Allocate(size_t count) {
    void* pointer = nullptr;
    OK(hsa_amd_memory_pool_allocate(coarse, count * sizeof(T), 0, &pointer));
    return static_cast<T*>(pointer);
  }
  Kernel Find(const char* name);
  hsa_queue_t* NewQueue(uint32_t packets = 64);
  hsa_signal_t NewSignal(hsa_signal_value_t value = 1);

  // Puts a packet (64 bytes, its header first) into a queue and rings.
  static void Submit(hsa_queue_t* queue, const void* packet);
  template <typename... A>
  void Launch(hsa_queue_t* queue, const Kernel& kernel, uint32_t work_items, hsa_signal_t completion, A... arguments) {
    uint8_t* const kernarg = NextKernarg();
    size_t at = 0;
    ((at = (at + sizeof(A) - 1) / sizeof(A) * sizeof(A), std::memcpy(kernarg + at, &arguments, sizeof(A)),
      at += sizeof(A)),
     ...);
    Dispatch(queue, kernel, work_items, completion, kernarg);
  }
  static void Wait(hsa_signal_t signal, hsa_signal_value_t below = 1);

 private:
  uint8_t* NextKernarg();
  static void Dispatch(hsa_queue_t* queue, const Kernel& kernel, uint32_t work_items, hsa_signal_t completion,
                       void* kernarg);

  uint8_t* kernargs_ = nullptr;
  std::atomic<uint32_t> next_kernarg_{0};
};

void Signals(Gpu& gpu);
void Queues(Gpu& gpu);
void Memory(Gpu& gpu);
void VirtualMemory(Gpu& gpu);
void Copies(Gpu& gpu);
void Executables(Gpu& gpu, const char* code_object, const char* other_target);
void Errors(Gpu& gpu);

}  // namespace test
