// hipMemset and its relatives: bytes, shorts, words, two and three dimensions, asynchronous, mistakes.
#include "check.h"

int main() {
  const size_t n = 1024;
  unsigned char* p;
  OK(hipMalloc(&p, n));
  OK(hipMemset(p, 0x5a, n));
  for (const auto x : Download(p, n)) CHECK(x == 0x5a);
  OK(hipMemset(p + 3, 1, 5));
  auto bytes = Download(p, n);
  CHECK(bytes[2] == 0x5a && bytes[3] == 1 && bytes[7] == 1 && bytes[8] == 0x5a);
  OK(hipMemsetD8(p, 0x11, n));
  OK(hipMemsetD16(p + 2, 0xbeef, 4));
  OK(hipMemsetD32(p + 16, static_cast<int>(0xdeadbeef), 2));
  bytes = Download(p, n);
  CHECK(bytes[1] == 0x11 && bytes[2] == 0xef && bytes[3] == 0xbe && bytes[9] == 0xbe && bytes[10] == 0x11);
  CHECK(bytes[16] == 0xef && bytes[23] == 0xde && bytes[24] == 0x11);
  hipStream_t s;
  OK(hipStreamCreate(&s));
  OK(hipMemsetAsync(p, 1, n, s));
  OK(hipMemsetD8Async(p, 2, 512, s));
  OK(hipMemsetD16Async(p, 0x0303, 128, s));
  OK(hipMemsetD32Async(p, 0x04040404, 32, s));
  OK(hipStreamSynchronize(s));
  bytes = Download(p, n);
  CHECK(bytes[0] == 4 && bytes[127] == 4 && bytes[128] == 3 && bytes[255] == 3 && bytes[256] == 2 && bytes[512] == 1);
  OK(hipMemset2D(p, 64, 9, 10, 4));
  OK(hipMemset2DAsync(p + 32, 64, 8, 10, 4, s));
  OK(hipStreamSynchronize(s));
  bytes = Download(p, n);
  CHECK(bytes[0] == 9 && bytes[9] == 9 && bytes[10] == 4 && bytes[64 * 3 + 9] == 9 && bytes[32] == 8 && bytes[64 * 4] == 2);
  hipPitchedPtr box;
  OK(hipMalloc3D(&box, make_hipExtent(20, 4, 2)));
  OK(hipMemset3D(box, 7, make_hipExtent(20, 4, 2)));
  OK(hipMemset3DAsync(box, 6, make_hipExtent(10, 2, 1), s));
  OK(hipStreamSynchronize(s));
  const auto planes = Download(static_cast<unsigned char*>(box.ptr), box.pitch * 8);
  CHECK(planes[0] == 6 && planes[9] == 6 && planes[10] == 7 && planes[box.pitch * 2] == 7);
  CHECK(planes[box.pitch * 4] == 7 && planes[box.pitch * 7 + 19] == 7);
  GIVES(hipErrorInvalidValue, hipMemset(nullptr, 0, 4));
  GIVES(hipErrorInvalidValue, hipMemset(p, 0, n + (1 << 20)));
  OK(hipMemset(p, 0, 0));
  return Ok();
}
