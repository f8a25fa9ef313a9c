// Words at places all over more memory than a thread shows itself: each lane goes elsewhere. Written by one kernel, read back by others and by
// the host: of every size, with all lanes and with some, at 64-bit addresses and at 32-bit offsets from a base.
#include "check.h"

namespace {

constexpr size_t kBytes = size_t{8} << 30;
constexpr unsigned kThreads = 1u << 15;
// Elements of 16 bytes: a product with an odd number takes each place once.
constexpr size_t kPlaces = size_t{1} << 29;

__host__ __device__ inline size_t PlaceOf(unsigned n) { return (n * size_t{2654435761}) % kPlaces; }

template <typename T>
__device__ T Value(unsigned n);
template <>
__device__ unsigned Value(unsigned n) {
  return n * 3 + 1;
}
template <>
__device__ uint2 Value(unsigned n) {
  return make_uint2(n * 5 + 1, ~n);
}
template <>
__device__ uint3 Value(unsigned n) {
  return make_uint3(n * 7 + 1, ~n, n ^ 0x5555);
}
template <>
__device__ uint4 Value(unsigned n) {
  return make_uint4(n * 9 + 1, ~n, n ^ 0xaaaa, n + 17);
}

template <typename T>
__device__ bool IsSame(const T& a, const T& b) {
  const auto* const x = reinterpret_cast<const unsigned*>(&a);
  const auto* const y = reinterpret_cast<const unsigned*>(&b);
  unsigned differ = 0;
  for (size_t i = 0; i < sizeof(T) / 4; i++) differ |= x[i] ^ y[i];
  return differ == 0;
}

// Lanes of which a mask's bit is not set do nothing.
template <typename T>
__global__ void Write(char* to, unsigned salt, unsigned long long mask) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  if ((mask >> (n % 64) & 1) == 0) return;
  *reinterpret_cast<T*>(to + PlaceOf(n) * 16) = Value<T>(n + salt);
}
template <typename T>
__global__ void Read(const char* from, unsigned salt, unsigned long long mask, unsigned* wrong) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  const T got = *reinterpret_cast<const T*>(from + PlaceOf(n) * 16);
  const T want = Value<T>((mask >> (n % 64) & 1) != 0 ? n + salt : n);
  if (!IsSame(got, want)) atomicAdd(wrong, 1u);
}
// 32-bit offsets from an address of the whole wavefront.
__device__ unsigned OffsetOf(unsigned n) { return (n * 2654435761u) & 0x3fffffff; }
__global__ void WriteOffsets(unsigned* to) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  to[OffsetOf(n)] = n ^ 0x1234;
}
__global__ void ReadOffsets(const unsigned* from, unsigned* wrong) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  if (from[OffsetOf(n)] != (n ^ 0x1234)) atomicAdd(wrong, 1u);
}
// Lanes two by two at one place.
__global__ void Pairs(const char* from, unsigned* wrong) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  const uint4 got = *reinterpret_cast<const uint4*>(from + PlaceOf(n / 2) * 16);
  const uint4 want = Value<uint4>(n / 2);
  if (!IsSame(got, want)) atomicAdd(wrong, 1u);
}

template <typename T>
void Check(char* memory, unsigned long long mask, unsigned* wrong) {
  constexpr unsigned kSalt = 1000;
  OK(hipMemset(wrong, 0, 4));
  Write<T><<<kThreads / 256, 256>>>(memory, 0, ~0ull);
  Write<T><<<kThreads / 256, 256>>>(memory, kSalt, mask);
  Read<T><<<kThreads / 256, 256>>>(memory, kSalt, mask, wrong);
  CHECK(Download(wrong, 1)[0] == 0);
}

}  // namespace

int main() {
  char* memory;
  unsigned* wrong;
  OK(hipMalloc(&wrong, 4));
  OK(hipMalloc(&memory, kBytes));
  constexpr unsigned long long kSome = 0x80ff00ff12345678ull;
  Check<unsigned>(memory, kSome, wrong);
  Check<uint2>(memory, kSome, wrong);
  Check<uint3>(memory, kSome, wrong);
  Check<uint4>(memory, 1ull << 63, wrong);
  Check<uint4>(memory, 0, wrong);
  Pairs<<<kThreads / 256, 256>>>(memory, wrong);
  CHECK(Download(wrong, 1)[0] == 0);
  // The host sees the same.
  for (const unsigned n : {1u, 77u, 4096u, kThreads - 1}) {
    unsigned got[4];
    OK(hipMemcpy(got, memory + PlaceOf(n) * 16, 16, hipMemcpyDeviceToHost));
    CHECK(got[0] == n * 9 + 1 && got[1] == ~n && got[3] == n + 17);
  }
  WriteOffsets<<<kThreads / 256, 256>>>(reinterpret_cast<unsigned*>(memory + (size_t{3} << 30)));
  ReadOffsets<<<kThreads / 256, 256>>>(reinterpret_cast<const unsigned*>(memory + (size_t{3} << 30)), wrong);
  CHECK(Download(wrong, 1)[0] == 0);
  return Ok();
}
