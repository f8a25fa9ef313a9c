// Memory of every kind: device, host, managed, registered, pitched, 3-D, stream ordered, pools; who may free what.
#include <sys/mman.h>

#include "check.h"

__global__ void increment(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i]++;
}
static void Increment(int* p, int n) { increment<<<(n + 255) / 256, 256>>>(p, n); }

// HIP 5's headers have no name for it.
static int CoherencyOf(const void* p) {
  int mode = -1;
  OK(hipMemRangeGetAttribute(&mode, sizeof mode, static_cast<hipMemRangeAttribute>(100), p, 4));
  return mode;
}
static void Coherency() {
  constexpr int kFine = 0, kCoarse = 1;
  void* p = nullptr;
  OK(hipMalloc(&p, 4));
  CHECK(CoherencyOf(p) == kCoarse);
  int other;
  GIVES(hipErrorInvalidValue, hipMemRangeGetAttribute(&other, sizeof other, hipMemRangeAttributeReadMostly, p, 4));
  OK(hipFree(p));
  OK(hipExtMallocWithFlags(&p, 4, hipDeviceMallocFinegrained));
  CHECK(CoherencyOf(p) == kFine);
  OK(hipFree(p));
  OK(hipHostMalloc(&p, 4, hipHostMallocDefault));
  CHECK(CoherencyOf(p) == kFine);
  OK(hipHostFree(p));
  OK(hipHostMalloc(&p, 4, hipHostMallocNonCoherent));
  CHECK(CoherencyOf(p) == kCoarse);
  OK(hipHostFree(p));
}

int main() {
  Coherency();
  const int n = 5000;
  const size_t bytes = n * sizeof(int);
  size_t free_before, total, free_now;
  OK(hipMemGetInfo(&free_before, &total));
  int* p = nullptr;
  OK(hipMalloc(&p, bytes));
  OK(hipMemGetInfo(&free_now, &total));
  CHECK(free_now <= free_before - bytes && free_before <= total);
  OK(hipFree(p));
  GIVES(hipErrorInvalidValue, hipFree(p));
  OK(hipFree(nullptr));
  OK(hipMalloc(&p, 0));
  CHECK(p == nullptr);
  GIVES(hipErrorOutOfMemory, hipMalloc(&p, size_t{1} << 50));

  // Host memory is the kernel's memory.
  for (const unsigned flags : std::initializer_list<unsigned>{hipHostMallocDefault, hipHostMallocMapped | hipHostMallocPortable,
                                                               hipHostMallocCoherent, hipHostMallocNonCoherent,
                                                               hipHostMallocWriteCombined}) {
    OK(hipHostMalloc(reinterpret_cast<void**>(&p), bytes, flags));
    for (int i = 0; i < n; i++) p[i] = i;
    void* device = nullptr;
    OK(hipHostGetDevicePointer(&device, p, 0));
    Increment(static_cast<int*>(device), n);
    OK(hipDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(p[i] == i + 1);
    unsigned got = 99;
    OK(hipHostGetFlags(&got, p));
    CHECK(got == flags);
    // hipFree frees memory of the host too.
    OK(flags == 0 ? hipFree(p) : hipHostFree(p));
  }
  GIVES(hipErrorInvalidValue, hipHostMalloc(reinterpret_cast<void**>(&p), bytes, 0x12345678));
  GIVES(hipErrorInvalidValue,
        hipHostMalloc(reinterpret_cast<void**>(&p), bytes, hipHostMallocCoherent | hipHostMallocNonCoherent));

  // Managed memory.
  OK(hipMallocManaged(reinterpret_cast<void**>(&p), bytes));
  for (int i = 0; i < n; i++) p[i] = 2 * i;
  OK(hipMemPrefetchAsync(p, bytes, 0, nullptr));
  OK(hipMemAdvise(p, bytes, hipMemAdviseSetReadMostly, 0));
  Increment(p, n);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(p[i] == 2 * i + 1);
  // A stream of its own for memory cannot be the default stream.
  GIVES(hipErrorInvalidValue, hipStreamAttachMemAsync(nullptr, p, 0, hipMemAttachSingle));
  OK(hipStreamAttachMemAsync(nullptr, p, 0, hipMemAttachGlobal));
  OK(hipFree(p));
  // Memory of the device has its place; there are no hints for it.
  OK(hipMalloc(reinterpret_cast<void**>(&p), bytes));
  GIVES(hipErrorInvalidValue, hipMemAdvise(p, bytes, hipMemAdviseSetReadMostly, 0));
  OK(hipFree(p));

  // Registered: the program's own pages, at their own address, in the middle of a page.
  std::vector<int> own(n, 5);
  OK(hipHostRegister(own.data() + 3, (n - 3) * sizeof(int), hipHostRegisterDefault));
  void* device = nullptr;
  OK(hipHostGetDevicePointer(&device, own.data() + 3, 0));
  Increment(static_cast<int*>(device), n - 3);
  OK(hipDeviceSynchronize());
  CHECK(own[2] == 5 && own[3] == 6 && own[n - 1] == 6);
  GIVES(hipErrorHostMemoryAlreadyRegistered, hipHostRegister(own.data() + 3, 16, 0));
  OK(hipHostUnregister(own.data() + 3));
  GIVES(hipErrorHostMemoryNotRegistered, hipHostUnregister(own.data() + 3));
  own[3]++;
  CHECK(own[3] == 7 && own[n - 1] == 6);
  auto* const pages = static_cast<int*>(mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  OK(hipHostRegister(pages, 1 << 16, hipHostRegisterMapped));
  Increment(pages, 16);
  OK(hipDeviceSynchronize());
  CHECK(pages[15] == 1 && pages[16] == 0);
  OK(hipHostUnregister(pages));
  CHECK(pages[15] == 1);

  // Two ranges that share a page.
  OK(hipHostRegister(own.data() + 8, 64, 0));
  OK(hipHostRegister(own.data() + 64, 64, 0));
  Increment(own.data() + 8, 8);
  Increment(own.data() + 64, 8);
  OK(hipDeviceSynchronize());
  OK(hipHostUnregister(own.data() + 8));
  Increment(own.data() + 64, 8);
  OK(hipDeviceSynchronize());
  OK(hipHostUnregister(own.data() + 64));
  CHECK(own[8] == 7 && own[64] == 8);

  // Pitched and three-dimensional.
  size_t pitch = 0;
  void* pitched = nullptr;
  OK(hipMallocPitch(&pitched, &pitch, 100, 7));
  CHECK(pitch >= 100 && pitch % 128 == 0);
  OK(hipFree(pitched));
  hipPitchedPtr box;
  OK(hipMalloc3D(&box, make_hipExtent(60, 5, 4)));
  CHECK(box.ptr != nullptr && box.pitch >= 60 && box.xsize == 60 && box.ysize == 5);
  OK(hipFree(box.ptr));

  // Stream-ordered memory and pools.
  hipStream_t s;
  OK(hipStreamCreate(&s));
  OK(hipMallocAsync(reinterpret_cast<void**>(&p), bytes, s));
  OK(hipMemsetAsync(p, 0, bytes, s));
  increment<<<(n + 255) / 256, 256, 0, s>>>(p, n);
  std::vector<int> out(n);
  OK(hipMemcpyAsync(out.data(), p, bytes, hipMemcpyDeviceToHost, s));
  OK(hipFreeAsync(p, s));
  OK(hipStreamSynchronize(s));
  for (const int x : out) CHECK(x == 1);
  hipMemPool_t pool;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  uint64_t threshold = 1 << 20, got = 0;
  OK(hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &threshold));
  OK(hipMemPoolGetAttribute(pool, hipMemPoolAttrReleaseThreshold, &got));
  CHECK(got == threshold);
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  hipMemPool_t own_pool;
  OK(hipMemPoolCreate(&own_pool, &properties));
  OK(hipMallocFromPoolAsync(reinterpret_cast<void**>(&p), bytes, own_pool, s));
  OK(hipFreeAsync(p, s));
  OK(hipMemPoolTrimTo(own_pool, 0));
  OK(hipStreamSynchronize(s));
  OK(hipMemPoolDestroy(own_pool));
  GIVES(hipErrorInvalidValue, hipMemPoolDestroy(own_pool));
  OK(hipStreamDestroy(s));
  OK(hipMemGetInfo(&free_now, &total));
  CHECK(free_now == free_before);
  return Ok();
}
