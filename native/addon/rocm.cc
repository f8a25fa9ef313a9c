// A GPU through the public HSA API: the runtime library is opened by name, so that the addon needs none to load. Sources: HSA Runtime Specification
// 1.2; hsa_ext_amd.h (pools, virtual memory, events, profiling); hsa_ven_amd_loader.h.
//
// Functions whose names begin with `rocm` are for one thread, except that a dispatch waits on a thread of Node's pool. An HSA function that fails
// is an error with the code `ROCM_FAILED`. Who calls knows what is allocated: nothing is checked here.
#include "addon/rocm.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "addon/values.h"
#include "hsa/abi.h"
#include "hsa/loader.h"

// NOLINTBEGIN(clang-analyzer-core.CallAndMessage): nothing is called before the library is open and all slots are filled.
namespace wavesmith {
namespace {

// clang-format off
#define WAVESMITH_ROCM_API(X)                                                                                       \
  X(hsa_init) X(hsa_status_string) X(hsa_iterate_agents) X(hsa_agent_get_info) X(hsa_isa_get_info_alt) \
  X(hsa_agent_iterate_isas) X(hsa_system_get_info) X(hsa_system_get_major_extension_table) X(hsa_memory_copy)       \
  X(hsa_queue_create) X(hsa_queue_destroy) X(hsa_queue_add_write_index_screlease) X(hsa_signal_create)              \
  X(hsa_queue_load_read_index_scacquire) X(hsa_signal_destroy) X(hsa_signal_store_screlease)                        \
  X(hsa_signal_wait_scacquire) X(hsa_code_object_reader_create_from_memory) X(hsa_code_object_reader_destroy)       \
  X(hsa_executable_create_alt) X(hsa_executable_destroy) X(hsa_executable_load_agent_code_object)                   \
  X(hsa_executable_freeze) X(hsa_amd_agent_iterate_memory_pools) X(hsa_amd_memory_pool_get_info)                    \
  X(hsa_amd_memory_pool_allocate) X(hsa_amd_memory_pool_free) X(hsa_amd_agents_allow_access) X(hsa_amd_memory_fill) \
  X(hsa_amd_register_system_event_handler) X(hsa_amd_profiling_set_profiler_enabled)                                \
  X(hsa_amd_profiling_get_dispatch_time)
// Later than Debian's runtime: absent functions are nullptr.
#define WAVESMITH_ROCM_VMEM(X)                                                                          \
  X(hsa_amd_vmem_address_reserve) X(hsa_amd_vmem_address_free) X(hsa_amd_vmem_handle_create)            \
  X(hsa_amd_vmem_handle_release) X(hsa_amd_vmem_map) X(hsa_amd_vmem_unmap) X(hsa_amd_vmem_set_access)   \
  X(hsa_amd_svm_attributes_set) X(hsa_amd_svm_prefetch_async)
// clang-format on

struct Queue {
  hsa_queue_t* handle = nullptr;
  hsa_signal_t done{};
  std::atomic<uint32_t> status{0};  // hsa_status_t that stopped it
  std::atomic<bool> aborted{false};
};

struct Executable {
  std::vector<uint8_t> bytes;
  hsa_code_object_reader_t reader{};
  hsa_executable_t executable{};
};

// Never destroyed: the runtime calls back from threads of its own.
struct State {
#define WAVESMITH_SLOT(name) decltype(::name)* name = nullptr;  // NOLINT(bugprone-macro-parentheses): a type
  WAVESMITH_ROCM_API(WAVESMITH_SLOT)
  WAVESMITH_ROCM_VMEM(WAVESMITH_SLOT)
#undef WAVESMITH_SLOT
  void* library = nullptr;
  std::string path;
  bool started = false;
  std::vector<hsa_agent_t> gpus;
  hsa_agent_t cpu{};
  hsa_amd_memory_pool_t kernarg{};
  std::map<uint64_t, hsa_amd_memory_pool_t> coarse;  // by agent
  uint64_t frequency = 1000000000;
  hsa::LoaderTable loader{};
  std::atomic<uint64_t> faults{0};
  std::atomic<uint64_t> fault_address{0};
  std::map<uint64_t, hsa_amd_vmem_alloc_handle_t> handles;  // by reserved address
  std::map<uint64_t, Queue*> queues;
  std::map<uint64_t, Executable*> executables;
  bool has_svm = false;
  uint64_t next = 1;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

std::string TextOf(hsa_status_t status) {
  const char* text = nullptr;
  if (state().hsa_status_string != nullptr && state().hsa_status_string(status, &text) == HSA_STATUS_SUCCESS &&
      text != nullptr) {
    return text;
  }
  char number[32];
  std::snprintf(number, sizeof number, "HSA status 0x%x", static_cast<unsigned>(status));
  return number;
}

bool Failed(napi_env env, const char* what, hsa_status_t status) {
  if (status == HSA_STATUS_SUCCESS) return false;
  const bool memory = status == HSA_STATUS_ERROR_OUT_OF_RESOURCES || status == HSA_STATUS_ERROR_INVALID_ALLOCATION;
  Throw(env, memory ? "ROCM_OUT_OF_MEMORY" : "ROCM_FAILED", std::string(what) + ": " + TextOf(status));
  return true;
}

bool OpenLibrary(napi_env env, const std::string& path) {
  State& s = state();
  if (s.library != nullptr) {
    if (s.path == path) return true;
    Throw(env, "ROCM_FAILED", "This process has opened " + s.path + " already; one process has one HSA runtime.");
    return false;
  }
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    Throw(env, "ROCM_NO_LIBRARY", why == nullptr ? path : why);
    return false;
  }
  const char* missing = nullptr;
  const auto find = [&](const char* name, bool needed) {
    void* const symbol = dlsym(library, name);
    if (symbol == nullptr && needed && missing == nullptr) missing = name;
    return symbol;
  };
#define WAVESMITH_NEEDED(name) s.name = reinterpret_cast<decltype(s.name)>(find(#name, true));
#define WAVESMITH_OPTIONAL(name) s.name = reinterpret_cast<decltype(s.name)>(find(#name, false));
  WAVESMITH_ROCM_API(WAVESMITH_NEEDED)
  WAVESMITH_ROCM_VMEM(WAVESMITH_OPTIONAL)
#undef WAVESMITH_NEEDED
#undef WAVESMITH_OPTIONAL
  if (missing != nullptr) {
    Throw(env, "ROCM_NO_LIBRARY", path + " has no function " + missing + ".");
    dlclose(library);
    return false;
  }
  s.library = library;
  s.path = path;
  return true;
}

hsa_status_t OnAgent(hsa_agent_t agent, void*) {
  hsa_device_type_t type;
  if (state().hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS) return HSA_STATUS_SUCCESS;
  if (type == HSA_DEVICE_TYPE_GPU) state().gpus.push_back(agent);
  if (type == HSA_DEVICE_TYPE_CPU && state().cpu.handle == 0) state().cpu = agent;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t OnPool(hsa_amd_memory_pool_t pool, void* data) {
  State& s = state();
  const auto agent = *static_cast<hsa_agent_t*>(data);
  hsa_amd_segment_t segment;
  uint32_t flags = 0;
  s.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
  if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
  s.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
  if (agent.handle == s.cpu.handle) {
    if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) s.kernarg = pool;
  } else if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) {
    s.coarse.emplace(agent.handle, pool);
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t OnEvent(const hsa_amd_event_t* event, void*) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  state().fault_address = event->memory_fault.virtual_address;
  state().faults++;
  return HSA_STATUS_SUCCESS;
}

// What hsa_init finds, once for a process.
bool Discover(napi_env env) {
  State& s = state();
  s.gpus.clear();
  s.coarse.clear();
  s.cpu = {};
  if (Failed(env, "hsa_iterate_agents", s.hsa_iterate_agents(OnAgent, nullptr))) return false;
  for (hsa_agent_t agent : s.gpus) s.hsa_amd_agent_iterate_memory_pools(agent, OnPool, &agent);
  hsa_agent_t cpu = s.cpu;
  s.hsa_amd_agent_iterate_memory_pools(cpu, OnPool, &cpu);
  s.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &s.frequency);
  s.frequency = std::max<uint64_t>(s.frequency, 1000);
  s.hsa_system_get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof s.loader, &s.loader);
  s.hsa_amd_register_system_event_handler(OnEvent, nullptr);
  const auto svm = static_cast<hsa_system_info_t>(kSystemInfoSvmSupported);
  if (s.hsa_amd_svm_attributes_set == nullptr || s.hsa_amd_svm_prefetch_async == nullptr ||
      s.hsa_system_get_info(svm, &s.has_svm) != HSA_STATUS_SUCCESS) {
    s.has_svm = false;
  }
  return true;
}

// rocmOpen(library, gpu, ranges: BigUint64Array of starts and sizes): what the GPU is. The runtime starts with the first call and runs as long as
// the process. Before it starts, the ranges are held, so that the
// addresses that it takes for itself are others; the first one that is taken already is thrown.
napi_value Open(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  if (!OpenLibrary(env, a.Text(0))) return nullptr;
  const auto [data, size] = a.Bytes(2);
  const auto* const ranges = reinterpret_cast<const uint64_t*>(data);
  std::vector<std::pair<void*, size_t>> held;
  const auto release = [&] {
    for (const auto& [address, bytes] : held) munmap(address, bytes);
  };
  if (!s.started) {
    for (size_t n = 0; n + 1 < size; n += 2) {
      void* const wanted = reinterpret_cast<void*>(ranges[n]);
      void* const got = mmap(wanted, ranges[n + 1], PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
      if (got == wanted) {
        held.emplace_back(got, ranges[n + 1]);
        continue;
      }
      if (got != MAP_FAILED) munmap(got, ranges[n + 1]);
      release();
      char text[64];
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(ranges[n]));
      return Throw(env, "ROCM_ADDRESS_TAKEN", text);
    }
  }
  if (!s.started) {
    hsa_status_t status = s.hsa_init();
    release();
    // A runtime that must have one of the ranges for itself starts without them; whoever asks for that range is told.
    if (status != HSA_STATUS_SUCCESS && !held.empty()) status = s.hsa_init();
    // What AMD's runtime says without /dev/kfd.
    if (status == HSA_STATUS_ERROR_OUT_OF_RESOURCES) return Throw(env, "ROCM_NO_GPU", "0");
    if (Failed(env, "hsa_init", status) || !Discover(env)) return nullptr;
    s.started = true;
  }
  const uint64_t index = a.Number(1);
  if (index >= s.gpus.size() || s.coarse.count(s.gpus[index].handle) == 0) {
    return Throw(env, "ROCM_NO_GPU", std::to_string(s.gpus.size()));
  }
  const hsa_agent_t gpu = s.gpus[index];
  char product[64] = {};
  uint32_t units = 0;
  std::string isa;
  s.hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_PRODUCT_NAME), product);
  s.hsa_agent_get_info(gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units);
  s.hsa_agent_iterate_isas(
      gpu,
      [](hsa_isa_t one, void* to) {
        uint32_t length = 0;
        state().hsa_isa_get_info_alt(one, HSA_ISA_INFO_NAME_LENGTH, &length);
        std::string name(length, '\0');
        state().hsa_isa_get_info_alt(one, HSA_ISA_INFO_NAME, name.data());
        *static_cast<std::string*>(to) = name.c_str();
        return HSA_STATUS_INFO_BREAK;
      },
      &isa);
  napi_value result;
  napi_create_object(env, &result);
  Set(env, result, "product", std::string(product));
  Set(env, result, "isa", isa);
  Set(env, result, "computeUnits", units);
  Set(env, result, "gpus", s.gpus.size());
  Set(env, result, "agent", index);
  Set(env, result, "hasVirtualMemory", s.hsa_amd_vmem_address_reserve != nullptr ? 1 : 0);
  Set(env, result, "hasSharedMemory", s.has_svm ? 1 : 0);
  return result;
}

// rocmAllocate(gpu, size, isKernarg): address of memory that the GPU and copies reach.
napi_value Allocate(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const hsa_agent_t gpu = s.gpus[a.Number(0)];
  const bool kernarg = a.Number(2) != 0;
  void* address = nullptr;
  const hsa_amd_memory_pool_t pool = kernarg ? s.kernarg : s.coarse.at(gpu.handle);
  if (Failed(env, "hsa_amd_memory_pool_allocate", s.hsa_amd_memory_pool_allocate(pool, a.Number(1), 0, &address))) {
    return nullptr;
  }
  if (kernarg) {
    const hsa_status_t status = s.hsa_amd_agents_allow_access(1, &gpu, nullptr, address);
    if (status != HSA_STATUS_SUCCESS) s.hsa_amd_memory_pool_free(address);
    if (Failed(env, "hsa_amd_agents_allow_access", status)) return nullptr;
  }
  return Number(env, reinterpret_cast<uint64_t>(address));
}
napi_value Free(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  Failed(env, "hsa_amd_memory_pool_free", state().hsa_amd_memory_pool_free(reinterpret_cast<void*>(a.Number(0))));
  return nullptr;
}

// Maps a handle at an address that is reserved for it; what fails is undone.
hsa_status_t MapAt(hsa_agent_t gpu, uint64_t address, size_t size, size_t offset, hsa_amd_vmem_alloc_handle_t handle) {
  State& s = state();
  void* const at = reinterpret_cast<void*>(address);
  hsa_status_t status = s.hsa_amd_vmem_map(at, size, offset, handle, 0);
  if (status != HSA_STATUS_SUCCESS) return status;
  const hsa_amd_memory_access_desc_t access[] = {{HSA_ACCESS_PERMISSION_RW, gpu}, {HSA_ACCESS_PERMISSION_RW, s.cpu}};
  status = s.hsa_amd_vmem_set_access(at, size, access, 2);
  if (status != HSA_STATUS_SUCCESS) s.hsa_amd_vmem_unmap(at, size);
  return status;
}

// Reserves exactly these addresses. 0 when they cannot be had.
bool ReserveAt(uint64_t address, size_t size) {
  State& s = state();
  void* got = nullptr;
  if (s.hsa_amd_vmem_address_reserve(&got, size, address, 0) != HSA_STATUS_SUCCESS) return false;
  if (reinterpret_cast<uint64_t>(got) == address) return true;
  s.hsa_amd_vmem_address_free(got, size);
  return false;
}

// rocmReserve(gpu, address, size): true with memory at exactly this address, false when it cannot be had. Whole pages.
napi_value Reserve(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const hsa_agent_t gpu = s.gpus[a.Number(0)];
  const uint64_t address = a.Number(1);
  const size_t size = a.Number(2);
  napi_value result;
  if (!ReserveAt(address, size)) {
    napi_get_boolean(env, false, &result);
    return result;
  }
  hsa_amd_vmem_alloc_handle_t handle{};
  constexpr hsa_amd_memory_type_t kPinned = 1;
  hsa_status_t status = s.hsa_amd_vmem_handle_create(s.coarse.at(gpu.handle), size, kPinned, 0, &handle);
  if (status == HSA_STATUS_SUCCESS) {
    status = MapAt(gpu, address, size, 0, handle);
    if (status != HSA_STATUS_SUCCESS) s.hsa_amd_vmem_handle_release(handle);
  }
  if (status != HSA_STATUS_SUCCESS) s.hsa_amd_vmem_address_free(reinterpret_cast<void*>(address), size);
  if (Failed(env, "hsa_amd_vmem_map", status)) return nullptr;
  s.handles[address] = handle;
  napi_get_boolean(env, true, &result);
  return result;
}

// rocmMap(gpu, address, size, reserved, offset): the same memory at a second address. False when that cannot be had.
napi_value Map(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const uint64_t address = a.Number(1);
  const size_t size = a.Number(2);
  napi_value result;
  if (!ReserveAt(address, size)) {
    napi_get_boolean(env, false, &result);
    return result;
  }
  const hsa_status_t status = MapAt(s.gpus[a.Number(0)], address, size, a.Number(4), s.handles.at(a.Number(3)));
  if (status != HSA_STATUS_SUCCESS) s.hsa_amd_vmem_address_free(reinterpret_cast<void*>(address), size);
  if (Failed(env, "hsa_amd_vmem_map", status)) return nullptr;
  napi_get_boolean(env, true, &result);
  return result;
}

// rocmUnreserve(address, size): ends what rocmReserve or rocmMap made.
napi_value Unreserve(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  void* const at = reinterpret_cast<void*>(a.Number(0));
  if (Failed(env, "hsa_amd_vmem_unmap", s.hsa_amd_vmem_unmap(at, a.Number(1)))) return nullptr;
  if (auto node = s.handles.extract(a.Number(0))) s.hsa_amd_vmem_handle_release(node.mapped());
  Failed(env, "hsa_amd_vmem_address_free", s.hsa_amd_vmem_address_free(at, a.Number(1)));
  return nullptr;
}

// rocmRead(address, bytes), rocmWrite(address, bytes), rocmCopy(to, from, size), rocmClear(address, size: a multiple of 4).
napi_value Read(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  const auto [data, size] = a.Bytes(1);
  if (size > 0)
    Failed(env, "hsa_memory_copy", state().hsa_memory_copy(data, reinterpret_cast<void*>(a.Number(0)), size));
  return nullptr;
}
napi_value Write(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  const auto [data, size] = a.Bytes(1);
  if (size > 0)
    Failed(env, "hsa_memory_copy", state().hsa_memory_copy(reinterpret_cast<void*>(a.Number(0)), data, size));
  return nullptr;
}
napi_value Copy(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  Failed(
      env, "hsa_memory_copy",
      state().hsa_memory_copy(reinterpret_cast<void*>(a.Number(0)), reinterpret_cast<void*>(a.Number(1)), a.Number(2)));
  return nullptr;
}
napi_value Clear(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  Failed(env, "hsa_amd_memory_fill",
         state().hsa_amd_memory_fill(reinterpret_cast<void*>(a.Number(0)), 0, a.Number(1) / 4));
  return nullptr;
}

void Release(Executable* e) {
  State& s = state();
  if (e->executable.handle != 0) s.hsa_executable_destroy(e->executable);
  if (e->reader.handle != 0) s.hsa_code_object_reader_destroy(e->reader);
  delete e;
}

// rocmPlaceCode(gpu, address, image, ranges: BigUint64Array of starts and sizes): true with the image at exactly this address, executable in the
// ranges; false when the address cannot be had. Whole pages. Memory that the loader allocates is executable, but nobody chooses its address;
// hsa_amd_vmem_map chooses it, but maps nothing that is executable; shared virtual memory is both. Instruction caches are invalidated when a code
// object is loaded: load one after this.
napi_value PlaceCode(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const hsa_agent_t gpu = s.gpus[a.Number(0)];
  void* const at = reinterpret_cast<void*>(a.Number(1));
  const auto [image, size] = a.Bytes(2);
  const auto [data, count] = a.Bytes(3);
  napi_value result;
  void* got = MAP_FAILED;
  if (at != nullptr && image != nullptr && size > 0) {
    got = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  }
  if (got != at || got == nullptr || image == nullptr) {
    if (got != MAP_FAILED) munmap(got, size);
    napi_get_boolean(env, false, &result);
    return result;
  }
  std::memcpy(at, image, size);
  constexpr uint64_t kPreferredLocation = 4, kGpuExec = 7, kAccessibleInPlace = 0x201;
  hsa_amd_svm_attribute_pair_t access[] = {{kAccessibleInPlace, gpu.handle}, {kPreferredLocation, gpu.handle}};
  hsa_status_t status = s.hsa_amd_svm_attributes_set(at, size, access, 2);
  const auto* const ranges = reinterpret_cast<const uint64_t*>(data);
  for (size_t n = 0; n + 1 < count && status == HSA_STATUS_SUCCESS; n += 2) {
    hsa_amd_svm_attribute_pair_t executable[] = {{kGpuExec, 1}};
    status = s.hsa_amd_svm_attributes_set(reinterpret_cast<void*>(ranges[n]), ranges[n + 1], executable, 1);
  }
  if (status != HSA_STATUS_SUCCESS) munmap(at, size);
  if (Failed(env, "hsa_amd_svm_attributes_set", status)) return nullptr;
  // Where the pages are is a matter of speed alone: a GPU that cannot have them reads them where they are.
  hsa_signal_t there{};
  if (s.hsa_signal_create(1, 0, nullptr, &there) == HSA_STATUS_SUCCESS) {
    if (s.hsa_amd_svm_prefetch_async(at, size, gpu, 0, nullptr, there) == HSA_STATUS_SUCCESS) {
      s.hsa_signal_wait_scacquire(there, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED);
    }
    s.hsa_signal_destroy(there);
  }
  napi_get_boolean(env, true, &result);
  return result;
}

// rocmRemoveCode(gpu, address, size): ends what rocmPlaceCode made.
napi_value RemoveCode(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  void* const at = reinterpret_cast<void*>(a.Number(1));
  constexpr uint64_t kGpuExec = 7, kNoAccess = 0x202;
  hsa_amd_svm_attribute_pair_t none[] = {{kNoAccess, state().gpus[a.Number(0)].handle}, {kGpuExec, 0}};
  const hsa_status_t status = state().hsa_amd_svm_attributes_set(at, a.Number(2), none, 2);
  munmap(at, a.Number(2));
  Failed(env, "hsa_amd_svm_attributes_set", status);
  return nullptr;
}

// rocmLoad(gpu, bytes): { handle, delta } with the load address of virtual address 0.
napi_value Load(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const hsa_agent_t gpu = s.gpus[a.Number(0)];
  const auto [data, size] = a.Bytes(1);
  auto* const made = new Executable{{data, data + size}};
  const char* what = "hsa_code_object_reader_create_from_memory";
  hsa_status_t status = s.hsa_code_object_reader_create_from_memory(made->bytes.data(), size, &made->reader);
  if (status == HSA_STATUS_SUCCESS) {
    what = "hsa_executable_create_alt";
    status = s.hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr,
                                         &made->executable);
  }
  hsa_loaded_code_object_t loaded{};
  if (status == HSA_STATUS_SUCCESS) {
    what = "hsa_executable_load_agent_code_object";
    status = s.hsa_executable_load_agent_code_object(made->executable, gpu, made->reader, nullptr, &loaded);
  }
  if (status == HSA_STATUS_SUCCESS) {
    what = "hsa_executable_freeze";
    status = s.hsa_executable_freeze(made->executable, nullptr);
  }
  uint64_t delta = 0;
  if (status == HSA_STATUS_SUCCESS) {
    constexpr uint32_t kInfoDelta = 8;
    what = "hsa_ven_amd_loader_loaded_code_object_get_info";
    status = s.loader.loaded_code_object_get_info == nullptr
                 ? kStatusNotSupported
                 : s.loader.loaded_code_object_get_info({loaded.handle}, kInfoDelta, &delta);
  }
  if (status != HSA_STATUS_SUCCESS) Release(made);
  if (Failed(env, what, status)) return nullptr;
  const uint64_t handle = s.next++;
  s.executables[handle] = made;
  napi_value result;
  napi_create_object(env, &result);
  Set(env, result, "handle", handle);
  Set(env, result, "delta", delta);
  return result;
}
napi_value Unload(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  if (auto node = state().executables.extract(a.Number(0))) Release(node.mapped());
  return nullptr;
}

// rocmQueue(gpu): a handle.
napi_value CreateQueue(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  auto* const queue = new Queue;
  hsa_status_t status = s.hsa_queue_create(
      s.gpus[a.Number(0)], 64, HSA_QUEUE_TYPE_MULTI,
      [](hsa_status_t why, hsa_queue_t*, void* data) {
        static_cast<Queue*>(data)->status = static_cast<uint32_t>(why);
      },
      queue, UINT32_MAX, UINT32_MAX, &queue->handle);
  if (status == HSA_STATUS_SUCCESS) status = s.hsa_signal_create(1, 0, nullptr, &queue->done);
  if (status != HSA_STATUS_SUCCESS) delete queue;
  if (Failed(env, "hsa_queue_create", status)) return nullptr;
  s.hsa_amd_profiling_set_profiler_enabled(queue->handle, 1);
  const uint64_t handle = s.next++;
  s.queues[handle] = queue;
  napi_value result;
  napi_create_object(env, &result);
  Set(env, result, "handle", handle);
  Set(env, result, "address", reinterpret_cast<uint64_t>(queue->handle));
  return result;
}
// rocmEndQueue(queue): what runs in it ends. The queue stays allocated: callbacks of a failed one may come late.
napi_value EndQueue(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  if (auto node = state().queues.extract(a.Number(0))) {
    state().hsa_queue_destroy(node.mapped()->handle);
    if (node.mapped()->status == 0) state().hsa_signal_destroy(node.mapped()->done);
  }
  return nullptr;
}
// rocmAbort(queue): the dispatch that is waited for resolves as `aborted`.
napi_value Abort(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  const auto found = state().queues.find(a.Number(0));
  if (found != state().queues.end()) found->second->aborted = true;
  return nullptr;
}

enum class Outcome : uint32_t { kDone, kFault, kTimeout, kAborted };

struct Dispatch {
  napi_deferred deferred = nullptr;
  napi_async_work work = nullptr;
  hsa_agent_t gpu{};
  Queue* queue = nullptr;
  uint64_t faults = 0;
  std::chrono::steady_clock::time_point deadline;
  Outcome outcome = Outcome::kDone;
  uint64_t nanoseconds = 0;
};

// On a thread of the pool.
void Wait(napi_env, void* data) {
  auto* const d = static_cast<Dispatch*>(data);
  State& s = state();
  const uint64_t tick = s.frequency / 500;
  while (s.hsa_signal_wait_scacquire(d->queue->done, HSA_SIGNAL_CONDITION_LT, 1, tick, HSA_WAIT_STATE_BLOCKED) >= 1) {
    if (s.faults != d->faults || d->queue->status != 0) {
      d->outcome = Outcome::kFault;
    } else if (d->queue->aborted) {
      d->outcome = Outcome::kAborted;
    } else if (std::chrono::steady_clock::now() > d->deadline) {
      d->outcome = Outcome::kTimeout;
    } else {
      continue;
    }
    return;
  }
  if (s.faults != d->faults || d->queue->status != 0) d->outcome = Outcome::kFault;
  hsa_amd_profiling_dispatch_time_t time{};
  if (s.hsa_amd_profiling_get_dispatch_time(d->gpu, d->queue->done, &time) == HSA_STATUS_SUCCESS) {
    d->nanoseconds =
        static_cast<uint64_t>(static_cast<double>(time.end - time.start) * 1e9 / static_cast<double>(s.frequency));
  }
}

void Finish(napi_env env, napi_status, void* data) {
  auto* const d = static_cast<Dispatch*>(data);
  static const char* const kNames[] = {"done", "fault", "timeout", "aborted"};
  napi_value result;
  napi_create_object(env, &result);
  Set(env, result, "outcome", std::string(kNames[static_cast<uint32_t>(d->outcome)]));
  Set(env, result, "nanoseconds", d->nanoseconds);
  Set(env, result, "status", d->queue->status);
  Set(env, result, "statusText",
      d->queue->status == 0 ? "" : TextOf(static_cast<hsa_status_t>(d->queue->status.load())));
  const bool memory = state().faults != d->faults;
  Set(env, result, "isMemoryFault", memory ? 1 : 0);
  Set(env, result, "address", memory ? state().fault_address.load() : 0);
  napi_resolve_deferred(env, d->deferred, result);
  napi_delete_async_work(env, d->work);
  delete d;
}

// rocmDispatch(gpu, queue, packet, milliseconds): submits a kernel dispatch packet (its completion signal is filled in) and waits for it, at most
// so long. Promise of { outcome: done, fault, timeout, aborted; nanoseconds; … }. One at a time in a queue.
napi_value Run(napi_env env, napi_callback_info info) {
  const Arguments a(env, info);
  State& s = state();
  const auto found = s.queues.find(a.Number(1));
  const auto [bytes, size] = a.Bytes(2);
  if (found == s.queues.end() || size != 64)
    return Throw(env, "ROCM_FAILED", "rocmDispatch takes a queue and a packet");
  Queue* const queue = found->second;
  auto* const d = new Dispatch;
  d->gpu = s.gpus[a.Number(0)];
  d->queue = queue;
  d->faults = s.faults;
  d->deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(a.Number(3));
  queue->aborted = false;
  s.hsa_signal_store_screlease(queue->done, 1);
  hsa_kernel_dispatch_packet_t packet;
  std::memcpy(&packet, bytes, sizeof packet);
  packet.completion_signal = queue->done;
  const uint64_t index = s.hsa_queue_add_write_index_screlease(queue->handle, 1);
  auto* const slot = static_cast<uint8_t*>(queue->handle->base_address) + 64 * (index & (queue->handle->size - 1));
  std::memcpy(slot + 4, reinterpret_cast<const uint8_t*>(&packet) + 4, sizeof packet - 4);
  uint32_t head;
  std::memcpy(&head, &packet, sizeof head);
  __atomic_store_n(reinterpret_cast<uint32_t*>(slot), head, __ATOMIC_RELEASE);
  s.hsa_signal_store_screlease(queue->handle->doorbell_signal, static_cast<hsa_signal_value_t>(index));
  napi_value promise, name;
  napi_create_promise(env, &d->deferred, &promise);
  napi_create_string_utf8(env, "rocmDispatch", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, nullptr, name, Wait, Finish, d, &d->work);
  napi_queue_async_work(env, d->work);
  return promise;
}

}  // namespace

void ExportRocm(napi_env env, napi_value exports) {
  const std::pair<const char*, napi_callback> functions[] = {
      {"rocmOpen", Open},
      {"rocmAllocate", Allocate},
      {"rocmFree", Free},
      {"rocmReserve", Reserve},
      {"rocmMap", Map},
      {"rocmUnreserve", Unreserve},
      {"rocmRead", Read},
      {"rocmWrite", Write},
      {"rocmCopy", Copy},
      {"rocmClear", Clear},
      {"rocmLoad", Load},
      {"rocmUnload", Unload},
      {"rocmPlaceCode", PlaceCode},
      {"rocmRemoveCode", RemoveCode},
      {"rocmQueue", CreateQueue},
      {"rocmEndQueue", EndQueue},
      {"rocmAbort", Abort},
      {"rocmDispatch", Run},
  };
  for (const auto& [name, callback] : functions) {
    napi_value function;
    napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
    napi_set_named_property(env, exports, name, function);
  }
}

}  // namespace wavesmith
// NOLINTEND(clang-analyzer-core.CallAndMessage)
