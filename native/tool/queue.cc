// Packets: each is told to Wavesmith, rewritten when its kernel is replaced, isolated when it was chosen. Sources: HSA Runtime Specification 1.2,
// sections 2.8 and 2.9; hsa_api_trace.h and hsa_ext_amd.h (intercept queues).
#include "tool/queue.h"

#include <cstring>
#include <map>
#include <optional>
#include <unordered_set>

#include "tool/isolate.h"
#include "tool/quiet.h"

namespace wavesmith::tool {
namespace {

// Never destroyed: programs dispatch in their own destructors.
struct State {
  std::recursive_mutex mutex;
  std::map<const hsa_queue_t*, Queue*> queues;
  std::atomic<uint64_t> next_sequence{0};
  std::atomic<uint64_t> next_index{0};  // of dispatches whose kernel has Isolate or Choose
  std::mutex shapes_mutex;
  std::unordered_set<uint64_t> shapes;
};
State& state() {
  static auto* const s = new State;
  return *s;
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 12) + (hash >> 4);
  return hash * 0xff51afd7ed558ccd;
}

// True for the first dispatch of a kernel in a shape.
bool IsNew(const hsa_kernel_dispatch_packet_t& p) {
  uint64_t hash = Mix(p.kernel_object, uint64_t{p.grid_size_x} << 32 | p.grid_size_y);
  hash = Mix(hash, uint64_t{p.grid_size_z} << 32 | p.group_segment_size);
  hash = Mix(hash, uint64_t{p.workgroup_size_x} << 32 | uint64_t{p.workgroup_size_y} << 16 | p.workgroup_size_z);
  const std::lock_guard lock(state().shapes_mutex);
  return state().shapes.insert(hash).second;
}

void Report(const Queue& queue, const hsa_kernel_dispatch_packet_t& p, uint64_t sequence, bool replaced) {
  const DispatchRecord record{
      sequence,           queue.handle->id,       p.kernel_object,      p.grid_size_x,
      p.grid_size_y,      p.grid_size_z,          p.workgroup_size_x,   p.workgroup_size_y,
      p.workgroup_size_z, p.private_segment_size, p.group_segment_size, uint32_t{p.header} | uint32_t{p.setup} << 16,
      replaced ? 1u : 0u};
  Tell(ToolMessage::kDispatch, {{&record, sizeof record}});
}

bool IsChosen(uint64_t index) {
  const ToolWelcome& w = Welcome();
  return index >= w.first && index <= w.last && (index - w.first) % w.step == 0;
}

// Whether every dispatch that is chosen has run.
bool IsExhausted() {
  const ToolWelcome& w = Welcome();
  const uint64_t isolated = CountIsolated();
  return w.last < w.first || (isolated > 0 && isolated - 1 == (w.last - w.first) / w.step);
}

void Dispatch(Queue& queue, const void* bytes, PacketWriter write) {
  hsa_kernel_dispatch_packet_t packet;
  std::memcpy(&packet, bytes, sizeof packet);
  const uint64_t sequence = state().next_sequence++;
  Rule rule;
  const bool ruled = FindRule(packet.kernel_object, &rule);
  const bool isolates = ruled && Has(rule.flags, RuleFlag::kIsolate);
  const bool counts = isolates || (ruled && Has(rule.flags, RuleFlag::kChoose));
  const uint64_t index = counts ? state().next_index++ : 0;
  const bool chosen = counts && IsChosen(index);
  const bool replaced = rule.replacement != 0 && (chosen || !Has(rule.flags, RuleFlag::kChoose));
  if ((ruled && Has(rule.flags, RuleFlag::kReport)) || IsNew(packet)) Report(queue, packet, sequence, replaced);
  if (isolates && chosen) {
    Isolate(queue, packet, rule, sequence, index, write);
    return;
  }
  if (replaced) Replace(rule, &packet);
  write(&packet, 1);
}

unsigned TypeOf(const uint8_t* packet) {
  uint16_t header;
  std::memcpy(&header, packet, sizeof header);
  return header & 0xff;
}

void OnPackets(const void* packets, uint64_t count, uint64_t, void* data, PacketWriter write) {
  Queue& queue = *static_cast<Queue*>(data);
  const auto* const bytes = static_cast<const uint8_t*>(packets);
  if (!Wavesmith()->alive()) {
    // What was replaced stays replaced; everything else goes its way.
    for (uint64_t n = 0; n < count; n++) {
      hsa_kernel_dispatch_packet_t packet;
      std::memcpy(&packet, bytes + 64 * n, sizeof packet);
      Rule rule;
      const bool is_dispatch = TypeOf(bytes + 64 * n) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
      const bool has_rule = is_dispatch && FindRule(packet.kernel_object, &rule) && rule.replacement != 0;
      if (has_rule && !Has(rule.flags, RuleFlag::kChoose)) Replace(rule, &packet);
      write(&packet, 1);
    }
    return;
  }
  const bool tracked = AnyIsolated() && !IsExhausted();
  std::optional<Submission> submission;
  if (tracked) submission.emplace();
  for (uint64_t n = 0; n < count; n++) {
    const uint8_t* const packet = bytes + 64 * n;
    const unsigned type = TypeOf(packet);
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH) {
      Dispatch(queue, packet, write);
    } else if (tracked) {
      WriteOther(queue, packet, write);
    } else {
      write(packet, 1);
    }
  }
  if (tracked) AppendTail(queue, write);
}

void OnError(hsa_status_t status, hsa_queue_t* handle, void* data) {
  auto* const queue = static_cast<Queue*>(data);
  queue->status = status;
  queue->failed = true;
  if (queue->on_error != nullptr) queue->on_error(status, handle, queue->error_data);
}

hsa_status_t Create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type, ErrorCallback callback, void* data,
                    uint32_t private_size, uint32_t group_size, hsa_queue_t** handle) {
  auto* const queue = new Queue;
  queue->on_error = callback;
  queue->error_data = data;
  hsa_status_t status = original.amd.hsa_amd_queue_intercept_create_fn(
      agent, size, type, callback == nullptr ? nullptr : OnError, queue, private_size, group_size, handle);
  if (status == HSA_STATUS_SUCCESS) {
    queue->handle = *handle;
    queue->agent = agent;
    original.core.hsa_signal_create_fn(0, 0, nullptr, &queue->tail);
    status = original.amd.hsa_amd_queue_intercept_register_fn(*handle, OnPackets, queue);
  }
  if (status != HSA_STATUS_SUCCESS) {
    delete queue;
    return status;
  }
  const std::lock_guard lock(state().mutex);
  state().queues[*handle] = queue;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t Destroy(hsa_queue_t* handle) {
  Queue* queue = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    if (auto node = state().queues.extract(handle)) queue = node.mapped();
  }
  if (queue != nullptr) AbandonIsolation(*queue);
  const hsa_status_t status = original.core.hsa_queue_destroy_fn(handle);
  if (queue != nullptr) {
    original.core.hsa_signal_destroy_fn(queue->tail);
    for (const Waiting& w : queue->waiting) DropWaiting(w);
    delete queue;
  }
  return status;
}

}  // namespace

void ForEachQueue(const std::function<void(Queue&)>& call) {
  const std::lock_guard lock(state().mutex);
  for (const auto& [handle, queue] : state().queues) call(*queue);
}

hsa_barrier_and_packet_t BarrierPacket(hsa_signal_t completion) {
  hsa_barrier_and_packet_t packet{};
  packet.header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  packet.completion_signal = completion;
  return packet;
}

void InstallQueues(hsa::CoreTable& core, const hsa::AmdTable& amd) {
  if (amd.hsa_amd_queue_intercept_create_fn == nullptr || amd.hsa_amd_queue_intercept_register_fn == nullptr) {
    Note(kNoDispatch, "no-intercept-queues", "The runtime has no intercept queues: dispatches are not seen.");
    return;
  }
  core.hsa_queue_create_fn = Create;
  core.hsa_queue_destroy_fn = Destroy;
}

}  // namespace wavesmith::tool
