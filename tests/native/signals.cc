// Signals: every atomic in every memory order, waits with and without time limits, waiting for several, groups, asynchronous handlers.
#include <chrono>
#include <thread>

#include "support.h"

namespace test {
namespace {

void Atomics(Gpu& gpu) {
  const hsa_signal_t s = gpu.NewSignal(0);
  const auto is = [&](hsa_signal_value_t value) {
    CHECK(hsa_signal_load_relaxed(s) == value && hsa_signal_load_scacquire(s) == value);
  };
#define EACH(operation, start, operand, result)                       \
  for (int order = 0; order < 4; order++) {                           \
    hsa_signal_store_relaxed(s, start);                               \
    if (order == 0) hsa_signal_##operation##_relaxed(s, operand);     \
    if (order == 1) hsa_signal_##operation##_scacquire(s, operand);   \
    if (order == 2) hsa_signal_##operation##_screlease(s, operand);   \
    if (order == 3) hsa_signal_##operation##_scacq_screl(s, operand); \
    is(result);                                                       \
  }
  EACH(and, 0x6c, 0x5a, 0x48)
  EACH(or, 0x6c, 0x5a, 0x7e)
  EACH(xor, 0x6c, 0x5a, 0x36)
  EACH(add, INT64_MAX - 1, 1, INT64_MAX)
  EACH(subtract, -5, 7, -12)
#undef EACH
  hsa_signal_store_screlease(s, 11);
  CHECK(hsa_signal_exchange_relaxed(s, 12) == 11);
  CHECK(hsa_signal_exchange_scacquire(s, 13) == 12);
  CHECK(hsa_signal_exchange_screlease(s, 14) == 13);
  CHECK(hsa_signal_exchange_scacq_screl(s, 15) == 14);
  CHECK(hsa_signal_cas_relaxed(s, 15, 16) == 15);
  CHECK(hsa_signal_cas_scacquire(s, 15, 17) == 16);
  is(16);
  CHECK(hsa_signal_cas_screlease(s, 16, 18) == 16);
  CHECK(hsa_signal_cas_scacq_screl(s, 18, -1) == 18);
  is(-1);
  hsa_signal_silent_store_relaxed(s, 5);
  is(5);
  hsa_signal_silent_store_screlease(s, 6);
  is(6);
  volatile hsa_signal_value_t* value = nullptr;
  OK(hsa_amd_signal_value_pointer(s, &value));
  CHECK(*value == 6);
  // Many threads, no lost update.
  hsa_signal_store_relaxed(s, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; n++) hsa_signal_add_relaxed(s, n % 2 == 0 ? 3 : -1);
    });
  }
  for (std::thread& t : threads) t.join();
  is(4 * 1000);
  OK(hsa_signal_destroy(s));
}

void Waits(Gpu& gpu) {
  const hsa_signal_t s = gpu.NewSignal(3);
  const auto wait = [&](hsa_signal_condition_t c, hsa_signal_value_t v, uint64_t ticks) {
    return hsa_signal_wait_scacquire(s, c, v, ticks, HSA_WAIT_STATE_BLOCKED);
  };
  CHECK(wait(HSA_SIGNAL_CONDITION_EQ, 3, UINT64_MAX) == 3);
  CHECK(wait(HSA_SIGNAL_CONDITION_NE, 4, UINT64_MAX) == 3);
  CHECK(wait(HSA_SIGNAL_CONDITION_GTE, 3, UINT64_MAX) == 3);
  CHECK(wait(HSA_SIGNAL_CONDITION_LT, 4, UINT64_MAX) == 3);
  uint64_t frequency;
  OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency));
  const auto start = std::chrono::steady_clock::now();
  CHECK(wait(HSA_SIGNAL_CONDITION_EQ, 9, frequency / 50) == 3);  // 20 ms
  const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(waited >= 0.019 && waited < 60);
  // Every sleeper of a signal wakes.
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      CHECK(hsa_signal_wait_relaxed(s, HSA_SIGNAL_CONDITION_EQ, 9, UINT64_MAX, HSA_WAIT_STATE_BLOCKED) == 9);
      woken++;
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(woken == 0);
  hsa_signal_store_screlease(s, 9);
  for (std::thread& t : threads) t.join();
  CHECK(woken == 4);
  OK(hsa_signal_destroy(s));
}

void Several(Gpu& gpu) {
  hsa_signal_t signals[3] = {gpu.NewSignal(1), gpu.NewSignal(1), gpu.NewSignal(1)};
  hsa_signal_condition_t conditions[3] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_LT, HSA_SIGNAL_CONDITION_GTE};
  hsa_signal_value_t values[3] = {0, -5, 100};
  hsa_signal_value_t met = 0;
  CHECK(hsa_amd_signal_wait_any(3, signals, conditions, values, 100'000, HSA_WAIT_STATE_BLOCKED, &met) == UINT32_MAX);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    hsa_signal_store_screlease(signals[2], 100);
  });
  CHECK(hsa_amd_signal_wait_any(3, signals, conditions, values, UINT64_MAX, HSA_WAIT_STATE_BLOCKED, &met) == 2);
  CHECK(met == 100);
  later.join();
  hsa_signal_group_t group;
  OK(hsa_signal_group_create(3, signals, 0, nullptr, &group));
  hsa_signal_store_relaxed(signals[2], 1);
  std::thread again([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    hsa_signal_store_screlease(signals[1], -6);
  });
  hsa_signal_t which{};
  OK(hsa_signal_group_wait_any_scacquire(group, conditions, values, HSA_WAIT_STATE_BLOCKED, &which, &met));
  CHECK(which.handle == signals[1].handle && met == -6);
  again.join();
  OK(hsa_signal_group_wait_any_relaxed(group, conditions, values, HSA_WAIT_STATE_ACTIVE, &which, &met));
  CHECK(which.handle == signals[1].handle);
  OK(hsa_signal_group_destroy(group));
  for (const hsa_signal_t s : signals) OK(hsa_signal_destroy(s));
}

// A handler runs again as long as it gives true; other handlers go on meanwhile; kernels trigger them too.
void Handlers(Gpu& gpu) {
  struct State {
    hsa_signal_t signal, done;
    int calls = 0;
  } state{gpu.NewSignal(10), gpu.NewSignal(1)};
  OK(hsa_amd_signal_async_handler(
      state.signal, HSA_SIGNAL_CONDITION_LT, 10,
      [](hsa_signal_value_t value, void* data) {
        auto* s = static_cast<State*>(data);
        s->calls++;
        if (value > 7) {
          hsa_signal_subtract_relaxed(s->signal, 1);
          return true;
        }
        hsa_signal_store_screlease(s->done, 0);
        return false;
      },
      &state));
  hsa_queue_t* const queue = gpu.NewQueue();
  const hsa_signal_t kernel = gpu.NewSignal(1);
  static std::atomic<int> kernels{0};
  OK(hsa_amd_signal_async_handler(
      kernel, HSA_SIGNAL_CONDITION_LT, 1,
      [](hsa_signal_value_t, void*) {
        kernels++;
        return false;
      },
      nullptr));
  gpu.Launch(queue, gpu.Find("empty.kd"), 64, kernel);
  while (kernels == 0) std::this_thread::yield();
  hsa_signal_store_screlease(state.signal, 9);
  Gpu::Wait(state.done);
  CHECK(state.calls == 3 && kernels == 1);
  static std::atomic<bool> called{false};
  OK(hsa_amd_async_function([](void*) { called = true; }, nullptr));
  while (!called) std::this_thread::yield();
  OK(hsa_queue_destroy(queue));
  for (const hsa_signal_t s : {state.signal, state.done, kernel}) OK(hsa_signal_destroy(s));
}

}  // namespace

void All(Gpu& gpu) {
  hsa_signal_t signals[2] = {gpu.NewSignal(3), gpu.NewSignal(5)};
  hsa_signal_condition_t conditions[2] = {HSA_SIGNAL_CONDITION_EQ, HSA_SIGNAL_CONDITION_LT};
  hsa_signal_value_t values[2] = {0, 5};
  hsa_signal_value_t met[2] = {-1, -1};
  const auto wait = [&](uint64_t timeout) {
    return hsa_amd_signal_wait_all(2, signals, conditions, values, timeout, HSA_WAIT_STATE_BLOCKED, met);
  };
  hsa_signal_store_relaxed(signals[1], 4);
  CHECK(wait(1000) == UINT32_MAX);
  std::thread later([&] { hsa_signal_store_relaxed(signals[0], 0); });
  CHECK(wait(UINT64_MAX) == 0);
  later.join();
  CHECK(met[0] == 0 && met[1] == 4);
  for (const hsa_signal_t s : signals) OK(hsa_signal_destroy(s));
}

// What another program gets is the same signal; the handle of a signal without HSA_AMD_SIGNAL_IPC, or of other memory, is refused.
void Shared(Gpu& gpu) {
  hsa_signal_t made{}, attached{};
  hsa_amd_ipc_signal_t handle{};
  OK(hsa_amd_signal_create(7, 0, nullptr, 2, &made));
  OK(hsa_amd_ipc_signal_create(made, &handle));
  OK(hsa_amd_ipc_signal_attach(&handle, &attached));
  hsa_signal_store_screlease(attached, 8);
  CHECK(hsa_signal_load_scacquire(made) == 8);
  OK(hsa_signal_destroy(made));
  CHECK(hsa_signal_load_scacquire(attached) == 8);
  OK(hsa_signal_destroy(attached));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_ipc_signal_attach(&handle, &attached));
  const hsa_signal_t own = gpu.NewSignal(1);
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_ipc_signal_create(own, &handle));
  OK(hsa_signal_destroy(own));
  auto* const memory = gpu.Allocate<uint64_t>(512);
  OK(hsa_amd_ipc_memory_create(memory, 4096, &handle));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT, hsa_amd_ipc_signal_attach(&handle, &attached));
  OK(hsa_amd_memory_pool_free(memory));
}

// A file descriptor of an allocation, mapped back.
void Dmabuf(Gpu& gpu) {
  auto* const memory = gpu.Allocate<uint32_t>(3000);
  int descriptor = -1;
  uint64_t offset = 0;
  OK(hsa_amd_portable_export_dmabuf(memory, 12000, &descriptor, &offset));
  size_t size = 0;
  void* mapped = nullptr;
  OK(hsa_amd_interop_map_buffer(1, &gpu.gpu, descriptor, 0, &size, &mapped, nullptr, nullptr));
  CHECK(mapped == memory && size == 12288);
  OK(hsa_amd_interop_unmap_buffer(mapped));
  OK(hsa_amd_portable_close_dmabuf(descriptor));
  STATUS(HSA_STATUS_ERROR_INVALID_ARGUMENT,
         hsa_amd_interop_map_buffer(1, &gpu.gpu, 0, 0, &size, &mapped, nullptr, nullptr));
  memory[2999] = 5;
  OK(hsa_amd_memory_pool_free(memory));
}

void Signals(Gpu& gpu) {
  All(gpu);
  Shared(gpu);
  Dmabuf(gpu);
  Atomics(gpu);
  Waits(gpu);
  Several(gpu);
  Handlers(gpu);
}

}  // namespace test
