// Attributes of kernels, occupancy. Source: HIP API documentation, "Execution control", "Occupancy".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr int kWavesPerUnit = 32;
constexpr int kWavefront = 64;

}  // namespace

// Workgroups of one compute unit at a time: waves by registers (512 of a lane, granules of 8), LDS, wave slots.
int ResidentBlocks(const Function& f, int block, size_t dynamic_shared, const Device& device) {
  if (block <= 0 || block > static_cast<int>(f.info.max_workgroup_size)) return 0;
  const int waves = (block + kWavefront - 1) / kWavefront;
  const uint32_t registers = std::max(8u, (f.info.vgprs + 7) / 8 * 8);
  const int by_registers = 4 * static_cast<int>(std::min(8u, 512 / registers)) / waves;
  const size_t lds = f.group_segment + dynamic_shared;
  const int by_lds = lds == 0 ? kWavesPerUnit : static_cast<int>(device.lds_bytes / ((lds + 511) / 512 * 512));
  return std::min({by_registers, by_lds, kWavesPerUnit / waves});
}

namespace {

// The bytes of LDS that a launch may add to a kernel's own.
int DynamicSharedLimit(const Function& f) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  return device == nullptr ? 0 : static_cast<int>(device->lds_bytes - f.group_segment);
}

// A handle of hipModuleGetFunction, as IREE passes it, or a host function.
Function* FunctionOfAny(const void* function, hipError_t* error) {
  auto* const handle = const_cast<Function*>(static_cast<const Function*>(function));
  return IsFunction(handle) ? handle : FunctionOf(function, error);
}

}  // namespace

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t handle) {
  const auto* const f = reinterpret_cast<const Function*>(handle);
  if (value == nullptr) return Done(hipErrorInvalidValue);
  if (!IsFunction(f)) return Done(hipErrorInvalidHandle);
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(f->info.max_workgroup_size);
      break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(f->group_segment);
      break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = 0;
      break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(f->private_segment);
      break;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(f->info.vgprs);
      break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 30;
      break;
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = 0;
      break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = DynamicSharedLimit(*f);
      break;
    default:
      return Done(hipErrorInvalidValue);
  }
  return Done(hipSuccess);
}
hipError_t hipFuncGetAttributes(hipFuncAttributes* a, const void* host_function) {
  if (a == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Function* const f = FunctionOf(host_function, &error);
  if (f == nullptr) return Done(error);
  std::memset(static_cast<void*>(a), 0, sizeof *a);
  a->binaryVersion = a->ptxVersion = 30;
  a->localSizeBytes = f->private_segment;
  a->maxThreadsPerBlock = static_cast<int>(f->info.max_workgroup_size);
  a->numRegs = static_cast<int>(f->info.vgprs);
  a->sharedSizeBytes = f->group_segment;
  a->maxDynamicSharedSizeBytes = f->max_dynamic_shared.value_or(DynamicSharedLimit(*f));
  return Done(hipSuccess);
}
hipError_t hipFuncSetAttribute(const void* host_function, hipFuncAttribute attribute, int value) {
  if (host_function == nullptr) return Done(hipErrorInvalidDeviceFunction);
  if (attribute < 0 || attribute > hipFuncAttributeMax) return Done(hipErrorInvalidValue);
  hipError_t error;
  Function* const f = FunctionOfAny(host_function, &error);
  if (f == nullptr) return Done(error);
  if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || value > DynamicSharedLimit(*f)) return Done(hipErrorInvalidValue);
    f->max_dynamic_shared = value;
  }
  constexpr int kDefaultCarveout = -1;
  constexpr int kWholeCarveout = 100;
  if (attribute == hipFuncAttributePreferredSharedMemoryCarveout &&
      (value < kDefaultCarveout || value > kWholeCarveout)) {
    return Done(hipErrorInvalidValue);
  }
  return Done(hipSuccess);
}
hipError_t hipFuncSetCacheConfig(const void* host_function, hipFuncCache_t config) {
  if (config < hipFuncCachePreferNone || config > hipFuncCachePreferEqual) return Done(hipErrorInvalidValue);
  return hipFuncSetAttribute(host_function, hipFuncAttributePreferredSharedMemoryCarveout, 0);
}
hipError_t hipFuncSetSharedMemConfig(const void* host_function, hipSharedMemConfig config) {
  if (config < hipSharedMemBankSizeDefault || config > hipSharedMemBankSizeEightByte) return Done(hipErrorInvalidValue);
  return hipFuncSetAttribute(host_function, hipFuncAttributePreferredSharedMemoryCarveout, 0);
}
hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* host_function) {
  if (function == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  *function = reinterpret_cast<hipFunction_t>(FunctionOf(host_function, &error));
  return Done(error);
}
const char* hipKernelNameRef(const hipFunction_t handle) {
  const auto* const f = reinterpret_cast<const Function*>(handle);
  return IsFunction(f) ? f->name.c_str() : nullptr;
}
const char* hipKernelNameRefByPtr(const void* host_function, hipStream_t) {
  hipError_t error;
  const Function* const f = FunctionOf(host_function, &error);
  return f == nullptr ? nullptr : f->name.c_str();
}

// Occupancy --------------------------------------------------------------------------------------------------------------------------------------

namespace {

// hipOccupancyDefault, and hipOccupancyDisableCachingOverride of later headers.
bool IsOccupancyFlag(unsigned flags) { return flags <= 1; }

hipError_t Occupancy(int* count, const Function& f, int block, size_t dynamic_shared) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  if (count == nullptr || block <= 0) return hipErrorInvalidValue;
  *count = ResidentBlocks(f, block, dynamic_shared, *device);
  return Done(hipSuccess);
}

hipError_t BestBlock(int* grid, int* block, const Function& f, size_t dynamic_shared, int limit) {
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  if (grid == nullptr || block == nullptr || limit < 0) return hipErrorInvalidValue;
  int largest = static_cast<int>(f.info.max_workgroup_size);
  if (limit > 0) largest = std::min(largest, limit);
  int best = 0;
  for (int size = largest / kWavefront * kWavefront; size > 0; size -= kWavefront) {
    const int items = ResidentBlocks(f, size, dynamic_shared, *device) * size;
    if (items <= best) continue;
    best = items;
    *block = size;
  }
  if (best == 0) return hipErrorInvalidConfiguration;
  *grid = best / *block * static_cast<int>(device->compute_units);
  return Done(hipSuccess);
}

}  // namespace

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* host_function, int block,
                                                        size_t dynamic_shared) {
  hipError_t error;
  const Function* const f = FunctionOf(host_function, &error);
  return Done(f == nullptr ? error : Occupancy(count, *f, block, dynamic_shared));
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* host_function, int block,
                                                                 size_t dynamic_shared, unsigned flags) {
  if (!IsOccupancyFlag(flags)) return Done(hipErrorInvalidValue);
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(count, host_function, block, dynamic_shared);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* count, hipFunction_t handle, int block,
                                                              size_t dynamic_shared) {
  const auto* const f = reinterpret_cast<const Function*>(handle);
  return Done(IsFunction(f) ? Occupancy(count, *f, block, dynamic_shared) : hipErrorInvalidValue);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, hipFunction_t handle, int block,
                                                                       size_t dynamic_shared, unsigned flags) {
  if (!IsOccupancyFlag(flags)) return Done(hipErrorInvalidValue);
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(count, handle, block, dynamic_shared);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host_function, size_t dynamic_shared,
                                             int limit) {
  hipError_t error;
  const Function* const f = FunctionOf(host_function, &error);
  return Done(f == nullptr ? error : BestBlock(grid, block, *f, dynamic_shared, limit));
}
hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t handle, size_t dynamic_shared,
                                                   int limit) {
  const auto* const f = reinterpret_cast<const Function*>(handle);
  return Done(IsFunction(f) ? BestBlock(grid, block, *f, dynamic_shared, limit) : hipErrorInvalidValue);
}
hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t handle,
                                                            size_t dynamic_shared, int limit, unsigned flags) {
  if (!IsOccupancyFlag(flags)) return Done(hipErrorInvalidValue);
  return hipModuleOccupancyMaxPotentialBlockSize(grid, block, handle, dynamic_shared, limit);
}

hipError_t hipOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* host_function, int blocks, int block) {
  hipError_t error;
  if (bytes == nullptr || blocks <= 0 || block <= 0) return Done(hipErrorInvalidValue);
  const Function* const f = FunctionOf(host_function, &error);
  if (f == nullptr) return Done(error);
  const size_t share = GetDevice(&error)->lds_bytes / static_cast<size_t>(blocks);
  *bytes = share < f->group_segment ? 0 : share - f->group_segment;
  return Done(hipSuccess);
}

}  // extern "C"
