// User-mode queues: AQL rings in shared memory with doorbells, software queues, intercept queues for tools.
// Sources: HSA Runtime Specification 1.2, section 2.5; amd_hsa_queue.h (amd_queue_t); ROCr's intercept_queue.cpp for the order of handlers.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "hsa/runtime.h"
#include "hsa/signal.h"
#include "hsa/tables.h"

namespace wavesmith::hsa {
namespace {

constexpr uint32_t kMaxPackets = 1u << 17;
constexpr uint32_t kSharedApertureHigh = 0x10000;
constexpr uint32_t kPrivateApertureHigh = 0x20000;
constexpr size_t kPacketBytes = 64;
// In the page before a ring: behind amd_queue_t, in a cache line of its own.
constexpr size_t kWatchedOffset = 4096 - 64;
static_assert(sizeof(amd_queue_t) <= kWatchedOffset);

using ErrorCallback = void (*)(hsa_status_t, hsa_queue_t*, void*);

// A queue as callers see it; `amd` is in shared memory, so that kernels may read it.
struct Queue : Doorbell {
  amd_queue_t* amd = nullptr;
  Signal* doorbell = nullptr;
  bool owns_doorbell = true;
  uint64_t handle = 0;  // in the device process; 0: none
  hsa_agent_t agent{kGpuAgent};
  // In shared memory: the device looks at the ring by itself.
  uint32_t* watched = nullptr;
  ErrorCallback on_error = nullptr;
  void* error_data = nullptr;
  std::atomic<bool> inactive{false};

  // The packet's header was stored before; the device clears `watched` and then looks once more.
  void Ring(int64_t) override {
    if (inactive.load()) return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (watched != nullptr && __atomic_load_n(watched, __ATOMIC_SEQ_CST) != 0) return;
    Runtime* const runtime = Runtime::Get();
    if (runtime != nullptr) runtime->client().Notify(MessageType::kDoorbell, Writer().Put(handle).bytes());
  }
  void* base() const { return amd->hsa_queue.base_address; }
};

std::mutex queues_mutex;
// Never destroyed: tools are unloaded, and the runtime is shut down, after the destructors of a program's and of these libraries' objects.
auto& queues = *new std::map<const hsa_queue_t*, Queue*>;
auto& notifiers = *new std::vector<std::pair<hsa_amd_runtime_queue_notifier, void*>>;
std::atomic<uint64_t> next_id{1};

Queue* Find(const hsa_queue_t* queue) {
  const std::lock_guard lock(queues_mutex);
  const auto found = queues.find(queue);
  return found == queues.end() ? nullptr : found->second;
}

amd_queue_t* AmdQueue(const hsa_queue_t* queue) {
  return reinterpret_cast<amd_queue_t*>(const_cast<hsa_queue_t*>(queue));
}

// Fills what every kind of queue has. False when memory is short.
bool Prepare(Runtime& runtime, Queue& queue, uint32_t size, hsa_queue_type32_t type) {
  hsa_status_t status;
  const uint64_t ring_bytes = static_cast<uint64_t>(size) * kPacketBytes;
  const uint64_t memory = runtime.Allocate(4096 + ring_bytes, 4096, kCpuFinePool, &status);
  if (memory == 0) return false;
  queue.amd = reinterpret_cast<amd_queue_t*>(memory);
  std::memset(static_cast<void*>(queue.amd), 0, sizeof *queue.amd);
  auto* const ring = reinterpret_cast<uint8_t*>(memory + 4096);
  for (uint32_t n = 0; n < size; n++) {
    const uint16_t invalid = HSA_PACKET_TYPE_INVALID;
    std::memcpy(ring + n * kPacketBytes, &invalid, sizeof invalid);
  }
  hsa_queue_t& q = queue.amd->hsa_queue;
  q.type = type;
  q.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
  q.base_address = ring;
  q.size = size;
  q.id = next_id.fetch_add(1);
  queue.amd->group_segment_aperture_base_hi = kSharedApertureHigh;
  queue.amd->private_segment_aperture_base_hi = kPrivateApertureHigh;
  queue.amd->queue_properties = AMD_QUEUE_PROPERTIES_IS_PTR64;
  queue.amd->read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
  return true;
}

bool AddDoorbell(Runtime& runtime, Queue& queue) {
  queue.doorbell = NewSignal(runtime, -1, &queue);
  if (queue.doorbell == nullptr) return false;
  queue.amd->hsa_queue.doorbell_signal.handle = reinterpret_cast<uint64_t>(queue.doorbell);
  return true;
}

void Publish(Queue* queue) {
  const std::lock_guard lock(queues_mutex);
  queues[&queue->amd->hsa_queue] = queue;
}

void Destroy(Runtime& runtime, Queue* queue) {
  if (queue->handle != 0) {
    runtime.client().Request(MessageType::kQueueDestroy, Writer().Put(queue->handle).bytes());
  }
  if (queue->owns_doorbell && queue->doorbell != nullptr) DeleteSignal(queue->doorbell);
  if (queue->amd != nullptr) runtime.Free(reinterpret_cast<uint64_t>(queue->amd));
  delete queue;
}

// Intercept queues ---------------------------------------------------------------------------------------------------------------------

// The program's queue is a ring nobody but Ring() reads; handlers rewrite its packets, and the last writer puts them into the real queue.
struct InterceptQueue : Queue {
  Queue* real = nullptr;
  std::mutex mutex;
  std::vector<std::pair<hsa_amd_queue_intercept_handler, void*>> handlers;
  uint64_t next = 0;

  void Ring(int64_t) override {
    const std::lock_guard lock(mutex);
    auto* const ring = static_cast<uint8_t*>(base());
    const uint32_t mask = amd->hsa_queue.size - 1;
    for (;;) {
      uint8_t* const packet = ring + (next & mask) * kPacketBytes;
      auto* const header = reinterpret_cast<uint16_t*>(packet);
      if ((__atomic_load_n(header, __ATOMIC_ACQUIRE) & 0xff) == HSA_PACKET_TYPE_INVALID) break;
      if (next >= __atomic_load_n(&amd->write_dispatch_id, __ATOMIC_ACQUIRE)) break;
      uint8_t copy[kPacketBytes];
      std::memcpy(copy, packet, sizeof copy);
      __atomic_store_n(header, static_cast<uint16_t>(HSA_PACKET_TYPE_INVALID), __ATOMIC_RELEASE);
      Pass(handlers.size(), copy, 1, next);
      next++;
      __atomic_store_n(&amd->read_dispatch_id, next, __ATOMIC_RELEASE);
    }
  }

  // Gives packets to the handler below `level`; level 0 is the real queue.
  void Pass(size_t level, const void* packets, uint64_t count, uint64_t index) {
    if (level == 0) {
      Submit(static_cast<const uint8_t*>(packets), count);
      return;
    }
    const Cursor saved = cursor;
    cursor = {this, level - 1, index};
    const auto& [handler, data] = handlers[level - 1];
    handler(packets, count, index, data, [](const void* written, uint64_t number) {
      const Cursor c = cursor;
      c.queue->Pass(c.level, written, number, c.index);
    });
    cursor = saved;
  }

  void Submit(const uint8_t* packets, uint64_t count) {
    amd_queue_t* const target = real->amd;
    auto* const ring = static_cast<uint8_t*>(real->base());
    for (uint64_t n = 0; n < count; n++) {
      const uint64_t index = __atomic_fetch_add(&target->write_dispatch_id, 1, __ATOMIC_ACQ_REL);
      while (index - __atomic_load_n(&target->read_dispatch_id, __ATOMIC_ACQUIRE) >= target->hsa_queue.size) {
        std::this_thread::yield();
      }
      uint8_t* const slot = ring + (index & (target->hsa_queue.size - 1)) * kPacketBytes;
      const uint8_t* const packet = packets + n * kPacketBytes;
      std::memcpy(slot + 2, packet + 2, kPacketBytes - 2);
      uint16_t header;
      std::memcpy(&header, packet, sizeof header);
      __atomic_store_n(reinterpret_cast<uint16_t*>(slot), header, __ATOMIC_RELEASE);
    }
    real->Ring(0);
  }

  struct Cursor {
    InterceptQueue* queue;
    size_t level;
    uint64_t index;
  };
  static thread_local Cursor cursor;
};
thread_local InterceptQueue::Cursor InterceptQueue::cursor{};

hsa_status_t CheckRequest(const Runtime& runtime, hsa_agent_t agent, uint32_t size, const void* result) {
  if (agent.handle == kCpuAgent) return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
  if (!runtime.IsGpu(agent)) return HSA_STATUS_ERROR_INVALID_AGENT;
  if (result == nullptr || size == 0 || (size & (size - 1)) != 0) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  return size > kMaxPackets ? HSA_STATUS_ERROR_INVALID_QUEUE_CREATION : HSA_STATUS_SUCCESS;
}

// Makes a queue that the device process reads.
Queue* NewDeviceQueue(Runtime& runtime, hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                      ErrorCallback callback, void* data) {
  auto* queue = new Queue;
  queue->agent = agent;
  queue->on_error = callback;
  queue->error_data = data;
  if (!Prepare(runtime, *queue, size, type) || !AddDoorbell(runtime, *queue)) {
    Destroy(runtime, queue);
    return nullptr;
  }
  QueueRequest request{};
  request.ring = reinterpret_cast<uint64_t>(queue->base());
  request.write_index = reinterpret_cast<uint64_t>(&queue->amd->write_dispatch_id);
  request.read_index = reinterpret_cast<uint64_t>(&queue->amd->read_dispatch_id);
  queue->watched = reinterpret_cast<uint32_t*>(reinterpret_cast<uint8_t*>(queue->amd) + kWatchedOffset);
  request.watched = reinterpret_cast<uint64_t>(queue->watched);
  request.packets = size;
  const Answer answer = runtime.client().Request(MessageType::kQueueCreate, Writer().Put(request).bytes());
  if (!answer.ok) {
    Destroy(runtime, queue);
    return nullptr;
  }
  queue->handle = Reader(answer.payload).Get<uint64_t>();
  Publish(queue);
  return queue;
}

}  // namespace

bool QueueFault(uint64_t handle, hsa_status_t status) {
  Queue* failed = nullptr;
  ErrorCallback callback = nullptr;
  void* data = nullptr;
  hsa_queue_t* reported = nullptr;
  {
    const std::lock_guard lock(queues_mutex);
    for (const auto& [key, queue] : queues) {
      if (queue->handle == handle) failed = queue;
    }
    if (failed == nullptr) return false;
    failed->inactive.store(true);
    callback = failed->on_error;
    data = failed->error_data;
    reported = &failed->amd->hsa_queue;
  }
  if (callback != nullptr) callback(status, reported, data);
  return callback != nullptr;
}

}  // namespace wavesmith::hsa

namespace impl {

using namespace wavesmith::hsa;  // NOLINT: the implementations are this namespace's face

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t, uint32_t,
                              hsa_queue_t** queue) {
  WAVESMITH_REQUIRE_INIT();
  const hsa_status_t status = CheckRequest(*runtime, agent, size, queue);
  if (status != HSA_STATUS_SUCCESS) return status;
  Queue* const made = NewDeviceQueue(*runtime, agent, size, type, callback, data);
  if (made == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  *queue = &made->amd->hsa_queue;
  std::vector<std::pair<hsa_amd_runtime_queue_notifier, void*>> listeners;
  {
    const std::lock_guard lock(queues_mutex);
    listeners = notifiers;
  }
  for (const auto& [notify, user] : listeners) notify(*queue, agent, user);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_soft_queue_create(hsa_region_t, uint32_t size, hsa_queue_type32_t type, uint32_t features,
                                   hsa_signal_t doorbell, hsa_queue_t** queue) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(queue != nullptr && size != 0 && (size & (size - 1)) == 0 && doorbell.handle != 0);
  auto* made = new Queue;
  if (!Prepare(*runtime, *made, size, type)) {
    delete made;
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  made->owns_doorbell = false;
  made->doorbell = SignalOf(doorbell);
  made->amd->hsa_queue.features = features;
  made->amd->hsa_queue.doorbell_signal = doorbell;
  Publish(made);
  *queue = &made->amd->hsa_queue;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_destroy(hsa_queue_t* queue) {
  WAVESMITH_REQUIRE_INIT();
  Queue* found;
  {
    const std::lock_guard lock(queues_mutex);
    const auto entry = queues.find(queue);
    if (entry == queues.end()) return HSA_STATUS_ERROR_INVALID_QUEUE;
    found = entry->second;
    queues.erase(entry);
  }
  if (auto* intercept = dynamic_cast<InterceptQueue*>(found); intercept != nullptr && intercept->real != nullptr) {
    impl::hsa_queue_destroy(&intercept->real->amd->hsa_queue);
  }
  Destroy(*runtime, found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t* queue) {
  WAVESMITH_REQUIRE_INIT();
  Queue* const found = Find(queue);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_QUEUE;
  found->inactive.store(true);
  return HSA_STATUS_SUCCESS;
}

#define WAVESMITH_LOAD_INDEX(name, field) \
  uint64_t name(const hsa_queue_t* queue) { return __atomic_load_n(&AmdQueue(queue)->field, __ATOMIC_SEQ_CST); }
WAVESMITH_LOAD_INDEX(hsa_queue_load_read_index_scacquire, read_dispatch_id)
WAVESMITH_LOAD_INDEX(hsa_queue_load_read_index_relaxed, read_dispatch_id)
WAVESMITH_LOAD_INDEX(hsa_queue_load_write_index_scacquire, write_dispatch_id)
WAVESMITH_LOAD_INDEX(hsa_queue_load_write_index_relaxed, write_dispatch_id)

#define WAVESMITH_STORE_INDEX(name, field)                              \
  void name(const hsa_queue_t* queue, uint64_t value) {                 \
    __atomic_store_n(&AmdQueue(queue)->field, value, __ATOMIC_SEQ_CST); \
  }
WAVESMITH_STORE_INDEX(hsa_queue_store_write_index_relaxed, write_dispatch_id)
WAVESMITH_STORE_INDEX(hsa_queue_store_write_index_screlease, write_dispatch_id)
WAVESMITH_STORE_INDEX(hsa_queue_store_read_index_relaxed, read_dispatch_id)
WAVESMITH_STORE_INDEX(hsa_queue_store_read_index_screlease, read_dispatch_id)

// Who lost the race lets the winner run: threads that hand the index to one another would spin for a slice of time each.
#define WAVESMITH_CAS_INDEX(name)                                                                              \
  uint64_t name(const hsa_queue_t* queue, uint64_t expected, uint64_t value) {                                 \
    const bool won = __atomic_compare_exchange_n(&AmdQueue(queue)->write_dispatch_id, &expected, value, false, \
                                                 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                          \
    if (!won) sched_yield();                                                                                   \
    return expected;                                                                                           \
  }
WAVESMITH_CAS_INDEX(hsa_queue_cas_write_index_scacq_screl)
WAVESMITH_CAS_INDEX(hsa_queue_cas_write_index_scacquire)
WAVESMITH_CAS_INDEX(hsa_queue_cas_write_index_relaxed)
WAVESMITH_CAS_INDEX(hsa_queue_cas_write_index_screlease)

#define WAVESMITH_ADD_INDEX(name)                                                            \
  uint64_t name(const hsa_queue_t* queue, uint64_t value) {                                  \
    return __atomic_fetch_add(&AmdQueue(queue)->write_dispatch_id, value, __ATOMIC_SEQ_CST); \
  }
WAVESMITH_ADD_INDEX(hsa_queue_add_write_index_scacq_screl)
WAVESMITH_ADD_INDEX(hsa_queue_add_write_index_scacquire)
WAVESMITH_ADD_INDEX(hsa_queue_add_write_index_relaxed)
WAVESMITH_ADD_INDEX(hsa_queue_add_write_index_screlease)

hsa_status_t hsa_amd_queue_intercept_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                                            void (*callback)(hsa_status_t, hsa_queue_t*, void*), void* data, uint32_t,
                                            uint32_t, hsa_queue_t** queue) {
  WAVESMITH_REQUIRE_INIT();
  const hsa_status_t status = CheckRequest(*runtime, agent, size, queue);
  if (status != HSA_STATUS_SUCCESS) return status;
  auto* made = new InterceptQueue;
  if (!Prepare(*runtime, *made, size, type) || !AddDoorbell(*runtime, *made)) {
    Destroy(*runtime, made);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  made->real = NewDeviceQueue(*runtime, agent, size, type, callback, data);
  if (made->real == nullptr) {
    Destroy(*runtime, made);
    return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  }
  Publish(made);
  *queue = &made->amd->hsa_queue;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_intercept_register(hsa_queue_t* queue, hsa_amd_queue_intercept_handler handler, void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(handler != nullptr);
  auto* const intercept = dynamic_cast<InterceptQueue*>(Find(queue));
  if (intercept == nullptr) return HSA_STATUS_ERROR_INVALID_QUEUE;
  const std::lock_guard lock(intercept->mutex);
  intercept->handlers.emplace_back(handler, data);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_runtime_queue_create_register(hsa_amd_runtime_queue_notifier callback, void* data) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(callback != nullptr);
  const std::lock_guard lock(queues_mutex);
  notifiers.emplace_back(callback, data);
  return HSA_STATUS_SUCCESS;
}

// One device runs one kernel at a time: masks and priorities are accepted and change nothing.
hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t* queue, uint32_t count, const uint32_t* mask) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(count % 32 == 0 && (count == 0 || mask != nullptr));
  return Find(queue) == nullptr ? HSA_STATUS_ERROR_INVALID_QUEUE : HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_queue_cu_get_mask(const hsa_queue_t* queue, uint32_t count, uint32_t* mask) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(count != 0 && count % 32 == 0 && mask != nullptr);
  if (Find(queue) == nullptr) return HSA_STATUS_ERROR_INVALID_QUEUE;
  std::fill_n(mask, count / 32, 0u);
  for (uint32_t n = 0; n < std::min(count, runtime->device().hello.compute_units); n++) mask[n / 32] |= 1u << (n % 32);
  return HSA_STATUS_SUCCESS;
}
hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t* queue, hsa_amd_queue_priority_t) {
  WAVESMITH_REQUIRE_INIT();
  return Find(queue) == nullptr ? HSA_STATUS_ERROR_INVALID_QUEUE : HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_queue_get_info(hsa_queue_t* queue, hsa_amd_queue_info_attribute_t attribute, void* value) {
  WAVESMITH_REQUIRE_INIT();
  WAVESMITH_REQUIRE(value != nullptr);
  Queue* const found = Find(queue);
  if (found == nullptr) return HSA_STATUS_ERROR_INVALID_QUEUE;
  // 0: the agent, 1: the doorbell's identifier.
  if (attribute == 0) {
    std::memcpy(value, &found->agent, sizeof found->agent);
  } else if (attribute == 1) {
    std::memcpy(value, &found->handle, sizeof found->handle);
  } else {
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  }
  return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t* queue, int) {
  WAVESMITH_REQUIRE_INIT();
  return Find(queue) == nullptr ? HSA_STATUS_ERROR_INVALID_QUEUE : HSA_STATUS_SUCCESS;
}

}  // namespace impl
