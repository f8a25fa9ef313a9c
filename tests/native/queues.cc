// Queues: rings that wrap, many queues and threads, barrier-AND, barrier-OR and AMD barrier-value packets, times, destroying a waiting queue.
#include <thread>

#include "support.h"

namespace test {
namespace {

constexpr int kCount = 300;

void ManyDispatches(Gpu& gpu) {
  const Kernel add = gpu.Find("add.kd");
  int* const data = gpu.Allocate<int>(kCount);
  hsa_queue_t* const queue = gpu.NewQueue(16);
  CHECK(queue->size == 16 && queue->base_address != nullptr);
  const hsa_signal_t done = gpu.NewSignal(200);
  for (int n = 0; n < 200; n++) gpu.Launch(queue, add, kCount, done, data, 1, kCount);
  Gpu::Wait(done);
  CHECK(hsa_signal_load_relaxed(done) == 0);
  for (int n = 0; n < kCount; n++) CHECK(data[n] == 200);
  CHECK(hsa_queue_load_write_index_relaxed(queue) == 200);
  while (hsa_queue_load_read_index_scacquire(queue) != 200) std::this_thread::yield();
  hsa_amd_profiling_dispatch_time_t time{};
  OK(hsa_amd_profiling_get_dispatch_time(gpu.gpu, done, &time));
  CHECK(time.start != 0 && time.end >= time.start);
  uint64_t now;
  OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &now));
  CHECK(now >= time.end);
  OK(hsa_queue_destroy(queue));
  OK(hsa_signal_destroy(done));
  OK(hsa_amd_memory_pool_free(data));
}

void ManyQueues(Gpu& gpu) {
  const Kernel add = gpu.Find("add.kd");
  int* const shared = gpu.Allocate<int>(kCount);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      hsa_queue_t* const queue = gpu.NewQueue(8);
      int* const own = gpu.Allocate<int>(kCount);
      const hsa_signal_t done = gpu.NewSignal(60);
      for (int n = 0; n < 30; n++) {
        gpu.Launch(queue, add, kCount, done, shared, 1, kCount);
        gpu.Launch(queue, add, kCount, done, own, 2, kCount);
      }
      Gpu::Wait(done);
      for (int n = 0; n < kCount; n++) CHECK(own[n] == 60);
      OK(hsa_amd_memory_pool_free(own));
      OK(hsa_signal_destroy(done));
      OK(hsa_queue_destroy(queue));
    });
  }
  for (std::thread& t : threads) t.join();
  for (int n = 0; n < kCount; n++) CHECK(shared[n] == 120);
  OK(hsa_amd_memory_pool_free(shared));
}

void Barrier(hsa_queue_t* queue, bool all, const std::vector<hsa_signal_t>& dependencies, hsa_signal_t completion) {
  hsa_barrier_and_packet_t p{};
  const int type = all ? HSA_PACKET_TYPE_BARRIER_AND : HSA_PACKET_TYPE_BARRIER_OR;
  p.header = static_cast<uint16_t>(type << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER);
  std::copy(dependencies.begin(), dependencies.end(), p.dep_signal);
  p.completion_signal = completion;
  Gpu::Submit(queue, &p);
}

bool StaysAt(hsa_signal_t signal, hsa_signal_value_t value) {
  return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_NE, value, 2'000'000, HSA_WAIT_STATE_BLOCKED) == value;
}

void Barriers(Gpu& gpu) {
  const Kernel add = gpu.Find("add.kd");
  int* const data = gpu.Allocate<int>(kCount);
  hsa_queue_t* const first = gpu.NewQueue();
  hsa_queue_t* const second = gpu.NewQueue();
  const hsa_signal_t a = gpu.NewSignal(), b = gpu.NewSignal(), kernel = gpu.NewSignal(), passed = gpu.NewSignal();
  // The second queue waits for the program twice and for a kernel of the first queue.
  Barrier(second, true, {a, b, kernel}, passed);
  CHECK(StaysAt(passed, 1));
  hsa_signal_store_screlease(b, 0);
  gpu.Launch(first, add, kCount, kernel, data, 5, kCount);
  Gpu::Wait(kernel);
  CHECK(StaysAt(passed, 1));
  hsa_signal_subtract_scacq_screl(a, 1);
  Gpu::Wait(passed);
  CHECK(data[kCount - 1] == 5);
  // OR: one of them is enough. A queue of barriers only, without signals, passes.
  for (const hsa_signal_t s : {a, b, kernel, passed}) hsa_signal_store_relaxed(s, 1);
  Barrier(second, false, {a, b, kernel}, passed);
  CHECK(StaysAt(passed, 1));
  hsa_signal_exchange_scacq_screl(b, 0);
  Gpu::Wait(passed);
  hsa_signal_store_relaxed(passed, 1);
  Barrier(second, true, {}, passed);
  Gpu::Wait(passed);
  // What stands behind a barrier waits as well.
  for (const hsa_signal_t s : {a, kernel}) hsa_signal_store_relaxed(s, 1);
  Barrier(first, true, {a}, {0});
  gpu.Launch(first, add, kCount, kernel, data, 1, kCount);
  CHECK(StaysAt(kernel, 1) && data[0] == 5);
  hsa_signal_store_screlease(a, 0);
  Gpu::Wait(kernel);
  CHECK(data[0] == 6);
  // A queue that waits for ever can be destroyed.
  hsa_signal_store_relaxed(a, 1);
  Barrier(second, true, {a}, {0});
  CHECK(StaysAt(a, 1));
  OK(hsa_queue_destroy(second));
  OK(hsa_queue_inactivate(first));
  OK(hsa_queue_destroy(first));
  for (const hsa_signal_t s : {a, b, kernel, passed}) OK(hsa_signal_destroy(s));
  OK(hsa_amd_memory_pool_free(data));
}

void BarrierValues(Gpu& gpu) {
  hsa_queue_t* const queue = gpu.NewQueue();
  struct Case {
    hsa_signal_condition32_t condition;
    hsa_signal_value_t value, mask, before, after;
  };
  const Case cases[] = {
      {HSA_SIGNAL_CONDITION_EQ, 4, -1, 5, 4},
      {HSA_SIGNAL_CONDITION_NE, 4, -1, 4, 3},
      {HSA_SIGNAL_CONDITION_LT, 0, -1, 0, -1},
      {HSA_SIGNAL_CONDITION_GTE, 8, -1, 7, 9},
      {HSA_SIGNAL_CONDITION_EQ, 0x10, 0xf0, 0x25, 0x1f},
  };
  for (const Case& c : cases) {
    const hsa_signal_t s = gpu.NewSignal(c.before), done = gpu.NewSignal();
    hsa_amd_barrier_value_packet_t p{};
    p.header.header = HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER;
    p.header.AmdFormat = HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
    p.signal = s;
    p.value = c.value;
    p.mask = c.mask;
    p.cond = c.condition;
    p.completion_signal = done;
    Gpu::Submit(queue, &p);
    CHECK(StaysAt(done, 1));
    hsa_signal_store_screlease(s, c.after);
    Gpu::Wait(done);
    OK(hsa_signal_destroy(s));
    OK(hsa_signal_destroy(done));
  }
  OK(hsa_queue_destroy(queue));
}

// A packet with a kernel object that nobody loaded puts the queue into error; other queues go on.
void BrokenPacket(Gpu& gpu) {
  static std::atomic<int> reported{0};
  hsa_queue_t* queue;
  OK(hsa_queue_create(
      gpu.gpu, 16, HSA_QUEUE_TYPE_SINGLE,
      [](hsa_status_t status, hsa_queue_t*, void*) { reported = static_cast<int>(status); }, nullptr, UINT32_MAX,
      UINT32_MAX, &queue));
  Kernel kernel = gpu.Find("empty.kd");
  kernel.object += 4096;
  const hsa_signal_t done = gpu.NewSignal();
  gpu.Launch(queue, kernel, 64, done);
  while (reported == 0) std::this_thread::yield();
  CHECK(reported != HSA_STATUS_SUCCESS && hsa_signal_load_relaxed(done) == 1);
  hsa_queue_t* const other = gpu.NewQueue();
  gpu.Launch(other, gpu.Find("empty.kd"), 64, done);
  Gpu::Wait(done);
  OK(hsa_queue_destroy(other));
  OK(hsa_queue_destroy(queue));
  OK(hsa_signal_destroy(done));
}

// What a queue's callback is told of packets that the device refuses, as by ROCr. Their completion signals stay as they were.
void RefusedPackets(Gpu& gpu) {
  struct Case {
    hsa_status_t status;
    void (*spoil)(hsa_kernel_dispatch_packet_t&);
  };
  const Case cases[] = {
      {HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS, [](auto& p) { p.setup = 4; }},
      {HSA_STATUS_ERROR_INVALID_ALLOCATION, [](auto& p) { p.group_segment_size = UINT32_MAX; }},
      {HSA_STATUS_ERROR_INVALID_CODE_OBJECT, [](auto& p) { p.kernel_object = 0; }},
      {HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, [](auto& p) { p.header = 9; }},
      {HSA_STATUS_ERROR_INVALID_ARGUMENT, [](auto& p) { p.workgroup_size_x = p.workgroup_size_y = 1024; }},
  };
  const Kernel kernel = gpu.Find("empty.kd");
  for (const Case& c : cases) {
    std::atomic<int> reported{0};
    hsa_queue_t* queue;
    OK(hsa_queue_create(
        gpu.gpu, 16, HSA_QUEUE_TYPE_SINGLE,
        [](hsa_status_t status, hsa_queue_t*, void* to) { *static_cast<std::atomic<int>*>(to) = status; }, &reported,
        UINT32_MAX, UINT32_MAX, &queue));
    const hsa_signal_t done = gpu.NewSignal();
    hsa_kernel_dispatch_packet_t p{};
    p.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    p.setup = 1;
    p.workgroup_size_x = 64;
    p.workgroup_size_y = p.workgroup_size_z = 1;
    p.grid_size_x = 64;
    p.grid_size_y = p.grid_size_z = 1;
    p.kernel_object = kernel.object;
    p.completion_signal = done;
    c.spoil(p);
    Gpu::Submit(queue, &p);
    while (reported == 0) std::this_thread::yield();
    CHECK(reported == c.status && hsa_signal_load_relaxed(done) == 1);
    OK(hsa_queue_destroy(queue));
    OK(hsa_signal_destroy(done));
  }
}

}  // namespace

void Queues(Gpu& gpu) {
  ManyDispatches(gpu);
  ManyQueues(gpu);
  Barriers(gpu);
  BarrierValues(gpu);
  BrokenPacket(gpu);
  RefusedPackets(gpu);
}

}  // namespace test
