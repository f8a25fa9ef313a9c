// Isolation. The thread that submits a chosen dispatch stops in the handler of its packets: earlier packets of all queues complete first, other
// threads wait before they submit. Source: HSA Runtime Specification 1.2, section 2.9 (barrier packets, packet processing order).
#include "tool/isolate.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <optional>

#include "tool/memory.h"
#include "tool/snapshot.h"

namespace wavesmith::tool {
namespace {

// A queue that waits so long for the program, while nothing runs, waits for what this thread would do next.
constexpr unsigned kPatience = 50;  // polls: 1 s

uint64_t Frequency() {
  static const uint64_t frequency = [] {
    uint64_t ticks = 0;
    original.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &ticks);
    return std::max<uint64_t>(ticks, 1000);
  }();
  return frequency;
}

// Waits at most 20 ms, and says what the signal is then. Timeouts of HSA are in ticks of the system's clock.
int64_t Poll(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t value) {
  return original.core.hsa_signal_wait_scacquire_fn(signal, condition, value, Frequency() / 50, HSA_WAIT_STATE_BLOCKED);
}

// Never destroyed.
struct State {
  std::mutex mutex;
  std::condition_variable changed;
  const Queue* active = nullptr;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

int64_t Value(hsa_signal_t signal) { return original.core.hsa_signal_load_scacquire_fn(signal); }

// AMD's vendor packet that waits for a value (hsa_amd_barrier_value_packet_t).
constexpr uint8_t kBarrierValue = 2;
struct BarrierValue {
  uint16_t header;
  uint8_t format;
  uint8_t reserved0;
  uint32_t reserved1;
  hsa_signal_t signal;
  int64_t value;
  int64_t mask;
  uint32_t condition;
};

bool MayWait(const uint8_t* packet) {
  uint16_t header;
  std::memcpy(&header, packet, sizeof header);
  const unsigned type = header & 0xff;
  return type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR ||
         type == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
}

// Whether a packet's condition does not hold yet.
bool IsBlocked(const uint8_t* bytes) {
  uint16_t header;
  std::memcpy(&header, bytes, sizeof header);
  if ((header & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC) {
    BarrierValue p;
    std::memcpy(&p, bytes, sizeof p);
    if (p.format != kBarrierValue || p.signal.handle == 0) return false;
    const int64_t now = Value(p.signal) & p.mask;
    switch (p.condition) {
      case HSA_SIGNAL_CONDITION_EQ:
        return now != p.value;
      case HSA_SIGNAL_CONDITION_NE:
        return now == p.value;
      case HSA_SIGNAL_CONDITION_LT:
        return now >= p.value;
      default:
        return now < p.value;
    }
  }
  hsa_barrier_and_packet_t p;
  std::memcpy(&p, bytes, sizeof p);
  const bool needs_all = (header & 0xff) == HSA_PACKET_TYPE_BARRIER_AND;
  bool any_holds = false;
  for (const hsa_signal_t signal : p.dep_signal) {
    if (signal.handle == 0) continue;
    const bool holds = Value(signal) == 0;
    if (needs_all && !holds) return true;
    any_holds = any_holds || holds;
  }
  return !needs_all && !any_holds;
}

// Whether the queue stands before a packet that waits, with everything before it completed. The signals of a packet that was passed may be gone.
bool WaitsForOthers(Queue& queue) {
  const std::lock_guard lock(queue.waiting_mutex);
  return std::any_of(queue.waiting.begin(), queue.waiting.end(), [](const Waiting& w) {
    return Value(w.arrived) == 0 && Value(w.passed) != 0 && IsBlocked(w.packet);
  });
}

// Whether nothing of a queue runs.
bool IsQuiet(Queue& queue) { return queue.failed || Value(queue.tail) == 0 || WaitsForOthers(queue); }

enum class Drained { kYes, kFailed, kStuck };

// Waits until everything before now in this queue has completed.
Drained Drain(Queue& queue, PacketWriter write) {
  AppendTail(queue, write);
  unsigned stuck = 0;
  while (Poll(queue.tail, HSA_SIGNAL_CONDITION_EQ, 0) != 0) {
    if (queue.failed) return Drained::kFailed;
    bool all_quiet = true;
    ForEachQueue([&](Queue& other) { all_quiet = all_quiet && IsQuiet(other); });
    stuck = all_quiet ? stuck + 1 : 0;
    if (stuck > kPatience) return Drained::kStuck;
  }
  return Drained::kYes;
}

// Waits until no other queue runs anything.
void Quiesce(const Queue& own) {
  for (;;) {
    bool quiet = true;
    ForEachQueue([&](Queue& other) { quiet = quiet && (&other == &own || IsQuiet(other)); });
    if (quiet) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

// Runs one packet to its end. False when the queue failed.
bool Run(Queue& queue, hsa_kernel_dispatch_packet_t packet, PacketWriter write, hsa_signal_t done,
         uint64_t* nanoseconds) {
  original.core.hsa_signal_store_screlease_fn(done, 1);
  packet.completion_signal = done;
  packet.header |= 1 << HSA_PACKET_HEADER_BARRIER;
  write(&packet, 1);
  while (Poll(done, HSA_SIGNAL_CONDITION_LT, 1) >= 1) {
    if (queue.failed) return false;
  }
  hsa_agent_t agent{};
  hsa_amd_profiling_dispatch_time_t time{};
  original.core.hsa_iterate_agents_fn(
      [](hsa_agent_t a, void* data) {
        hsa_device_type_t type;
        original.core.hsa_agent_get_info_fn(a, HSA_AGENT_INFO_DEVICE, &type);
        if (type == HSA_DEVICE_TYPE_GPU) *static_cast<hsa_agent_t*>(data) = a;
        return HSA_STATUS_SUCCESS;
      },
      &agent);
  *nanoseconds = 0;
  if (original.amd.hsa_amd_profiling_get_dispatch_time_fn(agent, done, &time) == HSA_STATUS_SUCCESS) {
    *nanoseconds =
        static_cast<uint64_t>(static_cast<double>(time.end - time.start) * 1e9 / static_cast<double>(Frequency()));
  }
  return true;
}

// Tells of the dispatch that comes next. Gives the memory whose contents are to be sent.
std::vector<Memory> Begin(const Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Rule& rule,
                          uint64_t sequence, uint64_t index, bool compared, std::vector<Memory> memory) {
  const IsolatedDispatch record{sequence,
                                index,
                                rule.code,
                                reinterpret_cast<uint64_t>(queue.handle),
                                static_cast<uint32_t>(memory.size()),
                                compared ? 1u : 0u};
  Writer w;
  w.Put(record).Put(static_cast<uint32_t>(sizeof packet)).Put(packet);
  std::vector<uint8_t> arguments(rule.kernarg_size);
  if (!arguments.empty() && packet.kernarg_address != nullptr) {
    original.core.hsa_memory_copy_fn(arguments.data(), packet.kernarg_address, arguments.size());
  }
  w.Put(static_cast<uint32_t>(arguments.size())).Raw(arguments.data(), arguments.size());
  for (const Memory& m : memory) w.Put(m.record).Text(m.origin);
  const RawAnswer answer =
      Wavesmith()->Request(static_cast<uint32_t>(ToolMessage::kIsolatedBegin), {{w.bytes().data(), w.bytes().size()}});
  Reader reader(answer.payload);
  const auto scope = static_cast<MemoryScope>(reader.Get<IsolationScope>().scope);
  if (!answer.ok || !reader.ok() || scope == MemoryScope::kNone) return {};
  if (scope == MemoryScope::kAll) return memory;
  return Reachable(memory, arguments, packet);
}

void End(uint64_t sequence, uint64_t nanoseconds, IsolatedStatus status) {
  const IsolatedResult record{sequence, nanoseconds, static_cast<uint32_t>(status), 0};
  Tell(ToolMessage::kIsolatedEnd, {{&record, sizeof record}});
}

// The dispatch between its snapshots. False when the queue failed.
IsolatedStatus RunBetweenSnapshots(Queue& queue, const hsa_kernel_dispatch_packet_t& packet, const Rule& rule,
                                   uint64_t sequence, PacketWriter write, bool compared,
                                   const std::vector<Memory>& memory, hsa_signal_t done, uint64_t* nanoseconds) {
  const Snapshot before(memory, sequence);
  if (!compared) before.Send();
  std::optional<Changes> original_changes;
  if (compared) {
    if (!Run(queue, packet, write, done, nanoseconds)) return IsolatedStatus::kOriginalFailed;
    original_changes.emplace(before.Compare());
    before.Restore(*original_changes);
  }
  hsa_kernel_dispatch_packet_t final = packet;
  if (rule.replacement != 0) Replace(rule, &final);
  if (!Run(queue, final, write, done, nanoseconds)) return IsolatedStatus::kFailed;
  if (compared) {
    before.SendCompared(*original_changes, before.Compare());
  } else {
    before.SendAfter(before.Compare());
  }
  return IsolatedStatus::kDone;
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
  const auto pass = [&](const char* code, const char* why) {
    Note(sequence, code, why);
    hsa_kernel_dispatch_packet_t passed = packet;
    if (rule.replacement != 0) Replace(rule, &passed);
    write(&passed, 1);
    End(sequence, 0, IsolatedStatus::kNotIsolated);
  };
  const Drained drained = Drain(queue, write);
  if (drained == Drained::kFailed) return pass("queue-failed", "Its queue had stopped before it.");
  if (drained == Drained::kStuck) {
    return pass("waits-for-program",
                "An earlier packet of its queue waits for something that the program has yet to do.");
  }
  {
    std::unique_lock lock(state().mutex);
    state().changed.wait(lock, [] { return state().active == nullptr; });
    state().active = &queue;
  }
  Quiesce(queue);
  const bool compared = Has(rule.flags, RuleFlag::kCompare) && rule.replacement != 0;
  const std::vector<Memory> memory = Begin(queue, packet, rule, sequence, index, compared, LiveMemory());
  uint64_t total = 0;
  for (const Memory& m : memory) total += m.record.size;
  hsa_signal_t done{};
  if (total > Welcome().limit) {
    pass("too-much-memory", "The memory to copy is more than the limit.");
  } else if (original.core.hsa_signal_create_fn(1, 0, nullptr, &done) != HSA_STATUS_SUCCESS) {
    pass("no-signal", "The runtime has no signal left.");
  } else {
    uint64_t nanoseconds = 0;
    const IsolatedStatus status =
        RunBetweenSnapshots(queue, packet, rule, sequence, write, compared, memory, done, &nanoseconds);
    End(sequence, nanoseconds, status);
    // The program hears of the end now. A signal of a queue that failed stays as it is.
    if (status == IsolatedStatus::kDone) {
      const hsa_barrier_and_packet_t last = BarrierPacket(packet.completion_signal);
      if (packet.completion_signal.handle != 0) write(&last, 1);
      original.core.hsa_signal_destroy_fn(done);
    }
  }
  const std::lock_guard lock(state().mutex);
  state().active = nullptr;
  state().changed.notify_all();
}

void WaitForIsolation(const Queue& queue) {
  std::unique_lock lock(state().mutex);
  state().changed.wait(lock, [&] { return state().active == nullptr || state().active == &queue; });
}

void WriteWaiting(Queue& queue, const uint8_t* packet, PacketWriter write) {
  Waiting waiting;
  const auto create = original.core.hsa_signal_create_fn;
  if (!MayWait(packet) || !IsBlocked(packet) || create(1, 0, nullptr, &waiting.arrived) != HSA_STATUS_SUCCESS ||
      create(1, 0, nullptr, &waiting.passed) != HSA_STATUS_SUCCESS) {
    write(packet, 1);
    return;
  }
  std::memcpy(waiting.packet, packet, sizeof waiting.packet);
  {
    const std::lock_guard lock(queue.waiting_mutex);
    std::erase_if(queue.waiting, [](const Waiting& w) {
      if (Value(w.passed) != 0) return false;
      original.core.hsa_signal_destroy_fn(w.arrived);
      original.core.hsa_signal_destroy_fn(w.passed);
      return true;
    });
    queue.waiting.push_back(waiting);
  }
  const hsa_barrier_and_packet_t arrival = BarrierPacket(waiting.arrived);
  write(&arrival, 1);
  write(packet, 1);
  const hsa_barrier_and_packet_t passage = BarrierPacket(waiting.passed);
  write(&passage, 1);
}

void AppendTail(Queue& queue, PacketWriter write) {
  original.core.hsa_signal_add_scacq_screl_fn(queue.tail, 1);
  const hsa_barrier_and_packet_t tail = BarrierPacket(queue.tail);
  write(&tail, 1);
}

}  // namespace wavesmith::tool
