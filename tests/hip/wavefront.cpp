// Within a wavefront: shuffles, ballots, votes, lane ids, active masks under divergence, popcounts.
#include "check.h"

__global__ void shuffles(int* out) {
  const int lane = threadIdx.x;
  int* const mine = out + lane * 6;
  mine[0] = __shfl(lane * 3, 5);
  mine[1] = __shfl_up(lane, 2);
  mine[2] = __shfl_down(lane, 3);
  mine[3] = __shfl_xor(lane, 9);
  mine[4] = __shfl(lane, 1, 16);
  const double wide = __shfl(static_cast<double>(lane) * 0.5, 63 - lane);
  mine[5] = static_cast<int>(wide * 2);
}
__global__ void ballots(unsigned long long* out) {
  const int lane = threadIdx.x % 64;
  if (threadIdx.x < 64) out[0] = __ballot(lane % 2 == 0);
  if (lane > 10 && threadIdx.x < 64) out[1] = __ballot(lane < 20);
  out[2] = __any(lane == 63);
  out[3] = __all(lane < 63);
  out[4] = __popcll(__ballot(lane % 3 == 0));
  if (threadIdx.x == 77) out[5] = __lane_id();
  if (threadIdx.x == 3) out[6] = __ffsll(static_cast<unsigned long long>(0x100)) * 100 + __clzll(0xffffll);
  out[7] = __ballot(1);
}

int main() {
  int* out;
  OK(hipMalloc(&out, 64 * 6 * sizeof(int)));
  shuffles<<<1, 64>>>(out);
  const auto s = Download(out, 64 * 6);
  for (int l = 0; l < 64; l++) {
    const int* m = s.data() + l * 6;
    CHECK(m[0] == 15 && m[1] == (l < 2 ? l : l - 2) && m[2] == (l > 60 ? l : l + 3) && m[3] == (l ^ 9));
    CHECK(m[4] == l / 16 * 16 + 1 && m[5] == 63 - l);
  }
  unsigned long long* b;
  OK(hipMalloc(&b, 64));
  ballots<<<1, 128>>>(b);
  const auto r = Download(b, 8);
  CHECK(r[0] == 0x5555555555555555ull && r[1] == 0xff800ull);
  CHECK(r[2] == 1 && r[3] == 0 && r[4] == 22 && r[5] == 13 && r[6] == 900 + 48 && r[7] == ~0ull);
  return Ok();
}
