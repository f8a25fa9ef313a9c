// Signals: all atomics, waits, groups, asynchronous handlers. Sources: HSA Runtime Specification 1.2, section 2.4; futex(2), futex_waitv.
#include "hsa/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <set>
#include <thread>

namespace wavesmith::hsa {
namespace {

constexpr int64_t kDoorbellKind = AMD_SIGNAL_KIND_DOORBELL;
constexpr uint64_t kSlab = uint64_t{64} * 1024;
// How long a wait looks by itself before it sleeps: an empty kernel takes 15 to 20 µs when the device has a core of its own. When it has not,
// the device runs as soon as this sleeps, and looking longer only adds to the time (measured on two busy cores: 100 µs more by 100 µs).
constexpr uint64_t kSpinNanoseconds = 30'000;
constexpr int kLooksPerClock = 16;
// GPU code may change a signal without waking anybody; sleepers look again after this long.
constexpr uint64_t kSlice = 2'000'000;
constexpr size_t kMaxFutexes = 120;

std::mutex slab_mutex;
// Never destroyed: tools are unloaded, and the runtime is shut down, after the destructors of a program's and of these libraries' objects.
auto& free_signals = *new std::vector<Signal*>;
// Those that other programs may have too: each has a page of its own.
auto& shared_signals = *new std::set<Signal*>;
constexpr uint64_t kSharedBytes = 4096;
// HSA_AMD_SIGNAL_IPC.
constexpr uint64_t kSharedAttribute = 2;

bool Holds(const Condition& c) {
  const int64_t now = LoadSignal(c.signal);
  switch (c.condition) {
    case HSA_SIGNAL_CONDITION_EQ:
      return now == c.value;
    case HSA_SIGNAL_CONDITION_NE:
      return now != c.value;
    case HSA_SIGNAL_CONDITION_LT:
      return now < c.value;
    default:
      return now >= c.value;
  }
}

uint64_t NowNanoseconds() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

// Sleeps until one of the signals or `wake` changes from what was seen before the conditions were tested.
void SleepOnAny(const Condition* conditions, const uint32_t* seen, size_t count, std::atomic<uint32_t>* wake,
                uint32_t wake_seen, uint64_t nanoseconds) {
  if (count == 1 && wake == nullptr) {
    SignalSleep(conditions[0].signal, seen[0], nanoseconds);
    return;
  }
  futex_waitv waiters[kMaxFutexes + 1];
  size_t n = 0;
  const auto add = [&](const void* word, uint32_t value, uint32_t flags) {
    waiters[n++] = {value, reinterpret_cast<uint64_t>(word), FUTEX_32 | flags, 0};
  };
  const size_t used = std::min(count, kMaxFutexes);
  for (size_t i = 0; i < used; i++) add(&conditions[i].signal->futex, seen[i], 0);
  if (wake != nullptr) add(wake, wake_seen, FUTEX_PRIVATE_FLAG);
  const uint64_t end = NowNanoseconds() + nanoseconds;
  timespec until{static_cast<time_t>(end / 1'000'000'000), static_cast<long>(end % 1'000'000'000)};
  for (size_t i = 0; i < used; i++) __atomic_add_fetch(&conditions[i].signal->sleepers, 1, __ATOMIC_SEQ_CST);
  constexpr long kFutexWaitv = 449;
  if (syscall(kFutexWaitv, waiters, n, 0, &until, CLOCK_MONOTONIC) < 0 && errno == ENOSYS) {
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
  }
  for (size_t i = 0; i < used; i++) __atomic_sub_fetch(&conditions[i].signal->sleepers, 1, __ATOMIC_SEQ_CST);
}

}  // namespace

Signal* NewSignal(Runtime& runtime, int64_t value, Doorbell* doorbell) {
  Signal* signal;
  {
    const std::lock_guard lock(slab_mutex);
    if (free_signals.empty()) {
      hsa_status_t status;
      const uint64_t slab = runtime.Allocate(kSlab, 4096, kCpuFinePool, &status);
      if (slab == 0) return nullptr;
      for (uint64_t at = kSlab; at > 0; at -= sizeof(Signal)) {
        free_signals.push_back(reinterpret_cast<Signal*>(slab + at - sizeof(Signal)));
      }
    }
    signal = free_signals.back();
    free_signals.pop_back();
  }
  *signal = Signal{};
  signal->kind = doorbell == nullptr ? static_cast<int64_t>(AMD_SIGNAL_KIND_USER) : kDoorbellKind;
  signal->owner = reinterpret_cast<uint64_t>(doorbell);
  __atomic_store_n(&signal->value, value, __ATOMIC_SEQ_CST);
  return signal;
}

void DeleteSignal(Signal* signal) {
  // Of an earlier life of the runtime, or deleted already: its memory is not this one's to give.
  if (signal->kind == AMD_SIGNAL_KIND_INVALID) return;
  signal->kind = AMD_SIGNAL_KIND_INVALID;
  const std::lock_guard lock(slab_mutex);
  // Last in, last out: a late wake of a deleted signal seldom meets its successor.
  free_signals.insert(free_signals.begin(), signal);
}

void DropSignals() {
  const std::lock_guard lock(slab_mutex);
  free_signals.clear();
  shared_signals.clear();
}

int64_t LoadSignal(const Signal* signal) { return __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST); }

namespace {

void Changed(Runtime& runtime, Signal* signal, int64_t value) {
  if (signal->kind == kDoorbellKind) {
    reinterpret_cast<Doorbell*>(signal->owner)->Ring(value);
  } else {
    SignalChanged(&runtime.client(), signal);
  }
}

}  // namespace

void StoreSignal(Runtime& runtime, Signal* signal, int64_t value) {
  __atomic_store_n(&signal->value, value, __ATOMIC_SEQ_CST);
  Changed(runtime, signal, value);
}

void SubtractSignal(Runtime& runtime, Signal* signal, int64_t value) {
  __atomic_fetch_sub(&signal->value, value, __ATOMIC_SEQ_CST);
  Changed(runtime, signal, 0);
}

size_t WaitAny(const Condition* conditions, size_t count, uint64_t nanoseconds, bool spin,
               std::atomic<uint32_t>* wake) {
  const uint64_t start = NowNanoseconds();
  const uint64_t end = nanoseconds > UINT64_MAX - start ? UINT64_MAX : start + nanoseconds;
  uint32_t wake_at_start = wake == nullptr ? 0 : wake->load();
  std::vector<uint32_t> seen(count);
  for (int round = 0;; round++) {
    for (size_t i = 0; i < count; i++) seen[i] = __atomic_load_n(&conditions[i].signal->futex, __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < count; i++) {
      if (Holds(conditions[i])) return i;
    }
    if (wake != nullptr && wake->load() != wake_at_start) return count;
    if (spin && round % kLooksPerClock != 0) {
      __builtin_ia32_pause();
      continue;
    }
    const uint64_t now = NowNanoseconds();
    if (now >= end) return count;
    if (spin && now - start < kSpinNanoseconds) continue;
    SleepOnAny(conditions, seen.data(), count, wake, wake_at_start, std::min(end - now, kSlice));
  }
}

uint64_t NowTicks() { return NowNanoseconds() / 10; }

// Asynchronous handlers ----------------------------------------------------------------------------------------------------------------

namespace {

struct Handler {
  Condition condition;
  hsa_amd_signal_handler callback;
  void* data;
};

class SignalThread {
 public:
  void Add(const Handler& handler) {
    const std::lock_guard lock(mutex_);
    handlers_.push_back(handler);
    if (!thread_.joinable()) {
      stop_ = false;
      thread_ = std::thread([this] { Run(); });
    }
    Wake();
  }
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      handlers_.clear();
      Wake();
    }
    if (thread_.joinable()) thread_.join();
    thread_ = {};
  }
  ~SignalThread() {
    if (thread_.joinable()) thread_.detach();
  }

 private:
  void Wake() {
    wake_.fetch_add(1);
    syscall(SYS_futex, &wake_, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr, 0);
  }
  void Run() {
    for (;;) {
      std::vector<Handler> handlers;
      {
        const std::lock_guard lock(mutex_);
        if (stop_) return;
        handlers = std::move(handlers_);
        handlers_.clear();
      }
      std::vector<Condition> conditions;
      conditions.reserve(handlers.size());
      for (const Handler& h : handlers) conditions.push_back(h.condition);
      const size_t met = WaitAny(conditions.data(), conditions.size(), kForever, false, &wake_);
      bool again = true;
      if (met < handlers.size()) {
        const Handler& h = handlers[met];
        again = h.callback(LoadSignal(h.condition.signal), h.data);
      }
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      if (met < handlers.size() && !again) handlers.erase(handlers.begin() + static_cast<ptrdiff_t>(met));
      handlers_.insert(handlers_.begin(), handlers.begin(), handlers.end());
    }
  }

  std::mutex mutex_;
  std::vector<Handler> handlers_;
  std::thread thread_;
  std::atomic<uint32_t> wake_{0};
  bool stop_ = false;
};

auto& signal_thread = *new SignalThread;

}  // namespace

void StopSignalThread() { signal_thread.Stop(); }

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face
using wavesmith::Signal;

namespace {

bool IsShared(hsa_signal_t signal) {
  const std::lock_guard lock(slab_mutex);
  return shared_signals.contains(SignalOf(signal));
}

}  // namespace

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t consumers_count, const hsa_agent_t* consumers,
                               hsa_signal_t* signal) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(signal != nullptr && (consumers_count == 0 || consumers != nullptr));
  Signal* const made = NewSignal(*runtime, value);
  if (made == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  signal->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t consumers_count, const hsa_agent_t* consumers,
                                   uint64_t attributes, hsa_signal_t* signal) {
  if ((attributes & kSharedAttribute) == 0) {
    return impl::hsa_signal_create(value, consumers_count, consumers, signal);
  }
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(signal != nullptr && (consumers_count == 0 || consumers != nullptr));
  hsa_status_t status;
  const uint64_t page = runtime->Allocate(kSharedBytes, kSharedBytes, kCpuFinePool, &status);
  if (page == 0) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  auto* const made = reinterpret_cast<Signal*>(page);
  *made = Signal{};
  made->kind = AMD_SIGNAL_KIND_USER;
  __atomic_store_n(&made->value, value, __ATOMIC_SEQ_CST);
  const std::lock_guard lock(slab_mutex);
  shared_signals.insert(made);
  signal->handle = page;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_destroy(hsa_signal_t signal) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(signal.handle != 0);
  if (IsShared(signal)) {
    // Another program may have it yet: only this one gives it back.
    runtime->Free(signal.handle);
    const std::lock_guard lock(slab_mutex);
    Allocation still;
    if (!runtime->Find(signal.handle, &still)) shared_signals.erase(SignalOf(signal));
    return HSA_STATUS_SUCCESS;
  }
  DeleteSignal(SignalOf(signal));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t signal, volatile hsa_signal_value_t** pointer) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(signal.handle != 0 && pointer != nullptr);
  *pointer = &SignalOf(signal)->value;
  return HSA_STATUS_SUCCESS;
}

#define WAVESMITH_LOAD(name) \
  hsa_signal_value_t name(hsa_signal_t signal) { return LoadSignal(SignalOf(signal)); }
WAVESMITH_LOAD(hsa_signal_load_relaxed)
WAVESMITH_LOAD(hsa_signal_load_scacquire)

#define WAVESMITH_STORE(name)                                                           \
  void name(hsa_signal_t signal, hsa_signal_value_t value) {                            \
    if (auto* runtime = Runtime::Get()) StoreSignal(*runtime, SignalOf(signal), value); \
  }
WAVESMITH_STORE(hsa_signal_store_relaxed)
WAVESMITH_STORE(hsa_signal_store_screlease)

#define WAVESMITH_SILENT(name)                                           \
  void name(hsa_signal_t signal, hsa_signal_value_t value) {             \
    __atomic_store_n(&SignalOf(signal)->value, value, __ATOMIC_SEQ_CST); \
  }
WAVESMITH_SILENT(hsa_signal_silent_store_relaxed)
WAVESMITH_SILENT(hsa_signal_silent_store_screlease)

// Every order is sequentially consistent, which is at least what each asks for.
#define WAVESMITH_UPDATE(name, builtin)                                                                 \
  void name(hsa_signal_t signal, hsa_signal_value_t value) {                                            \
    builtin(&SignalOf(signal)->value, value, __ATOMIC_SEQ_CST);                                         \
    if (auto* runtime = Runtime::Get()) wavesmith::SignalChanged(&runtime->client(), SignalOf(signal)); \
  }
#define WAVESMITH_UPDATES(operation, builtin)                   \
  WAVESMITH_UPDATE(hsa_signal_##operation##_relaxed, builtin)   \
  WAVESMITH_UPDATE(hsa_signal_##operation##_scacquire, builtin) \
  WAVESMITH_UPDATE(hsa_signal_##operation##_screlease, builtin) \
  WAVESMITH_UPDATE(hsa_signal_##operation##_scacq_screl, builtin)
WAVESMITH_UPDATES(and, __atomic_fetch_and)
WAVESMITH_UPDATES(or, __atomic_fetch_or)
WAVESMITH_UPDATES(xor, __atomic_fetch_xor)
WAVESMITH_UPDATES(add, __atomic_fetch_add)
WAVESMITH_UPDATES(subtract, __atomic_fetch_sub)

#define WAVESMITH_EXCHANGE(name)                                                                           \
  hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t value) {                                 \
    const hsa_signal_value_t old = __atomic_exchange_n(&SignalOf(signal)->value, value, __ATOMIC_SEQ_CST); \
    if (auto* runtime = Runtime::Get()) wavesmith::SignalChanged(&runtime->client(), SignalOf(signal));    \
    return old;                                                                                            \
  }
WAVESMITH_EXCHANGE(hsa_signal_exchange_relaxed)
WAVESMITH_EXCHANGE(hsa_signal_exchange_scacquire)
WAVESMITH_EXCHANGE(hsa_signal_exchange_screlease)
WAVESMITH_EXCHANGE(hsa_signal_exchange_scacq_screl)

#define WAVESMITH_CAS(name)                                                                             \
  hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t expected, hsa_signal_value_t value) { \
    __atomic_compare_exchange_n(&SignalOf(signal)->value, &expected, value, false, __ATOMIC_SEQ_CST,    \
                                __ATOMIC_SEQ_CST);                                                      \
    if (auto* runtime = Runtime::Get()) wavesmith::SignalChanged(&runtime->client(), SignalOf(signal)); \
    return expected;                                                                                    \
  }
WAVESMITH_CAS(hsa_signal_cas_relaxed)
WAVESMITH_CAS(hsa_signal_cas_scacquire)
WAVESMITH_CAS(hsa_signal_cas_screlease)
WAVESMITH_CAS(hsa_signal_cas_scacq_screl)

namespace {

// Timeouts are in ticks of the system clock (100 MHz).
uint64_t Nanoseconds(uint64_t ticks) { return ticks > UINT64_MAX / 10 ? kForever : ticks * 10; }

}  // namespace

#define WAVESMITH_WAIT(name)                                                                               \
  hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value, \
                          uint64_t timeout, hsa_wait_state_t state) {                                      \
    const Condition c{SignalOf(signal), condition, value};                                                 \
    WaitAny(&c, 1, Nanoseconds(timeout), true);                                                            \
    (void)state;                                                                                           \
    return LoadSignal(SignalOf(signal));                                                                   \
  }
WAVESMITH_WAIT(hsa_signal_wait_relaxed)
WAVESMITH_WAIT(hsa_signal_wait_scacquire)

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t,
                                 hsa_signal_value_t* satisfying) {
  std::vector<Condition> all;
  all.reserve(count);
  for (uint32_t i = 0; i < count; i++) all.push_back({SignalOf(signals[i]), conditions[i], values[i]});
  const size_t met = WaitAny(all.data(), all.size(), Nanoseconds(timeout), true);
  if (met >= count) return UINT32_MAX;
  if (satisfying != nullptr) *satisfying = LoadSignal(all[met].signal);
  return static_cast<uint32_t>(met);
}

// Each signal meets its condition once; 0, or the largest number when the time is over before all did.
uint32_t hsa_amd_signal_wait_all(uint32_t count, hsa_signal_t* signals, hsa_signal_condition_t* conditions,
                                 hsa_signal_value_t* values, uint64_t timeout, hsa_wait_state_t,
                                 hsa_signal_value_t* satisfying) {
  const uint64_t start = NowNanoseconds();
  const uint64_t limit = Nanoseconds(timeout);
  for (uint32_t i = 0; i < count; i++) {
    const Condition condition{SignalOf(signals[i]), conditions[i], values[i]};
    const uint64_t gone = NowNanoseconds() - start;
    const uint64_t left = limit == kForever ? kForever : limit - std::min(limit, gone);
    if (WaitAny(&condition, 1, left, true) != 0) return UINT32_MAX;
    if (satisfying != nullptr) satisfying[i] = LoadSignal(condition.signal);
  }
  return 0;
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler handler, void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handler != nullptr && signal.handle != 0);
  signal_thread.Add({{SignalOf(signal), condition, value}, handler, data});
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_async_function(void (*callback)(void*), void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  std::thread([callback, data] { callback(data); }).detach();
  return HSA_STATUS_SUCCESS;
}

namespace {

struct Group {
  std::vector<Signal*> signals;
};

hsa_status_t WaitGroup(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                       const hsa_signal_value_t* values, hsa_signal_t* signal, hsa_signal_value_t* value) {
  WAVESMITH_REQUIRE(group.handle != 0 && conditions != nullptr && values != nullptr && signal != nullptr &&
                    value != nullptr);
  const auto* g = reinterpret_cast<const Group*>(group.handle);
  std::vector<Condition> all;
  all.reserve(g->signals.size());
  for (size_t i = 0; i < g->signals.size(); i++) all.push_back({g->signals[i], conditions[i], values[i]});
  const size_t met = WaitAny(all.data(), all.size(), kForever, true);
  signal->handle = reinterpret_cast<uint64_t>(all[met].signal);
  *value = LoadSignal(all[met].signal);
  return HSA_STATUS_SUCCESS;
}

}  // namespace

hsa_status_t hsa_signal_group_create(uint32_t count, const hsa_signal_t* signals, uint32_t, const hsa_agent_t*,
                                     hsa_signal_group_t* group) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(count != 0 && signals != nullptr && group != nullptr);
  auto* made = new Group;
  for (uint32_t i = 0; i < count; i++) made->signals.push_back(SignalOf(signals[i]));
  group->handle = reinterpret_cast<uint64_t>(made);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_destroy(hsa_signal_group_t group) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(group.handle != 0);
  delete reinterpret_cast<Group*>(group.handle);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_group_wait_any_scacquire(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                                 const hsa_signal_value_t* values, hsa_wait_state_t,
                                                 hsa_signal_t* signal, hsa_signal_value_t* value) {
  return WaitGroup(group, conditions, values, signal, value);
}
hsa_status_t hsa_signal_group_wait_any_relaxed(hsa_signal_group_t group, const hsa_signal_condition_t* conditions,
                                               const hsa_signal_value_t* values, hsa_wait_state_t, hsa_signal_t* signal,
                                               hsa_signal_value_t* value) {
  return WaitGroup(group, conditions, values, signal, value);
}

hsa_status_t hsa_amd_ipc_signal_create(hsa_signal_t signal, hsa_amd_ipc_signal_t* handle) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr && IsShared(signal));
  return impl::hsa_amd_ipc_memory_create(SignalOf(signal), kSharedBytes, handle);
}
hsa_status_t hsa_amd_ipc_signal_attach(const hsa_amd_ipc_signal_t* handle, hsa_signal_t* signal) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handle != nullptr && signal != nullptr);
  void* page;
  const hsa_status_t status = impl::hsa_amd_ipc_memory_attach(handle, kSharedBytes, 0, nullptr, &page);
  if (status != HSA_STATUS_SUCCESS) return status;
  auto* const attached = static_cast<Signal*>(page);
  // The handle of other memory, or of a signal that is gone.
  if (attached->kind != AMD_SIGNAL_KIND_USER) {
    impl::hsa_amd_ipc_memory_detach(page);
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  const std::lock_guard lock(slab_mutex);
  shared_signals.insert(attached);
  signal->handle = reinterpret_cast<uint64_t>(page);
  return HSA_STATUS_SUCCESS;
}

}  // namespace impl
