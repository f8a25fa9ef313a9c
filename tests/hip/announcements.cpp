// Workgroups that wait for each other by volatile words and __threadfence(), as programs do without cooperative groups: a barrier of the
// grid, a ring between a producer and a consumer, and a last workgroup that sums what functions have stored through generic pointers,
// threads that wait for other ones while they work.
// With -DWRONG the fence before an announcement is missing.
#include <vector>

#include "check.h"

__device__ void Fence() {
#ifndef WRONG
  __threadfence();
#endif
}

__device__ void GridBarrier(unsigned* arrived, volatile unsigned* sense, unsigned want) {
  __syncthreads();
  if (threadIdx.x == 0) {
    Fence();
    if (atomicAdd(arrived, 1U) == gridDim.x - 1) {
      *arrived = 0;
      __threadfence();
      *sense = want;
    } else {
      while (*sense != want) {
      }
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void stages(int* a, int* b, unsigned* arrived, unsigned* sense, int n, int steps) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  for (int s = 0; s < steps; s++) {
    const int* from = (s & 1) != 0 ? b : a;
    int* to = (s & 1) != 0 ? a : b;
    to[i] = from[i] + from[(i + 1) % n];
    GridBarrier(arrived, sense, s + 1);
  }
}

__global__ void ring(int* slot, volatile int* full, long long* sum, int n) {
  if (threadIdx.x != 0) return;
  long long total = 0;
  for (int i = 0; i < n; i++) {
    const int at = i & 7;
    while (full[at] != static_cast<int>(blockIdx.x)) {
    }
    __threadfence();
    if (blockIdx.x == 0) {
      slot[at] = i * i;
      Fence();
      full[at] = 1;
    } else {
      total += slot[at];
      __threadfence();
      full[at] = 0;
    }
  }
  if (blockIdx.x == 1) *sum = total;
}

// Each thread waits for two others while it works, of its own workgroup and of others: a sparse triangular solve has this form.
__global__ void chain(const int* before, int* value, volatile int* done, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  int sum = 1;
  for (int k = 0; k < 2;) {
    const int from = before[2 * i + k];
    if (from >= 0) {
      if (done[from] == 0) continue;
      __threadfence();
      sum = (sum + value[from]) % 1009;
    }
    k++;
  }
  value[i] = sum;
  Fence();
  done[i] = 1;
}

__attribute__((noinline)) __device__ void put(int* p, int v) { *p = v; }

__global__ void last(const int* in, int* part, int* out, unsigned* count) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < blockDim.x; i++) sum += in[blockIdx.x * blockDim.x + i];
    put(&part[blockIdx.x], sum);
    Fence();
    is_last = atomicAdd(count, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  __threadfence();
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; i++) sum += part[i];
  put(out, sum);
}

template <class T>
T* device(const std::vector<T>& values) {
  T* p = nullptr;
  OK(hipMalloc(&p, values.size() * sizeof(T)));
  OK(hipMemcpy(p, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice));
  return p;
}

template <class T>
T first(const T* p) {
  T value;
  OK(hipMemcpy(&value, p, sizeof(T), hipMemcpyDeviceToHost));
  return value;
}

int main() {
  constexpr int kCount = 256;
  std::vector<int> numbers(kCount);
  for (int i = 0; i < kCount; i++) numbers[i] = i % 17;
  int* a = device(numbers);
  int* b = device(numbers);
  unsigned* words = device(std::vector<unsigned>(2));
  stages<<<4, kCount / 4>>>(a, b, words, words + 1, kCount, 3);
  CHECK(first(a) == 0 + 3 * 1 + 3 * 2 + 3 || first(b) == 0 + 3 * 1 + 3 * 2 + 3);

  int* slots = device(std::vector<int>(8));
  int* full = device(std::vector<int>(8));
  long long* total = device(std::vector<long long>(1));
  ring<<<2, 64>>>(slots, full, total, 30);
  CHECK(first(total) == 29 * 30 * 59 / 6);

  constexpr int kLinks = 500;
  std::vector<int> before(2 * kLinks);
  std::vector<int> value(kLinks);
  for (int i = 0; i < kLinks; i++) {
    before[2 * i] = i - 64;
    before[2 * i + 1] = i < 64 ? -1 : (i * 37) % (i / 64 * 64);
    value[i] = 1;
    for (int k = 0; k < 2; k++) {
      const int from = before[2 * i + k];
      if (from >= 0) value[i] = (value[i] + value[from]) % 1009;
    }
  }
  int* values = device(std::vector<int>(kLinks));
  chain<<<(kLinks + 127) / 128, 128>>>(device(before), values, device(std::vector<int>(kLinks)), kLinks);
  std::vector<int> got(kLinks);
  OK(hipMemcpy(got.data(), values, kLinks * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(got == value);

  int* part = device(std::vector<int>(4));
  int* out = device(std::vector<int>(1));
  unsigned* count = device(std::vector<unsigned>(1));
  int sum = 0;
  for (const int n : numbers) sum += n;
  last<<<4, kCount / 4>>>(device(numbers), part, out, count);
  CHECK(first(out) == sum);
  return Ok();
}
