// Lists agents, instruction sets and pools as rocminfo does; exits 1 when the GPU is missing.
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <cstdio>

int main() {
  if (hsa_init() != HSA_STATUS_SUCCESS) return 2;
  int gpus = 0;
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        char name[64];
        hsa_device_type_t type;
        hsa_agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
        hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
        std::printf("agent %s %s\n", type == HSA_DEVICE_TYPE_GPU ? "GPU" : "CPU", name);
        if (type == HSA_DEVICE_TYPE_GPU) ++*static_cast<int*>(data);
        hsa_agent_iterate_isas(
            agent,
            [](hsa_isa_t isa, void*) {
              char text[128];
              hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, text);
              std::printf("  isa %s\n", text);
              return HSA_STATUS_SUCCESS;
            },
            nullptr);
        return HSA_STATUS_SUCCESS;
      },
      &gpus);
  void* memory = nullptr;
  hsa_amd_memory_pool_t pool{};
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        hsa_amd_agent_iterate_memory_pools(
            agent,
            [](hsa_amd_memory_pool_t p, void* d) {
              bool allowed;
              hsa_amd_memory_pool_get_info(p, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED, &allowed);
              if (allowed) *static_cast<hsa_amd_memory_pool_t*>(d) = p;
              return HSA_STATUS_SUCCESS;
            },
            data);
        return HSA_STATUS_SUCCESS;
      },
      &pool);
  if (hsa_amd_memory_pool_allocate(pool, 1 << 20, 0, &memory) != HSA_STATUS_SUCCESS) return 3;
  static_cast<char*>(memory)[12345] = 42;
  std::printf("memory %s\n", static_cast<char*>(memory)[12345] == 42 ? "shared" : "lost");
  hsa_amd_memory_pool_free(memory);
  hsa_shut_down();
  return gpus == 1 ? 0 : 1;
}
