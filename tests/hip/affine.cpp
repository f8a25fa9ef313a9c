// An affine warp of an image: a grid of 512×512 work-items in workgroups of 16×16.
#include "check.h"

constexpr int kSize = 512;

__global__ void affine(const unsigned short* from, unsigned short* to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int u = static_cast<int>(0.75f * x + 0.125f * y + 3);
  const int v = static_cast<int>(-0.25f * x + 0.5f * y + 200);
  const bool inside = u >= 0 && u < kSize && v >= 0 && v < kSize;
  to[y * kSize + x] = inside ? from[v * kSize + u] : 0;
}

int main() {
  std::vector<unsigned short> image(kSize * kSize);
  for (size_t i = 0; i < image.size(); i++) image[i] = static_cast<unsigned short>(i * 7 + i / kSize);
  unsigned short* const from = Upload(image);
  unsigned short* const to = Upload(std::vector<unsigned short>(image.size(), 1));
  affine<<<dim3(kSize / 16, kSize / 16), dim3(16, 16)>>>(from, to);
  const std::vector<unsigned short> result = Download(to, image.size());
  for (int y = 0; y < kSize; y += 37) {
    for (int x = 0; x < kSize; x++) {
      const int u = static_cast<int>(0.75f * x + 0.125f * y + 3);
      const int v = static_cast<int>(-0.25f * x + 0.5f * y + 200);
      const bool inside = u >= 0 && u < kSize && v >= 0 && v < kSize;
      CHECK(result[y * kSize + x] == (inside ? image[v * kSize + u] : 0));
    }
  }
  return Ok();
}
