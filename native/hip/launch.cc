// Kernel launches: arguments, hidden arguments, the AQL packet. Sources: HIP API documentation, "Module management", "Execution control";
// LLVM AMDGPUUsage, "Code Object V5 Kernel Argument Metadata" (`.value_kind`).
#include <algorithm>
#include <cstring>

#include "hip/format.h"
#include "hip/runtime.h"
#include "hip/thread_value.h"

namespace wavesmith::hip {
namespace {

constexpr uint32_t kSharedApertureHigh = 0x10000;
constexpr uint32_t kPrivateApertureHigh = 0x20000;

template <typename T>
void Put(std::vector<uint8_t>& bytes, const Argument& argument, T value) {
  std::memcpy(bytes.data() + argument.offset, &value, std::min<size_t>(argument.size, sizeof value));
}

// Dimension of `…_x`, `…_y`, `…_z`.
size_t Dimension(const std::string& kind) { return static_cast<size_t>(kind.back() - 'x') % 3; }

// What __ockl_grid_sync reads and counts in (multi_grid_sync_info of AMD's device libraries, ockl/src/mg.cl).
struct GridSync {
  uint64_t all_grids = 0;
  uint32_t grid = 0;
  uint32_t grids = 1;
  uint64_t items_before = 0;
  uint64_t items = 0;
  uint32_t barrier[2] = {};
  uint32_t groups = 0;
};

uint64_t CountGroups(const LaunchRequest& r) {
  uint64_t groups = 1;
  for (size_t d = 0; d < 3; d++) groups *= (r.grid[d] + r.block[d] - 1) / r.block[d];
  return groups;
}

// A service that a kernel needs and that cannot be had fails the launch.
hipError_t FillAddress(const Argument& a, uint64_t address, std::vector<uint8_t>& bytes) {
  Put<uint64_t>(bytes, a, address);
  return address == 0 ? hipErrorOutOfMemory : hipSuccess;
}

hipError_t FillHidden(const Argument& a, const LaunchRequest& r, Stream& stream, std::vector<uint8_t>& bytes) {
  const size_t d = Dimension(a.kind);
  if (a.kind.rfind("hidden_block_count_", 0) == 0) {
    Put<uint32_t>(bytes, a, r.grid[d] / r.block[d]);
  } else if (a.kind.rfind("hidden_group_size_", 0) == 0) {
    Put<uint16_t>(bytes, a, static_cast<uint16_t>(r.block[d]));
  } else if (a.kind.rfind("hidden_remainder_", 0) == 0) {
    Put<uint16_t>(bytes, a, static_cast<uint16_t>(r.grid[d] % r.block[d]));
  } else if (a.kind == "hidden_grid_dims") {
    Put<uint16_t>(bytes, a, r.grid[2] > 1 ? 3 : r.grid[1] > 1 ? 2 : 1);
  } else if (a.kind == "hidden_dynamic_lds_size") {
    Put<uint32_t>(bytes, a, r.dynamic_shared);
  } else if (a.kind == "hidden_private_base") {
    Put<uint32_t>(bytes, a, kPrivateApertureHigh);
  } else if (a.kind == "hidden_shared_base") {
    Put<uint32_t>(bytes, a, kSharedApertureHigh);
  } else if (a.kind == "hidden_hostcall_buffer") {
    return FillAddress(a, HostcallBuffer(), bytes);
  } else if (a.kind == "hidden_heap_v1") {
    return FillAddress(a, DeviceHeapState(), bytes);
  } else if (a.kind == "hidden_printf_buffer") {
    return FillAddress(a, stream.PrintfBuffer(), bytes);
  }
  // Global offsets, default queue and completion action stay 0: HIP has none. Launch() fills the grid synchronisation.
  return hipSuccess;
}

constexpr uint64_t kMostItems = 1024;  // of a workgroup

hipError_t Check(const LaunchRequest& r, const Device& device) {
  uint64_t items = 1;
  for (size_t d = 0; d < 3; d++) {
    if (r.block[d] == 0 || r.grid[d] == 0) return hipErrorInvalidConfiguration;
    items *= r.block[d];
  }
  if (items > kMostItems) return hipErrorInvalidConfiguration;
  if (items > r.function->info.max_workgroup_size) return hipErrorLaunchFailure;  // past its __launch_bounds__
  if (r.dynamic_shared > device.lds_bytes) {
    return r.cooperative ? hipErrorCooperativeLaunchTooLarge : hipErrorInvalidValue;
  }
  if (uint64_t{r.dynamic_shared} + r.function->group_segment > device.lds_bytes) return hipErrorInvalidConfiguration;
  if (!r.cooperative) return hipSuccess;
  // All workgroups must be on the device at the same time.
  const int residents = ResidentBlocks(*r.function, static_cast<int>(items), r.dynamic_shared, device);
  return CountGroups(r) <= uint64_t(residents) * device.compute_units ? hipSuccess : hipErrorCooperativeLaunchTooLarge;
}

// The explicit part of the arguments, from pointers or from a packed buffer.
hipError_t FillExplicit(const LaunchRequest& r, std::vector<uint8_t>& bytes) {
  if (r.extra != nullptr) {
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** p = r.extra; *p != HIP_LAUNCH_PARAM_END; p += 2) {
      if (p[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER) {
        buffer = p[1];
      } else if (p[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE) {
        size = *static_cast<const size_t*>(p[1]);
      } else {
        return hipErrorInvalidValue;
      }
    }
    if (buffer == nullptr) return size == 0 && !r.function->info.HasExplicit() ? hipSuccess : hipErrorInvalidValue;
    std::memcpy(bytes.data(), buffer, std::min(size, bytes.size()));
    return hipSuccess;
  }
  size_t n = 0;
  for (const Argument& argument : r.function->info.arguments) {
    if (argument.hidden()) continue;
    if (r.parameters == nullptr || r.parameters[n] == nullptr) return hipErrorInvalidValue;
    std::memcpy(bytes.data() + argument.offset, r.parameters[n++], argument.size);
  }
  return hipSuccess;
}

}  // namespace

hipError_t KeepArguments(const LaunchRequest& r, std::vector<uint8_t>* bytes) {
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  error = Check(r, *device);
  if (error != hipSuccess) return error;
  bytes->assign(std::max(r.function->kernarg_size, r.function->info.kernarg_size), 0);
  return FillExplicit(r, *bytes);
}

hipError_t Launch(const LaunchRequest& r) {
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  if (IsCapturing(r.stream)) return CaptureLaunch(r);
  if (DeviceError() != hipSuccess) return DeviceError();
  error = Check(r, *device);
  if (error != hipSuccess) return error;
  const Function& f = *r.function;
  Stream* const stream = StreamOf(r.stream, &error);
  if (stream == nullptr) return error;
  std::vector<uint8_t> bytes(std::max(f.kernarg_size, f.info.kernarg_size));
  error = FillExplicit(r, bytes);
  Relocation relocation;
  bool prints = false;
  for (const Argument& argument : f.info.arguments) {
    if (!argument.hidden() || error != hipSuccess) continue;
    error = FillHidden(argument, r, *stream, bytes);
    prints = prints || argument.kind == "hidden_printf_buffer";
    if (r.cooperative && argument.kind == "hidden_multigrid_sync_arg") relocation.at = argument.offset;
  }
  if (error != hipSuccess) return error;
  if (relocation.at != Relocation::kNone) {
    // The counters are behind the arguments, and live as long.
    GridSync sync;
    sync.groups = static_cast<uint32_t>(CountGroups(r));
    sync.items = uint64_t{r.grid[0]} * r.grid[1] * r.grid[2];
    relocation.target = (bytes.size() + 63) / 64 * 64;
    bytes.resize(relocation.target + sizeof sync);
    std::memcpy(bytes.data() + relocation.target, &sync, sizeof sync);
  }
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = static_cast<uint16_t>(r.grid[2] > 1 ? 3 : r.grid[1] > 1 ? 2 : 1);
  packet.workgroup_size_x = static_cast<uint16_t>(r.block[0]);
  packet.workgroup_size_y = static_cast<uint16_t>(r.block[1]);
  packet.workgroup_size_z = static_cast<uint16_t>(r.block[2]);
  packet.grid_size_x = r.grid[0];
  packet.grid_size_y = r.grid[1];
  packet.grid_size_z = r.grid[2];
  packet.private_segment_size = f.private_segment;
  packet.group_segment_size = f.group_segment + r.dynamic_shared;
  packet.kernel_object = f.kernel_object;
  error = stream->Dispatch(packet, bytes.data(), bytes.size(), relocation, r.completion);
  if (error != hipSuccess || !prints) return error;
  // Unloading the module waits for this.
  return stream->Host([buffer = stream->PrintfBuffer(), formats = &f.module->printf_formats] {
    PrintBuffered(reinterpret_cast<void*>(buffer), *formats);
  });
}

namespace {

hipError_t LaunchFunction(hipFunction_t handle, const uint32_t (&groups)[3], const uint32_t (&block)[3],
                          size_t dynamic_shared, hipStream_t stream, void** parameters, void** extra,
                          bool cooperative = false, hipEvent_t start = nullptr, hipEvent_t stop = nullptr) {
  auto* const function = reinterpret_cast<Function*>(handle);
  if (!IsFunction(function)) return hipErrorInvalidResourceHandle;
  if (dynamic_shared > UINT32_MAX) return hipErrorInvalidValue;
  LaunchRequest request{function, {},         {},    static_cast<uint32_t>(dynamic_shared),
                        stream,   parameters, extra, cooperative};
  for (size_t d = 0; d < 3; d++) {
    const uint64_t items = uint64_t{groups[d]} * block[d];
    if (items > UINT32_MAX) return hipErrorInvalidConfiguration;
    request.grid[d] = static_cast<uint32_t>(items);
    request.block[d] = block[d];
  }
  return LaunchTimed(request, start, stop);
}

// Launches say "invalid value" of a stream that is not there; the cooperative one of host functions does not.
hipError_t StreamGone(hipError_t error) { return error == hipErrorContextIsDestroyed_ ? hipErrorInvalidValue : error; }

// Functions of modules say "invalid value" where launches of host functions say "invalid configuration".
hipError_t CheckModuleLaunch(const uint32_t (&grid)[3], const uint32_t (&block)[3], size_t shared, hipStream_t stream,
                             void** parameters, void** extra) {
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return StreamGone(error);
  const Device* const device = GetDevice(&error);
  if (device == nullptr) return error;
  if (parameters != nullptr && extra != nullptr) return hipErrorInvalidValue;
  uint64_t items = 1;
  for (size_t d = 0; d < 3; d++) {
    if (grid[d] == 0 || block[d] == 0 || block[d] > kMostItems) return hipErrorInvalidValue;
    items *= block[d];
  }
  return items > kMostItems || shared > device->lds_bytes ? hipErrorInvalidValue : hipSuccess;
}

struct Configurations {
  std::vector<Configuration> begun;
};

}  // namespace

Configuration* LastConfiguration() {
  auto& begun = OfThread<Configurations>().begun;
  return begun.empty() ? nullptr : &begun.back();
}
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned shared, hipStream_t stream, void** parameters,
                                 void** extra) {
  constexpr uint32_t kMostAcross = 65536;
  if (gx > INT32_MAX || gy > kMostAcross || gz > kMostAcross) return Done(hipErrorInvalidValue);
  if (!IsFunction(reinterpret_cast<Function*>(function))) return Done(hipErrorInvalidResourceHandle);
  const hipError_t error = CheckModuleLaunch({gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra);
  if (error != hipSuccess) return Done(error);
  return Done(LaunchFunction(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra));
}

// The grid of this one is in work-items.
hipError_t hipExtModuleLaunchKernel(hipFunction_t handle, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                    uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void** parameters,
                                    void** extra, hipEvent_t start, hipEvent_t stop, uint32_t) {
  auto* const function = reinterpret_cast<Function*>(handle);
  if (!IsFunction(function)) return Done(hipErrorInvalidResourceHandle);
  const hipError_t error = CheckModuleLaunch({gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, extra);
  if (error != hipSuccess) return Done(error);
  // A workgroup is not larger than the grid.
  const LaunchRequest request{function,
                              {gx, gy, gz},
                              {std::min(bx, gx), std::min(by, gy), std::min(bz, gz)},
                              static_cast<uint32_t>(shared),
                              stream,
                              parameters,
                              extra};
  return Done(LaunchTimed(request, start, stop));
}

hipError_t hipLaunchKernel(const void* host_function, dim3 grid, dim3 block, void** arguments, size_t shared,
                           hipStream_t stream) {
  hipError_t error;
  Function* const function = FunctionOf(host_function, stream, &error);
  if (function == nullptr) return Done(StreamGone(error));
  return Done(StreamGone(LaunchFunction(reinterpret_cast<hipFunction_t>(function), {grid.x, grid.y, grid.z},
                                        {block.x, block.y, block.z}, shared, stream, arguments, nullptr)));
}

hipError_t hipExtLaunchKernel(const void* host_function, dim3 grid, dim3 block, void** arguments, size_t shared,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  hipError_t error;
  Function* const function = FunctionOf(host_function, stream, &error);
  if (function == nullptr) return Done(StreamGone(error));
  return Done(
      StreamGone(LaunchFunction(reinterpret_cast<hipFunction_t>(function), {grid.x, grid.y, grid.z},
                                {block.x, block.y, block.z}, shared, stream, arguments, nullptr, false, start, stop)));
}

hipError_t hipLaunchCooperativeKernel(const void* host_function, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared, hipStream_t stream) {
  hipError_t error;
  Function* const function = FunctionOf(host_function, stream, &error);
  if (function == nullptr) return Done(error);
  return Done(LaunchFunction(reinterpret_cast<hipFunction_t>(function), {grid.x, grid.y, grid.z},
                             {block.x, block.y, block.z}, shared, stream, arguments, nullptr, true));
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                            void** parameters) {
  if (!IsFunction(reinterpret_cast<Function*>(function))) return Done(hipErrorInvalidResourceHandle);
  const hipError_t error = CheckModuleLaunch({gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr);
  if (error != hipSuccess) return Done(error);
  return Done(LaunchFunction(function, {gx, gy, gz}, {bx, by, bz}, shared, stream, parameters, nullptr, true));
}

// The launches of HIP 6.5: a configuration with attributes, of which the cooperative one changes something here.
namespace {

struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int cooperative;
    int priority;
  } value;
};
constexpr int kAttributeCooperative = 2;
struct LaunchConfig {
  dim3 grid;
  dim3 block;
  size_t shared;
  hipStream_t stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
struct DriverLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  hipStream_t stream;
  const LaunchAttribute* attributes;
  unsigned count;
};
bool IsCooperative(const LaunchAttribute* attributes, unsigned count) {
  return attributes != nullptr && std::any_of(attributes, attributes + count, [](const LaunchAttribute& a) {
           return a.id == kAttributeCooperative && a.value.cooperative != 0;
         });
}

}  // namespace

hipError_t hipDrvLaunchKernelEx(const DriverLaunchConfig* c, hipFunction_t function, void** parameters, void** extra) {
  if (c == nullptr || (c->count != 0 && c->attributes == nullptr)) return Done(hipErrorInvalidValue);
  return Done(LaunchFunction(function, {c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]},
                             c->shared, c->stream, parameters, extra, IsCooperative(c->attributes, c->count)));
}
hipError_t hipLaunchKernelExC(const LaunchConfig* c, const void* host_function, void** arguments) {
  if (c == nullptr || (c->count != 0 && c->attributes == nullptr)) return Done(hipErrorInvalidValue);
  return IsCooperative(c->attributes, c->count)
             ? hipLaunchCooperativeKernel(host_function, c->grid, c->block, arguments, static_cast<unsigned>(c->shared),
                                          c->stream)
             : hipLaunchKernel(host_function, c->grid, c->block, arguments, c->shared, c->stream);
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  OfThread<Configurations>().begun.push_back({grid, block, shared, stream, {}});
  return Done(hipSuccess);
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, hipStream_t* stream) {
  auto& begun = OfThread<Configurations>().begun;
  if (begun.empty()) return Done(hipErrorInvalidConfiguration);
  const Configuration c = std::move(begun.back());
  begun.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *stream = c.stream;
  return Done(hipSuccess);
}

hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                    uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void** parameters,
                                    void** extra, hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra, start, stop, 0);
}

// Names that C++ mangles in HIP 5's hip_ext.h and grid_launch_GGL.hpp.
hipError_t
ExtModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void** parameters, void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) __asm__(
    "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
hipError_t ExtModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                 uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void** parameters,
                                 void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  return hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra, start, stop,
                                  flags);
}
hipError_t HccModuleLaunchKernel(
    hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, size_t shared,
    hipStream_t stream, void** parameters, void** extra, hipEvent_t start,
    hipEvent_t
        stop) __asm__("_Z24hipHccModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_");
hipError_t HccModuleLaunchKernel(hipFunction_t function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx,
                                 uint32_t by, uint32_t bz, size_t shared, hipStream_t stream, void** parameters,
                                 void** extra, hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra, start, stop, 0);
}

}  // extern "C"
