// hsa-tests KERNELS OTHER_TARGET PART: runs one part of the HSA tests; prints `ok` and exits 0, or says which check failed.
#include <fstream>
#include <iterator>

#include "support.h"

namespace test {

std::vector<uint8_t> ReadFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  CHECK(!bytes.empty());
  return bytes;
}

Gpu::Gpu(const char* code_object) {
  OK(hsa_init());
  OK(hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        hsa_device_type_t type;
        OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
        auto* self = static_cast<Gpu*>(data);
        (type == HSA_DEVICE_TYPE_GPU ? self->gpu : self->cpu) = agent;
        return HSA_STATUS_SUCCESS;
      },
      this));
  CHECK(gpu.handle != 0 && cpu.handle != 0);
  OK(hsa_amd_agent_iterate_memory_pools(
      gpu,
      [](hsa_amd_memory_pool_t pool, void* data) {
        uint32_t flags = 0;
        hsa_amd_segment_t segment;
        OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
        if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
        OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
        auto* self = static_cast<Gpu*>(data);
        ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0 ? self->coarse : self->fine) = pool;
        return HSA_STATUS_SUCCESS;
      },
      this));
  CHECK(coarse.handle != 0 && fine.handle != 0);
  const std::vector<uint8_t> code = ReadFile(code_object);
  hsa_code_object_reader_t reader;
  OK(hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader));
  OK(hsa_executable_create_alt(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable));
  OK(hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr));
  OK(hsa_executable_freeze(executable, nullptr));
  OK(hsa_code_object_reader_destroy(reader));
  kernargs_ = Allocate<uint8_t>(1 << 20);
}

Gpu::~Gpu() {
  OK(hsa_amd_memory_pool_free(kernargs_));
  OK(hsa_executable_destroy(executable));
  OK(hsa_shut_down());
}

Kernel Gpu::Find(const char* name) {
  hsa_executable_symbol_t symbol;
  OK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
  Kernel k;
  const auto get = [&](hsa_executable_symbol_info_t what, void* to) {
    OK(hsa_executable_symbol_get_info(symbol, what, to));
  };
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &k.object);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE, &k.kernarg);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &k.group);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &k.scratch);
  return k;
}

hsa_queue_t* Gpu::NewQueue(uint32_t packets) {
  hsa_queue_t* queue;
  OK(hsa_queue_create(gpu, packets, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX, UINT32_MAX, &queue));
  return queue;
}

hsa_signal_t Gpu::NewSignal(hsa_signal_value_t value) {
  hsa_signal_t signal;
  OK(hsa_signal_create(value, 0, nullptr, &signal));
  return signal;
}

uint8_t* Gpu::NextKernarg() { return kernargs_ + (next_kernarg_.fetch_add(1) % 4096) * 256; }

void Gpu::Submit(hsa_queue_t* queue, const void* packet) {
  const uint64_t index = hsa_queue_add_write_index_screlease(queue, 1);
  while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
  }
  auto* const slot = static_cast<uint8_t*>(queue->base_address) + (index & (queue->size - 1)) * 64;
  std::memcpy(slot + 4, static_cast<const uint8_t*>(packet) + 4, 60);
  uint32_t head;
  std::memcpy(&head, packet, sizeof head);
  __atomic_store_n(reinterpret_cast<uint32_t*>(slot), head, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void Gpu::Dispatch(hsa_queue_t* queue, const Kernel& kernel, uint32_t work_items, hsa_signal_t completion,
                   void* kernarg) {
  hsa_kernel_dispatch_packet_t p{};
  p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
  p.setup = 1;
  p.workgroup_size_x = static_cast<uint16_t>(work_items < 256 ? work_items : 256);
  p.workgroup_size_y = p.workgroup_size_z = 1;
  p.grid_size_x = work_items;
  p.grid_size_y = p.grid_size_z = 1;
  p.private_segment_size = kernel.scratch;
  p.group_segment_size = kernel.group;
  p.kernel_object = kernel.object;
  p.kernarg_address = kernarg;
  p.completion_signal = completion;
  Submit(queue, &p);
}

void Gpu::Wait(hsa_signal_t signal, hsa_signal_value_t below) {
  while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, below, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) >=
         below) {
  }
}

}  // namespace test

int main(int argc, char** argv) {
  using namespace test;
  CHECK(argc == 4);
  const std::string part = argv[3];
  {
    Gpu gpu(argv[1]);
    if (part == "signals") {
      Signals(gpu);
    } else if (part == "queues") {
      Queues(gpu);
    } else if (part == "memory") {
      Memory(gpu);
    } else if (part == "virtual-memory") {
      VirtualMemory(gpu);
    } else if (part == "copies") {
      Copies(gpu);
    } else if (part == "executables") {
      Executables(gpu, argv[1], argv[2]);
    } else if (part == "errors") {
      Errors(gpu);
    } else {
      CHECK(!"a known part");
    }
  }
  // After the last hsa_shut_down nothing works, and hsa_init starts anew.
  uint64_t frequency;
  STATUS(HSA_STATUS_ERROR_NOT_INITIALIZED, hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
  OK(hsa_init());
  OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
  OK(hsa_shut_down());
  STATUS(HSA_STATUS_ERROR_NOT_INITIALIZED, hsa_shut_down());
  std::printf("ok %s\n", part.c_str());
  return 0;
}
