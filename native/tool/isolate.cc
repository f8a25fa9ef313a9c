// Isolation, on a thread of this library. The thread that submits a chosen dispatch puts it into its queue between two gates and waits.
//
// When the queue has come to the first gate, other threads wait before they submit, and earlier packets of other queues complete. Then memory is read,
// the first gate opens, the dispatch runs, memory is read again, the second gate opens. A dispatch that waits for what the program or another dispatch
// does next would never end: Wavesmith says so where it can, and time does elsewhere; everybody then goes on, and the dispatch was not alone.
#include "tool/isolate.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <list>
#include <memory>
#include <optional>
#include <thread>

#include "tool/memory.h"
#include "tool/own_queue.h"
#include "tool/quiet.h"
#include "tool/snapshot.h"

namespace wavesmith::tool {
namespace {

using Clock = std::chrono::steady_clock;

// A queue that has not come to its gate, while nothing runs, waits for what the thread that submitted would do next.
constexpr std::chrono::seconds kStuck{1};
// Other queues that are not quiet so long after everybody was let go on do not become it.
constexpr std::chrono::seconds kLast{2};

struct Isolation {
  Queue* queue;
  hsa_kernel_dispatch_packet_t packet;
  Rule rule;
  uint64_t sequence;
  uint64_t index;
  hsa_signal_t arrived{};  // 0 when the queue stands at the first gate
  hsa_signal_t first{};    // gates: open at 0
  hsa_signal_t second{};
  hsa_signal_t done{};    // of the dispatch between them
  bool submitted = true;  // the thread that submitted it waits
  bool finished = false;

  bool compared() const { return Has(rule.flags, RuleFlag::kCompare) && rule.replacement != 0; }
};

// Never destroyed.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<std::shared_ptr<Isolation>> pending;
  std::shared_ptr<Isolation> active;
  // While a dispatch is active: others go on all the same.
  bool open = false;
  unsigned submitting = 0;
  bool started = false;
  std::atomic<uint64_t> finished{0};
};
State& state() {
  static auto* const s = new State;
  return *s;
}

// Lets everybody go on.
void Open() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.open = s.active != nullptr;
  if (s.active != nullptr) s.active->submitted = false;
  for (const auto& one : s.pending) one->submitted = false;
  s.changed.notify_all();
}

bool IsOpen() {
  const std::lock_guard lock(state().mutex);
  return state().open;
}

void Set(hsa_signal_t signal, int64_t value) { original.core.hsa_signal_store_screlease_fn(signal, value); }

std::chrono::milliseconds Patience() { return std::chrono::milliseconds(Welcome().patience); }

// The dispatch whose queue stands at its gate, made active. Waits for one; dispatches of queues that failed are given up on the way.
enum class Found { kYes, kFailed };
Found Next(std::shared_ptr<Isolation>* found) {
  State& s = state();
  Clock::time_point quiet_since = Clock::now();
  for (;;) {
    std::shared_ptr<Isolation> first;
    {
      std::unique_lock lock(s.mutex);
      if (s.pending.empty()) {
        s.changed.wait(lock, [&] { return !s.pending.empty(); });
        quiet_since = Clock::now();
      }
      for (auto at = s.pending.begin(); at != s.pending.end(); ++at) {
        const bool has_failed = (*at)->queue->failed;
        if (!has_failed && Value((*at)->arrived) != 0) continue;
        *found = *at;
        s.pending.erase(at);
        s.active = *found;
        s.open = false;
        return has_failed ? Found::kFailed : Found::kYes;
      }
      first = s.pending.front();
    }
    Poll(first->arrived, HSA_SIGNAL_CONDITION_EQ, 0);
    bool all_quiet = true;
    ForEachQueue([&](Queue& queue) { all_quiet = all_quiet && IsQuiet(queue); });
    if (!all_quiet) quiet_since = Clock::now();
    if (Clock::now() - quiet_since > kStuck) Open();
  }
}

// Waits until no other queue runs anything and no thread submits. Where that does not come, everybody has been let go on.
void Quiesce(const Isolation& one) {
  const Clock::time_point began = Clock::now();
  std::optional<Clock::time_point> opened;
  for (;;) {
    bool quiet = true;
    {
      const std::lock_guard lock(state().mutex);
      if (state().open && !opened) opened = Clock::now();
      quiet = state().submitting == 0;
    }
    ForEachQueue([&](Queue& queue) { quiet = quiet && (&queue == one.queue || IsQuiet(queue)); });
    if (quiet && opened) {
      // From here on they wait again: what came meanwhile is looked at once more.
      const std::lock_guard lock(state().mutex);
      state().open = false;
      opened.reset();
      continue;
    }
    // Whoever waits for its end sees that a queue has failed.
    if (quiet || one.queue->failed) return;
    if (opened && Clock::now() - *opened > kLast) return;
    if (!opened && Clock::now() - began > Patience()) Open();
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// Waits until a dispatch has completed. False when its queue failed.
bool Finish(const Queue& queue, hsa_signal_t done, hsa_agent_t agent, uint64_t* nanoseconds) {
  const Clock::time_point began = Clock::now();
  while (Poll(done, HSA_SIGNAL_CONDITION_LT, 1) >= 1) {
    if (queue.failed) return false;
    if (Clock::now() - began > Patience() && !IsOpen()) Open();
  }
  hsa_amd_profiling_dispatch_time_t time{};
  *nanoseconds = 0;
  if (original.amd.hsa_amd_profiling_get_dispatch_time_fn(agent, done, &time) == HSA_STATUS_SUCCESS) {
    *nanoseconds =
        static_cast<uint64_t>(static_cast<double>(time.end - time.start) * 1e9 / static_cast<double>(Frequency()));
  }
  return true;
}

// Tells of the dispatch that comes next. Gives the memory whose contents are to be sent.
std::vector<Memory> Begin(const Isolation& one, std::vector<Memory> memory) {
  const IsolatedDispatch record{one.sequence,
                                one.index,
                                one.rule.code,
                                reinterpret_cast<uint64_t>(one.queue->handle),
                                static_cast<uint32_t>(memory.size()),
                                one.compared() ? 1u : 0u};
  Writer w;
  w.Put(record).Put(static_cast<uint32_t>(sizeof one.packet)).Put(one.packet);
  std::vector<uint8_t> arguments(one.rule.kernarg_size);
  if (!arguments.empty() && one.packet.kernarg_address != nullptr) {
    original.core.hsa_memory_copy_fn(arguments.data(), one.packet.kernarg_address, arguments.size());
  }
  w.Put(static_cast<uint32_t>(arguments.size())).Raw(arguments.data(), arguments.size());
  for (const Memory& m : memory) w.Put(m.record).Text(m.origin);
  const RawAnswer answer =
      Wavesmith()->Request(static_cast<uint32_t>(ToolMessage::kIsolatedBegin), {{w.bytes().data(), w.bytes().size()}});
  Reader reader(answer.payload);
  const auto scope = static_cast<MemoryScope>(reader.Get<IsolationScope>().scope);
  if (!answer.ok || !reader.ok() || scope == MemoryScope::kNone) return {};
  if (scope == MemoryScope::kAll) return memory;
  return Reachable(memory, arguments, one.packet);
}

void End(const Isolation& one, uint64_t nanoseconds, IsolatedStatus status) {
  const IsolatedResult record{one.sequence, nanoseconds, one.packet.kernel_object, static_cast<uint32_t>(status), 0};
  Tell(ToolMessage::kIsolatedEnd, {{&record, sizeof record}});
}

// The dispatch between its snapshots. Ends with the second gate still closed.
IsolatedStatus RunBetweenSnapshots(const Isolation& one, uint64_t* nanoseconds) {
  std::optional<Snapshot> before;
  {
    const std::unique_lock hold(FreeingMutex());
    const std::vector<Memory> memory = Begin(one, LiveMemory());
    uint64_t total = 0;
    for (const Memory& m : memory) total += m.record.size;
    if (total > Welcome().limit) {
      Note(one.sequence, "too-much-memory", "The memory to copy is more than the limit.");
      return IsolatedStatus::kNotIsolated;
    }
    before.emplace(memory, one.sequence);
    if (!one.compared()) before->Send();
  }
  std::optional<Changes> original_changes;
  if (one.compared()) {
    if (!RunOnOwnQueue(*one.queue, one.packet, [&](const Queue& own, hsa_signal_t done) {
          return Finish(own, done, one.queue->agent, nanoseconds);
        })) {
      return IsolatedStatus::kOriginalFailed;
    }
    const std::unique_lock hold(FreeingMutex());
    original_changes.emplace(before->Compare());
    before->Restore(*original_changes);
  }
  Set(one.first, 0);
  if (!Finish(*one.queue, one.done, one.queue->agent, nanoseconds)) return IsolatedStatus::kFailed;
  const std::unique_lock hold(FreeingMutex());
  if (one.compared()) {
    before->SendCompared(*original_changes, before->Compare());
  } else {
    before->SendAfter(before->Compare());
  }
  return IsOpen() ? IsolatedStatus::kNotAlone : IsolatedStatus::kDone;
}

// Done with a dispatch: its queue goes on, unless it failed.
void Conclude(Isolation& one, IsolatedStatus status, uint64_t nanoseconds) {
  End(one, nanoseconds, status);
  if (status != IsolatedStatus::kOriginalFailed) {
    Set(one.first, 0);
    Set(one.second, 0);
  }
  const bool has_run = status == IsolatedStatus::kDone || status == IsolatedStatus::kNotAlone;
  if (has_run) original.core.hsa_signal_destroy_fn(one.done);
  State& s = state();
  s.finished++;
  const std::lock_guard lock(s.mutex);
  s.active = nullptr;
  s.open = false;
  one.finished = true;
  s.changed.notify_all();
}

void Run() {
  for (;;) {
    std::shared_ptr<Isolation> one;
    uint64_t nanoseconds = 0;
    if (Next(&one) == Found::kFailed) {
      Note(one->sequence, "queue-failed", "Its queue had stopped before it.");
      Conclude(*one, IsolatedStatus::kNotIsolated, 0);
    } else {
      Quiesce(*one);
      const IsolatedStatus status = RunBetweenSnapshots(*one, &nanoseconds);
      Conclude(*one, status, nanoseconds);
    }
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

void Abandon(Queue* queue) {
  if (!Wavesmith()->alive()) return;
  const auto concerns = [&](const std::shared_ptr<Isolation>& one) {
    return one != nullptr && (queue == nullptr || one->queue == queue);
  };
  State& s = state();
  std::unique_lock lock(s.mutex);
  const auto any = [&] { return concerns(s.active) || std::any_of(s.pending.begin(), s.pending.end(), concerns); };
  if (!any()) return;
  if (concerns(s.active)) s.active->queue->failed = true;
  for (const auto& one : s.pending) {
    if (concerns(one)) one->queue->failed = true;
  }
  s.changed.wait(lock, [&] { return !any(); });
}

}  // namespace

void Replace(const Rule& rule, hsa_kernel_dispatch_packet_t* packet) {
  packet->kernel_object = rule.replacement;
  packet->private_segment_size = std::max(packet->private_segment_size, rule.private_segment);
  const uint32_t dynamic = packet->group_segment_size - std::min(packet->group_segment_size, rule.group_segment);
  packet->group_segment_size = dynamic + rule.replacement_group;
}

void Isolate(Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Rule& rule, uint64_t sequence,
             uint64_t index, PacketWriter write) {
  State& s = state();
  hsa_kernel_dispatch_packet_t run = packet;
  if (rule.replacement != 0) Replace(rule, &run);
  const auto one = std::make_shared<Isolation>(&queue, packet, rule, sequence, index);
  Waiting first;
  Waiting second;
  const auto create = original.core.hsa_signal_create_fn;
  const bool has_signals = PrepareWaiting(&first) && PrepareWaiting(&second) &&
                           create(1, 0, nullptr, &first.gate) == HSA_STATUS_SUCCESS &&
                           create(1, 0, nullptr, &second.gate) == HSA_STATUS_SUCCESS &&
                           create(1, 0, nullptr, &one->done) == HSA_STATUS_SUCCESS;
  std::unique_lock lock(s.mutex);
  if (!has_signals || (s.active != nullptr && s.open)) {
    lock.unlock();
    if (has_signals) {
      Note(sequence, "beside-waiting", "It was launched while another dispatch waits for what the program does.");
    } else {
      Note(sequence, "no-signal", "The runtime has no signal left.");
    }
    DropWaiting(first);
    DropWaiting(second);
    if (one->done.handle != 0) original.core.hsa_signal_destroy_fn(one->done);
    write(&run, 1);
    End(*one, 0, IsolatedStatus::kNotIsolated);
    s.finished++;
    return;
  }
  lock.unlock();
  one->arrived = first.arrived;
  one->first = first.gate;
  one->second = second.gate;
  run.completion_signal = one->done;
  run.header |= 1 << HSA_PACKET_HEADER_BARRIER;
  const hsa_barrier_and_packet_t before = GatePacket(first.gate, {});
  // The program hears of the end when the second gate has opened. A signal of a queue that failed stays as it is.
  const hsa_barrier_and_packet_t after = GatePacket(second.gate, packet.completion_signal);
  WriteWaiting(queue, first, &before, write);
  write(&run, 1);
  WriteWaiting(queue, second, &after, write);
  lock.lock();
  if (!s.started) StartThread();
  s.started = true;
  s.pending.push_back(one);
  s.submitting--;
  s.changed.notify_all();
  s.changed.wait(lock, [&] { return one->finished || !one->submitted; });
  // What comes behind it in the same call is held back as in a call of its own.
  s.changed.wait(lock, [&] { return s.active == nullptr || s.open; });
  s.submitting++;
}

uint64_t CountIsolated() { return state().finished; }

Submission::Submission() {
  State& s = state();
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return s.active == nullptr || s.open; });
  s.submitting++;
}
Submission::~Submission() {
  const std::lock_guard lock(state().mutex);
  state().submitting--;
}

void AbandonIsolation(Queue& queue) { Abandon(&queue); }
void AbandonIsolation() {
  Abandon(nullptr);
  DropOwnQueues();
}

void ReleaseWaiting() { Open(); }

}  // namespace wavesmith::tool
