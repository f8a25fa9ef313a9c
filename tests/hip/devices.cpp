// There is one device: a second one does not exist anywhere, contexts are the device's, peers are none.
#include "check.h"

int main() {
  int count = 0, device = 9, can = 9;
  OK(hipGetDeviceCount(&count));
  CHECK(count == 1);
  OK(hipGetDevice(&device));
  CHECK(device == 0);
  OK(hipSetDevice(0));
  GIVES(hipErrorInvalidDevice, hipSetDevice(1));
  GIVES(hipErrorInvalidDevice, hipSetDevice(-1));
  GIVES(hipErrorInvalidDevice, hipGetLastError());
  hipDeviceProp_t properties;
  GIVES(hipErrorInvalidDevice, hipGetDeviceProperties(&properties, 1));
  int value;
  GIVES(hipErrorInvalidDevice, hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 1));
  hipDevice_t handle;
  GIVES(hipErrorInvalidDevice, hipDeviceGet(&handle, 1));
  OK(hipDeviceGet(&handle, 0));
  GIVES(hipErrorInvalidDevice, hipDeviceCanAccessPeer(&can, 0, 1));
  CHECK(hipDeviceEnablePeerAccess(1, 0) == hipErrorInvalidDevice);
  hipCtx_t context, current;
  OK(hipCtxCreate(&context, 0, handle));
  OK(hipCtxGetCurrent(&current));
  CHECK(current == context);
  OK(hipCtxSynchronize());
  OK(hipCtxPopCurrent(&current));
  OK(hipCtxDestroy(context));
  OK(hipDevicePrimaryCtxRetain(&context, handle));
  OK(hipDevicePrimaryCtxRelease(handle));
  int chosen = 9;
  OK(hipGetDeviceProperties(&properties, 0));
  OK(hipChooseDevice(&chosen, &properties));
  CHECK(chosen == 0);
  return Ok();
}
