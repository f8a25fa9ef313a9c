// Queues that run nothing. Every packet that may wait stands between two barriers, whose signals tell whether the queue has come to it and has
// passed it. Source: HSA Runtime Specification 1.2, section 2.9 (barrier packets, packet processing order).
#include "tool/quiet.h"

#include <algorithm>
#include <cstring>

namespace wavesmith::tool {
namespace {

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

}  // namespace

uint64_t Frequency() {
  static const uint64_t frequency = [] {
    uint64_t ticks = 0;
    original.core.hsa_system_get_info_fn(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &ticks);
    return std::max<uint64_t>(ticks, 1000);
  }();
  return frequency;
}

int64_t Value(hsa_signal_t signal) { return original.core.hsa_signal_load_scacquire_fn(signal); }

// Timeouts of HSA are in ticks of the system's clock.
int64_t Poll(hsa_signal_t signal, hsa_signal_condition_t condition, int64_t value) {
  return original.core.hsa_signal_wait_scacquire_fn(signal, condition, value, Frequency() / 50, HSA_WAIT_STATE_BLOCKED);
}

hsa_barrier_and_packet_t GatePacket(hsa_signal_t gate, hsa_signal_t completion) {
  hsa_barrier_and_packet_t packet = BarrierPacket(completion);
  packet.dep_signal[0] = gate;
  return packet;
}

bool PrepareWaiting(Waiting* waiting) {
  const auto create = original.core.hsa_signal_create_fn;
  return create(1, 0, nullptr, &waiting->arrived) == HSA_STATUS_SUCCESS &&
         create(1, 0, nullptr, &waiting->passed) == HSA_STATUS_SUCCESS;
}

void DropWaiting(const Waiting& waiting) {
  for (const hsa_signal_t signal : {waiting.arrived, waiting.passed, waiting.gate}) {
    if (signal.handle != 0) original.core.hsa_signal_destroy_fn(signal);
  }
}

void WriteWaiting(Queue& queue, Waiting waiting, const void* packet, PacketWriter write) {
  std::memcpy(waiting.packet, packet, sizeof waiting.packet);
  {
    const std::lock_guard lock(queue.waiting_mutex);
    std::erase_if(queue.waiting, [](const Waiting& w) {
      if (Value(w.passed) != 0) return false;
      DropWaiting(w);
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

void WriteOther(Queue& queue, const uint8_t* packet, PacketWriter write) {
  Waiting waiting;
  if (MayWait(packet) && IsBlocked(packet) && PrepareWaiting(&waiting)) {
    WriteWaiting(queue, waiting, packet, write);
  } else {
    DropWaiting(waiting);
    write(packet, 1);
  }
}

void AppendTail(Queue& queue, PacketWriter write) {
  original.core.hsa_signal_add_scacq_screl_fn(queue.tail, 1);
  const hsa_barrier_and_packet_t tail = BarrierPacket(queue.tail);
  write(&tail, 1);
}

bool IsQuiet(Queue& queue) { return queue.failed || Value(queue.tail) == 0 || WaitsForOthers(queue); }

}  // namespace wavesmith::tool
