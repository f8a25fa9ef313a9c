// hsa_init, hsa_shut_down, tools, memory of the process, faults. Sources: HSA Runtime Specification 1.2, section 2.1; ROCr's tool loading
// (runtime.cpp, LoadTools): HSA_TOOLS_LIB, OnLoad, OnUnload.
#include "hsa/runtime.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hsa/tables.h"

namespace wavesmith::hsa {
namespace {

std::mutex lifetime;
std::atomic<Runtime*> current{nullptr};
uint64_t references = 0;

// Names of HSA_TOOLS_LIB: separated by spaces; double quotes and backslashes protect characters.
std::vector<std::string> ToolNames(const char* text) {
  std::vector<std::string> names;
  std::string name;
  bool quoted = false;
  for (const char* p = text; *p != '\0'; p++) {
    if (*p == '\\' && p[1] != '\0') {
      name += *++p;
    } else if (*p == '"') {
      quoted = !quoted;
    } else if (*p == ' ' && !quoted) {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
    } else {
      name += *p;
    }
  }
  if (!name.empty()) names.push_back(std::move(name));
  return names;
}

using OnLoad = bool (*)(ApiTable*, uint64_t, uint64_t, const char* const*);

}  // namespace

Runtime* Runtime::Get() { return current.load(std::memory_order_acquire); }

hsa_status_t Runtime::Acquire() {
  const std::lock_guard lock(lifetime);
  if (references++ > 0) return HSA_STATUS_SUCCESS;
  std::string why;
  auto* runtime = new Runtime;
  runtime->client_.reset(Client::Connect(&why));
  if (runtime->client_ == nullptr) {
    std::fprintf(stderr, "wavesmith: %s\n", why.c_str());
    delete runtime;
    references = 0;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  runtime->client_->OnFault([runtime](const wavesmith::Fault& fault) { runtime->Fault(fault); });
  runtime->client_->OnDeath([runtime] { runtime->DeviceDied(); });
  ResetTables();
  current.store(runtime, std::memory_order_release);
  runtime->LoadTools();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::Release() {
  const std::lock_guard lock(lifetime);
  Runtime* const runtime = Get();
  if (runtime == nullptr) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  if (--references > 0) return HSA_STATUS_SUCCESS;
  runtime->UnloadTools();
  StopSignalThread();
  DropExecutables();
  // From here on the end of the connection is ours, not the device's.
  runtime->client_->OnDeath(nullptr);
  current.store(nullptr, std::memory_order_release);
  const uint64_t window = runtime->device().hello.window_address;
  const uint64_t size = runtime->device().hello.window_size;
  runtime->client_.reset();
  munmap(reinterpret_cast<void*>(window), size);
  delete runtime;
  return HSA_STATUS_SUCCESS;
}

void Runtime::LoadTools() {
  const char* list = std::getenv("HSA_TOOLS_LIB");
  if (list == nullptr || *list == '\0') return;
  const char* report = std::getenv("HSA_TOOLS_REPORT_LOAD_FAILURE");
  const bool reports = report != nullptr && std::strcmp(report, "1") == 0;
  std::vector<std::string> failed;
  for (const std::string& name : ToolNames(list)) {
    void* const library = dlopen(name.c_str(), RTLD_NOW);
    const auto on_load = library == nullptr ? nullptr : reinterpret_cast<OnLoad>(dlsym(library, "OnLoad"));
    std::vector<const char*> failures;
    for (const std::string& failure : failed) failures.push_back(failure.c_str());
    ApiTable& tables = Tables();
    if (on_load != nullptr && on_load(&tables, tables.version.major_id, failures.size(), failures.data())) {
      tools_.push_back(library);
      continue;
    }
    if (reports) {
      const char* const error = library == nullptr ? dlerror() : "it has no OnLoad or refused";
      std::fprintf(stderr, "Tool lib \"%s\" failed to load. %s\n", name.c_str(), error);
    }
    if (library != nullptr) dlclose(library);
    failed.push_back(name);
  }
}

void Runtime::UnloadTools() {
  for (size_t n = tools_.size(); n-- > 0;) {
    if (const auto on_unload = reinterpret_cast<void (*)()>(dlsym(tools_[n], "OnUnload"))) on_unload();
  }
  ResetTables();
  for (size_t n = tools_.size(); n-- > 0;) dlclose(tools_[n]);
  tools_.clear();
}

uint64_t Runtime::Allocate(uint64_t size, uint64_t alignment, uint64_t pool, hsa_status_t* status) {
  const AllocateRequest request{size, alignment, 0};
  const Answer answer = client_->Request(MessageType::kAllocate, Writer().Put(request).bytes());
  if (!answer.ok) {
    *status = answer.error == ErrorCode::kOutOfMemory ? HSA_STATUS_ERROR_OUT_OF_RESOURCES : HSA_STATUS_ERROR;
    return 0;
  }
  const uint64_t address = Reader(answer.payload).Get<uint64_t>();
  Allocation allocation;
  allocation.address = allocation.host_address = address;
  allocation.size = size;
  allocation.pool = pool;
  const std::lock_guard lock(mutex_);
  allocations_[address] = std::move(allocation);
  *status = HSA_STATUS_SUCCESS;
  return address;
}

bool Runtime::Free(uint64_t address) {
  Allocation allocation;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.type != HSA_EXT_POINTER_TYPE_HSA) return false;
    allocation = std::move(found->second);
    allocations_.erase(found);
  }
  for (const auto& [callback, data] : allocation.on_free) callback(reinterpret_cast<void*>(address), data);
  client_->Request(MessageType::kFree, Writer().Put(address).bytes());
  return true;
}

hsa_status_t Runtime::Lock(void* host, uint64_t size, void** agent_address) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = reinterpret_cast<uint64_t>(host) & ~(page - 1);
  const uint64_t end = (reinterpret_cast<uint64_t>(host) + size + page - 1) & ~(page - 1);
  const AdoptRequest request{begin, end - begin};
  const Answer answer = client_->Request(MessageType::kAdopt, Writer().Put(request).bytes());
  if (!answer.ok) {
    return answer.error == ErrorCode::kOutOfMemory ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                                   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const uint64_t offset = Reader(answer.payload).Get<uint64_t>();
  auto* const pages = reinterpret_cast<void*>(begin);
  std::memcpy(reinterpret_cast<void*>(device().hello.window_address + offset), pages, end - begin);
  // The range becomes the device's pages; its content is the same.
  if (mmap(pages, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, client_->memory_fd(),
           static_cast<off_t>(offset)) == MAP_FAILED) {
    client_->Request(MessageType::kDisown, Writer().Put(begin).bytes());
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  Allocation allocation;
  allocation.address = begin;
  allocation.host_address = begin;
  allocation.size = end - begin;
  allocation.type = HSA_EXT_POINTER_TYPE_LOCKED;
  allocation.pool = kCpuFinePool;
  const std::lock_guard lock(mutex_);
  allocations_[begin] = std::move(allocation);
  *agent_address = host;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::Unlock(void* host) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = reinterpret_cast<uint64_t>(host) & ~(page - 1);
  uint64_t size;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(begin);
    if (found == allocations_.end() || found->second.type != HSA_EXT_POINTER_TYPE_LOCKED) {
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    size = found->second.size;
    allocations_.erase(found);
  }
  // Private pages again, with what the device wrote.
  const std::vector<uint8_t> content(reinterpret_cast<uint8_t*>(begin), reinterpret_cast<uint8_t*>(begin) + size);
  if (mmap(reinterpret_cast<void*>(begin), size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
           0) == MAP_FAILED) {
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  std::memcpy(reinterpret_cast<void*>(begin), content.data(), size);
  client_->Request(MessageType::kDisown, Writer().Put(begin).bytes());
  return HSA_STATUS_SUCCESS;
}

bool Runtime::Find(uint64_t address, Allocation* found) {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  const Allocation& candidate = (--after)->second;
  if (address - candidate.address >= candidate.size) return false;
  *found = candidate;
  return true;
}

bool Runtime::Change(uint64_t address, const std::function<void(Allocation&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  change(found->second);
  return true;
}

void Runtime::OnSystemEvent(hsa_amd_system_event_callback_t callback, void* data) {
  const std::lock_guard lock(mutex_);
  event_handlers_.emplace_back(callback, data);
}

// ROCr's behaviour: system event handlers first; without one a memory fault is printed and ends the process. Other errors go to the queue's callback.
void Runtime::Fault(const wavesmith::Fault& fault) {
  std::fprintf(stderr, "%s\n", fault.text.c_str());
  hsa_status_t status = HSA_STATUS_ERROR_EXCEPTION;
  if (fault.kind == FaultKind::kMemory) {
    status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT);
    hsa_amd_event_t event{};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault.agent = {kGpuAgent};
    event.memory_fault.virtual_address = fault.address & ~0xfffull;
    event.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
    std::vector<std::pair<hsa_amd_system_event_callback_t, void*>> handlers;
    {
      const std::lock_guard lock(mutex_);
      handlers = event_handlers_;
    }
    for (const auto& [callback, data] : handlers) callback(&event, data);
    if (!handlers.empty()) return;
    std::fprintf(stderr,
                 "Memory access fault by GPU node-1 (Agent handle: 0x%llx) on address 0x%llx. Reason: Page not present or "
                 "supervisor privilege.\n",
                 static_cast<unsigned long long>(kGpuAgent),
                 static_cast<unsigned long long>(fault.address & ~0xfffull));
    std::fflush(nullptr);
    std::abort();
  }
  if (fault.kind == FaultKind::kIllegalInstruction) {
    status = static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
  }
  if (!QueueFault(fault.queue, status)) {
    std::fflush(nullptr);
    std::abort();
  }
}

void Runtime::DeviceDied() {
  std::fprintf(stderr, "wavesmith: the device process has ended; the program cannot go on.\n");
  std::fflush(nullptr);
  std::_Exit(134);
}

}  // namespace wavesmith::hsa

namespace impl {

hsa_status_t hsa_init() { return wavesmith::hsa::Runtime::Acquire(); }
hsa_status_t hsa_shut_down() { return wavesmith::hsa::Runtime::Release(); }

hsa_status_t hsa_amd_register_system_event_handler(hsa_amd_system_event_callback_t callback, void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  runtime->OnSystemEvent(callback, data);
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
