// What AMD's runtime answers to questions and settings that are none, and allocations in a captured stream.
#include "check.h"

// Functions of HIP 6, which Debian's header does not have.
extern "C" {
hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer);
hipError_t hipDeviceSetLimit(hipLimit_t limit, size_t value);
hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* symbol);
}

__global__ void set(int* p, int value) { *p = value; }
__global__ __launch_bounds__(64) void bounded(int* p) { *p = 1; }

// Launches of host functions name the configuration, those of modules' functions the value.
static void Launches() {
  int* p;
  OK(hipMalloc(&p, 4));
  int value = 5;
  void* arguments[] = {&p, &value};
  const auto host = [&](unsigned grid, unsigned block, size_t shared, hipStream_t stream) {
    return hipLaunchKernel(reinterpret_cast<const void*>(set), dim3(grid), dim3(block), arguments, shared, stream);
  };
  GIVES(hipErrorInvalidConfiguration, host(0, 1, 0, nullptr));
  GIVES(hipErrorInvalidConfiguration, host(1, 1025, 0, nullptr));
  GIVES(hipErrorInvalidValue, host(1, 1, 65537, nullptr));
  hipStream_t gone;
  OK(hipStreamCreate(&gone));
  OK(hipStreamDestroy(gone));
  GIVES(hipErrorInvalidValue, host(1, 1, 0, gone));
  bounded<<<1, 65>>>(p);
  GIVES(hipErrorLaunchFailure, hipGetLastError());
  OK(host(1, 1, 0, nullptr));
  OK(hipDeviceSynchronize());

  hipFunction_t f;
  OK(hipGetFuncBySymbol(&f, reinterpret_cast<const void*>(set)));
  size_t size = 12;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &p, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  const auto module = [&](unsigned x, unsigned y, unsigned block, unsigned shared, void** given, void** packed) {
    return hipModuleLaunchKernel(f, x, y, 1, block, 1, 1, shared, nullptr, given, packed);
  };
  GIVES(hipErrorInvalidValue, module(0, 1, 1, 0, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1, 1, 0, 0, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1u << 31, 1, 1, 0, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1, 65537, 1, 0, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1, 1, 1025, 0, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1, 1, 1, 65537, arguments, nullptr));
  GIVES(hipErrorInvalidValue, module(1, 1, 1, 0, arguments, extra));
  GIVES(hipErrorInvalidValue, module(1, 1, 1, 0, nullptr, nullptr));
  OK(module(1, 1, 1, 0, arguments, nullptr));
  OK(hipDeviceSynchronize());
  OK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost));
  CHECK(value == 5);
  OK(hipFree(p));
}

int main() {
  Launches();
  char *a, *b;
  OK(hipMalloc(&a, 1 << 20));
  OK(hipMalloc(&b, 1 << 20));
  void* signal;
  GIVES(hipErrorInvalidValue, hipExtMallocWithFlags(&signal, 16, hipMallocSignalMemory));
  GIVES(hipErrorInvalidValue, hipExtMallocWithFlags(&signal, 16, 99));
  OK(hipExtMallocWithFlags(&signal, 8, hipMallocSignalMemory));
  OK(hipFree(signal));

  void* answer;
  for (const int none : {1, 5, 10, 14, 15, 17}) {
    GIVES(hipErrorNotSupported, hipPointerGetAttribute(&answer, static_cast<hipPointer_attribute>(none), a));
  }
  for (const int none : {-1, 18}) {
    GIVES(hipErrorInvalidValue, hipPointerGetAttribute(&answer, static_cast<hipPointer_attribute>(none), a));
  }
  struct {
    unsigned size;
    unsigned guard;
  } range{0, 77};
  OK(hipPointerGetAttribute(&range, HIP_POINTER_ATTRIBUTE_RANGE_SIZE, a));
  CHECK(range.size == 1 << 20 && range.guard == 77);
  int own = 0, one = 1;
  const auto sync = HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS;
  GIVES(hipErrorInvalidDevicePointer, hipPointerSetAttribute(&one, sync, &own));
  GIVES(hipErrorInvalidValue, hipPointerSetAttribute(&one, sync, nullptr));
  OK(hipPointerSetAttribute(&one, sync, a));
  unsigned is_sync = 9;
  OK(hipPointerGetAttribute(&is_sync, sync, a));
  CHECK(is_sync == 1);
  OK(hipPointerGetAttribute(&is_sync, sync, b));
  CHECK(is_sync == 0);

  hipMemPool_t pool;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
  GIVES(hipErrorInvalidDevice, hipMemPoolSetAccess(pool, &access, 2));
  access.flags = static_cast<hipMemAccessFlags>(0xffff);
  GIVES(hipErrorInvalidValue, hipMemPoolSetAccess(pool, &access, 1));
  GIVES(hipErrorInvalidValue, hipSetDeviceFlags(hipDeviceScheduleSpin | hipDeviceScheduleYield));
  GIVES(hipErrorInvalidValue, hipDeviceSetLimit(hipLimitMallocHeapSize, SIZE_MAX));
  GIVES(hipErrorUnsupportedLimit, hipDeviceSetLimit(static_cast<hipLimit_t>(-1), 1024));
  GIVES(hipErrorInvalidValue, hipDeviceSetLimit(static_cast<hipLimit_t>(0xffff), 1024));
  GIVES(hipErrorInvalidResourceHandle, hipModuleUnload(nullptr));

  // A box without a pitch has rows that follow each other. In an executable its direction stays what it was called.
  int from[2] = {3, 4}, to[2] = {};
  hipMemcpy3DParms box{};
  box.srcPtr = make_hipPitchedPtr(from, 0, sizeof from, 0);
  box.dstPtr = make_hipPitchedPtr(to, 0, sizeof to, 0);
  box.extent = make_hipExtent(sizeof to, 1, 1);
  box.kind = hipMemcpyHostToHost;
  hipGraph_t graph;
  hipGraphNode_t node;
  hipGraphExec_t exec;
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &box));
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  box.kind = hipMemcpyDefault;
  GIVES(hipErrorInvalidValue, hipGraphExecMemcpyNodeSetParams(exec, node, &box));
  OK(hipGraphLaunch(exec, stream));
  OK(hipStreamSynchronize(stream));
  CHECK(to[0] == 3 && to[1] == 4);
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));

  // Memory that a captured stream allocates is the graph's.
  int* memory = nullptr;
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  OK(hipMallocAsync(reinterpret_cast<void**>(&memory), 64, stream));
  set<<<1, 1, 0, stream>>>(memory, 42);
  OK(hipMemcpyAsync(b, memory, 4, hipMemcpyDeviceToDevice, stream));
  OK(hipFreeAsync(memory, stream));
  OK(hipStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  OK(hipGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  for (int run = 0; run < 2; run++) {
    OK(hipMemset(b, 0, 4));
    OK(hipGraphLaunch(exec, stream));
    OK(hipStreamSynchronize(stream));
    int value = 0;
    OK(hipMemcpy(&value, b, 4, hipMemcpyDeviceToHost));
    CHECK(value == 42);
  }
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
  std::printf("ok\n");
  return 0;
}
