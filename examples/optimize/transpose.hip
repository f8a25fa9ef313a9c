// A transpose in which every work-item walks along a row of its own, one element at a time.
#include "program.h"

__global__ void transpose(float *out, const float *in, int rows, int columns) {
  int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  for (int x = 0; x < columns; x++) out[x * rows + row] = in[row * columns + x];
}

int main() {
  const int rows = 256, columns = 128;
  const float *in = toGpu(numbers<float>(rows * columns, 1));
  float *out = toGpu(std::vector<float>(rows * columns));
  transpose<<<rows / 64, 64>>>(out, in, rows, columns);
  check(hipDeviceSynchronize());
  printSum(out, rows * columns);
}
