// Peers and contexts: what programs ask about the other devices. Source: HIP API documentation, "PeerToPeer Device Memory Access", "Context
// management".
#include <algorithm>

#include "hip/runtime.h"
#include "hip/thread_value.h"

namespace wavesmith::hip {
namespace {

constexpr uint32_t kLinkXgmi = 4;  // hsa_amd_link_info_type_t

// All devices have one memory: access is always there, and what was enabled is only remembered.
std::mutex mutex;
auto& enabled = *new std::set<std::pair<int, int>>;

bool IsPeer(int device, int peer) { return IsDevice(device) && IsDevice(peer) && device != peer; }

hipError_t Enable(int device, int peer, unsigned flags) {
  if (flags != 0) return hipErrorInvalidValue;
  if (!IsPeer(device, peer)) return hipErrorInvalidDevice;
  const std::lock_guard lock(mutex);
  return enabled.emplace(device, peer).second ? hipSuccess : hipErrorPeerAccessAlreadyEnabled;
}
hipError_t Disable(int device, int peer) {
  if (!IsPeer(device, peer)) return hipErrorInvalidDevice;
  const std::lock_guard lock(mutex);
  return enabled.erase({device, peer}) != 0 ? hipSuccess : hipErrorPeerAccessNotEnabled;
}

// The devices that a thread goes back to when it pops its contexts.
struct Pushed {
  std::vector<int> devices;
};

// The device of a context; the thread's for none.
hipError_t DeviceOf(hipCtx_t context, int* device) {
  const auto number = reinterpret_cast<uintptr_t>(context);
  if (number > static_cast<uintptr_t>(DeviceCount())) return hipErrorInvalidContext;
  *device = number == 0 ? CurrentDevice() : static_cast<int>(number) - 1;
  return hipSuccess;
}
hipError_t GiveContext(hipCtx_t* context, int device) {
  hipError_t error;
  if (context == nullptr) return hipErrorInvalidValue;
  if (DeviceAt(device, &error) != nullptr) *context = PrimaryContext(device);
  return error;
}
void Push(int device) {
  OfThread<Pushed>().devices.push_back(CurrentDevice());
  SetCurrentDevice(device);
}
void Pop() {
  auto& devices = OfThread<Pushed>().devices;
  if (devices.empty()) return;
  SetCurrentDevice(devices.back());
  devices.pop_back();
}
hipError_t CheckNumber(hipDevice_t number) { return IsDevice(number) ? hipSuccess : hipErrorInvalidDevice; }

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// Peers ----------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return Done(hipErrorInvalidValue);
  *can = IsPeer(device, peer) ? 1 : 0;
  return Done(IsDevice(device) && IsDevice(peer) ? hipSuccess : hipErrorInvalidDevice);
}
hipError_t hipDeviceGetP2PAttribute(int* value, hipDeviceP2PAttr attribute, int from, int to) {
  if (value == nullptr || static_cast<unsigned>(attribute) > hipDevP2PAttrHipArrayAccessSupported) {
    return Done(hipErrorInvalidValue);
  }
  if (!IsPeer(from, to)) return Done(hipErrorInvalidDevice);
  // All links are alike, and there are no arrays.
  *value = attribute == hipDevP2PAttrAccessSupported || attribute == hipDevP2PAttrNativeAtomicSupported ? 1 : 0;
  return Done(hipSuccess);
}
hipError_t hipExtGetLinkTypeAndHopCount(int from, int to, uint32_t* type, uint32_t* hops) {
  if (type == nullptr || hops == nullptr || from == to || from < 0 || to < 0) return Done(hipErrorInvalidValue);
  if (!IsPeer(from, to)) return Done(hipErrorInvalidDevice);
  *type = kLinkXgmi;
  *hops = 1;
  return Done(hipSuccess);
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) { return Done(Enable(CurrentDevice(), peer, flags)); }
hipError_t hipDeviceDisablePeerAccess(int peer) { return Done(Disable(CurrentDevice(), peer)); }

// Contexts: the primary context of a device is its only one --------------------------------------------------------------------------------------

hipError_t hipCtxCreate(hipCtx_t* context, unsigned, hipDevice_t number) {
  const hipError_t error = IsDevice(number) ? GiveContext(context, number) : hipErrorInvalidDevice;
  if (error == hipSuccess) Push(number);
  return Done(error);
}
hipError_t hipCtxDestroy(hipCtx_t context) {
  int device;
  const hipError_t error = DeviceOf(context, &device);
  if (error == hipSuccess && context != nullptr && device == CurrentDevice()) Pop();
  return Done(error);
}
hipError_t hipCtxGetCurrent(hipCtx_t* context) { return Done(GiveContext(context, CurrentDevice())); }
hipError_t hipCtxSetCurrent(hipCtx_t context) {
  int device;
  const hipError_t error = DeviceOf(context, &device);
  if (error == hipSuccess) SetCurrentDevice(device);
  return Done(error);
}
hipError_t hipCtxPushCurrent(hipCtx_t context) {
  int device;
  const hipError_t error = DeviceOf(context, &device);
  if (error == hipSuccess) Push(device);
  return Done(error);
}
hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  const hipError_t error = context == nullptr ? hipSuccess : GiveContext(context, CurrentDevice());
  if (error == hipSuccess) Pop();
  return Done(error);
}
hipError_t hipCtxGetDevice(hipDevice_t* device) {
  if (device == nullptr) return Done(hipErrorInvalidValue);
  *device = CurrentDevice();
  return Done(hipSuccess);
}
hipError_t hipCtxGetApiVersion(hipCtx_t context, int* version) {
  int device;
  if (version == nullptr) return Done(hipErrorInvalidValue);
  *version = 4;
  return Done(DeviceOf(context, &device));
}
hipError_t hipCtxGetFlags(unsigned* flags) { return hipGetDeviceFlags(flags); }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) { return hipDeviceGetCacheConfig(config); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hipDeviceSetCacheConfig(config); }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) { return hipDeviceGetSharedMemConfig(config); }
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) { return hipDeviceSetSharedMemConfig(config); }
hipError_t hipCtxEnablePeerAccess(hipCtx_t context, unsigned flags) {
  int peer;
  const hipError_t error = DeviceOf(context, &peer);
  return Done(error == hipSuccess ? Enable(CurrentDevice(), peer, flags) : error);
}
hipError_t hipCtxDisablePeerAccess(hipCtx_t context) {
  int peer;
  const hipError_t error = DeviceOf(context, &peer);
  return Done(error == hipSuccess ? Disable(CurrentDevice(), peer) : error);
}
hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t number) {
  return Done(IsDevice(number) ? GiveContext(context, number) : hipErrorInvalidDevice);
}
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t number) { return Done(CheckNumber(number)); }
hipError_t hipDevicePrimaryCtxReset(hipDevice_t number) { return Done(CheckNumber(number)); }
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t number, unsigned) { return Done(CheckNumber(number)); }
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t number, unsigned* flags, int* active) {
  if (flags != nullptr) *flags = 0;
  if (active != nullptr) *active = 1;
  return Done(CheckNumber(number));
}

}  // extern "C"
