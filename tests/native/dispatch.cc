// Loads a code object (first argument), runs its kernel `scale(float* data, float factor, int count)` through a real AQL queue, and
// checks the result. `--fault` gives the kernel an address nobody owns.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const hsa_status_t status_ = (call);                                         \
    if (status_ != HSA_STATUS_SUCCESS) {                                         \
      const char* text_ = "";                                                    \
      hsa_status_string(status_, &text_);                                        \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_); \
      return 2;                                                                  \
    }                                                                            \
  } while (0)

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;

int main(int argc, char** argv) {
  const bool fault = argc > 2 && std::strcmp(argv[2], "--fault") == 0;
  std::ifstream file(argv[1], std::ios::binary);
  std::vector<char> code((std::istreambuf_iterator<char>(file)), {});
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
  hsa_executable_t executable;
  CHECK(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader));
  CHECK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  CHECK(hsa_executable_freeze(executable, nullptr));
  hsa_executable_symbol_t symbol;
  CHECK(hsa_executable_get_symbol_by_name(executable, "scale.kd", &gpu, &symbol));
  uint64_t kernel;
  uint32_t kernarg_size, group, scratch;
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &kernel));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &kernarg_size));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &group));
  CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &scratch));
  constexpr int kCount = 1000;
  float* data;
  uint8_t* kernarg;
  CHECK(hsa_amd_memory_pool_allocate(pool, kCount * sizeof(float), 0, reinterpret_cast<void**>(&data)));
  CHECK(hsa_amd_memory_pool_allocate(pool, 4096, 0, reinterpret_cast<void**>(&kernarg)));
  for (int n = 0; n < kCount; n++) data[n] = static_cast<float>(n);
  const float factor = 3;
  float* const target = fault ? reinterpret_cast<float*>(0x123456789000) : data;
  std::memcpy(kernarg, &target, 8);
  std::memcpy(kernarg + 8, &factor, 4);
  std::memcpy(kernarg + 12, &kCount, 4);
  hsa_queue_t* queue;
  CHECK(hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
  hsa_signal_t done;
  CHECK(hsa_signal_create(1, 0, nullptr, &done));
  const auto run = [&] {
    hsa_signal_store_relaxed(done, 1);
    const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
    auto* packet = static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address) + (index & (queue->size - 1));
    hsa_kernel_dispatch_packet_t p{};
    p.setup = 1;
    p.workgroup_size_x = 256;
    p.workgroup_size_y = p.workgroup_size_z = 1;
    p.grid_size_x = kCount;
    p.grid_size_y = p.grid_size_z = 1;
    p.group_segment_size = group;
    p.private_segment_size = scratch;
    p.kernel_object = kernel;
    p.kernarg_address = kernarg;
    p.completion_signal = done;
    std::memcpy(reinterpret_cast<char*>(packet) + 4, reinterpret_cast<char*>(&p) + 4, sizeof p - 4);
    const uint32_t head =
        (HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER) | 1u << 16;
    __atomic_store_n(reinterpret_cast<uint32_t*>(packet), head, __ATOMIC_RELEASE);
    hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
    hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
  };
  run();
  for (int n = 0; n < kCount; n++) {
    if (data[n] == static_cast<float>(3 * n)) continue;
    std::fprintf(stderr, "element %d is %g\n", n, data[n]);
    return 1;
  }
  std::vector<double> times;
  for (int n = 0; n < 200; n++) {
    const auto start = std::chrono::steady_clock::now();
    run();
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("ok, launch to completion %.0f us median\n", times[times.size() / 2]);
  CHECK(hsa_queue_destroy(queue));
  CHECK(hsa_executable_destroy(executable));
  CHECK(hsa_shut_down());
  return 0;
}
