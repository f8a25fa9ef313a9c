// hsa_init, hsa_shut_down, tools, memory of the process, faults. Sources: HSA Runtime Specification 1.2, section 2.1; ROCr's tool loading
// (runtime.cpp, LoadTools): HSA_TOOLS_LIB, OnLoad, OnUnload.
#include "hsa/runtime.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "hsa/tables.h"

namespace wavesmith::hsa {
namespace {

std::mutex lifetime;
std::atomic<Runtime*> current{nullptr};
// Calls of hsa_init without their hsa_shut_down. From 0, and to 0, it changes under the lock.
std::atomic<int32_t> references{0};

// Counts one more or less where the runtime goes on either way.
bool CountFurther(int32_t change, int32_t at_least) {
  int32_t now = references.load();
  while (now >= at_least && now != INT32_MAX) {
    if (references.compare_exchange_weak(now, now + change)) return true;
  }
  return false;
}

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

// Copies pages, then calls mmap or mremap so that the copy takes their place. Nothing between may use the stack, which may be in these pages.
// Arguments of the system call in the order of its registers. Returns what the system call does.
int64_t CopyThenCall(void* to, const void* from, uint64_t bytes, int64_t call, const uint64_t (&arguments)[6]) {
  int64_t result;
  register uint64_t a2 asm("rdx") = arguments[2];
  register uint64_t a3 asm("r10") = arguments[3];
  register uint64_t a4 asm("r8") = arguments[4];
  register uint64_t a5 asm("r9") = arguments[5];
  register uint64_t a0 asm("r12") = arguments[0];
  register uint64_t a1 asm("r13") = arguments[1];
  asm volatile("rep movsb\n\tmov %%r12, %%rdi\n\tmov %%r13, %%rsi\n\tsyscall"
               : "=a"(result), "+D"(to), "+S"(from), "+c"(bytes)
               : "a"(call), "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
               : "r11", "memory", "cc");
  return result;
}

// What ROCr tells a queue's callback (AqlQueue::ExceptionHandler).
hsa_status_t StatusOf(FaultKind kind) {
  switch (kind) {
    case FaultKind::kIllegalInstruction:
      return static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION);
    case FaultKind::kDimensions:
      return HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS;
    case FaultKind::kGroupMemory:
      return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    case FaultKind::kCodeObject:
      return HSA_STATUS_ERROR_INVALID_CODE_OBJECT;
    case FaultKind::kPacket:
      return HSA_STATUS_ERROR_INVALID_PACKET_FORMAT;
    case FaultKind::kWorkgroup:
      return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    default:
      return HSA_STATUS_ERROR_EXCEPTION;
  }
}

using OnLoad = bool (*)(ApiTable*, uint64_t, uint64_t, const char* const*);

// AMD's runtime reserves addresses for shared virtual memory when it starts, where it finds room: what a program wants there later is taken.
// WAVESMITH_SVM_APERTURE asks for the same: BYTES at a random place, or BYTES@ADDRESS, which is a random place when that is not free.
void* aperture = nullptr;
size_t aperture_bytes = 0;

void ReserveAperture() {
  constexpr uint64_t kLow = 0x100000000000;
  constexpr uint64_t kHigh = 0x700000000000;
  constexpr uint64_t kUnit = 2 << 20;
  const char* const text = std::getenv("WAVESMITH_SVM_APERTURE");
  if (text == nullptr) return;
  char* end = nullptr;
  const uint64_t bytes = std::strtoull(text, &end, 0) / kUnit * kUnit;
  if (bytes == 0 || bytes >= kHigh - kLow) return;
  const uint64_t first = *end == '@' ? std::strtoull(end + 1, nullptr, 0) / kUnit * kUnit : 0;
  std::random_device random;
  for (int attempt = 0; attempt < 1000; attempt++) {
    const uint64_t unit = std::uniform_int_distribution<uint64_t>(0, (kHigh - kLow - bytes) / kUnit)(random);
    void* const wanted = reinterpret_cast<void*>(attempt == 0 && first != 0 ? first : kLow + unit * kUnit);
    void* const got =
        mmap(wanted, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) {
      aperture = got;
      aperture_bytes = bytes;
      return;
    }
    if (got != MAP_FAILED) munmap(got, bytes);
  }
}

}  // namespace

Runtime* Runtime::Get() { return current.load(std::memory_order_acquire); }

hsa_status_t Runtime::Acquire() {
  if (CountFurther(1, 1)) return HSA_STATUS_SUCCESS;
  const std::lock_guard lock(lifetime);
  if (references.load() == INT32_MAX) return static_cast<hsa_status_t>(HSA_STATUS_ERROR_REFCOUNT_OVERFLOW);
  if (references++ > 0) return HSA_STATUS_SUCCESS;
  std::string why;
  auto* runtime = new Runtime;
  runtime->owner_ = getpid();
  runtime->client_.reset(Client::Connect(&why));
  if (runtime->client_ == nullptr) {
    std::fprintf(stderr, "wavesmith: %s\n", why.c_str());
    delete runtime;
    references = 0;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  runtime->client_->OnFault([runtime](const wavesmith::Fault& fault) { runtime->Fault(fault); });
  runtime->client_->OnDeath([runtime] { runtime->DeviceDied(); });
  ReserveAperture();
  ResetTables();
  current.store(runtime, std::memory_order_release);
  runtime->LoadTools();
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::Release() {
  if (CountFurther(-1, 2)) return HSA_STATUS_SUCCESS;
  const std::lock_guard lock(lifetime);
  Runtime* const runtime = Get();
  if (runtime == nullptr) return HSA_STATUS_ERROR_NOT_INITIALIZED;
  // In a forked child the device, its threads and the tools are the parent's.
  if (getpid() != runtime->owner_) return HSA_STATUS_SUCCESS;
  if (--references > 0) return HSA_STATUS_SUCCESS;
  runtime->UnloadTools();
  if (aperture != nullptr) munmap(aperture, aperture_bytes);
  aperture = nullptr;
  StopSignalThread();
  DropExecutables();
  DropSignals();
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
    failures.reserve(failed.size());
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

uint64_t Runtime::Allocate(uint64_t size, uint64_t alignment, uint64_t pool, hsa_status_t* status, bool of_program) {
  const auto use =
      of_program ? HandleKind(pool) == kGpuCoarsePool ? MemoryUse::kDevice : MemoryUse::kHost : MemoryUse::kOwn;
  const AllocateRequest request{size, alignment, 0, static_cast<uint64_t>(use)};
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

hsa_status_t Runtime::Share(uint64_t address, uint64_t size, uint64_t pool) {
  const ShareRequest request{address, size};
  const Answer answer = client_->Request(MessageType::kShare, Writer().Put(request).bytes());
  if (!answer.ok) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::lock_guard lock(mutex_);
  const auto [at, added] = allocations_.try_emplace(address);
  if (!added) {
    at->second.shares++;
    return HSA_STATUS_SUCCESS;
  }
  at->second.address = at->second.host_address = address;
  at->second.size = size;
  at->second.pool = pool;
  return HSA_STATUS_SUCCESS;
}

bool Runtime::Free(uint64_t address) {
  Allocation allocation;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(address);
    if (found == allocations_.end() || found->second.type != HSA_EXT_POINTER_TYPE_HSA) return false;
    if (found->second.shares > 0) {
      found->second.shares--;
    } else {
      allocation = std::move(found->second);
      allocations_.erase(found);
    }
  }
  for (const auto& [pointer, callback, data] : allocation.on_free) callback(pointer, data);
  client_->Request(MessageType::kFree, Writer().Put(address).bytes());
  return true;
}

// Makes pages device memory: their content moves into the memfd, whose pages then stand at their address.
hsa_status_t Runtime::Adopt(uint64_t begin, uint64_t end) {
  const AdoptRequest request{begin, end - begin};
  const Answer answer = client_->Request(MessageType::kAdopt, Writer().Put(request).bytes());
  if (!answer.ok) {
    return answer.error == ErrorCode::kOutOfMemory ? HSA_STATUS_ERROR_OUT_OF_RESOURCES
                                                   : HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const uint64_t offset = Reader(answer.payload).Get<uint64_t>();
  auto* const pages = reinterpret_cast<void*>(begin);
  const uint64_t mapping[6] = {
      begin, end - begin, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, static_cast<uint64_t>(client_->memory_fd()),
      offset};
  if (CopyThenCall(reinterpret_cast<void*>(device().hello.window_address + offset), pages, end - begin, SYS_mmap,
                   mapping) < 0) {
    client_->Request(MessageType::kDisown, Writer().Put(begin).bytes());
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  adopted_[begin] = {end, 0};
  return HSA_STATUS_SUCCESS;
}

// Private pages again, with what the device wrote. They are filled elsewhere and moved into place, so that other threads always find them.
void Runtime::Disown(uint64_t begin, uint64_t end) {
  void* const fresh = mmap(nullptr, end - begin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh != MAP_FAILED) {
    const uint64_t move[6] = {reinterpret_cast<uint64_t>(fresh), end - begin, end - begin,
                              MREMAP_MAYMOVE | MREMAP_FIXED,     begin,       0};
    CopyThenCall(fresh, reinterpret_cast<void*>(begin), end - begin, SYS_mremap, move);
  }
  adopted_.erase(begin);
  client_->Request(MessageType::kDisown, Writer().Put(begin).bytes());
}

hsa_status_t Runtime::Lock(void* host, uint64_t size, void** agent_address) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t address = reinterpret_cast<uint64_t>(host);
  if (size > UINT64_MAX - page - address) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t begin = address & ~(page - 1);
  const uint64_t end = (address + size + page - 1) & ~(page - 1);
  const std::lock_guard locked(lock_mutex_);
  // Pages that other locks adopted stay; what is between them is adopted now.
  std::vector<uint64_t> added;
  uint64_t at = begin;
  while (at < end) {
    auto next = adopted_.upper_bound(at);
    if (next != adopted_.begin() && std::prev(next)->second.end > at) {
      at = std::prev(next)->second.end;
      continue;
    }
    const uint64_t until = next == adopted_.end() ? end : std::min(end, next->first);
    const hsa_status_t status = Adopt(at, until);
    if (status != HSA_STATUS_SUCCESS) {
      for (const uint64_t run : added) Disown(run, adopted_[run].end);
      return status;
    }
    added.push_back(at);
    at = until;
  }
  for (auto& [from, run] : adopted_) {
    if (from < end && run.end > begin) run.locks++;
  }
  locks_.emplace(address, size);
  Allocation allocation;
  allocation.address = address;
  allocation.host_address = address;
  allocation.size = size;
  allocation.type = HSA_EXT_POINTER_TYPE_LOCKED;
  allocation.pool = kCpuFinePool;
  const std::lock_guard lock(mutex_);
  allocations_[address] = std::move(allocation);
  *agent_address = host;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Runtime::Unlock(void* host) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t address = reinterpret_cast<uint64_t>(host);
  const std::lock_guard locked(lock_mutex_);
  const auto found = locks_.find(address);
  if (found == locks_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const uint64_t begin = address & ~(page - 1);
  const uint64_t end = (address + found->second + page - 1) & ~(page - 1);
  locks_.erase(found);
  if (!locks_.contains(address)) {
    const std::lock_guard lock(mutex_);
    allocations_.erase(address);
  }
  std::vector<std::pair<uint64_t, uint64_t>> unused;
  for (auto& [from, run] : adopted_) {
    if (from < end && run.end > begin && --run.locks == 0) unused.emplace_back(from, run.end);
  }
  for (const auto& [from, until] : unused) Disown(from, until);
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

uint64_t Runtime::UsedBytes() {
  constexpr uint64_t kPageBytes = 4096;
  const std::lock_guard lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [address, allocation] : allocations_) {
    bytes += (allocation.size + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  return bytes;
}

bool Runtime::Change(uint64_t address, const std::function<void(Allocation&)>& change) {
  const std::lock_guard lock(mutex_);
  const auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return false;
  Allocation& found = std::prev(after)->second;
  if (address - found.address >= found.size) return false;
  change(found);
  return true;
}

void Runtime::OnSystemEvent(hsa_amd_system_event_callback_t callback, void* data) {
  const std::lock_guard lock(mutex_);
  event_handlers_.emplace_back(callback, data);
}

// ROCr's behaviour: system event handlers first; without one a memory fault ends the process. Other errors go to the queue's callback.
void Runtime::Fault(const wavesmith::Fault& fault) {
  std::fprintf(stderr, "%s\n", fault.text.c_str());
  if (fault.kind == FaultKind::kMemory) {
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
    std::fprintf(
        stderr,
        "Memory access fault by GPU node-1 (Agent handle: 0x%llx) on address 0x%llx. Reason: Page not present or "
        "supervisor privilege.\n",
        static_cast<unsigned long long>(kGpuAgent), static_cast<unsigned long long>(fault.address & ~0xfffull));
    for (const auto& [callback, data] : handlers) callback(&event, data);
    if (!handlers.empty()) return;
    std::fflush(nullptr);
    std::abort();
  }
  if (!QueueFault(fault.queue, StatusOf(fault.kind))) {
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
