// Launches of one kernel on several devices, and the launch of HIP before 4: configure, one argument at a time, launch.
// Source: HIP API documentation, "Execution control", "Cooperative groups".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

// Functions that HIP 5.2's header does not have.
extern "C" {
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                            void** parameters);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared, hipStream_t stream);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, hipStream_t* stream);
}

namespace wavesmith::hip {
namespace {

struct FunctionLaunch {
  hipFunction_t function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared;
  hipStream_t stream;
  void** arguments;
};

// Each launch of a list is on a device of its own.
template <typename T>
hipError_t CheckList(const T* list, unsigned count, unsigned flags) {
  constexpr unsigned kNoSynchronisation = 3;  // before and after
  if (list == nullptr || count == 0 || flags > kNoSynchronisation) return hipErrorInvalidValue;
  if (count > static_cast<unsigned>(DeviceCount())) return hipErrorInvalidValue;
  std::set<int> devices;
  for (unsigned n = 0; n < count; n++) {
    hipDevice_t device;
    // The default stream is not allowed: it would name no device.
    if (list[n].stream == nullptr) return hipErrorInvalidResourceHandle;
    const hipError_t error = hipStreamGetDevice(list[n].stream, &device);
    if (error != hipSuccess) return error;
    if (!devices.insert(device).second) return hipErrorInvalidDevice;
  }
  return hipSuccess;
}

bool IsSame(const dim3& a, const dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
bool IsSame(const hipLaunchParams& a, const hipLaunchParams& b) {
  return a.func == b.func && IsSame(a.gridDim, b.gridDim) && IsSame(a.blockDim, b.blockDim) &&
         a.sharedMem == b.sharedMem;
}
// A module's function has a handle on each device.
bool IsSame(const FunctionLaunch& a, const FunctionLaunch& b) {
  return std::ranges::equal(a.grid, b.grid) && std::ranges::equal(a.block, b.block) && a.shared == b.shared;
}

// Cooperative launches of a list are one launch on several devices.
template <typename T>
hipError_t CheckCooperative(const T* list, unsigned count, unsigned flags) {
  const hipError_t error = CheckList(list, count, flags);
  if (error != hipSuccess) return error;
  const bool is_one = std::all_of(list, list + count, [&](const T& launch) { return IsSame(launch, *list); });
  return is_one ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* list, int count, unsigned flags) {
  hipError_t error = CheckList(list, static_cast<unsigned>(count < 0 ? 0 : count), flags);
  for (int n = 0; n < count && error == hipSuccess; n++) {
    const hipLaunchParams& l = list[n];
    error = hipLaunchKernel(l.func, l.gridDim, l.blockDim, l.args, l.sharedMem, l.stream);
  }
  return Done(error);
}
hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* list, int count, unsigned flags) {
  hipError_t error = CheckCooperative(list, static_cast<unsigned>(count < 0 ? 0 : count), flags);
  for (int n = 0; n < count && error == hipSuccess; n++) {
    const hipLaunchParams& l = list[n];
    error =
        hipLaunchCooperativeKernel(l.func, l.gridDim, l.blockDim, l.args, static_cast<unsigned>(l.sharedMem), l.stream);
  }
  return Done(error);
}
hipError_t hipModuleLaunchCooperativeKernelMultiDevice(FunctionLaunch* list, unsigned count, unsigned flags) {
  hipError_t error = CheckCooperative(list, count, flags);
  for (unsigned n = 0; n < count && error == hipSuccess; n++) {
    const FunctionLaunch& l = list[n];
    error = hipModuleLaunchCooperativeKernel(l.function, l.grid[0], l.grid[1], l.grid[2], l.block[0], l.block[1],
                                             l.block[2], l.shared, l.stream, l.arguments);
  }
  return Done(error);
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared, hipStream_t stream) {
  return __hipPushCallConfiguration(grid, block, shared, stream);
}
hipError_t hipSetupArgument(const void* argument, size_t size, size_t offset) {
  constexpr size_t kMost = 1 << 16;
  Configuration* const c = LastConfiguration();
  if (c == nullptr) return Done(hipErrorMissingConfiguration);
  if (argument == nullptr || size > kMost || offset > kMost) return Done(hipErrorInvalidValue);
  if (c->arguments.size() < offset + size) c->arguments.resize(offset + size);
  std::memcpy(c->arguments.data() + offset, argument, size);
  return Done(hipSuccess);
}
hipError_t hipLaunchByPtr(const void* host_function) {
  if (LastConfiguration() == nullptr) return Done(hipErrorMissingConfiguration);
  std::vector<uint8_t> arguments = std::move(LastConfiguration()->arguments);
  dim3 grid;
  dim3 block;
  size_t shared;
  hipStream_t stream;
  hipError_t error = __hipPopCallConfiguration(&grid, &block, &shared, &stream);
  if (error != hipSuccess) return Done(error);
  Function* const function = FunctionOf(host_function, stream, &error);
  if (function == nullptr) return Done(error);
  size_t size = arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  return hipModuleLaunchKernel(reinterpret_cast<hipFunction_t>(function), grid.x, grid.y, grid.z, block.x, block.y,
                               block.z, static_cast<unsigned>(shared), stream, nullptr, extra);
}

}  // extern "C"
