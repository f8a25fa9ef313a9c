// Watched memory is compared with what was told of it, chunk by chunk: five times a second, and when the program has waited for a signal,
// so that a program that ends at once afterwards has told everything. Sources: HSA Runtime Specification 1.2, section 2.7
// (hsa_memory_copy reads memory of any agent); atexit(3), pthread_sigmask(3).
#include "tool/watch.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace wavesmith::tool {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPeriod{200};
// Memory above this size is compared after a wait only when that was not done for a while: 64 MiB take about 10 ms.
constexpr size_t kSmall = 1 << 16;
constexpr std::chrono::milliseconds kPause{100};

struct Watch {
  uint64_t address;
  std::vector<uint8_t> told;
  Clock::time_point last{};
};

// Never destroyed: the thread lives as long as the process.
struct State {
  std::mutex mutex;
  std::map<uint64_t, Watch> watches;  // by code
  // What is in memory now, a chunk at a time. Used when the process exits, where a thread's own variables are gone already.
  std::vector<uint8_t> now;
  bool started = false;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

// The caller holds the mutex.
void TellChanges(uint64_t code, Watch& watch) {
  std::vector<uint8_t>& now = state().now;
  now.resize(kChunkBytes);
  for (uint64_t offset = 0; offset < watch.told.size(); offset += kChunkBytes) {
    const size_t size = std::min<uint64_t>(kChunkBytes, watch.told.size() - offset);
    const auto* const from = reinterpret_cast<const void*>(watch.address + offset);
    if (original.core.hsa_memory_copy_fn(now.data(), from, size) != HSA_STATUS_SUCCESS) return;
    uint8_t* const told = watch.told.data() + offset;
    if (std::memcmp(now.data(), told, size) == 0) continue;
    std::memcpy(told, now.data(), size);
    const Bytes head = Writer().Put(code).Put(offset).Put(static_cast<uint32_t>(size)).bytes();
    Tell(ToolMessage::kWatched, {{head.data(), head.size()}, {now.data(), size}});
  }
  watch.last = Clock::now();
}

void TellLast(uint64_t code, Watch& watch) {
  TellChanges(code, watch);
  Tell(ToolMessage::kWatchedEnd, Writer().Put(CodeHandle{code}).bytes());
}

// The program has waited for something: kernels may have ended.
void Waited() {
  if (!Wavesmith()->alive()) return;
  const std::lock_guard lock(state().mutex);
  for (auto& [code, watch] : state().watches) {
    if (watch.told.size() <= kSmall || Clock::now() - watch.last > kPause) TellChanges(code, watch);
  }
}

hsa_signal_value_t WaitAcquire(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
                               uint64_t timeout, hsa_wait_state_t how) {
  const hsa_signal_value_t seen = original.core.hsa_signal_wait_scacquire_fn(signal, condition, value, timeout, how);
  Waited();
  return seen;
}
hsa_signal_value_t WaitRelaxed(hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t value,
                               uint64_t timeout, hsa_wait_state_t how) {
  const hsa_signal_value_t seen = original.core.hsa_signal_wait_relaxed_fn(signal, condition, value, timeout, how);
  Waited();
  return seen;
}

void Run() {
  for (;;) {
    std::this_thread::sleep_for(kPeriod);
    if (!Wavesmith()->alive()) return;
    const std::lock_guard lock(state().mutex);
    for (auto& [code, watch] : state().watches) TellChanges(code, watch);
  }
}

// Signals of the program are for its own threads.
void StartThread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(Run).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void AddWatch(uint64_t code, uint64_t address, uint64_t size) {
  const std::lock_guard lock(state().mutex);
  state().watches[code] = {address, std::vector<uint8_t>(size)};
  if (state().started) return;
  state().started = true;
  std::atexit([] { RemoveAllWatches(); });
  StartThread();
}

// In a child that only forked another thread may hold the lock for ever: it has no connection, and nothing to tell.
void RemoveWatch(uint64_t code) {
  if (!Wavesmith()->alive()) return;
  const std::lock_guard lock(state().mutex);
  const auto found = state().watches.find(code);
  if (found == state().watches.end()) return;
  TellLast(code, found->second);
  state().watches.erase(found);
}

void RemoveAllWatches() {
  if (!Wavesmith()->alive()) return;
  const std::lock_guard lock(state().mutex);
  for (auto& [code, watch] : state().watches) TellLast(code, watch);
  state().watches.clear();
}

void InstallWatch(hsa::CoreTable& core) {
  core.hsa_signal_wait_scacquire_fn = WaitAcquire;
  core.hsa_signal_wait_relaxed_fn = WaitRelaxed;
}

}  // namespace wavesmith::tool
