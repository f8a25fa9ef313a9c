// Memory, semaphores and graphics of other drivers. Memory comes by a descriptor of this device's memory. Semaphores cannot be imported on
// Linux, by AMD's runtime neither, and no OpenGL context belongs to a virtual GPU: what needs one gives what AMD's runtime gives without one.
// Source: hipamd/src/hip_memory.cpp, hip_gl.cpp and rocclr/device/rocm/rocdevice.cpp of ROCm/clr.

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

struct External {
  void* base;
  size_t size;
  size_t views = 0;
};
std::mutex mutex;
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& externals = *new std::set<External*>;

// Every handle of a semaphore is none: the list must be empty, and may not be nullptr.
hipError_t CheckSemaphores(const void* handles, const void* params, unsigned count, hipStream_t stream) {
  hipError_t error;
  if (handles == nullptr || params == nullptr || FindStream(stream, &error) == nullptr) return hipErrorInvalidValue;
  return count == 0 ? hipSuccess : hipErrorInvalidValue;
}

// A resource of graphics cannot be registered, so that no handle is one.
hipError_t CheckResources(int count, const void* const* resources) {
  if (count <= 0 || resources == nullptr) return hipErrorInvalidValue;
  bool given = true;
  for (int n = 0; n < count; n++) given = given && resources[n] != nullptr;
  return given ? hipErrorInvalidHandle : hipErrorInvalidValue;
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow
using wavesmith::Size;

extern "C" {

// Memory -----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipImportExternalMemory(hipExternalMemory_t* memory, const hipExternalMemoryHandleDesc* desc) {
  constexpr unsigned kDedicated = 1;
  if (memory == nullptr || desc == nullptr || (desc->flags & ~kDedicated) != 0 || desc->size == 0) {
    return Done(hipErrorInvalidValue);
  }
  if (desc->type < hipExternalMemoryHandleTypeOpaqueFd || desc->type > hipExternalMemoryHandleTypeD3D11ResourceKmt) {
    return Done(hipErrorInvalidValue);
  }
  hipError_t error;
  Device* const device = GetDevice(&error);
  if (device == nullptr) return Done(error);
  void* base;
  size_t size;
  // What is no descriptor of this device's memory cannot be mapped, nor can a handle of Windows.
  if (desc->type != hipExternalMemoryHandleTypeOpaqueFd ||
      hsa_amd_interop_map_buffer(1, &device->gpu, desc->handle.fd, 0, &size, &base, nullptr, nullptr) !=
          HSA_STATUS_SUCCESS) {
    return Done(hipErrorOutOfMemory);
  }
  if (desc->size > size) {
    hsa_amd_interop_unmap_buffer(base);
    return Done(hipErrorOutOfMemory);
  }
  auto* const made = new External{base, desc->size};
  const std::lock_guard lock(mutex);
  externals.insert(made);
  *memory = made;
  return Done(hipSuccess);
}
hipError_t hipExternalMemoryGetMappedBuffer(void** pointer, hipExternalMemory_t memory,
                                            const hipExternalMemoryBufferDesc* desc) {
  if (pointer == nullptr || memory == nullptr || desc == nullptr || desc->flags != 0) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  auto* const external = static_cast<External*>(memory);
  if (!externals.contains(external)) return Done(hipErrorInvalidValue);
  if (desc->size == 0 || !(Size(desc->offset) + desc->size).Within(external->size)) return Done(hipErrorInvalidValue);
  *pointer = static_cast<uint8_t*>(external->base) + desc->offset;
  MemoryInfo info;
  // Memory of this program that came back is known as what it is.
  if (!FindMemory(*pointer, &info)) {
    RecordMemory(*pointer, desc->size, MemoryKind::kOpened, 0, CurrentDevice());
    external->views++;
  }
  return Done(hipSuccess);
}
hipError_t hipDestroyExternalMemory(hipExternalMemory_t memory) {
  if (memory == nullptr) return Done(hipErrorInvalidValue);
  auto* const external = static_cast<External*>(memory);
  {
    const std::lock_guard lock(mutex);
    if (externals.erase(external) == 0) return Done(hipErrorInvalidValue);
  }
  const std::unique_ptr<External> owned(external);
  const hipError_t error = SynchronizeAll();
  auto* const base = static_cast<uint8_t*>(owned->base);
  MemoryInfo info;
  for (size_t at = 0; owned->views > 0 && at < owned->size;) {
    if (!FindMemory(base + at, &info) || info.kind != MemoryKind::kOpened) break;
    ForgetMemory(reinterpret_cast<void*>(info.address));
    at = info.address + info.size - reinterpret_cast<uint64_t>(base);
  }
  hsa_amd_interop_unmap_buffer(base);
  return Done(error);
}
hipError_t hipExternalMemoryGetMappedMipmappedArray(hipMipmappedArray_t* array, hipExternalMemory_t memory,
                                                    const void* desc) {
  const bool given = array != nullptr && memory != nullptr && desc != nullptr;
  return Done(given ? hipErrorNotSupported : hipErrorInvalidValue);
}

// Semaphores -------------------------------------------------------------------------------------------------------------------------------

hipError_t hipImportExternalSemaphore(hipExternalSemaphore_t* semaphore, const hipExternalSemaphoreHandleDesc* desc) {
  if (semaphore == nullptr || desc == nullptr) return Done(hipErrorInvalidValue);
  const bool known = desc->type >= hipExternalSemaphoreHandleTypeOpaqueFd &&
                     desc->type <= hipExternalSemaphoreHandleTypeD3D12Fence && desc->handle.fd != 0;
  return Done(known ? hipErrorNotSupported : hipErrorInvalidValue);
}
hipError_t hipDestroyExternalSemaphore(hipExternalSemaphore_t) { return Done(hipErrorInvalidValue); }
hipError_t hipSignalExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                            const hipExternalSemaphoreSignalParams* params, unsigned count,
                                            hipStream_t stream) {
  return Done(CheckSemaphores(semaphores, params, count, stream));
}
hipError_t hipWaitExternalSemaphoresAsync(const hipExternalSemaphore_t* semaphores,
                                          const hipExternalSemaphoreWaitParams* params, unsigned count,
                                          hipStream_t stream) {
  return Done(CheckSemaphores(semaphores, params, count, stream));
}

// Graphics ---------------------------------------------------------------------------------------------------------------------------------

// Without a context of OpenGL these give hipErrorInvalidValue, whatever else they are given.
hipError_t hipGLGetDevices(unsigned*, int*, unsigned, hipGLDeviceList) { return Done(hipErrorInvalidValue); }
hipError_t hipGraphicsGLRegisterBuffer(hipGraphicsResource**, GLuint, unsigned) { return Done(hipErrorInvalidValue); }
hipError_t hipGraphicsGLRegisterImage(hipGraphicsResource**, GLuint, GLenum, unsigned) {
  return Done(hipErrorInvalidValue);
}
hipError_t hipGraphicsSubResourceGetMappedArray(hipArray_t*, hipGraphicsResource_t, unsigned, unsigned) {
  return Done(hipErrorInvalidValue);
}
hipError_t hipGraphicsMapResources(int count, hipGraphicsResource_t* resources, hipStream_t stream) {
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(hipErrorContextIsDestroyed_);
  return Done(CheckResources(count, reinterpret_cast<const void* const*>(resources)));
}
hipError_t hipGraphicsUnmapResources(int count, hipGraphicsResource_t* resources, hipStream_t stream) {
  return hipGraphicsMapResources(count, resources, stream);
}
hipError_t hipGraphicsResourceGetMappedPointer(void** pointer, size_t* size, hipGraphicsResource_t resource) {
  if (pointer == nullptr || size == nullptr) return Done(hipErrorInvalidValue);
  const void* const given = resource;
  return Done(CheckResources(1, &given));
}
hipError_t hipGraphicsUnregisterResource(hipGraphicsResource_t resource) {
  return Done(resource == nullptr ? hipErrorInvalidValue : hipErrorInvalidHandle);
}

}  // extern "C"
