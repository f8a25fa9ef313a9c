// Shared virtual memory: any memory of the program becomes the device's at its own address when an agent is given access, and kernels run in
// what is made executable. Attributes say nothing else here: there is one memory, which never moves. Source: hsa_ext_amd.h, hsa_amd_svm_attribute_t.
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "common/size.h"
#include "hsa/pools.h"

namespace wavesmith::hsa {
namespace {

enum Attribute : uint64_t {
  kGlobalFlag = 0,
  kReadOnly = 1,
  kHiveLocal = 2,
  kMigrationGranularity = 3,
  kPreferredLocation = 4,
  kPrefetchLocation = 5,
  kReadMostly = 6,
  kGpuExec = 7,
  kAccessible = 0x200,
  kAccessibleInPlace = 0x201,
  kNoAccess = 0x202,
  kAccessQuery = 0x203,
};

// One call of hsa_amd_svm_attributes_set, or a prefetch; later ones count before earlier ones.
struct Setting {
  uint64_t begin;
  uint64_t end;
  std::map<uint64_t, uint64_t> values;
  // Access by agent.
  std::map<uint64_t, uint64_t> access;
  // The range is locked for it.
  bool is_locked;
};
std::mutex mutex;
// Never destroyed: tools are unloaded, and the runtime is shut down, after the destructors of a program's and of these libraries' objects.
auto& settings = *new std::vector<Setting>;

bool IsAccess(uint64_t attribute) {
  return attribute == kAccessible || attribute == kAccessibleInPlace || attribute == kNoAccess;
}

// The newest value that covers an address, or what holds without one.
uint64_t ValueAt(uint64_t address, uint64_t attribute) {
  for (auto s = settings.rbegin(); s != settings.rend(); ++s) {
    if (address < s->begin || address >= s->end) continue;
    if (const auto found = s->values.find(attribute); found != s->values.end()) return found->second;
  }
  return 0;
}
uint64_t AccessAt(uint64_t address, uint64_t agent) {
  for (auto s = settings.rbegin(); s != settings.rend(); ++s) {
    if (address < s->begin || address >= s->end) continue;
    if (const auto found = s->access.find(agent); found != s->access.end()) return found->second;
  }
  return kNoAccess;
}

// Gives the device the range, where it has not got it.
hsa_status_t ShareWithDevice(Runtime& runtime, void* pointer, size_t size, bool* is_locked) {
  Allocation known;
  *is_locked = false;
  if (runtime.client().InWindow(pointer) || runtime.Find(reinterpret_cast<uint64_t>(pointer), &known)) {
    return HSA_STATUS_SUCCESS;
  }
  VirtualRange range;
  if (FindVirtual(reinterpret_cast<uint64_t>(pointer), &range)) {
    if (range.is_mapped) return HSA_STATUS_SUCCESS;
    // Reserved addresses have no memory until now.
    if (mprotect(pointer, size, PROT_READ | PROT_WRITE) != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  void* address;
  const hsa_status_t status = runtime.Lock(pointer, size, &address);
  *is_locked = status == HSA_STATUS_SUCCESS;
  return status;
}

// Whether kernels may have their instructions there. The newest setting counts.
hsa_status_t AllowExecution(Runtime& runtime, uint64_t begin, uint64_t size, bool allowed) {
  const wavesmith::ExecuteRequest request{begin, size, allowed ? 1u : 0u};
  const wavesmith::Answer answer =
      runtime.client().Request(wavesmith::MessageType::kExecute, wavesmith::Writer().Put(request).bytes());
  return answer.ok ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

}  // namespace

void ForgetSvm(Runtime& runtime, uint64_t begin, uint64_t size) {
  const std::lock_guard lock(mutex);
  std::erase_if(settings, [&](const Setting& s) {
    if (s.begin < begin || s.end > begin + size) return false;
    if (s.is_locked) runtime.Unlock(reinterpret_cast<void*>(s.begin));
    if (s.values.contains(kGpuExec)) AllowExecution(runtime, s.begin, s.end - s.begin, false);
    return true;
  });
}

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

hsa_status_t hsa_amd_svm_attributes_set(void* pointer, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count) {
  WAVESMITH_REQUIRE_INIT();
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  WAVESMITH_REQUIRE(pointer != nullptr && size != 0 && list != nullptr && count != 0);
  WAVESMITH_REQUIRE((wavesmith::Size(begin) + size).ok());
  Setting made{begin, begin + size, {}, {}, false};
  bool shares = false;
  for (size_t n = 0; n < count; n++) {
    const auto [attribute, value] = list[n];
    if (IsAccess(attribute)) {
      if (!runtime->IsAgent({value})) return HSA_STATUS_ERROR_INVALID_AGENT;
      made.access[value] = attribute;
      shares = shares || (attribute != kNoAccess && runtime->IsGpu({value}));
    } else if (attribute <= kGpuExec && attribute != kPrefetchLocation) {
      if (attribute == kPreferredLocation && value != 0 && !runtime->IsAgent({value})) {
        return HSA_STATUS_ERROR_INVALID_AGENT;
      }
      made.values[attribute] = value;
    } else {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  }
  const std::lock_guard lock(mutex);
  if (shares) {
    const hsa_status_t status = ShareWithDevice(*runtime, pointer, size, &made.is_locked);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  // A range that no GPU has access to any more is the program's alone: it may unmap it.
  const bool ends = std::any_of(made.access.begin(), made.access.end(), [&](const auto& entry) {
    return entry.second == kNoAccess && runtime->IsGpu({entry.first});
  });
  for (Setting& s : settings) {
    if (!ends || shares || !s.is_locked || s.begin < begin || s.end > begin + size) continue;
    runtime->Unlock(reinterpret_cast<void*>(s.begin));
    s.is_locked = false;
  }
  if (const auto executable = made.values.find(kGpuExec); executable != made.values.end()) {
    const hsa_status_t status = AllowExecution(*runtime, begin, size, executable->second != 0);
    if (status != HSA_STATUS_SUCCESS) return status;
  }
  settings.push_back(std::move(made));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_attributes_get(void* pointer, size_t size, hsa_amd_svm_attribute_pair_t* list, size_t count) {
  WAVESMITH_REQUIRE_INIT();
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  WAVESMITH_REQUIRE(pointer != nullptr && size != 0 && list != nullptr && count != 0);
  WAVESMITH_REQUIRE((wavesmith::Size(begin) + size).ok());
  const std::lock_guard lock(mutex);
  for (size_t n = 0; n < count; n++) {
    auto& [attribute, value] = list[n];
    if (attribute == kAccessQuery) {
      if (!runtime->IsAgent({value})) return HSA_STATUS_ERROR_INVALID_AGENT;
      attribute = AccessAt(begin, value);
    } else if (attribute <= kGpuExec) {
      value = ValueAt(begin, attribute);
    } else {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_svm_prefetch_async(void* pointer, size_t size, hsa_agent_t agent, uint32_t count,
                                        const hsa_signal_t* dependencies, hsa_signal_t completion) {
  WAVESMITH_REQUIRE_INIT();
  const auto begin = reinterpret_cast<uint64_t>(pointer);
  WAVESMITH_REQUIRE(pointer != nullptr && size != 0 && (wavesmith::Size(begin) + size).ok());
  if (!runtime->IsAgent(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  return Asynchronously(*runtime, count, dependencies, completion, [=] {
    const std::lock_guard lock(mutex);
    settings.push_back({begin, begin + size, {{kPrefetchLocation, agent.handle}}, {}, false});
  });
}

}  // namespace impl
