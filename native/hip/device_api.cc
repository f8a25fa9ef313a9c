// Devices, their properties, attributes and limits.
// Source: HIP API documentation, "Device management"; hipDeviceProp_tR0600 from HIP 6.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "hip/image/image.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kWavesPerUnit = 32;
constexpr int kWavefront = 64;
constexpr int kRegisters = 65536;
// Attributes that HIP 5.2's header does not have.
constexpr int kVirtualMemorySupported = hipDeviceAttributeMemoryPoolsSupported + 1;
constexpr int kHostRegisterSupported = hipDeviceAttributeMemoryPoolsSupported + 2;
// Bits of hipMemAllocationHandleType: descriptors of files.
constexpr int kPoolHandleTypes = hipDeviceAttributeMemoryPoolsSupported + 3;
constexpr int kWallClockRate = hipDeviceAttributeFineGrainSupport + 1;

// The least and most of what attributes say of images. Source: ROCR's image_manager_kv.cpp, GetImageInfoMaxDimension.
constexpr int kMostTexels2D = static_cast<int>(kMostTexels);
constexpr int kMostDepth = static_cast<int>(kMostLayers);

// Numbers of a board. Source: AMD's product pages.
struct Board {
  int major;
  int minor;
  int clock_khz;
  int memory_clock_khz;
  int memory_bus_bits;
  int l2_bytes;
};
Board BoardOf(const Device& device) {
  if (device.target == "gfx90a") return {9, 0, 1'700'000, 1'600'000, 4096, 8 << 20};
  if (device.target == "gfx942") return {9, 4, 2'100'000, 1'300'000, 8192, 4 << 20};
  return {9, 5, 2'200'000, 2'000'000, 8192, 4 << 20};
}

// "wavesim" in hexadecimal digits, and the bus.
std::string Uuid(const Device& device) {
  char text[17];
  std::snprintf(text, sizeof text, "7761766573696d%02x", device.bus & 0xff);
  return text;
}
// Each device is on a bus of its own.
std::string BusPlace(const Device& device) {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", device.bus & 0xff);
  return text;
}

// `gfx942:sramecc+:xnack-`
std::string ArchName(const Device& device) { return device.isa.substr(device.isa.find("gfx")); }

void FillArch(hipDeviceArch_t* arch) {
  std::memset(static_cast<void*>(arch), 0, sizeof *arch);
  arch->hasGlobalInt32Atomics = arch->hasGlobalFloatAtomicExch = arch->hasSharedInt32Atomics = 1;
  arch->hasSharedFloatAtomicExch = arch->hasFloatAtomicAdd = arch->hasGlobalInt64Atomics = 1;
  arch->hasSharedInt64Atomics = arch->hasDoubles = arch->hasWarpVote = arch->hasWarpBallot = 1;
  arch->hasWarpShuffle = arch->hasThreadFenceSystem = arch->has3dGrid = 1;
}

hipError_t CheckDevice(int number, Device** device) {
  hipError_t error;
  *device = DeviceAt(number, &error);
  return error;
}

// hipDeviceProp_t of HIP 6 and later, field by field.
struct PropertiesR0600 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  size_t total_global_mem;
  size_t shared_mem_per_block;
  int regs_per_block;
  int warp_size;
  size_t mem_pitch;
  int max_threads_per_block;
  int max_threads_dim[3];
  int max_grid_size[3];
  int clock_rate;
  size_t total_const_mem;
  int major;
  int minor;
  size_t texture_alignment;
  size_t texture_pitch_alignment;
  int device_overlap;
  int multi_processor_count;
  int kernel_exec_timeout_enabled;
  int integrated;
  int can_map_host_memory;
  int compute_mode;
  struct {
    int texture_1d;
    int texture_1d_mipmap;
    int texture_1d_linear;
    int texture_2d[2];
    int texture_2d_mipmap[2];
    int texture_2d_linear[3];
    int texture_2d_gather[2];
    int texture_3d[3];
    int texture_3d_alternate[3];
    int texture_cubemap;
    int texture_1d_layered[2];
    int texture_2d_layered[3];
    int texture_cubemap_layered[2];
    int surface_1d;
    int surface_2d[2];
    int surface_3d[3];
    int surface_1d_layered[2];
    int surface_2d_layered[3];
    int surface_cubemap;
    int surface_cubemap_layered[2];
  } most;  // maxTexture1D … maxSurfaceCubemapLayered
  size_t surface_alignment;
  int concurrent_kernels;
  int ecc_enabled;
  int pci_bus_id;
  int pci_device_id;
  int pci_domain_id;
  int tcc_driver;
  int async_engine_count;
  int unified_addressing;
  int memory_clock_rate;
  int memory_bus_width;
  int l2_cache_size;
  int persisting_l2_cache_max_size;
  int max_threads_per_multi_processor;
  int stream_priorities_supported;
  int global_l1_cache_supported;
  int local_l1_cache_supported;
  size_t shared_mem_per_multiprocessor;
  int regs_per_multiprocessor;
  int managed_memory;
  int is_multi_gpu_board;
  int multi_gpu_board_group_id;
  int host_native_atomic_supported;
  int single_to_double_precision_perf_ratio;
  int pageable_memory_access;
  int concurrent_managed_access;
  int compute_preemption_supported;
  int can_use_host_pointer_for_registered_mem;
  int cooperative_launch;
  int cooperative_multi_device_launch;
  size_t shared_mem_per_block_optin;
  int pageable_memory_access_uses_host_page_tables;
  int direct_managed_mem_access_from_host;
  int max_blocks_per_multi_processor;
  int access_policy_max_window_size;
  size_t reserved_shared_mem_per_block;
  int host_register_supported;
  int sparse_array_supported;
  int host_register_read_only_supported;
  int timeline_semaphore_interop_supported;
  int memory_pools_supported;
  int gpu_direct_rdma_supported;
  unsigned gpu_direct_rdma_flush_writes_options;
  int gpu_direct_rdma_writes_ordering;
  unsigned memory_pool_supported_handle_types;
  int deferred_mapping_array_supported;
  int ipc_event_supported;
  int cluster_launch;
  int unified_function_pointers;
  int reserved[63];
  int hip_reserved[32];
  char gcn_arch_name[256];
  size_t max_shared_memory_per_multi_processor;
  int clock_instruction_rate;
  hipDeviceArch_t arch;
  unsigned* hdp_mem_flush_cntl;
  unsigned* hdp_reg_flush_cntl;
  int cooperative_multi_device_unmatched[4];
  int is_large_bar;
  int asic_revision;
};
static_assert(offsetof(PropertiesR0600, gcn_arch_name) == 1160 && sizeof(PropertiesR0600) == 1472);

}  // namespace

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// Devices ------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipGetDeviceCount(int* count) {
  if (count == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  DeviceAt(0, &error);
  *count = DeviceCount();
  return Done(error);
}
hipError_t hipGetDevice(int* number) {
  if (number == nullptr) return Done(hipErrorInvalidValue);
  *number = CurrentDevice();
  return Done(hipSuccess);
}
hipError_t hipSetDevice(int number) {
  Device* device;
  const hipError_t error = CheckDevice(number, &device);
  if (error == hipSuccess) SetCurrentDevice(number);
  return Done(error);
}
hipError_t hipSetValidDevices(int* numbers, int count) {
  const bool valid = numbers != nullptr && std::all_of(numbers, numbers + count, IsDevice);
  return Done(count == 0 || valid ? hipSuccess : hipErrorInvalidDevice);
}
hipError_t hipChooseDevice(int* number, const hipDeviceProp_t* wanted) {
  if (number == nullptr || wanted == nullptr) return Done(hipErrorInvalidValue);
  *number = 0;
  return Done(hipSuccess);
}
hipError_t hipChooseDeviceR0600(int* number, const void* wanted) {
  return hipChooseDevice(number, static_cast<const hipDeviceProp_t*>(wanted));
}
hipError_t hipChooseDeviceR0000(int* number, const hipDeviceProp_t* wanted) { return hipChooseDevice(number, wanted); }
// Texels of a channel's width and kind: what textures would need, and programs ask for without having any.
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
hipError_t hipDeviceGet(hipDevice_t* handle, int number) {
  Device* device;
  const hipError_t error = handle == nullptr ? hipErrorInvalidValue : CheckDevice(number, &device);
  if (error == hipSuccess) *handle = number;
  return Done(error);
}
hipError_t hipDeviceGetName(char* name, int length, hipDevice_t number) {
  Device* device;
  if (name == nullptr || length <= 0) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error != hipSuccess) return Done(error);
  std::strncpy(name, device->name.c_str(), static_cast<size_t>(length) - 1);
  name[length - 1] = '\0';
  return Done(hipSuccess);
}
hipError_t hipDeviceGetUuid(hipUUID* uuid, hipDevice_t number) {
  Device* device;
  const hipError_t error = uuid == nullptr ? hipErrorInvalidValue : CheckDevice(number, &device);
  if (error == hipSuccess) std::memcpy(uuid, Uuid(*device).data(), 16);
  return Done(error);
}
hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t number) {
  Device* device;
  const hipError_t error = bytes == nullptr ? hipErrorInvalidValue : CheckDevice(number, &device);
  if (error == hipSuccess) *bytes = device->memory_bytes;
  return Done(error);
}
hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t number) {
  Device* device;
  if (major == nullptr || minor == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error != hipSuccess) return Done(error);
  *major = BoardOf(*device).major;
  *minor = BoardOf(*device).minor;
  return Done(hipSuccess);
}
hipError_t hipDeviceGetPCIBusId(char* text, int length, int number) {
  Device* device;
  constexpr int kPlaceBytes = 13;
  if (text == nullptr || length < kPlaceBytes) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error == hipSuccess) std::snprintf(text, static_cast<size_t>(length), "%s", BusPlace(*device).c_str());
  return Done(error);
}
hipError_t hipDeviceGetByPCIBusId(int* number, const char* text) {
  if (number == nullptr || text == nullptr) return Done(hipErrorInvalidValue);
  for (int n = 0; n < DeviceCount(); n++) {
    hipError_t error;
    const Device* const device = DeviceAt(n, &error);
    if (device == nullptr || BusPlace(*device) != text) continue;
    *number = n;
    return Done(hipSuccess);
  }
  return Done(hipErrorInvalidDevice);
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int number) {
  Device* device;
  if (value == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error != hipSuccess) return Done(error);
  const Board board = BoardOf(*device);
  switch (static_cast<int>(attribute)) {
    case hipDeviceAttributeMaxThreadsPerBlock:
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
    case hipDeviceAttributeMaxThreadsDim:
      *value = kMaxThreads;
      break;
    case hipDeviceAttributeMaxGridDimX:
      *value = INT32_MAX;
      break;
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ:
      *value = 65536;
      break;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(device->lds_bytes);
      break;
    case hipDeviceAttributeWarpSize:
      *value = kWavefront;
      break;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      *value = kRegisters;
      break;
    case hipDeviceAttributeClockRate:
      *value = board.clock_khz;
      break;
    case hipDeviceAttributeClockInstructionRate:
    case kWallClockRate:
      *value = 100'000;
      break;
    case hipDeviceAttributeMemoryClockRate:
      *value = board.memory_clock_khz;
      break;
    case hipDeviceAttributeMemoryBusWidth:
      *value = board.memory_bus_bits;
      break;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      *value = static_cast<int>(device->compute_units);
      break;
    case hipDeviceAttributePciBusId:
      *value = static_cast<int>(device->bus);
      break;
    case hipDeviceAttributeL2CacheSize:
      *value = board.l2_bytes;
      break;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      *value = kWavesPerUnit * kWavefront;
      break;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor:
      *value = kWavesPerUnit;
      break;
    case hipDeviceAttributeComputeCapabilityMajor:
      *value = board.major;
      break;
    case hipDeviceAttributeComputeCapabilityMinor:
      *value = board.minor;
      break;
    case hipDeviceAttributeTotalConstantMemory:
    case hipDeviceAttributeMaxPitch:
    case hipDeviceAttributeTotalGlobalMem:
      *value = INT32_MAX;
      break;
    case hipDeviceAttributeImageSupport:
      *value = HasImages(*device) ? 1 : 0;
      break;
    case hipDeviceAttributeMaxTexture1DLinear:
      *value = HasImages(*device) ? INT32_MAX : 0;
      break;
    case hipDeviceAttributeMaxTexture1DWidth:
    case hipDeviceAttributeMaxTexture2DWidth:
    case hipDeviceAttributeMaxTexture2DHeight:
    case hipDeviceAttributeMaxTexture3DWidth:
    case hipDeviceAttributeMaxTexture3DHeight:
      *value = HasImages(*device) ? kMostTexels2D : 0;
      break;
    case hipDeviceAttributeMaxTexture3DDepth:
      *value = HasImages(*device) ? kMostDepth : 0;
      break;
    case hipDeviceAttributeTextureAlignment:
    case hipDeviceAttributeTexturePitchAlignment:
      *value = 256;
      break;
    case hipDeviceAttributeConcurrentKernels:
    case hipDeviceAttributeCanMapHostMemory:
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
    case hipDeviceAttributeCooperativeLaunch:
    case hipDeviceAttributeHostNativeAtomicSupported:
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
    case hipDeviceAttributeUnifiedAddressing:
    case hipDeviceAttributeDirectManagedMemAccessFromHost:
    case hipDeviceAttributeIsLargeBar:
    case hipDeviceAttributeFineGrainSupport:
    case hipDeviceAttributeMemoryPoolsSupported:
    case kVirtualMemorySupported:
    case kPoolHandleTypes:
    case kHostRegisterSupported:
    case hipDeviceAttributeStreamPrioritiesSupported:
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeAsyncEngineCount:
      *value = 1;
      break;
    default:
      // Everything else is something this device does not have.
      if (static_cast<int>(attribute) < 0 || static_cast<int>(attribute) > hipDeviceAttributeVendorSpecificBegin) {
        return Done(hipErrorInvalidValue);
      }
      *value = 0;
  }
  return Done(hipSuccess);
}

// HIP 5's structure, under the name programs built with HIP 5 use.
#undef hipGetDeviceProperties
hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int number) {
  Device* device;
  if (p == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error != hipSuccess) return Done(error);
  const Board board = BoardOf(*device);
  std::memset(static_cast<void*>(p), 0, sizeof *p);
  std::strncpy(p->name, device->name.c_str(), sizeof p->name - 1);
  std::strncpy(p->gcnArchName, ArchName(*device).c_str(), sizeof p->gcnArchName - 1);
  p->pciBusID = static_cast<int>(device->bus);
  p->totalGlobalMem = device->memory_bytes;
  p->sharedMemPerBlock = p->maxSharedMemoryPerMultiProcessor = device->lds_bytes;
  p->regsPerBlock = kRegisters;
  p->warpSize = kWavefront;
  p->maxThreadsPerBlock = kMaxThreads;
  std::fill_n(p->maxThreadsDim, 3, kMaxThreads);
  p->maxGridSize[0] = INT32_MAX;
  p->maxGridSize[1] = p->maxGridSize[2] = 65536;
  p->clockRate = board.clock_khz;
  p->memoryClockRate = board.memory_clock_khz;
  p->memoryBusWidth = board.memory_bus_bits;
  p->totalConstMem = INT32_MAX;
  p->major = board.major;
  p->minor = board.minor;
  p->multiProcessorCount = static_cast<int>(device->compute_units);
  p->l2CacheSize = board.l2_bytes;
  p->maxThreadsPerMultiProcessor = kWavesPerUnit * kWavefront;
  p->clockInstructionRate = 100'000;
  FillArch(&p->arch);
  p->concurrentKernels = p->canMapHostMemory = p->cooperativeLaunch = p->isLargeBar = p->managedMemory = 1;
  p->directManagedMemAccessFromHost = p->concurrentManagedAccess = 1;
  p->memPitch = INT32_MAX;
  p->textureAlignment = p->texturePitchAlignment = 256;
  if (HasImages(*device)) {
    p->maxTexture1DLinear = INT32_MAX;
    p->maxTexture1D = kMostTexels2D;
    std::fill_n(p->maxTexture2D, 2, kMostTexels2D);
    std::fill_n(p->maxTexture3D, 2, kMostTexels2D);
    p->maxTexture3D[2] = kMostDepth;
  }
  return Done(hipSuccess);
}

hipError_t hipGetDevicePropertiesR0000(hipDeviceProp_t* p, int number) { return hipGetDeviceProperties(p, number); }

hipError_t hipGetDevicePropertiesR0600(void* properties, int number) {
  Device* device;
  auto* const p = static_cast<PropertiesR0600*>(properties);
  if (p == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = CheckDevice(number, &device);
  if (error != hipSuccess) return Done(error);
  const Board board = BoardOf(*device);
  std::memset(static_cast<void*>(p), 0, sizeof *p);
  std::strncpy(p->name, device->name.c_str(), sizeof p->name - 1);
  std::memcpy(p->uuid, Uuid(*device).data(), 16);
  p->pci_bus_id = static_cast<int>(device->bus);
  p->is_multi_gpu_board = 0;
  std::strncpy(p->gcn_arch_name, ArchName(*device).c_str(), sizeof p->gcn_arch_name - 1);
  p->total_global_mem = device->memory_bytes;
  p->shared_mem_per_block = p->shared_mem_per_multiprocessor = p->shared_mem_per_block_optin = device->lds_bytes;
  p->max_shared_memory_per_multi_processor = device->lds_bytes;
  p->regs_per_block = p->regs_per_multiprocessor = kRegisters;
  p->warp_size = kWavefront;
  p->mem_pitch = INT32_MAX;
  p->max_threads_per_block = kMaxThreads;
  std::fill_n(p->max_threads_dim, 3, kMaxThreads);
  p->max_grid_size[0] = INT32_MAX;
  p->max_grid_size[1] = p->max_grid_size[2] = 65536;
  p->clock_rate = board.clock_khz;
  p->total_const_mem = INT32_MAX;
  p->major = board.major;
  p->minor = board.minor;
  p->texture_alignment = p->texture_pitch_alignment = 256;
  p->multi_processor_count = static_cast<int>(device->compute_units);
  p->can_map_host_memory = p->concurrent_kernels = p->async_engine_count = p->unified_addressing = 1;
  p->memory_clock_rate = board.memory_clock_khz;
  p->memory_bus_width = board.memory_bus_bits;
  p->l2_cache_size = board.l2_bytes;
  p->max_threads_per_multi_processor = kWavesPerUnit * kWavefront;
  p->max_blocks_per_multi_processor = kWavesPerUnit;
  p->stream_priorities_supported = p->managed_memory = p->host_native_atomic_supported = 1;
  p->can_use_host_pointer_for_registered_mem = p->cooperative_launch = p->direct_managed_mem_access_from_host = 1;
  p->concurrent_managed_access = p->host_register_supported = p->memory_pools_supported = p->is_large_bar =
      p->ipc_event_supported = 1;
  p->memory_pool_supported_handle_types = 1;
  if (HasImages(*device)) {
    p->most.texture_1d_linear = p->most.texture_1d_mipmap = INT32_MAX;
    p->most.texture_1d = p->most.surface_1d = kMostTexels2D;
    for (int* const plane : {p->most.texture_2d, p->most.texture_3d, p->most.surface_2d, p->most.surface_3d}) {
      std::fill_n(plane, 2, kMostTexels2D);
    }
    p->most.texture_3d[2] = p->most.surface_3d[2] = kMostDepth;
    p->most.texture_1d_layered[0] = p->most.surface_1d_layered[0] = kMostTexels2D;
    p->most.texture_1d_layered[1] = p->most.surface_1d_layered[1] = kMostDepth;
    std::fill_n(p->most.texture_2d_layered, 2, kMostTexels2D);
    std::fill_n(p->most.surface_2d_layered, 2, kMostTexels2D);
    p->most.texture_2d_layered[2] = p->most.surface_2d_layered[2] = kMostDepth;
  }
  p->clock_instruction_rate = 100'000;
  FillArch(&p->arch);
  return Done(hipSuccess);
}

hipError_t hipDeviceSynchronize() {
  const hipError_t error = SynchronizeAll(CurrentDevice());
  ReleasePools();
  return Done(error);
}
hipError_t hipDeviceReset() { return Done(SynchronizeAll(CurrentDevice())); }
namespace {
std::atomic<unsigned> device_flags{hipDeviceScheduleAuto};
}

hipError_t hipGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return Done(hipErrorInvalidValue);
  *flags = device_flags & hipDeviceScheduleMask;
  return Done(hipSuccess);
}
hipError_t hipSetDeviceFlags(unsigned flags) {
  constexpr unsigned kKnown = hipDeviceScheduleMask | hipDeviceMapHost | hipDeviceLmemResizeToMax;
  // One way to wait at most.
  const unsigned schedule = flags & hipDeviceScheduleMask;
  if ((flags & ~kKnown) != 0 || (schedule & (schedule - 1)) != 0) return Done(hipErrorInvalidValue);
  device_flags = flags;
  return Done(hipSuccess);
}
// Profilers load as HSA tools; there is nothing to switch.
hipError_t hipProfilerStart() { return Done(hipSuccess); }
hipError_t hipProfilerStop() { return Done(hipSuccess); }
hipError_t hipDeviceGetCacheConfig(hipFuncCache_t* config) {
  if (config == nullptr) return Done(hipErrorInvalidValue);
  *config = hipFuncCachePreferNone;
  return Done(hipSuccess);
}
hipError_t hipDeviceSetCacheConfig(hipFuncCache_t) { return Done(hipSuccess); }
hipError_t hipDeviceGetSharedMemConfig(hipSharedMemConfig* config) {
  if (config == nullptr) return Done(hipErrorInvalidValue);
  *config = hipSharedMemBankSizeFourByte;
  return Done(hipSuccess);
}
hipError_t hipDeviceSetSharedMemConfig(hipSharedMemConfig config) {
  return Done(static_cast<unsigned>(config) > hipSharedMemBankSizeEightByte ? hipErrorInvalidValue : hipSuccess);
}

namespace {

// Limits by number: 0 stack, 1 printf, 2 heap of device malloc. HIP 5's header names the last two only.
constexpr size_t kLimits = 3;
constexpr size_t kLargestStack = 131056;
std::atomic<size_t> limits[kLimits] = {1024, 4 << 20, 8 << 20};

// As AMD's runtime tells them apart: beyond the last limit, and no limit at all.
hipError_t CheckLimit(hipLimit_t limit) {
  const auto number = static_cast<int>(limit);
  if (number < 0) return hipErrorUnsupportedLimit;
  return static_cast<size_t>(number) >= kLimits ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace

hipError_t hipDeviceGetLimit(size_t* value, hipLimit_t limit) {
  if (value == nullptr) return Done(hipErrorInvalidValue);
  if (const hipError_t error = CheckLimit(limit); error != hipSuccess) return Done(error);
  *value = limits[limit];
  return Done(hipSuccess);
}
// Stack and heap grow with what kernels need, so the limits are only kept.
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value) {
  if (const hipError_t error = CheckLimit(limit); error != hipSuccess) return Done(error);
  if (limit == 0 && value > kLargestStack) return Done(hipErrorInvalidValue);
  hipError_t error;
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  if (value > device->memory_bytes) return Done(hipErrorInvalidValue);
  limits[limit] = value;
  return Done(hipSuccess);
}
hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 1;
  if (greatest != nullptr) *greatest = -1;
  return Done(hipSuccess);
}

}  // extern "C"
