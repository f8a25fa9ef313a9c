// Softmax of rows. Every work-item goes over the whole row for itself, exponentials included.
#include "program.h"

__global__ void softmax(float *out, const float *in, int columns) {
  const float *row = in + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int i = 0; i < columns; i++) largest = fmaxf(largest, row[i]);
  float sum = 0;
  for (int i = 0; i < columns; i++) sum += __expf(row[i] - largest);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    out[blockIdx.x * columns + i] = __expf(row[i] - largest) / sum;
  }
}

int main() {
  const int rows = 16, columns = 64;
  const float *in = toGpu(numbers<float>(rows * columns, 4));
  float *out = toGpu(std::vector<float>(rows * columns));
  softmax<<<rows, 64>>>(out, in, columns);
  check(hipDeviceSynchronize());
  printSum(out, rows * columns);
}
