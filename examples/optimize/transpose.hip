// A transpose in which every work-item walks along a row of its own, one element at a time.
#include "program.h"

__global__ void transpose(float *out, const float *in, int rows, int columns) {
#ifdef AHEAD
  // So many loads are on their way at once (tune/transpose.yaml).
  const int own = blockIdx.x * 64 + threadIdx.x;
  if (own >= rows) return;
  int first = 0;
  for (; first + AHEAD <= columns; first += AHEAD) {
    float values[AHEAD];
    for (int k = 0; k < AHEAD; k++) values[k] = in[own * columns + first + k];
    for (int k = 0; k < AHEAD; k++) out[(first + k) * rows + own] = values[k];
  }
  for (; first < columns; first++) out[first * rows + own] = in[own * columns + first];
#else
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  for (int x = 0; x < columns; x++) out[x * rows + row] = in[row * columns + x];
#endif
}

int main() {
  const int rows = 256, columns = 128;
  const float *in = toGpu(numbers<float>(rows * columns, 1));
  float *out = toGpu(std::vector<float>(rows * columns));
  transpose<<<rows / 64, 64>>>(out, in, rows, columns);
  check(hipDeviceSynchronize());
  printSum(out, rows * columns);
}
