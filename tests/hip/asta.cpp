// A transposition in place by cycles, with a flag for each element: 1024 work-items in workgroups of 64.
#include "check.h"

constexpr int kRows = 48, kColumns = 40, kTile = 8;

// Element i of rows × columns belongs at i * rows modulo (rows * columns - 1). Each work-group takes cycles and moves tiles along them.
__global__ void transpose(int rows, int columns, int tile, float* data, int* done, int* next) {
  __shared__ int cycle;
  const int last = rows * columns - 1;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) cycle = atomicAdd(next, 1);
    __syncthreads();
    const int start = cycle;
    if (start > last) return;
    int at = start;
    bool smallest = true;
    do {
      at = at == last ? last : at * rows % last;
      smallest &= at >= start;
    } while (at != start && smallest);
    if (!smallest) continue;
    const int lane = threadIdx.x;
    float carried = lane < tile ? data[start * tile + lane] : 0;
    at = start;
    do {
      at = at == last ? last : at * rows % last;
      if (lane < tile) {
        const float here = data[at * tile + lane];
        data[at * tile + lane] = carried;
        carried = here;
      }
      if (lane == 0) atomicAdd(&done[at], 1);
    } while (at != start);
  }
}

int main() {
  std::vector<float> data(kRows * kColumns * kTile);
  for (size_t i = 0; i < data.size(); i++) data[i] = static_cast<float>(i);
  float* const device = Upload(data);
  int* const done = Upload(std::vector<int>(kRows * kColumns));
  int* const next = Upload(std::vector<int>(1));
  transpose<<<16, 64>>>(kRows, kColumns, kTile, device, done, next);
  const std::vector<float> result = Download(device, data.size());
  const std::vector<int> times = Download(done, kRows * kColumns);
  for (int r = 0; r < kRows; r++) {
    for (int c = 0; c < kColumns; c++) {
      CHECK(times[c * kRows + r] == 1);
      for (int i = 0; i < kTile; i++)
        CHECK(result[(c * kRows + r) * kTile + i] == data[(r * kColumns + c) * kTile + i]);
    }
  }
  return Ok();
}
