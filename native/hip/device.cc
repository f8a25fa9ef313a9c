// The devices, and this thread's device and last error. Source: HIP API documentation, "Initialization", "Error handling".
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

thread_local hipError_t last_error = hipSuccess;
// What the last call gave.
thread_local hipError_t last_call = hipSuccess;

std::once_flag once;
auto& devices = *new std::vector<Device>;  // never destroyed: work that a stream still has may ask for them
thread_local int current_device = 0;
hipError_t status = hipSuccess;
int owner = 0;  // process that initialised

// Takes a pool for what it is to a device.
hsa_status_t AddPool(hsa_amd_memory_pool_t pool, void* data) {
  Device& device = *static_cast<Device*>(data);
  hsa_amd_segment_t segment;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment == HSA_AMD_SEGMENT_GROUP) {
    uint64_t size;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size);
    device.lds_bytes = static_cast<uint32_t>(size);
    return HSA_STATUS_SUCCESS;
  }
  uint32_t flags;
  hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  uint32_t location = 0;
  hsa_amd_memory_pool_get_info(pool, static_cast<hsa_amd_memory_pool_info_t>(kPoolInfoLocation), &location);
  if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) {
    device.kernarg = pool;
  } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) && location == 1) {
    device.coarse = pool;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &device.memory_bytes);
  } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) && location == 0) {
    device.fine = pool;
  }
  return HSA_STATUS_SUCCESS;
}

void Describe(Device& device, hsa_agent_t cpu) {
  device.cpu = cpu;
  uint32_t place = 0;
  hsa_agent_get_info(device.gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_BDFID), &place);
  device.bus = place >> 8;
  char text[64] = {};
  hsa_agent_get_info(device.gpu, HSA_AGENT_INFO_NAME, text);
  device.target = text;
  hsa_agent_get_info(device.gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_PRODUCT_NAME), text);
  device.name = text;
  hsa_agent_get_info(device.gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT),
                     &device.compute_units);
  hsa_isa_t isa;
  hsa_agent_get_info(device.gpu, HSA_AGENT_INFO_ISA, &isa);
  char name[128] = {};
  hsa_isa_get_info_alt(isa, HSA_ISA_INFO_NAME, name);
  device.isa = name;
  hsa_amd_agent_iterate_memory_pools(device.cpu, AddPool, &device);
  hsa_amd_agent_iterate_memory_pools(device.gpu, AddPool, &device);
}

// Leaves the devices that HIP_VISIBLE_DEVICES, or else CUDA_VISIBLE_DEVICES, names, in its order. What is none ends the list.
// Source: clr, rocdevice.cpp, Device::init.
void KeepVisible(std::vector<Device>& all) {
  const char* list = std::getenv("HIP_VISIBLE_DEVICES");
  if (list == nullptr || *list == '\0') list = std::getenv("CUDA_VISIBLE_DEVICES");
  if (list == nullptr || *list == '\0') return;
  std::vector<size_t> kept;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    size_t index = all.size();
    for (size_t n = 0; n < all.size(); n++) {
      char uuid[32] = {};
      hsa_agent_get_info(all[n].gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID), uuid);
      if (word == std::to_string(n) || word == uuid) index = n;
    }
    if (index == all.size()) break;
    if (std::find(kept.begin(), kept.end(), index) == kept.end()) kept.push_back(index);
  }
  std::vector<Device> visible(kept.size());
  for (size_t n = 0; n < kept.size(); n++) {
    visible[n].gpu = all[kept[n]].gpu;
    visible[n].number = static_cast<int>(n);
  }
  all = std::move(visible);
}

// From HIP 7 on a memory fault is an error of every later call; before, and with HIP_SKIP_ABORT_ON_GPU_ERROR=0, it ends the program, as it does
// where nobody hears of it. Source: clr, flags.hpp and HIP_INIT_API; hip-tests, hipPageFault.cc.
void HearOfFaults() {
  const char* const skips = std::getenv("HIP_SKIP_ABORT_ON_GPU_ERROR");
  if (HipMajor() < 7 || (skips != nullptr && std::strtol(skips, nullptr, 10) == 0)) return;
  (void)hsa_amd_register_system_event_handler(
      [](const hsa_amd_event_t* event, void*) {
        if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT) DeviceFailed(hipErrorIllegalAddress);
        return HSA_STATUS_SUCCESS;
      },
      nullptr);
}

void Initialise() {
  owner = getpid();
  if (hsa_init() != HSA_STATUS_SUCCESS) {
    status = hipErrorNoDevice;
    return;
  }
  HearOfFaults();
  hsa_agent_t cpu{};
  hsa_iterate_agents(
      [](hsa_agent_t agent, void* data) {
        hsa_device_type_t type;
        hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU) {
          devices.emplace_back();
          devices.back().gpu = agent;
          devices.back().number = static_cast<int>(devices.size()) - 1;
        } else {
          *static_cast<hsa_agent_t*>(data) = agent;
        }
        return HSA_STATUS_SUCCESS;
      },
      &cpu);
  KeepVisible(devices);
  if (devices.empty()) status = hipErrorNoDevice;
  for (Device& device : devices) Describe(device, cpu);
}

// Tools are unloaded when the program ends, as the last thing after its own destructors. Without tools nothing has to be done: the device
// process frees what a program leaves.
__attribute__((destructor)) void UnloadTools() {
  const char* const tools = std::getenv("HSA_TOOLS_LIB");
  // A forked child has neither the device nor the threads.
  if (devices.empty() || owner != getpid() || tools == nullptr || *tools == '\0') return;
  StopHostcallService();
  hsa_shut_down();
}

}  // namespace

hipError_t Done(hipError_t error, const char* function) {
  if (HipMajor() >= 7 && DeviceError() != hipSuccess) error = DeviceError();
  Log(function, error);
  last_call = error;
  if (HipMajor() < 7 || (error != hipSuccess && error != hipErrorNotReady)) last_error = error;
  return error;
}

int RememberNotSupported(const char* function) { return Done(hipErrorNotSupported, function); }

Device* GetDevice(hipError_t* error) { return DeviceAt(current_device, error); }

Device* DeviceAt(int number, hipError_t* error) {
  std::call_once(once, Initialise);
  *error = status;
  if (status != hipSuccess) return nullptr;
  if (number >= 0 && static_cast<size_t>(number) < devices.size()) return &devices[static_cast<size_t>(number)];
  *error = hipErrorInvalidDevice;
  return nullptr;
}

int DeviceCount() {
  hipError_t error;
  return DeviceAt(0, &error) == nullptr ? 0 : static_cast<int>(devices.size());
}
int CurrentDevice() { return current_device; }
void SetCurrentDevice(int number) { current_device = number; }

hipError_t TakeLastError(bool clear) {
  if (HipMajor() >= 7 && DeviceError() != hipSuccess) return DeviceError();
  const hipError_t error = last_error;
  if (clear) last_error = hipSuccess;
  return error;
}

hipError_t TakeLastCall() {
  const hipError_t error = std::exchange(last_call, hipSuccess);
  return HipMajor() >= 7 && DeviceError() != hipSuccess ? DeviceError() : error;
}

}  // namespace wavesmith::hip
