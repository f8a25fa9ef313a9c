// Calls that do several things: batches of values and copies, copies and fills in the driver's words, libraries and their kernels, attributes of streams.
#include <unistd.h>

#include <algorithm>
#include <string>

#include "check.h"

struct Operation {
  int operation;
  int pad;
  void* address;
  unsigned long long value;
  unsigned flags;
  unsigned reserved[5];
};
struct DriverSide {
  size_t x, y, z, level;
  int type;
  const void* host;
  void* device;
  void* array;
  size_t pitch, height;
};
struct DriverCopy {
  DriverSide from, to;
  size_t width, height, depth;
};
struct BatchParams {
  hipCtx_t context;
  unsigned count;
  Operation* operations;
  unsigned flags;
};
extern "C" {
hipError_t hipStreamBatchMemOp(hipStream_t, unsigned, Operation*, unsigned);
hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, size_t, const BatchParams*);
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t, BatchParams*);
hipError_t hipMemcpyBatchAsync(void**, void**, size_t*, size_t, void*, size_t*, size_t, size_t*, hipStream_t);
hipError_t hipMemsetD2D16(void*, size_t, unsigned short, size_t, size_t);
hipError_t hipStreamGetId(hipStream_t, unsigned long long*);
hipError_t hipStreamSetAttribute(hipStream_t, int, const void*);
hipError_t hipStreamGetAttribute(hipStream_t, int, void*);
hipError_t hipStreamCopyAttributes(hipStream_t, hipStream_t);
hipError_t hipExtStreamGetCUMask(hipStream_t, unsigned, unsigned*);
hipError_t hipExtSetLoggingParams(size_t, size_t, size_t);
hipError_t hipExtEnableLogging();
hipError_t hipExtDisableLogging();
}

// What a call writes to stderr.
template <typename Call>
std::string Written(Call call) {
  std::FILE* const file = std::tmpfile();
  std::fflush(stderr);
  const int before = dup(2);
  dup2(fileno(file), 2);
  call();
  std::fflush(stderr);
  dup2(before, 2);
  close(before);
  std::string text(static_cast<size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
  std::fclose(file);
  return text;
}

void Logging() {
  int* memory = nullptr;
  CHECK(Written([&] {
          OK(hipExtSetLoggingParams(3, 0, -1));
          OK(hipMalloc(&memory, 4));
        }).empty());
  const auto log = [&] {
    return Written([&] {
      OK(hipExtEnableLogging());
      OK(hipMemset(memory, 0, 4));
      GIVES(hipErrorInvalidValue, hipMemset(nullptr, 0, 4));
      OK(hipExtDisableLogging());
      OK(hipMemset(memory, 1, 4));
    });
  };
  const std::string all = log();
  CHECK(all.find("hipMemset: Returned hipSuccess") != std::string::npos);
  CHECK(all.find("hipMemset: Returned hipErrorInvalidValue") != std::string::npos);
  CHECK(std::count(all.begin(), all.end(), '\n') == 3);
  OK(hipExtSetLoggingParams(1, 0, -1));
  CHECK(log().find("hipSuccess") == std::string::npos);
  OK(hipExtSetLoggingParams(3, 0, 2));
  CHECK(log().empty());
  OK(hipFree(memory));
}

int main() {
  Logging();
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  unsigned* words = nullptr;
  OK(hipMalloc(&words, 256));
  OK(hipMemset(words, 0, 256));
  // A write that the wait behind it waits for.
  Operation operations[] = {
      {2, 0, words, 77, 0, {}}, {1, 0, words, 77, hipStreamWaitValueEq, {}}, {5, 0, words + 2, 1ull << 40, 0, {}}};
  OK(hipStreamBatchMemOp(stream, 3, operations, 0));
  GIVES(hipErrorInvalidValue, hipStreamBatchMemOp(stream, 0, operations, 0));
  OK(hipStreamSynchronize(stream));
  CHECK(Download(words, 4)[0] == 77 && Download(words, 4)[3] == 256);
  hipGraph_t graph;
  hipGraphNode_t node;
  OK(hipGraphCreate(&graph, 0));
  operations[0].value = operations[1].value = 78;
  BatchParams params{nullptr, 2, operations, 0};
  OK(hipGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &params));
  BatchParams got{};
  OK(hipGraphBatchMemOpNodeGetParams(node, &got));
  CHECK(got.count == 2 && got.operations[1].value == 78);
  hipGraphExec_t executable;
  OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(executable, stream));
  OK(hipStreamSynchronize(stream));
  CHECK(Download(words, 1)[0] == 78);

  std::vector<int> a(16, 5), b(8, 6), out(24);
  int *x = Upload(std::vector<int>(16, 0)), *y = Upload(std::vector<int>(8, 0));
  void* to[] = {x, y};
  void* from[] = {a.data(), b.data()};
  size_t sizes[] = {64, 32};
  size_t failed = 0;
  OK(hipMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, &failed, stream));
  OK(hipStreamSynchronize(stream));
  CHECK(Download(x, 16) == a && Download(y, 8) == b);
  to[1] = nullptr;
  GIVES(hipErrorInvalidValue, hipMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, &failed, stream));
  CHECK(failed == 1);

  // Two rows of four words, the third and fourth column, from rows of six words.
  std::vector<int> rows(12);
  for (int i = 0; i < 12; i++) rows[i] = i;
  DriverCopy copy{};
  copy.from = {8, 0, 0, 0, HOST_TYPE, rows.data(), nullptr, nullptr, 24, 2};
  copy.to = {0, 1, 0, 0, DEVICE_TYPE, nullptr, x, nullptr, 16, 4};
  copy.width = 16;
  copy.height = 2;
  copy.depth = 1;
  OK(hipDrvMemcpy3D(reinterpret_cast<const HIP_MEMCPY3D*>(&copy)));
  CHECK(Download(x, 12) == (std::vector<int>{5, 5, 5, 5, 2, 3, 4, 5, 8, 9, 10, 11}));
  copy.from.host = nullptr;
  GIVES(hipErrorInvalidValue, hipDrvMemcpy3D(reinterpret_cast<const HIP_MEMCPY3D*>(&copy)));
  OK(hipMemsetD2D16(x, 16, 0x0102, 2, 3));
  CHECK(Download(x, 12) == (std::vector<int>{0x01020102, 5, 5, 5, 0x01020102, 3, 4, 5, 0x01020102, 9, 10, 11}));
  GIVES(hipErrorInvalidValue, hipMemsetD2D16(x, 16, 1, 8, 5));

  unsigned long long id = 0, other = 0;
  OK(hipStreamGetId(stream, &id));
  OK(hipStreamGetId(nullptr, &other));
  CHECK(id != other);
  char value[64] = {1, 2, 3}, read[64] = {};
  OK(hipStreamSetAttribute(stream, 1, value));
  GIVES(hipErrorInvalidValue, hipStreamSetAttribute(stream, 2, value));
  OK(hipStreamCopyAttributes(nullptr, stream));
  OK(hipStreamGetAttribute(nullptr, 1, read));
  CHECK(std::memcmp(value, read, sizeof read) == 0);
  unsigned mask[16] = {};
  OK(hipExtStreamGetCUMask(stream, 16, mask));
  CHECK(mask[0] == ~0u);
  hipStream_t half;
  const unsigned some[] = {0x0f, 0};
  OK(hipExtStreamCreateWithCUMask(&half, 2, some));
  OK(hipExtStreamGetCUMask(half, 16, mask));
  CHECK(mask[0] == 0x0f && mask[1] == 0);
  return Ok();
}
