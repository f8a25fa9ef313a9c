// Three bugs of published programs, and the same programs without them (-DRIGHT): LDS that a block reduction uses again without a barrier, a
// histogram that writes one element too far, a result that is copied without being written. The argument says which.
#include <cstring>

#include "check.h"

__device__ float BlockSum(float value) {
  __shared__ float parts[4];
  for (int step = 32; step > 0; step /= 2) value += __shfl_down(value, step);
  if (threadIdx.x % 64 == 0) parts[threadIdx.x / 64] = value;  // line: reduction
  __syncthreads();
  const float sum = parts[0] + parts[1] + parts[2] + parts[3];
#ifdef RIGHT
  __syncthreads();
#endif
  return sum;
}

__global__ void MeanAndVariance(const float* in, float* out) {
  const float value = in[threadIdx.x];
  const float mean = BlockSum(value) / 256;
  const float variance = BlockSum((value - mean) * (value - mean)) / 256;  // line: second sum
  if (threadIdx.x == 0) {
    out[0] = mean;
    out[1] = variance;
  }
}

__global__ void Histogram(const int* in, int count, int* bins, int many) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
#ifdef RIGHT
  if (in[i] < many) atomicAdd(&bins[in[i]], 1);
#else
  if (in[i] <= many) atomicAdd(&bins[in[i]], 1);  // line: histogram
#endif
}

__global__ void Most(int* out, int count) {
  const int i = threadIdx.x;
#ifdef RIGHT
  if (i < count) out[i] = i;
#else
  if (i < count - 1) out[i] = i;
#endif
}

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "reduction") == 0) {
    float* const in = Upload(std::vector<float>(256, 2));
    float* const out = Upload(std::vector<float>(2));
    MeanAndVariance<<<1, 256>>>(in, out);
    OK(hipDeviceSynchronize());
  } else if (std::strcmp(arguments[1], "histogram") == 0) {
    std::vector<int> values(1000);
    for (int i = 0; i < 1000; i++) values[i] = i % 11;
    int* const in = Upload(values);
    int* const bins = Upload(std::vector<int>(10));
    Histogram<<<4, 256>>>(in, 1000, bins, 10);
    OK(hipDeviceSynchronize());
  } else {
    int* out;
    int got[100];
    OK(hipMalloc(&out, sizeof got));
    Most<<<1, 128>>>(out, 100);
    OK(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    CHECK(got[98] == 98);
  }
  return Ok();
}
