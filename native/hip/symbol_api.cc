// Variables of modules and programs: addresses, sizes, copies. Source: HIP API documentation, "Memory management" (symbols).
#include "hip/runtime.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

namespace wavesmith::hip {

hipError_t SymbolRange(const void* symbol, size_t offset, size_t size, uint8_t** place) {
  Variable variable{};
  const hipError_t error = VariableOf(symbol, &variable);
  if (error != hipSuccess) return error;
  if (offset > variable.size || size > variable.size - offset) return hipErrorInvalidValue;
  *place = reinterpret_cast<uint8_t*>(variable.address) + offset;
  return hipSuccess;
}

}  // namespace wavesmith::hip

extern "C" {

hipError_t hipGetSymbolAddress(void** pointer, const void* symbol) {
  uint8_t* place;
  const hipError_t error = pointer == nullptr ? hipErrorInvalidValue : SymbolRange(symbol, 0, 0, &place);
  if (error == hipSuccess) *pointer = place;
  return Done(error);
}
hipError_t hipGetSymbolSize(size_t* size, const void* symbol) {
  Variable variable{};
  const hipError_t error = size == nullptr ? hipErrorInvalidValue : VariableOf(symbol, &variable);
  if (error == hipSuccess) *size = variable.size;
  return Done(error);
}
hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind) {
  uint8_t* place;
  if (kind == hipMemcpyDeviceToHost || kind == hipMemcpyHostToHost) return Done(hipErrorInvalidMemcpyDirection);
  const hipError_t error = SymbolRange(symbol, offset, size, &place);
  return error == hipSuccess ? hipMemcpy(place, from, size, kind) : Done(error);
}
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  uint8_t* place;
  if (kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost) return Done(hipErrorInvalidMemcpyDirection);
  const hipError_t error = SymbolRange(symbol, offset, size, &place);
  return error == hipSuccess ? hipMemcpy(to, place, size, kind) : Done(error);
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind,
                                  hipStream_t stream) {
  uint8_t* place;
  if (kind == hipMemcpyDeviceToHost || kind == hipMemcpyHostToHost) return Done(hipErrorInvalidMemcpyDirection);
  const hipError_t error = SymbolRange(symbol, offset, size, &place);
  return error == hipSuccess ? hipMemcpyAsync(place, from, size, kind, stream) : Done(error);
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  uint8_t* place;
  if (kind == hipMemcpyHostToDevice || kind == hipMemcpyHostToHost) return Done(hipErrorInvalidMemcpyDirection);
  const hipError_t error = SymbolRange(symbol, offset, size, &place);
  return error == hipSuccess ? hipMemcpyAsync(to, place, size, kind, stream) : Done(error);
}

}  // extern "C"
