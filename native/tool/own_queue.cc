// The library's own queues, one for each agent, made when they are first needed. Source: HSA Runtime Specification 1.2, sections 2.8, 2.9 (the writer of a
// packet takes an index, waits for room, writes the header last, rings).
#include "tool/own_queue.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <thread>

namespace wavesmith::tool {
namespace {

constexpr uint32_t kPackets = 64;

// Only the thread that isolates comes here, and who drops them while it has nothing to do. Never destroyed.
auto& queues = *new std::map<uint64_t, Queue*>;

void OnError(hsa_status_t status, hsa_queue_t*, void* data) {
  auto* const queue = static_cast<Queue*>(data);
  queue->status = status;
  queue->failed = true;
}

Queue* Own(const Queue& program) {
  Queue*& queue = queues[program.agent.handle];
  if (queue != nullptr) return queue;
  auto* const made = new Queue;
  made->agent = program.agent;
  if (original.core.hsa_queue_create_fn(program.agent, kPackets, HSA_QUEUE_TYPE_SINGLE, OnError, made, UINT32_MAX,
                                        UINT32_MAX, &made->handle) != HSA_STATUS_SUCCESS) {
    delete made;
    return nullptr;
  }
  return queue = made;
}

void Submit(hsa_queue_t* queue, const hsa_kernel_dispatch_packet_t& packet) {
  const uint64_t index = original.core.hsa_queue_add_write_index_scacq_screl_fn(queue, 1);
  while (index - original.core.hsa_queue_load_read_index_scacquire_fn(queue) >= queue->size) std::this_thread::yield();
  auto* const slot = static_cast<uint8_t*>(queue->base_address) + (index & (queue->size - 1)) * sizeof packet;
  const auto* const bytes = reinterpret_cast<const uint8_t*>(&packet);
  std::memcpy(slot + 4, bytes + 4, sizeof packet - 4);
  uint32_t head;
  std::memcpy(&head, bytes, sizeof head);
  __atomic_store_n(reinterpret_cast<uint32_t*>(slot), head, __ATOMIC_RELEASE);
  original.core.hsa_signal_store_screlease_fn(queue->doorbell_signal, static_cast<int64_t>(index));
}

}  // namespace

bool RunOnOwnQueue(Queue& program, hsa_kernel_dispatch_packet_t packet,
                   const std::function<bool(const Queue& own, hsa_signal_t done)>& finish) {
  Queue* const own = Own(program);
  hsa_signal_t done{};
  if (own == nullptr || original.core.hsa_signal_create_fn(1, 0, nullptr, &done) != HSA_STATUS_SUCCESS) return false;
  packet.completion_signal = done;
  packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  Submit(own->handle, packet);
  if (finish(*own, done)) {
    original.core.hsa_signal_destroy_fn(done);
    return true;
  }
  // Nothing completes in this queue any more, and nothing in the program's.
  queues.erase(program.agent.handle);
  program.failed = true;
  if (program.on_error == nullptr) {
    std::fprintf(stderr, "wavesmith: a queue of a program without a callback for errors stopped (0x%x).\n",
                 static_cast<unsigned>(own->status));
    std::abort();
  }
  program.on_error(own->status, program.handle, program.error_data);
  return false;
}

void DropOwnQueues() { queues.clear(); }

}  // namespace wavesmith::tool
