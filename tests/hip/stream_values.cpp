// hipStreamWaitValue*, hipStreamWriteValue*: streams and the host wait for words in memory.
#include "check.h"

__global__ void store(int* p, int value) { *p = value; }

int main() {
  uint32_t* flag;
  uint64_t* wide;
  OK(hipHostMalloc(reinterpret_cast<void**>(&flag), 64, 0));
  OK(hipHostMalloc(reinterpret_cast<void**>(&wide), 64, 0));
  *flag = 0;
  *wide = 0;
  int* out;
  OK(hipMalloc(&out, sizeof(int)));
  OK(hipMemset(out, 0, sizeof(int)));
  hipStream_t a, b;
  OK(hipStreamCreateWithFlags(&a, hipStreamNonBlocking));
  OK(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
  OK(hipStreamWaitValue32(a, flag, 7, hipStreamWaitValueEq, 0xff));
  store<<<1, 1, 0, a>>>(out, 1);
  GIVES(hipErrorNotReady, hipStreamQuery(a));
  // Another stream gives the value; bits outside the mask do not count.
  OK(hipStreamWriteValue32(b, flag, 0x1107, 0));
  OK(hipStreamSynchronize(a));
  CHECK(*flag == 0x1107 && Download(out, 1)[0] == 1);

  OK(hipStreamWaitValue64(a, wide, 1ull << 40, hipStreamWaitValueGte, ~0ull));
  store<<<1, 1, 0, a>>>(out, 2);
  OK(hipStreamWriteValue64(b, wide, (1ull << 40) - 1, 0));
  OK(hipStreamSynchronize(b));
  GIVES(hipErrorNotReady, hipStreamQuery(a));
  __atomic_store_n(wide, 1ull << 41, __ATOMIC_SEQ_CST);
  OK(hipStreamSynchronize(a));
  CHECK(Download(out, 1)[0] == 2);

  OK(hipStreamWaitValue32(a, flag, 0x100, hipStreamWaitValueAnd, 0xffffffff));
  OK(hipStreamSynchronize(a));
  GIVES(hipErrorInvalidValue, hipStreamWaitValue32(a, nullptr, 0, hipStreamWaitValueEq, 1));
  GIVES(hipErrorInvalidValue, hipStreamWriteValue32(a, nullptr, 0, 0));
  return Ok();
}
