// Libraries: modules that are loaded for all devices, and their kernels; the linker of hiprtc under HIP's names.
// Source: HIP API documentation, "Library management", hipLinkCreate.
#include <cstring>

#include "hip/runtime.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

// A library (hipLibrary_t) is a module, and a kernel (hipKernel_t) is a function of it.

extern "C" {

int hiprtcLinkCreate(unsigned, int*, void**, void**);
int hiprtcLinkAddData(void*, int, void*, size_t, const char*, unsigned, int*, void**);
int hiprtcLinkAddFile(void*, int, const char*, unsigned, int*, void**);
int hiprtcLinkComplete(void*, void**, size_t*);
int hiprtcLinkDestroy(void*);

hipError_t hipLibraryLoadData(Module** library, const void* code, hipJitOption*, void**, unsigned, void*, void**,
                              unsigned) {
  if (library == nullptr || code == nullptr) return Done(hipErrorInvalidValue);
  return hipModuleLoadData(reinterpret_cast<hipModule_t*>(library), code);
}
hipError_t hipLibraryLoadFromFile(Module** library, const char* path, hipJitOption*, void**, unsigned, void*, void**,
                                  unsigned) {
  if (library == nullptr || path == nullptr) return Done(hipErrorInvalidValue);
  return hipModuleLoad(reinterpret_cast<hipModule_t*>(library), path);
}
hipError_t hipLibraryUnload(Module* library) { return Done(UnloadModule(library)); }
hipError_t hipLibraryGetKernel(Function** kernel, Module* library, const char* name) {
  return hipModuleGetFunction(reinterpret_cast<hipFunction_t*>(kernel), reinterpret_cast<hipModule_t>(library), name);
}
hipError_t hipLibraryGetKernelCount(unsigned* count, Module* library) {
  if (count == nullptr || library == nullptr) return Done(hipErrorInvalidValue);
  if (!IsModule(library)) return Done(hipErrorInvalidResourceHandle);
  *count = static_cast<unsigned>(library->functions.size());
  return Done(hipSuccess);
}
hipError_t hipLibraryEnumerateKernels(Function** kernels, unsigned count, Module* library) {
  if (kernels == nullptr || count == 0) return Done(hipErrorInvalidValue);
  if (!IsModule(library)) return Done(hipErrorInvalidResourceHandle);
  for (const auto& [name, function] : library->functions) {
    if (count-- == 0) break;
    *kernels++ = function.get();
  }
  return Done(hipSuccess);
}

hipError_t hipKernelGetLibrary(Module** library, Function* kernel) {
  if (library == nullptr || kernel == nullptr) return Done(hipErrorInvalidValue);
  if (!IsFunction(kernel)) return Done(hipErrorInvalidHandle);
  *library = kernel->module;
  return Done(hipSuccess);
}
hipError_t hipKernelGetName(const char** name, Function* kernel) {
  if (name == nullptr || kernel == nullptr) return Done(hipErrorInvalidValue);
  if (!IsFunction(kernel)) return Done(hipErrorInvalidHandle);
  *name = kernel->name.c_str();
  return Done(hipSuccess);
}
hipError_t hipKernelGetFunction(hipFunction_t* function, Function* kernel) {
  if (function == nullptr || kernel == nullptr) return Done(hipErrorInvalidValue);
  if (!IsFunction(kernel)) return Done(hipErrorInvalidHandle);
  *function = reinterpret_cast<hipFunction_t>(kernel);
  return Done(hipSuccess);
}
hipError_t hipKernelGetParamInfo(Function* kernel, size_t index, size_t* offset, size_t* size) {
  if (kernel == nullptr || offset == nullptr) return Done(hipErrorInvalidValue);
  if (!IsFunction(kernel)) return Done(hipErrorInvalidDeviceFunction);
  for (const Argument& argument : kernel->info.arguments) {
    if (argument.hidden() || index-- != 0) continue;
    *offset = argument.offset;
    if (size != nullptr) *size = argument.size;
    return Done(hipSuccess);
  }
  return Done(hipErrorInvalidValue);
}
hipError_t hipKernelGetAttribute(int* value, hipFunction_attribute attribute, Function* kernel, hipDevice_t device) {
  if (value == nullptr || kernel == nullptr) return Done(hipErrorInvalidValue);
  if (!IsDevice(device)) return Done(hipErrorInvalidDevice);
  return hipFuncGetAttribute(value, attribute, reinterpret_cast<hipFunction_t>(kernel));
}
hipError_t hipKernelSetAttribute(hipFunction_attribute attribute, int value, Function* kernel, hipDevice_t device) {
  if (!IsFunction(kernel)) return Done(hipErrorInvalidHandle);
  if (!IsDevice(device)) return Done(hipErrorInvalidDevice);
  hipError_t error;
  const Device* const known = GetDevice(&error);
  if (known == nullptr) return Done(error);
  // Two can be set: the most dynamic LDS, and how much of the LDS should be cache, which is a hint.
  const auto most = static_cast<int>(known->lds_bytes - kernel->group_segment);
  if (attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 && value <= most)
    return Done(hipSuccess);
  if (attribute == HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && value >= -1 && value <= 100) {
    return Done(hipSuccess);
  }
  return Done(hipErrorInvalidValue);
}

// Linking ----------------------------------------------------------------------------------------------------------------------------------

namespace {
// hiprtcResult: success, out of memory, then what was given.
hipError_t Linked(int result) {
  return Done(result == 0 ? hipSuccess : result == 1 ? hipErrorOutOfMemory : hipErrorInvalidValue);
}
}  // namespace

hipError_t hipLinkCreate(unsigned count, hipJitOption* options, void** values, void** state) {
  return Linked(hiprtcLinkCreate(count, reinterpret_cast<int*>(options), values, state));
}
hipError_t hipLinkAddData(void* state, int type, void* bytes, size_t size, const char* name, unsigned count,
                          hipJitOption* options, void** values) {
  return Linked(hiprtcLinkAddData(state, type, bytes, size, name, count, reinterpret_cast<int*>(options), values));
}
hipError_t hipLinkAddFile(void* state, int type, const char* path, unsigned count, hipJitOption* options,
                          void** values) {
  return Linked(hiprtcLinkAddFile(state, type, path, count, reinterpret_cast<int*>(options), values));
}
hipError_t hipLinkComplete(void* state, void** code, size_t* size) {
  return Linked(hiprtcLinkComplete(state, code, size));
}
hipError_t hipLinkDestroy(void* state) { return Linked(hiprtcLinkDestroy(state)); }

}  // extern "C"
