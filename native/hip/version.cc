// What differs between the libraries for HIP 5, 6 and 7 (WAVESMITH_HIP_MAJOR). Source: hipMemoryType in hip_runtime_api.h of HIP 5.2 and 6.0.
#include "hip/runtime.h"

namespace wavesmith::hip {

int HipMajor() { return WAVESMITH_HIP_MAJOR; }
int HipVersion() { return WAVESMITH_HIP_MAJOR == 5 ? 50'700'000 : WAVESMITH_HIP_MAJOR == 6 ? 60'500'000 : 70'200'000; }

MemoryTypes MemoryTypesOfHip() {
#if WAVESMITH_HIP_MAJOR < 6
  return {hipMemoryTypeHost, hipMemoryTypeDevice, hipMemoryTypeUnified, hipMemoryTypeArray};
#else
  return {1, 2, 3, 10};
#endif
}

}  // namespace wavesmith::hip
