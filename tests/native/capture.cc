// Dispatches of a HSA program for captures. `capture KERNELS batch`: several packets written before one doorbell. `capture KERNELS large`: 30 GiB
// of addresses, of which 4 MiB are touched. `capture KERNELS lives`: the runtime is started and shut down three times. `capture KERNELS many N`: N dispatches, one after the other; prints their seconds.
#include <hsa/hsa.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hsa/abi.h"

#define CHECK(call)                                                                            \
  do {                                                                                         \
    const hsa_status_t status_ = (call);                                                       \
    if (status_ != HSA_STATUS_SUCCESS) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: 0x%x\n", __FILE__, __LINE__, #call, unsigned(status_)); \
      return 2;                                                                                \
    }                                                                                          \
  } while (0)

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;
static hsa_executable_t executable;
static hsa_queue_t* queue;

static uint64_t Kernel(const char* name) {
  hsa_executable_symbol_t symbol;
  uint64_t kernel = 0;
  if (hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol) != HSA_STATUS_SUCCESS) std::abort();
  hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel);
  return kernel;
}

struct Arguments {
  void* data;
  int32_t a;
  int32_t b;
};

// Writes packets, then rings once.
static void Submit(uint64_t kernel, const std::vector<void*>& kernargs, uint32_t work_items, hsa_signal_t done) {
  const uint64_t first = hsa_queue_add_write_index_screlease(queue, kernargs.size());
  for (size_t n = 0; n < kernargs.size(); n++) {
    auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address) + ((first + n) & (queue->size - 1));
    hsa_kernel_dispatch_packet_t p{};
    p.workgroup_size_x = 256;
    p.workgroup_size_y = p.workgroup_size_z = p.grid_size_y = p.grid_size_z = 1;
    p.grid_size_x = work_items;
    p.kernel_object = kernel;
    p.kernarg_address = kernargs[n];
    if (n + 1 == kernargs.size()) p.completion_signal = done;
    std::memcpy(reinterpret_cast<char*>(packet) + 4, reinterpret_cast<char*>(&p) + 4, sizeof p - 4);
    const uint32_t head =
        HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER | 1u << 16;
    __atomic_store_n(reinterpret_cast<uint32_t*>(packet), head, __ATOMIC_RELEASE);
  }
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(first + kernargs.size() - 1));
}
static void Wait(hsa_signal_t done) {
  while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >= 1) {
  }
}

static Arguments* arguments;
static hsa_signal_t done;

// Starts the runtime, loads the kernels, and makes a queue, a signal and memory for arguments.
static int Start(const std::vector<char>& code) {
  CHECK(hsa_init());
  hsa_iterate_agents(
      [](hsa_agent_t agent, void*) {
        hsa_device_type_t type;
        hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU) gpu = agent;
        return HSA_STATUS_SUCCESS;
      },
      nullptr);
  hsa_amd_agent_iterate_memory_pools(
      gpu,
      [](hsa_amd_memory_pool_t p, void*) {
        pool = p;
        return HSA_STATUS_INFO_BREAK;
      },
      nullptr);
  hsa_code_object_reader_t reader;
  CHECK(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  CHECK(hsa_executable_freeze(executable, nullptr));
  CHECK(hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
  CHECK(hsa_signal_create(1, 0, nullptr, &done));
  CHECK(hsa_amd_memory_pool_allocate(pool, 4096, 0, reinterpret_cast<void**>(&arguments)));
  return 0;
}

// Three lives of the runtime, of which none gives back what it has; in the last one, what the first one left is given back.
static int Lives(const std::vector<char>& code) {
  hsa_signal_t first{};
  for (int life = 0; life < 3; life++) {
    if (const int failed = Start(code)) return failed;
    int* data;
    CHECK(hsa_amd_memory_pool_allocate(pool, size_t{4096} << life, 0, reinterpret_cast<void**>(&data)));
    if (life == 0) first = done;
    if (life == 2) CHECK(hsa_signal_destroy(first));
    hsa_signal_t next;
    CHECK(hsa_signal_create(1, 0, nullptr, &next));
    for (const hsa_signal_t signal : {done, next}) {
      arguments[0] = {data, life + 1, 500};
      Submit(Kernel("add.kd"), {arguments}, 512, signal);
      Wait(signal);
    }
    std::printf("%d ", data[0]);
    CHECK(hsa_shut_down());
  }
  std::printf("\n");
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string mode = argv[2];
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> code((std::istreambuf_iterator<char>(file)), {});
  if (mode == "lives") return Lives(code);
  if (const int failed = Start(code)) return failed;

  if (mode == "batch") {
    int* data;
    CHECK(hsa_amd_memory_pool_allocate(pool, 4096, 0, reinterpret_cast<void**>(&data)));
    std::vector<void*> all;
    for (int n = 0; n < 4; n++) {
      arguments[4 * n] = {data, n + 1, 500};
      all.push_back(arguments + 4 * n);
    }
    Submit(Kernel("add.kd"), all, 512, done);
    Wait(done);
    std::printf("%d %d\n", data[0], data[500]);
    return data[0] == 10 && data[500] == 0 ? 0 : 1;
  }
  if (mode == "large") {
    constexpr size_t kAddresses = size_t{30} << 30;
    constexpr size_t kPart = size_t{2} << 20;
    char* base;
    CHECK(hsa_amd_vmem_address_reserve(reinterpret_cast<void**>(&base), kAddresses, 0x400000000000, 0));
    // Two parts, 29 GiB from each other, and 2 GiB that nobody touches between them.
    hsa_amd_vmem_alloc_handle_t low, high, between;
    CHECK(hsa_amd_vmem_handle_create(pool, kPart, 0, 0, &low));
    CHECK(hsa_amd_vmem_handle_create(pool, kPart, 0, 0, &high));
    CHECK(hsa_amd_vmem_handle_create(pool, size_t{2} << 30, 0, 0, &between));
    CHECK(hsa_amd_vmem_map(base, kPart, 0, low, 0));
    CHECK(hsa_amd_vmem_map(base + (size_t{4} << 30), size_t{2} << 30, 0, between, 0));
    CHECK(hsa_amd_vmem_map(base + (size_t{29} << 30), kPart, 0, high, 0));
    const hsa_amd_memory_access_desc_t access{HSA_ACCESS_PERMISSION_RW, gpu};
    CHECK(hsa_amd_vmem_set_access(base, kPart, &access, 1));
    CHECK(hsa_amd_vmem_set_access(base + (size_t{4} << 30), size_t{2} << 30, &access, 1));
    CHECK(hsa_amd_vmem_set_access(base + (size_t{29} << 30), kPart, &access, 1));
    struct {
      int* to;
      const int* from;
      int32_t count;
    } copy{reinterpret_cast<int*>(base + (size_t{29} << 30)), reinterpret_cast<int*>(base), kPart / 4};
    uint64_t state = 88172645463325252;
    std::vector<int> noise(kPart / 4);
    for (int& word : noise) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      word = static_cast<int>(state);
    }
    CHECK(hsa_memory_copy(base, noise.data(), kPart));
    std::memcpy(arguments, &copy, sizeof copy);
    Submit(Kernel("copy.kd"), {arguments}, kPart / 4, done);
    Wait(done);
    std::vector<int> result(kPart / 4);
    CHECK(hsa_memory_copy(result.data(), base + (size_t{29} << 30), kPart));
    std::printf("%s\n", result == noise ? "equal" : "different");
    return result == noise ? 0 : 1;
  }
  const int count = argc > 3 ? std::atoi(argv[3]) : 1000;
  int* data;
  CHECK(hsa_amd_memory_pool_allocate(pool, 1 << 20, 0, reinterpret_cast<void**>(&data)));
  *arguments = {data, 100, 0};
  const uint64_t kernel = Kernel("burn.kd");
  const auto started = std::chrono::steady_clock::now();
  for (int n = 0; n < count; n++) {
    hsa_signal_store_relaxed(done, 1);
    Submit(kernel, {arguments}, 4096, done);
    Wait(done);
  }
  std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
  return 0;
}
