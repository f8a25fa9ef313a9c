// LDS: static and dynamic, reductions with barriers, a transposition, the largest allocation, barriers with counts.
#include "check.h"

__global__ void sum(const int* in, int* out, int n) {
  extern __shared__ int partial[];
  int s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
  partial[threadIdx.x] = s;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void last(int* out, int words) {
  extern __shared__ int all[];
  for (int i = threadIdx.x; i < words; i += blockDim.x) all[i] = i;
  __syncthreads();
  out[threadIdx.x] = all[words - 1 - threadIdx.x];
}
__global__ void votes(int* out) {
  const int count = __syncthreads_count(threadIdx.x % 3 == 0);
  const int all = __syncthreads_and(threadIdx.x < 1000);
  const int any = __syncthreads_or(threadIdx.x == 77);
  if (threadIdx.x == 0) {
    out[0] = count;
    out[1] = all;
    out[2] = any;
  }
}

int main() {
  const int n = 100000;
  std::vector<int> values(n);
  int expected = 0;
  for (int i = 0; i < n; i++) expected += values[i] = i % 17 - 5;
  const int* in = Upload(values);
  int* out = Upload(std::vector<int>(512, 0));
  sum<<<8, 256, 256 * sizeof(int)>>>(in, out, n);
  CHECK(Download(out, 1)[0] == expected);

  const int width = 50, height = 35;
  std::vector<float> matrix(width * height);
  for (int i = 0; i < width * height; i++) matrix[i] = static_cast<float>(i);
  const float* a = Upload(matrix);
  float* b = Upload(matrix);
  transpose<<<dim3((width + 15) / 16, (height + 15) / 16), dim3(16, 16)>>>(a, b, width, height);
  const auto turned = Download(b, matrix.size());
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) CHECK(turned[x * height + y] == matrix[y * width + x]);
  }

  int lds = 0;
  OK(hipDeviceGetAttribute(&lds, hipDeviceAttributeMaxSharedMemoryPerBlock, 0));
  OK(hipFuncSetAttribute(reinterpret_cast<const void*>(last), hipFuncAttributeMaxDynamicSharedMemorySize, lds));
  last<<<1, 256, lds>>>(out, lds / 4);
  OK(hipGetLastError());
  const auto words = Download(out, 256);
  for (int i = 0; i < 256; i++) CHECK(words[i] == lds / 4 - 1 - i);
  votes<<<1, 200>>>(out);
  const auto voted = Download(out, 3);
  CHECK(voted[0] == 67 && voted[1] != 0 && voted[2] != 0);
  return Ok();
}
