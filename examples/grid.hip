// A hook: reads the launch from inside a kernel. wavesmith probe --tool examples/grid.hip -- ./program
#include <wavesmith/hook.h>

WAVESMITH_VARIABLE unsigned grid[3];
WAVESMITH_VARIABLE unsigned block[3];
WAVESMITH_VARIABLE unsigned long long waves;

WAVESMITH_HOOK("kernel-entry") void note() {
  const wavesmith::Dim3 g = wavesmith::gridDim(), b = wavesmith::blockDim();
  grid[0] = g.x, grid[1] = g.y, grid[2] = g.z;
  block[0] = b.x, block[1] = b.y, block[2] = b.z;
  if (wavesmith::laneId() == 0) wavesmith::atomicAdd(&waves, 1);
}
