// Functions by name: hipGetProcAddress, hipGetDriverEntryPoint. Source: HIP API documentation, "Runtime API", hipGetProcAddress.
#include <string>

#include "hip/function_table.h"
#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

constexpr uint64_t kPerThread = 2;  // HIP_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
enum Status : int { kFound = 0, kNotFound = 1, kTooOld = 2 };
// From this version on the headers give old names to new functions.
constexpr int kNewProperties = 60'000'000;

// The function that a program compiled for `version` means by a name.
const FunctionEntry* Meant(std::string name, int version, bool per_thread) {
  if (version >= kNewProperties && (name == "hipGetDeviceProperties" || name == "hipChooseDevice")) name += "R0600";
  const FunctionEntry* const spt = per_thread ? FindFunctionEntry((name + "_spt").c_str()) : nullptr;
  return spt != nullptr ? spt : FindFunctionEntry(name.c_str());
}

hipError_t Lookup(const char* name, void** function, int version, bool per_thread, int* status) {
  if (name == nullptr || *name == '\0' || function == nullptr) return hipErrorInvalidValue;
  const FunctionEntry* const entry = Meant(name, version, per_thread);
  // Functions of later libraries are in this one but not its to give.
  const bool known = entry != nullptr && entry->since / 10'000'000 <= HipMajor();
  const bool found = known && entry->since <= version;
  *function = found ? reinterpret_cast<void*>(entry->address) : nullptr;
  if (status != nullptr) *status = found ? kFound : known ? kTooOld : kNotFound;
  return found ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace
}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipGetProcAddress(const char* symbol, void** function, int version, uint64_t flags, int* status) {
  return Done(Lookup(symbol, function, version, (flags & kPerThread) != 0, status));
}
hipError_t hipGetProcAddress_spt(const char* symbol, void** function, int version, uint64_t flags, int* status) {
  return hipGetProcAddress(symbol, function, version, flags | kPerThread, status);
}
hipError_t hipGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags, int* status) {
  int version;
  const hipError_t error = hipRuntimeGetVersion(&version);
  return error == hipSuccess ? hipGetProcAddress(symbol, function, version, flags, status) : error;
}
hipError_t hipGetDriverEntryPoint_spt(const char* symbol, void** function, unsigned long long flags, int* status) {
  return hipGetDriverEntryPoint(symbol, function, flags | kPerThread, status);
}

}  // extern "C"
