// The transpose of transpose.hip with a number to choose: how many loads are on their way at once. tune.yaml searches it.
#include "program.h"

#ifndef AHEAD
#define AHEAD 1
#endif

__global__ void transpose(float *out, const float *in, int rows, int columns) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  int x = 0;
  for (; x + AHEAD <= columns; x += AHEAD) {
    float values[AHEAD];
    for (int k = 0; k < AHEAD; k++) values[k] = in[row * columns + x + k];
    for (int k = 0; k < AHEAD; k++) out[(x + k) * rows + row] = values[k];
  }
  for (; x < columns; x++) out[x * rows + row] = in[row * columns + x];
}

int main() {
  const int rows = 256, columns = 128;
  const float *in = toGpu(numbers<float>(rows * columns, 1));
  float *out = toGpu(std::vector<float>(rows * columns));
  transpose<<<rows / 64, 64>>>(out, in, rows, columns);
  check(hipDeviceSynchronize());
  printSum(out, rows * columns);
}
