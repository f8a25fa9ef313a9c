// Cooperative launch: the groups of a grid synchronise.
#include "check.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rounds(int* cells, int n, int count) {
  const cg::grid_group grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  for (int k = 0; k < count; k++) {
    const int left = i < n ? cells[(i + n - 1) % n] : 0;
    grid.sync();
    if (i < n) cells[i] = left + 1;
    grid.sync();
  }
}
__global__ void tiles(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  int x = static_cast<int>(tile.thread_rank());
  for (int d = 8; d > 0; d /= 2) x += tile.shfl_down(x, d);
  if (tile.thread_rank() == 0) out[block.thread_rank() / 16] = x;
  block.sync();
}

int main() {
  int* out;
  OK(hipMalloc(&out, 1024 * sizeof(int)));
  tiles<<<1, 128>>>(out);
  for (const int x : Download(out, 8)) CHECK(x == 120);

  const int n = 600;
  std::vector<int> start(n);
  for (int i = 0; i < n; i++) start[i] = i * 10;
  int* cells = Upload(start);
  int size = n, count = 5;
  void* arguments[] = {&cells, &size, &count};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(rounds), dim3(10), dim3(64), arguments, 0, nullptr));
  const auto result = Download(cells, n);
  for (int i = 0; i < n; i++) CHECK(result[i] == start[(i + n - 5) % n] + 5);
  GIVES(hipErrorCooperativeLaunchTooLarge,
        hipLaunchCooperativeKernel(reinterpret_cast<const void*>(rounds), dim3(1 << 20), dim3(64), arguments, 0, nullptr));
  return Ok();
}
