// What kernels ask of the host while they run: the host-call buffer that device code fills and a thread of the program serves.
// Sources: AMD device libraries, ockl/src/hostcall_impl.cl (buffer, packets) and services.cl (service numbers, messages); dm.cl (heap).
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "hip/format.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

// Layouts that device code knows.
struct PacketHeader {
  uint64_t next;
  uint64_t active_lanes;
  uint32_t service;
  uint32_t control;  // bit 0: the host has not answered yet
};
static_assert(sizeof(PacketHeader) == 24);
struct Payload {
  uint64_t slots[64][8];
};
struct Buffer {
  PacketHeader* headers;
  Payload* payloads;
  uint64_t doorbell;
  uint64_t free_stack;
  uint64_t ready_stack;
  uint64_t index_mask;
};

enum Service : uint32_t { kFunctionCall = 1, kPrintf = 2, kDeviceMemory = 3, kSanitizer = 4 };
constexpr uint32_t kWaiting = 1;
constexpr uint32_t kWavesPerUnit = 32;

// Message of more than 7 words: the first word of each part describes it.
constexpr uint64_t kBegin = 1;
constexpr uint64_t kEnd = 2;
constexpr unsigned kLengthShift = 5;
constexpr uint64_t kLengthMask = 7;
constexpr unsigned kIdShift = 8;
// A message longer than this is damage.
constexpr size_t kMaxMessageWords = 1 << 17;

constexpr uint64_t kSlab = 2 << 20;
constexpr uint64_t kHeapState = 128 << 10;
constexpr uint64_t kInitialSlabs = 4;
// Fields of the heap's state: next initial slab, end of them, first of them.
constexpr size_t kHeapFields = 108544;

// Memory that kernels took with malloc, and slabs they divide. Slabs begin at multiples of their size.
class DeviceHeap {
 public:
  uint64_t Allocate(uint64_t size) {
    const uint64_t alignment = size == kSlab ? kSlab : 4096;
    hipError_t error;
    void* memory = nullptr;
    Device* const device = GetDevice(&error);
    const uint64_t extra = alignment == kSlab ? kSlab : 0;
    if (size > device->memory_bytes ||
        hsa_amd_memory_pool_allocate(device->coarse, size + extra, 0, &memory) != HSA_STATUS_SUCCESS) {
      return 0;
    }
    const uint64_t address = (reinterpret_cast<uint64_t>(memory) + alignment - 1) / alignment * alignment;
    const std::lock_guard lock(mutex_);
    bases_[address] = memory;
    return address;
  }
  void Free(uint64_t address) {
    void* base;
    {
      const std::lock_guard lock(mutex_);
      const auto found = bases_.find(address);
      if (found == bases_.end()) {
        std::fprintf(stderr, "wavesmith: a kernel freed 0x%llx, which malloc did not give.\n",
                     static_cast<unsigned long long>(address));
        return;
      }
      base = found->second;
      bases_.erase(found);
    }
    hsa_amd_memory_pool_free(base);
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, void*> bases_;
};
DeviceHeap& Heap() {
  static auto* const heap = new DeviceHeap;
  return *heap;
}

void* AllocateShared(uint64_t size) {
  hipError_t error;
  void* memory = nullptr;
  Device* const device = GetDevice(&error);
  if (device == nullptr || hsa_amd_memory_pool_allocate(device->fine, size, 0, &memory) != HSA_STATUS_SUCCESS) {
    std::fprintf(stderr, "wavesmith: there is no memory for what kernels ask of the host (printf, assert, malloc).\n");
    return nullptr;
  }
  return memory;
}

// Serves the buffer on a thread of its own.
class HostcallService {
 public:
  // nullptr when memory is short.
  static HostcallService* Start() {
    hipError_t error;
    const Device* const device = GetDevice(&error);
    if (device == nullptr) return nullptr;
    // A packet for every wavefront that can be on the device: device code does not expect to run out of them.
    const uint64_t packets = std::bit_ceil(uint64_t{device->compute_units} * kWavesPerUnit);
    const uint64_t headers = sizeof(Buffer) + 64;
    const uint64_t payloads = (headers + packets * sizeof(PacketHeader) + 4095) / 4096 * 4096;
    void* const memory = AllocateShared(payloads + packets * sizeof(Payload));
    hsa_signal_t doorbell;
    if (memory == nullptr || hsa_signal_create(0, 0, nullptr, &doorbell) != HSA_STATUS_SUCCESS) return nullptr;
    auto* const bytes = static_cast<uint8_t*>(memory);
    auto* const buffer = static_cast<Buffer*>(memory);
    buffer->headers = reinterpret_cast<PacketHeader*>(bytes + headers);
    buffer->payloads = reinterpret_cast<Payload*>(bytes + payloads);
    buffer->doorbell = doorbell.handle;
    buffer->index_mask = packets - 1;
    // A pointer is an index with a count above it that changes with every use; 0 ends a list.
    for (uint64_t n = 0; n < packets; n++) buffer->headers[n].next = n + 1 == packets ? 0 : packets + n + 1;
    buffer->free_stack = packets;
    buffer->ready_stack = 0;
    auto* const service = new HostcallService(buffer);
    service->thread_ = std::thread([service] { service->Run(); });
    return service;
  }
  void Stop() {
    is_ending_.store(true);
    if (thread_.joinable()) thread_.join();
  }
  uint64_t address() const { return reinterpret_cast<uint64_t>(buffer_); }

 private:
  explicit HostcallService(Buffer* buffer) : buffer_(buffer) {}

  // Kernels raise the doorbell without waking anybody, so this looks: often while something happens, every millisecond otherwise.
  void Run() {
    using std::chrono::microseconds;
    constexpr microseconds kShort(20);
    constexpr microseconds kLong(1000);
    constexpr int kBusyLooks = 100;
    microseconds nap = kShort;
    int looks = 0;
    while (!is_ending_.load()) {
      if (Answer()) {
        nap = kShort;
        looks = 0;
        continue;
      }
      if (++looks > kBusyLooks) nap = std::min(nap * 2, kLong);
      std::this_thread::sleep_for(nap);
    }
  }

  // Answers what is there. False when nothing was.
  bool Answer() {
    uint64_t pointer = __atomic_exchange_n(&buffer_->ready_stack, 0, __ATOMIC_ACQUIRE);
    if (pointer == 0) return false;
    // The last packet is the first of the list; answers come in the order of the questions.
    std::vector<uint64_t> indices;
    while (pointer != 0 && indices.size() <= buffer_->index_mask) {
      const uint64_t index = pointer & buffer_->index_mask;
      indices.push_back(index);
      pointer = buffer_->headers[index].next;
    }
    for (size_t n = indices.size(); n-- > 0;) {
      PacketHeader& header = buffer_->headers[indices[n]];
      Payload& payload = buffer_->payloads[indices[n]];
      for (uint64_t lanes = header.active_lanes; lanes != 0; lanes &= lanes - 1) {
        Serve(header.service, payload.slots[std::countr_zero(lanes)]);
      }
      __atomic_store_n(&header.control, header.control & ~kWaiting, __ATOMIC_RELEASE);
    }
    return true;
  }

  void Serve(uint32_t service, uint64_t* slot) {
    switch (service) {
      case kFunctionCall: {
        uint64_t output[2] = {};
        reinterpret_cast<void (*)(uint64_t*, const uint64_t*)>(slot[0])(output, slot + 1);
        slot[0] = output[0];
        slot[1] = output[1];
        break;
      }
      case kPrintf:
        Append(slot);
        break;
      case kDeviceMemory:
        if (slot[0] != 0) {
          Heap().Free(slot[0]);
          slot[0] = 0;
        } else {
          slot[0] = Heap().Allocate(slot[1]);
        }
        break;
      case kSanitizer:
        std::fprintf(stderr, "wavesmith: the device's address sanitizer reports address 0x%llx at pc 0x%llx.\n",
                     static_cast<unsigned long long>(slot[0]), static_cast<unsigned long long>(slot[1]));
        break;
      default:
        std::fprintf(stderr, "wavesmith: a kernel asked for host service %u, which does not exist.\n", service);
        slot[0] = slot[1] = 0;
    }
  }

  // One part of a message; prints it when it is the last. The kernel gets the message's number, in the end the characters printed.
  void Append(uint64_t* slot) {
    uint64_t description = slot[0];
    if (description & kBegin) {
      description = (description & ((1ull << kIdShift) - 1) & ~kBegin) | next_message_++ << kIdShift;
    }
    const uint64_t id = description >> kIdShift;
    std::vector<uint64_t>& words = messages_[id];
    const uint64_t length = description >> kLengthShift & kLengthMask;
    if (words.size() < kMaxMessageWords) words.insert(words.end(), slot + 1, slot + 1 + length);
    if ((description & kEnd) == 0) {
      slot[0] = description;
      return;
    }
    slot[0] = static_cast<uint64_t>(static_cast<int64_t>(PrintMessage(words)));
    messages_.erase(id);
  }

  Buffer* const buffer_;
  std::thread thread_;
  std::atomic<bool> is_ending_{false};
  std::map<uint64_t, std::vector<uint64_t>> messages_;
  uint64_t next_message_ = 1;
};

}  // namespace

namespace {
std::once_flag service_once;
HostcallService* service = nullptr;
}  // namespace

uint64_t HostcallBuffer() {
  std::call_once(service_once, [] { service = HostcallService::Start(); });
  return service == nullptr ? 0 : service->address();
}
void StopHostcallService() {
  if (service != nullptr) service->Stop();
}

uint64_t DeviceHeapState() {
  static const uint64_t state = [] {
    void* const memory = AllocateShared(kHeapState);
    const uint64_t slabs = memory == nullptr ? 0 : Heap().Allocate(kInitialSlabs * kSlab + kSlab);
    if (slabs == 0) return uint64_t{0};
    const uint64_t first = (slabs + kSlab - 1) / kSlab * kSlab;
    const uint64_t fields[3] = {first, first + kInitialSlabs * kSlab, first};
    std::memset(memory, 0, kHeapState);
    std::memcpy(static_cast<uint8_t*>(memory) + kHeapFields, fields, sizeof fields);
    return reinterpret_cast<uint64_t>(memory);
  }();
  return state;
}

}  // namespace wavesmith::hip
