// Memory: pools, pointer information, callbacks of frees, program memory locked for kernels, virtual memory at chosen addresses, copies.
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <thread>

#include "support.h"

namespace test {
namespace {

constexpr int kCount = 5000;

void Pools(Gpu& gpu) {
  size_t size;
  OK(hsa_amd_memory_pool_get_info(gpu.coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size));
  CHECK(size >= 1ull << 30);
  // Memory of every size is zeroed, apart, and seen by pointer information.
  std::vector<uint8_t*> blocks;
  const size_t sizes[] = {1, 63, 4096, 4097, 1 << 20, 100 << 20};
  for (const size_t bytes : sizes) {
    uint8_t* const p = gpu.Allocate<uint8_t>(bytes);
    CHECK(reinterpret_cast<uintptr_t>(p) % 4096 == 0);
    CHECK(p[0] == 0 && p[bytes - 1] == 0);
    p[0] = p[bytes - 1] = 0xab;
    blocks.push_back(p);
    hsa_amd_pointer_info_t info{};
    info.size = sizeof info;
    uint32_t count = 0;
    hsa_agent_t* agents = nullptr;
    OK(hsa_amd_pointer_info(p + bytes / 2, &info, std::malloc, &count, &agents));
    CHECK(info.type == HSA_EXT_POINTER_TYPE_HSA && info.agentBaseAddress == p && info.sizeInBytes == bytes);
    CHECK(info.agentOwner.handle == gpu.gpu.handle && count == 2);
    std::free(agents);
  }
  OK(hsa_amd_pointer_info_set_userdata(blocks[0], &gpu));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  OK(hsa_amd_pointer_info(blocks[0], &info, nullptr, nullptr, nullptr));
  CHECK(info.userData == &gpu);
  int local = 0;
  OK(hsa_amd_pointer_info(&local, &info, nullptr, nullptr, nullptr));
  CHECK(info.type == HSA_EXT_POINTER_TYPE_UNKNOWN);
  static int frees = 0;
  const auto on_free = [](void*, void* data) { frees += *static_cast<int*>(data); };
  int weight = 5;
  OK(hsa_amd_register_deallocation_callback(blocks[1], on_free, &weight));
  OK(hsa_amd_register_deallocation_callback(blocks[2], on_free, &weight));
  OK(hsa_amd_deregister_deallocation_callback(blocks[2], on_free));
  for (uint8_t* const p : blocks) OK(hsa_amd_memory_pool_free(p));
  CHECK(frees == 5);
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_free(blocks[0]));
  void* pointer = nullptr;
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_allocate(gpu.coarse, 1ull << 40, 0, &pointer));
  // Sparse: most of the device at once costs nothing until it is touched; twice is too much.
  void* second = nullptr;
  size_t all = 0;
  OK(hsa_amd_memory_pool_get_info(gpu.coarse, HSA_AMD_MEMORY_POOL_INFO_SIZE, &all));
  const size_t most = all / 4 * 3;
  OK(hsa_amd_memory_pool_allocate(gpu.coarse, most, 0, &pointer));
  STATUS(HSA_STATUS_ERROR_OUT_OF_RESOURCES, hsa_amd_memory_pool_allocate(gpu.coarse, most, 0, &second));
  OK(hsa_amd_memory_pool_free(pointer));
}

// Kernels read and write memory of malloc and of the stack once it is locked.
void Locks(Gpu& gpu) {
  hsa_queue_t* const queue = gpu.NewQueue();
  const Kernel scale = gpu.Find("scale.kd"), copy = gpu.Find("copy.kd");
  const hsa_signal_t done = gpu.NewSignal();
  auto heap = std::make_unique<float[]>(kCount);
  std::iota(heap.get(), heap.get() + kCount, 0.0f);
  float* locked = nullptr;
  OK(hsa_amd_memory_lock(heap.get(), kCount * sizeof(float), &gpu.gpu, 1, reinterpret_cast<void**>(&locked)));
  CHECK(locked != nullptr && heap[77] == 77);
  for (int round = 1; round <= 2; round++) {
    hsa_signal_store_relaxed(done, 1);
    gpu.Launch(queue, scale, kCount, done, locked, 2.0f, kCount);
    Gpu::Wait(done);
    for (int n = 0; n < kCount; n++) CHECK(heap[n] == static_cast<float>(n << round));
  }
  // What the host writes now the next kernel sees.
  heap[5] = -1;
  hsa_signal_store_relaxed(done, 1);
  gpu.Launch(queue, scale, kCount, done, locked, 4.0f, kCount);
  Gpu::Wait(done);
  CHECK(heap[5] == -4);
  // Two ranges that share a page, unlocked in either order.
  int near_by[2][100];
  for (int n = 0; n < 100; n++) near_by[0][n] = n, near_by[1][n] = 0;
  for (int order = 0; order < 2; order++) {
    int *first = nullptr, *second = nullptr;
    OK(hsa_amd_memory_lock(near_by[0], sizeof near_by[0], nullptr, 0, reinterpret_cast<void**>(&first)));
    OK(hsa_amd_memory_lock(near_by[1], sizeof near_by[1], nullptr, 0, reinterpret_cast<void**>(&second)));
    hsa_signal_store_relaxed(done, 1);
    gpu.Launch(queue, copy, 100, done, second, first, 100);
    Gpu::Wait(done);
    for (int n = 0; n < 100; n++) CHECK(near_by[1][n] == n + order);
    OK(hsa_amd_memory_unlock(near_by[order]));
    for (int n = 0; n < 100; n++) near_by[0][n]++;
    OK(hsa_amd_memory_unlock(near_by[1 - order]));
    for (int n = 0; n < 100; n++) CHECK(near_by[0][n] == n + order + 1);
  }
  OK(hsa_amd_memory_unlock(heap.get()));
  CHECK(heap[5] == -4 && heap[6] == 6 * 16);
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_memory_unlock(heap.get()));
  OK(hsa_signal_destroy(done));
  OK(hsa_queue_destroy(queue));
}

// A callback hears of the pointer that it was registered for, which may lie inside, and cannot free once more.
void FreeCallbacks(Gpu& gpu) {
  static void* heard;
  const auto on_free = [](void* pointer, void* base) {
    heard = pointer;
    STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_free(base));
  };
  uint8_t* const p = gpu.Allocate<uint8_t>(4096);
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_register_deallocation_callback(nullptr, on_free, nullptr));
  OK(hsa_amd_register_deallocation_callback(p + 1024, on_free, p));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_deregister_deallocation_callback(p, on_free));
  OK(hsa_amd_memory_pool_free(p));
  CHECK(heard == p + 1024);
}

// What is said to be free becomes less by an allocation, and as much as before.
void AvailableMemory(Gpu& gpu) {
  constexpr auto kAvailable = static_cast<hsa_agent_info_t>(0xA015);
  constexpr auto kCounters = static_cast<hsa_agent_info_t>(0xA118);
  uint64_t before, during, after, total;
  OK(hsa_amd_memory_pool_get_info(gpu.coarse, HSA_AMD_MEMORY_POOL_INFO_ALLOC_MAX_SIZE, &total));
  OK(hsa_agent_get_info(gpu.gpu, kAvailable, &before));
  void *half = nullptr, *more = nullptr;
  OK(hsa_amd_memory_pool_allocate(gpu.coarse, total / 2, 0, &half));
  OK(hsa_agent_get_info(gpu.gpu, kAvailable, &during));
  CHECK(during <= before - total / 2);
  OK(hsa_amd_memory_pool_allocate(gpu.coarse, during / 10 * 8, 0, &more));
  OK(hsa_memory_free(half));
  OK(hsa_memory_free(more));
  OK(hsa_agent_get_info(gpu.gpu, kAvailable, &after));
  CHECK(after == before);
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_memory_pool_allocate(gpu.coarse, total + 4096, 0, &half));
  uint64_t counters[4];
  OK(hsa_agent_get_info(gpu.gpu, kCounters, counters));
  CHECK(counters[0] != 0 && counters[3] == 100'000'000);
}

}  // namespace

void Memory(Gpu& gpu) {
  Pools(gpu);
  Locks(gpu);
  FreeCallbacks(gpu);
  AvailableMemory(gpu);
}

namespace {

// A handle that the program gave back is none, even while its memory is mapped.
void ReleasedHandles(Gpu& gpu) {
  constexpr size_t kBytes = 10 * 4096;
  void* range = nullptr;
  OK(hsa_amd_vmem_address_reserve(&range, kBytes, 0, 0));
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  OK(hsa_amd_pointer_info(static_cast<uint8_t*>(range) + 5000, &info, nullptr, nullptr, nullptr));
  CHECK(info.type == 5 && info.hostBaseAddress == range && info.sizeInBytes == kBytes);
  hsa_amd_vmem_alloc_handle_t handle, again;
  OK(hsa_amd_vmem_handle_create(gpu.coarse, kBytes, 0, 0, &handle));
  OK(hsa_amd_vmem_map(range, kBytes, 0, handle, 0));
  OK(hsa_amd_pointer_info(range, &info, nullptr, nullptr, nullptr));
  CHECK(info.type == 6 && info.agentBaseAddress == range && info.agentOwner.handle == gpu.gpu.handle);
  OK(hsa_amd_vmem_retain_alloc_handle(&again, range));
  OK(hsa_amd_vmem_handle_release(handle));
  OK(hsa_amd_vmem_handle_release(again));
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_vmem_handle_release(again));
  OK(hsa_amd_vmem_unmap(range, kBytes));
  OK(hsa_amd_vmem_address_free(range, kBytes));
}

// Reserved addresses and memory of the program that a GPU may use, once attributes say so.
void SharedVirtualMemory(Gpu& gpu) {
  struct Pair {
    uint64_t attribute;
    uint64_t value;
  };
  constexpr uint64_t kPreferred = 4, kPrefetch = 5, kAccessible = 0x200, kNoAccess = 0x202, kQuery = 0x203;
  const size_t bytes = (kCount * sizeof(int) + 4095) / 4096 * 4096;
  void* reserved = nullptr;
  OK(hsa_amd_vmem_address_reserve(&reserved, bytes, 0, 1));
  std::vector<int> own(kCount);
  std::iota(own.begin(), own.end(), 0);
  const auto set = [&](void* pointer, size_t size, std::vector<Pair> pairs) {
    return hsa_amd_svm_attributes_set(pointer, size, reinterpret_cast<hsa_amd_svm_attribute_pair_t*>(pairs.data()),
                                      pairs.size());
  };
  OK(set(reserved, bytes, {{kPreferred, gpu.gpu.handle}, {kAccessible, gpu.gpu.handle}}));
  OK(set(own.data(), kCount * sizeof(int), {{kAccessible, gpu.gpu.handle}}));
  STATUS(HSA_STATUS_ERROR_INVALID_AGENT, set(reserved, bytes, {{kAccessible, 77}}));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, set(reserved, bytes, {{kQuery, gpu.gpu.handle}}));
  const hsa_signal_t first = gpu.NewSignal(), done = gpu.NewSignal();
  OK(hsa_amd_svm_prefetch_async(reserved, bytes, gpu.cpu, 0, nullptr, first));
  Gpu::Wait(first);
  hsa_queue_t* const queue = gpu.NewQueue();
  gpu.Launch(queue, gpu.Find("copy.kd"), kCount, done, reserved, own.data(), kCount);
  Gpu::Wait(done);
  CHECK(std::equal(own.begin(), own.end(), static_cast<int*>(reserved)));
  Pair asked[] = {{kPreferred, 0}, {kPrefetch, 0}, {kQuery, gpu.gpu.handle}, {kQuery, gpu.cpu.handle}};
  OK(hsa_amd_svm_attributes_get(reserved, bytes, reinterpret_cast<hsa_amd_svm_attribute_pair_t*>(asked), 4));
  CHECK(asked[0].value == gpu.gpu.handle && asked[1].value == gpu.cpu.handle);
  CHECK(asked[2].attribute == kAccessible && asked[3].attribute == kNoAccess);
  OK(hsa_amd_vmem_address_free(reserved, bytes));
  OK(hsa_signal_destroy(first));
  OK(hsa_signal_destroy(done));
  OK(hsa_queue_destroy(queue));
}

}  // namespace

void VirtualMemory(Gpu& gpu) {
  ReleasedHandles(gpu);
  SharedVirtualMemory(gpu);
  constexpr size_t kPart = 1 << 20;
  constexpr uint64_t kWanted = 0x7e00'0000'0000 - 0x1000'0000'0000;
  void* reserved = nullptr;
  OK(hsa_amd_vmem_address_reserve(&reserved, 4 * kPart, kWanted, 0));
  CHECK(reserved == reinterpret_cast<void*>(kWanted));
  void* aligned = nullptr;
  OK(hsa_amd_vmem_address_reserve_align(&aligned, kPart, 0, 1 << 30, 0));
  CHECK(reinterpret_cast<uintptr_t>(aligned) % (1 << 30) == 0);
  OK(hsa_amd_vmem_address_free(aligned, kPart));
  hsa_amd_vmem_alloc_handle_t one{}, two{};
  OK(hsa_amd_vmem_handle_create(gpu.coarse, 2 * kPart, 0, 0, &one));
  OK(hsa_amd_vmem_handle_create(gpu.coarse, kPart, 0, 0, &two));
  auto* const base = static_cast<uint8_t*>(reserved);
  OK(hsa_amd_vmem_map(base, 2 * kPart, 0, one, 0));
  OK(hsa_amd_vmem_map(base + 2 * kPart, kPart, 0, two, 0));
  // A second view of the second half of the first allocation.
  OK(hsa_amd_vmem_map(base + 3 * kPart, kPart, kPart, one, 0));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_vmem_map(base + kPart, kPart, 0, two, 0));
  STATUS(HSA_STATUS_ERROR_RESOURCE_FREE, hsa_amd_vmem_address_free(base, 4 * kPart));
  const hsa_amd_memory_access_desc_t access{HSA_ACCESS_PERMISSION_RW, gpu.gpu};
  OK(hsa_amd_vmem_set_access(base, 2 * kPart, &access, 1));
  OK(hsa_amd_vmem_set_access(base + 2 * kPart, kPart, &access, 1));
  OK(hsa_amd_vmem_set_access(base + 3 * kPart, kPart, &access, 1));
  hsa_access_permission_t permission;
  OK(hsa_amd_vmem_get_access(base, &permission, gpu.gpu));
  CHECK(permission == HSA_ACCESS_PERMISSION_RW);
  hsa_amd_memory_pool_t pool{};
  hsa_amd_memory_type_t type{};
  OK(hsa_amd_vmem_get_alloc_properties_from_handle(one, &pool, &type));
  CHECK(pool.handle == gpu.coarse.handle);
  hsa_amd_vmem_alloc_handle_t again{};
  OK(hsa_amd_vmem_retain_alloc_handle(&again, base));
  CHECK(again.handle == one.handle);
  OK(hsa_amd_vmem_handle_release(again));
  // Kernels use both: from the first allocation (its second half) into the second.
  auto* const from = reinterpret_cast<int*>(base + kPart);
  auto* const to = reinterpret_cast<int*>(base + 2 * kPart);
  for (int n = 0; n < kCount; n++) from[n] = 3 * n;
  hsa_queue_t* const queue = gpu.NewQueue();
  const hsa_signal_t done = gpu.NewSignal(2);
  gpu.Launch(queue, gpu.Find("copy.kd"), kCount, done, to, from, kCount);
  gpu.Launch(queue, gpu.Find("add.kd"), kCount, done, reinterpret_cast<int*>(base + 3 * kPart), 1, kCount);
  Gpu::Wait(done);
  for (int n = 0; n < kCount; n++) CHECK(to[n] == 3 * n && from[n] == 3 * n + 1);
  // The mapping keeps the allocation after its handle was released.
  OK(hsa_amd_vmem_handle_release(one));
  CHECK(from[2] == 7);
  OK(hsa_amd_vmem_unmap(base, 2 * kPart));
  OK(hsa_amd_vmem_unmap(base + 3 * kPart, kPart));
  OK(hsa_amd_vmem_unmap(base + 2 * kPart, kPart));
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_vmem_unmap(base, 2 * kPart));
  STATUS(HSA_STATUS_ERROR_INVALID_ALLOCATION, hsa_amd_vmem_handle_release(one));
  OK(hsa_amd_vmem_handle_release(two));
  OK(hsa_amd_vmem_address_free(base, 4 * kPart));
  OK(hsa_signal_destroy(done));
  OK(hsa_queue_destroy(queue));
}

void Copies(Gpu& gpu) {
  int* const a = gpu.Allocate<int>(kCount);
  int* const b = gpu.Allocate<int>(kCount);
  OK(hsa_amd_memory_fill(a, 0x01020304, kCount));
  CHECK(a[0] == 0x01020304 && a[kCount - 1] == 0x01020304);
  hsa_queue_t* const queue = gpu.NewQueue();
  // Copy after a kernel and after the program said so; a second copy after the first.
  const hsa_signal_t kernel = gpu.NewSignal(), go = gpu.NewSignal(), first = gpu.NewSignal(), second = gpu.NewSignal();
  std::vector<int> host(kCount);
  const hsa_signal_t dependencies[] = {kernel, go};
  OK(hsa_amd_memory_async_copy(b, gpu.gpu, a, gpu.gpu, kCount * sizeof(int), 2, dependencies, first));
  OK(hsa_amd_memory_async_copy(host.data(), gpu.cpu, b, gpu.gpu, kCount * sizeof(int), 1, &first, second));
  gpu.Launch(queue, gpu.Find("add.kd"), kCount, kernel, a, 1, kCount);
  Gpu::Wait(kernel);
  CHECK(hsa_signal_wait_scacquire(first, HSA_SIGNAL_CONDITION_EQ, 0, 1'000'000, HSA_WAIT_STATE_BLOCKED) == 1);
  CHECK(b[0] == 0);
  hsa_signal_store_screlease(go, 0);
  Gpu::Wait(second);
  CHECK(hsa_signal_load_relaxed(first) == 0 &&
        std::all_of(host.begin(), host.end(), [](int v) { return v == 0x01020305; }));
  hsa_amd_profiling_async_copy_time_t time{};
  OK(hsa_amd_profiling_get_async_copy_time(second, &time));
  CHECK(time.start != 0 && time.end >= time.start);
  hsa_signal_store_relaxed(first, 1);
  OK(hsa_amd_memory_async_copy(b, gpu.gpu, host.data(), gpu.cpu, 64, 0, nullptr, first));
  Gpu::Wait(first);
  // A rectangle of 8 bytes × 3 rows × 2 slices.
  std::vector<uint8_t> source(1000);
  std::iota(source.begin(), source.end(), uint8_t{0});
  auto* const target = reinterpret_cast<uint8_t*>(b);
  std::memset(target, 0, 1000);
  const hsa_pitched_ptr_t to{target, 20, 100}, from{source.data(), 16, 64};
  const hsa_dim3_t to_offset{2, 1, 0}, from_offset{4, 0, 1}, range{8, 3, 2};
  hsa_signal_store_relaxed(first, 1);
  OK(hsa_amd_memory_async_copy_rect(&to, &to_offset, &from, &from_offset, &range, gpu.gpu, hsaHostToDevice, 0, nullptr,
                                    first));
  Gpu::Wait(first);
  for (size_t z = 0; z < 2; z++) {
    for (size_t y = 0; y < 3; y++) {
      for (size_t x = 0; x < 8; x++) {
        CHECK(target[z * 100 + (y + 1) * 20 + x + 2] == source[(z + 1) * 64 + y * 16 + x + 4]);
      }
    }
  }
  CHECK(std::count_if(target, target + 200, [](uint8_t v) { return v != 0; }) <= 48 && target[1] == 0);
  OK(hsa_memory_copy(host.data(), a, 400));
  CHECK(host[99] == 0x01020305);
  for (const hsa_signal_t s : {kernel, go, first, second}) OK(hsa_signal_destroy(s));
  OK(hsa_queue_destroy(queue));
  OK(hsa_memory_free(a));
  OK(hsa_memory_free(b));
}

}  // namespace test
