// rocPRIM of Debian: device-wide algorithms, each against the standard library's.
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numeric>
#include <random>
#include <rocprim/rocprim.hpp>
#include <vector>

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const hipError_t error = (call);                                                       \
    if (error != hipSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(error)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

namespace {

int failed = 0;

template <typename T>
struct Buffer {
  T* at = nullptr;
  size_t count;
  explicit Buffer(size_t n) : count(n) { CHECK(hipMalloc(&at, n * sizeof(T))); }
  explicit Buffer(const std::vector<T>& from) : Buffer(from.size()) {
    CHECK(hipMemcpy(at, from.data(), count * sizeof(T), hipMemcpyHostToDevice));
  }
  ~Buffer() { (void)hipFree(at); }
  std::vector<T> Read(size_t n) const {
    std::vector<T> values(n);
    CHECK(hipMemcpy(values.data(), at, n * sizeof(T), hipMemcpyDeviceToHost));
    return values;
  }
  std::vector<T> Read() const { return Read(count); }
};

// rocPRIM's calls are made twice: for the size of their storage, and with it.
void Run(const std::function<hipError_t(void*, size_t&)>& call) {
  size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  Buffer<char> storage(std::max<size_t>(bytes, 1));
  CHECK(call(storage.at, bytes));
  CHECK(hipDeviceSynchronize());
}

void Expect(const char* what, bool is_right) {
  std::printf("%s: %s\n", what, is_right ? "ok" : "WRONG");
  failed += is_right ? 0 : 1;
}

}  // namespace

int main() {
  std::mt19937 random(7);
  for (const size_t n : {size_t{1}, size_t{1000}, size_t{100003}}) {
    std::printf("%zu elements\n", n);
    std::vector<uint32_t> keys(n);
    for (auto& key : keys) key = static_cast<uint32_t>(random());
    std::vector<int> small(n);
    for (auto& value : small) value = static_cast<int>(random() % 100) - 50;
    const Buffer<uint32_t> in(keys);
    const Buffer<int> numbers(small);

    const Buffer<int> sum(1);
    Run([&](void* t, size_t& b) { return rocprim::reduce(t, b, numbers.at, sum.at, 3, n, rocprim::plus<int>()); });
    Expect("reduce", sum.Read()[0] == std::accumulate(small.begin(), small.end(), 3));

    std::vector<int> expected(n);
    const Buffer<int> scanned(n);
    Run([&](void* t, size_t& b) {
      return rocprim::inclusive_scan(t, b, numbers.at, scanned.at, n, rocprim::plus<int>());
    });
    std::partial_sum(small.begin(), small.end(), expected.begin());
    Expect("inclusive_scan", scanned.Read() == expected);

    std::vector<uint32_t> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    const Buffer<uint32_t> out(n);
    Run([&](void* t, size_t& b) { return rocprim::radix_sort_keys(t, b, in.at, out.at, n); });
    Expect("radix_sort_keys", out.Read() == sorted);

    std::vector<uint32_t> order(n);
    std::iota(order.begin(), order.end(), 0u);
    const Buffer<uint32_t> places(order), moved(n);
    Run([&](void* t, size_t& b) {
      return rocprim::radix_sort_pairs_desc(t, b, in.at, out.at, places.at, moved.at, n);
    });
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return keys[a] > keys[b]; });
    Expect("radix_sort_pairs_desc", moved.Read() == order);

    Run([&](void* t, size_t& b) { return rocprim::merge_sort(t, b, in.at, out.at, n, rocprim::less<uint32_t>()); });
    Expect("merge_sort", out.Read() == sorted);

    const Buffer<int> kept(n);
    const Buffer<size_t> count(1);
    const auto is_positive = [] __device__(int value) { return value > 0; };
    Run([&](void* t, size_t& b) { return rocprim::select(t, b, numbers.at, kept.at, count.at, n, is_positive); });
    std::vector<int> positive;
    std::copy_if(small.begin(), small.end(), std::back_inserter(positive), [](int value) { return value > 0; });
    Expect("select", count.Read()[0] == positive.size() && kept.Read(positive.size()) == positive);

    std::vector<int> runs(n);
    for (size_t i = 0; i < n; i++) runs[i] = static_cast<int>(i / 37);
    const Buffer<int> run_in(runs), values(n), lengths(n);
    Run([&](void* t, size_t& b) {
      return rocprim::run_length_encode(t, b, run_in.at, static_cast<unsigned>(n), values.at, lengths.at, count.at);
    });
    const size_t runs_wanted = (n + 36) / 37;
    bool is_right = count.Read()[0] == runs_wanted;
    const std::vector<int> lengths_read = lengths.Read(runs_wanted);
    for (size_t i = 0; i < runs_wanted; i++) {
      is_right = is_right && lengths_read[i] == static_cast<int>(std::min<size_t>(37, n - i * 37));
    }
    Expect("run_length_encode", is_right);

    std::vector<float> samples(n);
    for (size_t i = 0; i < n; i++) samples[i] = static_cast<float>(i % 16);
    const Buffer<float> sampled(samples);
    const Buffer<int> bins(16);
    Run([&](void* t, size_t& b) {
      return rocprim::histogram_even(t, b, sampled.at, static_cast<unsigned>(n), bins.at, 17u, 0.0f, 16.0f);
    });
    std::vector<int> wanted(16);
    for (size_t i = 0; i < n; i++) wanted[i % 16]++;
    Expect("histogram_even", bins.Read() == wanted);
  }
  std::printf("%s\n", failed == 0 ? "rocprim: all right" : "rocprim: failed");
  return failed == 0 ? 0 : 1;
}
