// hsa-leave MEBIBYTES [SECONDS]: fills that much GPU memory, keeps a queue waiting at a barrier, sleeps, and ends without giving anything back.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  if (argc < 2 || hsa_init() != HSA_STATUS_SUCCESS) return 2;
  hsa_agent_t gpu{};
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        hsa_device_type_t type;
        hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = agent;
        return HSA_STATUS_SUCCESS;
      },
      &gpu);
  hsa_amd_memory_pool_t pool{};
  hsa_amd_agent_iterate_memory_pools(
      gpu,
      [](hsa_amd_memory_pool_t p, void* data) {
        *static_cast<hsa_amd_memory_pool_t*>(data) = p;
        return HSA_STATUS_INFO_BREAK;
      },
      &pool);
  const size_t bytes = std::strtoull(argv[1], nullptr, 10) << 20;
  void* memory = nullptr;
  if (hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory) != HSA_STATUS_SUCCESS) return 3;
  const bool zero = *static_cast<char*>(memory) == 0;
  std::memset(memory, 0x5a, bytes);
  hsa_queue_t* queue;
  if (hsa_queue_create(gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, 0, 0, &queue) != HSA_STATUS_SUCCESS) return 4;
  hsa_barrier_and_packet_t packet{};
  if (hsa_signal_create(1, 0, nullptr, &packet.dep_signal[0]) != HSA_STATUS_SUCCESS) return 5;
  hsa_queue_add_write_index_screlease(queue, 1);
  std::memcpy(static_cast<char*>(queue->base_address) + 4, reinterpret_cast<char*>(&packet) + 4, 60);
  __atomic_store_n(static_cast<uint32_t*>(queue->base_address), HSA_PACKET_TYPE_BARRIER_AND, __ATOMIC_RELEASE);
  hsa_signal_store_screlease(queue->doorbell_signal, 0);
  std::printf(zero ? "ready\n" : "memory of another program\n");
  std::fflush(stdout);
  if (argc > 2) sleep(static_cast<unsigned>(std::atoi(argv[2])));
  _exit(zero ? 0 : 6);
}
