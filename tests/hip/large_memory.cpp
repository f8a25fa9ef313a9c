// More memory than 4 GiB: allocations beyond the window, reached by whole wavefronts, lane by lane, by atomics, copies and fills, and the other
// kinds of memory there.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "check.h"

__global__ void Add(const float* a, const float* b, float* c, size_t n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
// Each lane is in a frame of its own, far from its neighbour's; every fourth element crosses a frame's end.
__global__ void Scatter(uint64_t* to, size_t stride, uint64_t base) {
  const size_t i = blockIdx.x * size_t{64} + threadIdx.x;
  auto* bytes = reinterpret_cast<char*>(to) + i * stride + (i % 4 == 0 ? stride - 4 : 64);
  base += i;
  __builtin_memcpy(bytes, &base, 8);
}
__global__ void Gather(const uint64_t* from, size_t stride, uint64_t* sum) {
  const size_t i = blockIdx.x * size_t{64} + threadIdx.x;
  const auto* bytes = reinterpret_cast<const char*>(from) + i * stride + (i % 4 == 0 ? stride - 4 : 64);
  uint64_t value;
  __builtin_memcpy(&value, bytes, 8);
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), value);
}
__global__ void Count(unsigned* bins, size_t apart, unsigned many) {
  atomicAdd(&bins[(threadIdx.x % many) * apart], 1u);
}

__global__ void Write(int* to, size_t n) {
  const size_t i = blockIdx.x * size_t{256} + threadIdx.x;
  if (i < n) to[i] = int(i) * 3;
}
void WriteHundredThousand(int* to) { Write<<<400, 256>>>(to, 100'000); }

// hipMemAllocationProp as HIP 6 has it; the header of HIP 5.2 has another order.
struct Properties {
  int type;
  int handle_type;
  hipMemLocation location;
  void* meta;
  unsigned char flags[8];
};

void OtherKinds() {
  constexpr size_t kBytes = size_t{300} << 20;
  int* pinned;
  OK(hipHostMalloc(reinterpret_cast<void**>(&pinned), kBytes, 0));
  WriteHundredThousand(pinned);
  int* managed;
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), kBytes));
  WriteHundredThousand(managed);
  OK(hipDeviceSynchronize());
  CHECK(pinned[99'999] == 299'997 && pinned[100'000] == 0 && managed[99'999] == 299'997);

  auto* const own = static_cast<int*>(std::aligned_alloc(4096, kBytes));
  own[0] = 5;
  int* registered;
  OK(hipHostRegister(own, kBytes, 0));
  OK(hipHostGetDevicePointer(reinterpret_cast<void**>(&registered), own, 0));
  WriteHundredThousand(registered + 1);
  OK(hipDeviceSynchronize());
  OK(hipHostUnregister(own));
  CHECK(own[0] == 5 && own[100'000] == 299'997);
  std::free(own);

  Properties properties{1, 1, {hipMemLocationTypeDevice, 0}, nullptr, {}};
  hipMemGenericAllocationHandle_t handle;
  void* reserved;
  OK(hipMemCreate(&handle, kBytes, reinterpret_cast<const hipMemAllocationProp*>(&properties), 0));
  OK(hipMemAddressReserve(&reserved, kBytes, 0, nullptr, 0));
  OK(hipMemMap(reserved, kBytes, 0, handle, 0));
  const hipMemAccessDesc access{properties.location, hipMemAccessFlagsProtReadWrite};
  OK(hipMemSetAccess(reserved, kBytes, &access, 1));
  auto* const mapped = static_cast<int*>(reserved) + (kBytes / 8 - 50'000);
  WriteHundredThousand(mapped);
  int last = 0;
  OK(hipMemcpy(&last, mapped + 99'999, 4, hipMemcpyDeviceToHost));
  CHECK(last == 299'997);
  OK(hipMemUnmap(reserved, kBytes));
  OK(hipMemRelease(handle));

  int* pooled;
  OK(hipMallocAsync(reinterpret_cast<void**>(&pooled), kBytes, nullptr));
  WriteHundredThousand(pooled + (1 << 20));
  OK(hipMemcpy(&last, pooled + (1 << 20) + 99'999, 4, hipMemcpyDeviceToHost));
  CHECK(last == 299'997);
  OK(hipFreeAsync(pooled, nullptr));
}

int main() {
  constexpr size_t kGib = size_t{1} << 30;
  size_t free = 0, total = 0;
  OK(hipMemGetInfo(&free, &total));
  hipDeviceProp_t properties;
  OK(hipGetDeviceProperties(&properties, 0));
  CHECK(properties.totalGlobalMem == total);
  CHECK(total >= 64 * kGib && total % kGib == 0);
  std::vector<char*> blocks;
  for (int n = 0; n < 6; n++) {
    char* block;
    OK(hipMalloc(&block, 2 * kGib));
    blocks.push_back(block);
  }
  size_t left = 0;
  OK(hipMemGetInfo(&left, &total));
  CHECK(free - left == 12 * kGib);

  constexpr size_t kCount = 1'000'003;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (size_t i = 0; i < kCount; i++) a[i] = float(i % 1000), b[i] = float(i % 77);
  auto* const da = reinterpret_cast<float*>(blocks[0] + 4);
  auto* const db = reinterpret_cast<float*>(blocks[4] + kGib - 4096 + 8);
  auto* const dc = reinterpret_cast<float*>(blocks[5] + 131072 - 400);
  OK(hipMemcpy(da, a.data(), kCount * 4, hipMemcpyHostToDevice));
  OK(hipMemcpy(db, b.data(), kCount * 4, hipMemcpyHostToDevice));
  Add<<<(kCount + 255) / 256, 256>>>(da, db, dc, kCount);
  OK(hipMemcpy(c.data(), dc, kCount * 4, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < kCount; i++) CHECK(c[i] == a[i] + b[i]);

  uint64_t* large;
  uint64_t* sum;
  OK(hipMalloc(&large, 40 * kGib));
  OK(hipMalloc(&sum, 8));
  OK(hipMemset(sum, 0, 8));
  constexpr size_t kStride = 3 * 131072;
  constexpr unsigned kGroups = 128;
  Scatter<<<kGroups, 64>>>(large, kStride, 7);
  Gather<<<kGroups, 64>>>(large, kStride, sum);
  uint64_t got = 0, want = 0;
  OK(hipMemcpy(&got, sum, 8, hipMemcpyDeviceToHost));
  for (uint64_t i = 0; i < kGroups * 64; i++) want += 7 + i;
  CHECK(got == want);

  auto* const bins = reinterpret_cast<unsigned*>(reinterpret_cast<char*>(large) + 39 * kGib);
  Count<<<40, 256>>>(bins, 1 << 20, 16);
  for (int n = 0; n < 16; n++) {
    unsigned one = 0;
    OK(hipMemcpy(&one, bins + (size_t(n) << 20), 4, hipMemcpyDeviceToHost));
    CHECK(one == 640);
  }

  OK(hipMemsetD32(reinterpret_cast<hipDeviceptr_t>(blocks[3] + kGib), 0x01020304, 1000));
  OK(hipMemcpy(blocks[5] + kGib, blocks[3] + kGib, 4000, hipMemcpyDeviceToDevice));
  std::vector<unsigned> words(1001, 9);
  OK(hipMemcpy(words.data(), blocks[5] + kGib, 4004, hipMemcpyDeviceToHost));
  CHECK(words[0] == 0x01020304 && words[999] == 0x01020304 && words[1000] == 0);

  // What is given back is zero for the next one, and an allocation that no device has is refused.
  OK(hipFree(large));
  OK(hipMalloc(&large, 40 * kGib));
  OK(hipMemcpy(&got, reinterpret_cast<char*>(large) + 39 * kGib, 8, hipMemcpyDeviceToHost));
  void* none;
  CHECK(got == 0);
  GIVES(hipErrorOutOfMemory, hipMalloc(&none, total));
  OtherKinds();
  return Ok();
}
