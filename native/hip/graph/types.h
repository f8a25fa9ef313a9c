// Structures of graphs that HIP 5.2's header does not have, as HIP 6.3 lays them out.
#pragma once
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

namespace wavesmith::hip {

// Numbers of hipGraphNodeType from HIP 6 on; in HIP 5 they began with 1.
enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWaitEvent = 6,
  kEventRecord = 7,
  kSemaphoreSignal = 8,
  kSemaphoreWait = 9,
  kMemAlloc = 10,
  kMemFree = 11,
  kBatchMemOp = 14,
};

struct MemAllocNodeParams {
  hipMemPoolProps pool;
  const hipMemAccessDesc* access;
  size_t access_count;
  size_t size;
  void* pointer;
};
// A kernel's or launch's attribute: access window, cooperative (id 2), priority (id 8).
union LaunchAttributeValue {
  struct {
    void* base;
    int hit;
    float ratio;
    int miss;
    size_t bytes;
  } window;
  int cooperative;
  int priority;
  char bytes[64];
};
struct MemsetDriverParams {
  hipDeviceptr_t dst;
  size_t pitch;
  unsigned value;
  unsigned element;
  size_t width;
  size_t height;
};
struct InstantiateParams {
  hipGraphNode_t error_node;
  unsigned long long flags;
  int result;
  hipStream_t upload_stream;
};
// hipGraphNodeParams: which member counts is the type's.
struct GenericNodeParams {
  NodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    hipKernelNodeParams kernel;
    struct {
      int flags;
      int reserved[3];
      hipMemcpy3DParms copy;
    } memcpy;
    hipMemsetParams memset;
    hipHostNodeParams host;
    hipGraph_t graph;
    hipEvent_t event;
    MemAllocNodeParams alloc;
    void* free;
  };
  long long reserved2;
};
static_assert(sizeof(GenericNodeParams) == 16 + 29 * 8 + 8);

}  // namespace wavesmith::hip
