// Virtual memory: three pieces of memory at one range of addresses, a second address of one of them, a handle that goes through a descriptor.
#include "check.h"

#include <unistd.h>

// hipMemAllocationProp as HIP 6 has it; the header of HIP 5.2 has another order.
struct Properties {
  int type;
  int handle_type;
  hipMemLocation location;
  void* win32;
  unsigned char rest[8];
};

__global__ void Square(int* values, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] *= values[i];
}

int main() {
  Properties properties{1, 1, {hipMemLocationTypeDevice, 0}, nullptr, {}};
  const auto* const prop = reinterpret_cast<const hipMemAllocationProp*>(&properties);
  size_t page = 0;
  OK(hipMemGetAllocationGranularity(&page, prop, hipMemAllocationGranularityMinimum));
  GIVES(hipErrorInvalidValue, hipMemGetAllocationGranularity(nullptr, prop, hipMemAllocationGranularityMinimum));
  const size_t bytes = 3 * page;
  void* base = nullptr;
  GIVES(hipErrorOutOfMemory, hipMemAddressReserve(&base, bytes - 1, 0, nullptr, 0));
  OK(hipMemAddressReserve(&base, bytes, 0, nullptr, 0));
  auto* const first = static_cast<char*>(base);
  for (size_t n = 0; n < 3; n++) {
    hipMemGenericAllocationHandle_t handle;
    OK(hipMemCreate(&handle, page, prop, 0));
    OK(hipMemMap(first + n * page, page, 0, handle, 0));
    GIVES(hipErrorInvalidValue, hipMemMap(first + n * page, page, 0, handle, 0));
    OK(hipMemRelease(handle));
  }
  hipMemAccessDesc access{properties.location, hipMemAccessFlagsProtReadWrite};
  unsigned long long flags = 7;
  OK(hipMemGetAccess(&flags, &properties.location, first + page));
  CHECK(flags == hipMemAccessFlagsProtNone);
  GIVES(hipErrorInvalidValue, hipMemSetAccess(first, bytes + page, &access, 1));
  OK(hipMemSetAccess(first, bytes, &access, 1));
  OK(hipMemGetAccess(&flags, &properties.location, first + bytes - 1));
  CHECK(flags == hipMemAccessFlagsProtReadWrite);
  GIVES(hipErrorInvalidValue, hipMemGetAccess(&flags, &properties.location, first + bytes));

  // Copies and kernels go over the borders of the pieces.
  const int count = static_cast<int>(bytes / sizeof(int));
  std::vector<int> values(count);
  for (int i = 0; i < count; i++) values[i] = i;
  OK(hipMemcpy(first, values.data(), bytes, hipMemcpyHostToDevice));
  GIVES(hipErrorInvalidValue, hipMemcpy(first + 4, values.data(), bytes, hipMemcpyHostToDevice));
  Square<<<(count + 255) / 256, 256>>>(reinterpret_cast<int*>(first), count);
  OK(hipMemcpy(values.data(), first, bytes, hipMemcpyDeviceToHost));
  for (int i = 0; i < count; i++) CHECK(values[i] == i * i);

  // The second piece, found by an address in it, exported and imported, at another address.
  hipMemGenericAllocationHandle_t kept;
  OK(hipMemRetainAllocationHandle(&kept, first + page + 12));
  int descriptor = -1;
  OK(hipMemExportToShareableHandle(&descriptor, kept, hipMemHandleTypePosixFileDescriptor, 0));
  hipMemGenericAllocationHandle_t imported;
  OK(hipMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<uintptr_t>(descriptor)),
                                     hipMemHandleTypePosixFileDescriptor));
  close(descriptor);
  void* other = nullptr;
  OK(hipMemAddressReserve(&other, page, 0, nullptr, 0));
  OK(hipMemMap(other, page, 0, imported, 0));
  OK(hipMemSetAccess(other, page, &access, 1));
  OK(hipMemset(other, 0x11, 4));
  int seen = 0;
  OK(hipMemcpy(&seen, first + page, 4, hipMemcpyDeviceToHost));
  CHECK(seen == 0x11111111);
  GIVES(hipErrorInvalidValue, hipFree(other));
  OK(hipMemUnmap(other, page));
  OK(hipMemAddressFree(other, page));
  OK(hipMemRelease(imported));
  OK(hipMemRelease(kept));
  GIVES(hipErrorInvalidValue, hipMemRelease(kept));

  GIVES(hipErrorInvalidValue, hipMemAddressFree(first, bytes));
  GIVES(hipErrorInvalidValue, hipMemUnmap(first, page - 1));
  OK(hipMemUnmap(first, page));
  OK(hipMemUnmap(first + page, 2 * page));
  OK(hipMemAddressFree(first, bytes));
  return Ok();
}
