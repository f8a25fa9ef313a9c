// What kernels ask of the host while they run.
#include "hip/runtime.h"

namespace wavesmith::hip {

uint64_t HostcallBuffer() { return 0; }
uint64_t PrintfBuffer() { return 0; }

}  // namespace wavesmith::hip
