// As sizes.cpp, of the functions with more to say than a pointer and a size: reservations, pools, graphs, symbols, advice, ranges.
#include <cstdint>

#include "check.h"

__device__ int symbol[16];

static bool fails(hipError_t error) {
  (void)hipGetLastError();
  return error != hipSuccess && error != hipErrorNotSupported;
}
#define FAILS(call)                                                   \
  do {                                                                \
    const hipError_t given_ = (call);                                 \
    if (!fails(given_)) {                                             \
      std::printf("line %d, size %zx: %s gave %s\n", __LINE__, h, #call, hipGetErrorName(given_)); \
      bad++;                                                          \
    }                                                                 \
  } while (0)

int main() {
  int bad = 0;
  const size_t huge[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 255, SIZE_MAX - 4095, SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, size_t{1} << 62};
  char* memory = nullptr;
  char* other = nullptr;
  OK(hipMalloc(&memory, 65536));
  OK(hipMalloc(&other, 65536));
  void* managed = nullptr;
  OK(hipMallocManaged(&managed, 65536));
  std::vector<char> host(65536);
  hipMemPool_t pool = nullptr;
  OK(hipDeviceGetDefaultMemPool(&pool, 0));
  hipGraph_t graph = nullptr;
  OK(hipGraphCreate(&graph, 0));
  // hipMemAllocationProp as HIP 6 has it; the header of HIP 5.2 has another order.
  struct {
    int type = 1;
    int handle_type = 1;
    hipMemLocation location = {hipMemLocationTypeDevice, 0};
    void* win32 = nullptr;
    unsigned char rest[8] = {};
  } properties;
  const auto* const prop = reinterpret_cast<const hipMemAllocationProp*>(&properties);
  void* reserved = nullptr;
  OK(hipMemAddressReserve(&reserved, size_t{4} << 20, 0, nullptr, 0));
  hipMemGenericAllocationHandle_t handle{};
  OK(hipMemCreate(&handle, size_t{2} << 20, prop, 0));
  for (const size_t h : huge) {
    void* p = nullptr;
    FAILS(hipHostRegister(host.data(), h, 0));
    FAILS(hipExtMallocWithFlags(&p, h, 0));
    FAILS(hipMallocFromPoolAsync(&p, h, pool, nullptr));
    size_t pitch = 0;
    hipDeviceptr_t d = nullptr;
    FAILS(hipMemAllocPitch(&d, &pitch, h, 4, 16));
    FAILS(hipMemAllocPitch(&d, &pitch, 16, h, 16));
    FAILS(hipMemAddressReserve(&p, h, 0, nullptr, 0));
    FAILS(hipMemAddressReserve(&p, h & ~size_t{0x1fffff}, 0, nullptr, 0));
    FAILS(hipMemAddressReserve(&p, size_t{2} << 20, h, nullptr, 0));
    hipMemGenericAllocationHandle_t made{};
    FAILS(hipMemCreate(&made, h, prop, 0));
    FAILS(hipMemCreate(&made, h & ~size_t{0x1fffff}, prop, 0));
    FAILS(hipMemMap(reserved, h, 0, handle, 0));
    FAILS(hipMemMap(reserved, h & ~size_t{0x1fffff}, 0, handle, 0));
    FAILS(hipMemMap(reserved, size_t{2} << 20, h & ~size_t{0x1fffff}, handle, 0));
    FAILS(hipMemUnmap(reserved, h & ~size_t{0x1fffff}));
    hipMemAccessDesc access{{hipMemLocationTypeDevice, 0}, hipMemAccessFlagsProtReadWrite};
    FAILS(hipMemSetAccess(reserved, h & ~size_t{0x1fffff}, &access, 1));
    FAILS(hipMemAddressFree(reserved, h & ~size_t{0x1fffff}));
    FAILS(hipMemPrefetchAsync(managed, h, 0, nullptr));
    FAILS(hipMemAdvise(managed, h, hipMemAdviseSetReadMostly, 0));
    int32_t attribute = 0;
    FAILS(hipMemRangeGetAttribute(&attribute, sizeof attribute, hipMemRangeAttributeReadMostly, managed, h));
    FAILS(hipStreamAttachMemAsync(nullptr, managed, h, hipMemAttachSingle));
    FAILS(hipMemcpyToSymbol(HIP_SYMBOL(symbol), host.data(), h, 0, hipMemcpyHostToDevice));
    FAILS(hipMemcpyToSymbol(HIP_SYMBOL(symbol), host.data(), 4, h, hipMemcpyHostToDevice));
    FAILS(hipMemcpyToSymbol(HIP_SYMBOL(symbol), host.data(), h, SIZE_MAX - h + 5, hipMemcpyHostToDevice));
    FAILS(hipMemcpyFromSymbol(host.data(), HIP_SYMBOL(symbol), h, 16, hipMemcpyDeviceToHost));
    FAILS(hipMemcpyFromSymbol(host.data(), HIP_SYMBOL(symbol), 4, h, hipMemcpyDeviceToHost));
    FAILS(hipMemcpyDtoD(memory, other, h));
    FAILS(hipMemcpyDtoH(host.data(), memory, h));
    FAILS(hipMemcpyHtoD(memory, host.data(), h));
    FAILS(hipMemcpyDtoDAsync(memory, other, h, nullptr));
    FAILS(hipMemcpyPeer(memory, 0, other, 0, h));
    FAILS(hipMemcpyWithStream(memory, other, h, hipMemcpyDeviceToDevice, nullptr));
    FAILS(hipMemset2DAsync(memory, h, 1, 16, 16, nullptr));
    FAILS(hipMemset2DAsync(memory, 16, 1, 16, h, nullptr));
    FAILS(hipMemset3DAsync(make_hipPitchedPtr(memory, 16, 16, h), 1, hipExtent{16, 2, 2}, nullptr));
    FAILS(hipMemset3DAsync(make_hipPitchedPtr(memory, 16, 16, 16), 1, hipExtent{h, 2, 2}, nullptr));
    FAILS(hipMemsetD16Async(memory, 1, h, nullptr));
    FAILS(hipMemsetD8Async(memory, 1, h, nullptr));
    hipMemsetParams fill{};
    fill.dst = memory;
    fill.elementSize = 4;
    fill.width = h;
    fill.height = 1;
    fill.pitch = h;
    hipGraphNode_t node = nullptr;
    hipGraphExec_t exec = nullptr;
    const auto instantiates = [&]() {
      const hipError_t error = hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
      if (error != hipSuccess) return error;
      const hipError_t launched = hipGraphLaunch(exec, nullptr);
      const hipError_t waited = hipStreamSynchronize(nullptr);
      (void)hipGraphExecDestroy(exec);
      return launched != hipSuccess ? launched : waited;
    };
    const auto graphed = [&](hipError_t added) {
      if (added != hipSuccess) return added;
      const hipError_t error = instantiates();
      (void)hipGraphDestroyNode(node);
      return error;
    };
    FAILS(graphed(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill)));
    fill.width = 4;
    fill.height = h;
    fill.pitch = 16;
    FAILS(graphed(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill)));
    fill.pitch = h;
    fill.height = 3;
    FAILS(graphed(hipGraphAddMemsetNode(&node, graph, nullptr, 0, &fill)));
    FAILS(graphed(hipGraphAddMemcpyNode1D(&node, graph, nullptr, 0, memory, other, h, hipMemcpyDeviceToDevice)));
    FAILS(graphed(hipGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, HIP_SYMBOL(symbol), host.data(), 4, h, hipMemcpyHostToDevice)));
    FAILS(graphed(hipGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host.data(), HIP_SYMBOL(symbol), h, 4, hipMemcpyDeviceToHost)));
    hipMemcpy3DParms box{};
    box.srcPtr = make_hipPitchedPtr(other, 16, 16, 16);
    box.dstPtr = make_hipPitchedPtr(memory, h, 16, 16);
    box.extent = hipExtent{16, 16, 4};
    box.kind = hipMemcpyDeviceToDevice;
    FAILS(graphed(hipGraphAddMemcpyNode(&node, graph, nullptr, 0, &box)));
    FAILS(hipMemcpy3DAsync(&box, nullptr));
    FAILS(hipMemcpy2DAsync(memory, h, other, 16, 16, 16, hipMemcpyDeviceToDevice, nullptr));
  }
  // What was refused has changed nothing.
  OK(hipMemMap(reserved, size_t{2} << 20, 0, handle, 0));
  OK(hipMemUnmap(reserved, size_t{2} << 20));
  OK(hipMemRelease(handle));
  OK(hipMemAddressFree(reserved, size_t{4} << 20));
  OK(hipGraphDestroy(graph));
  OK(hipMemset(memory, 7, 65536));
  OK(hipDeviceSynchronize());
  if (bad > 0) return 1;
  return Ok();
}
