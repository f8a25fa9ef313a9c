// Memory that graphs allocate and free: each node has one address, in use from its run until it is freed.
// Source: HIP API documentation, "Graph management", hipGraphAddMemAllocNode.
#include "hip/graph/model.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

namespace wavesmith::hip {
namespace {

// Highest bytes in use since it was set back.
size_t high_used = 0;
size_t high_reserved = 0;
size_t reserved = 0;

enum Attribute : int { kUsed = 0, kUsedHigh = 1, kReserved = 2, kReservedHigh = 3 };

}  // namespace

void CountGraphMemory(size_t used) {
  high_used = std::max(high_used, used);
  reserved = std::max(reserved, used);
  high_reserved = std::max(high_reserved, reserved);
}

namespace {

// Gives the node its memory, whose address the parameters then hold.
hipError_t MakeAllocNode(const MemAllocNodeParams& params, AllocNode* made) {
  made->memory = std::make_shared<GraphMemory>();
  const hipError_t error = AllocateMemory(params.size, MemoryKind::kDevice, 0, &made->memory->pointer);
  if (error != hipSuccess) return error;
  made->memory->size = params.size;
  made->params = params;
  made->params.pointer = made->memory->pointer;
  return hipSuccess;
}

}  // namespace

hipError_t AddAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                        MemAllocNodeParams* p) {
  if (node == nullptr || p == nullptr || p->size == 0) return hipErrorInvalidValue;
  if (p->pool.allocType != hipMemAllocationTypePinned || p->pool.location.type != hipMemLocationTypeDevice ||
      !IsDevice(p->pool.location.id)) {
    return hipErrorInvalidValue;
  }
  const auto lock = GraphLock();
  AllocNode made;
  const OnDevice there(p->pool.location.id);
  hipError_t error = MakeAllocNode(*p, &made);
  if (error != hipSuccess) return error;
  void* const pointer = made.params.pointer;
  error = AddNode(node, graph, dependencies, count, std::move(made));
  if (error == hipSuccess) p->pointer = pointer;
  return error;
}

hipError_t CaptureAlloc(hipStream_t stream, int device, size_t size, void** pointer) {
  const auto lock = GraphLock();
  MemAllocNodeParams params{};
  params.pool.allocType = hipMemAllocationTypePinned;
  params.pool.location = {hipMemLocationTypeDevice, device};
  params.size = size;
  AllocNode made;
  const OnDevice there(device);
  hipError_t error = MakeAllocNode(params, &made);
  if (error != hipSuccess) return error;
  void* const allocated = made.params.pointer;
  error = CaptureNode(stream, std::move(made));
  if (error == hipSuccess) *pointer = allocated;
  return error;
}

hipError_t AddFreeNode(hipGraphNode_t* node, hipGraph_t handle, const hipGraphNode_t* dependencies, size_t count,
                       void* pointer) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr || pointer == nullptr) return hipErrorInvalidValue;
  MemoryInfo info;
  if (!FindMemory(pointer, &info) || info.address != reinterpret_cast<uint64_t>(pointer)) return hipErrorInvalidValue;
  for (const auto& other : graph->nodes) {
    const auto* const twice = std::get_if<FreeNode>(&other->params);
    if (twice != nullptr && twice->pointer == pointer) return hipErrorInvalidValue;
  }
  return AddNode(node, handle, dependencies, count, FreeNode{pointer});
}

}  // namespace wavesmith::hip

extern "C" {

hipError_t hipGraphAddMemAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, MemAllocNodeParams* p) {
  return Done(AddAllocNode(node, graph, dependencies, count, p));
}
hipError_t hipGraphMemAllocNodeGetParams(hipGraphNode_t handle, MemAllocNodeParams* p) {
  const auto lock = GraphLock();
  const Node* const node = FindNode(handle);
  const auto* const alloc = node == nullptr ? nullptr : std::get_if<AllocNode>(&node->params);
  if (alloc == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  *p = alloc->params;
  return Done(hipSuccess);
}
hipError_t hipGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                  size_t count, void* pointer) {
  return Done(AddFreeNode(node, graph, dependencies, count, pointer));
}
hipError_t hipDrvGraphAddMemFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipDeviceptr_t pointer) {
  return hipGraphAddMemFreeNode(node, graph, dependencies, count, pointer);
}
hipError_t hipGraphMemFreeNodeGetParams(hipGraphNode_t handle, void* pointer) {
  const auto lock = GraphLock();
  const Node* const node = FindNode(handle);
  const auto* const freed = node == nullptr ? nullptr : std::get_if<FreeNode>(&node->params);
  if (freed == nullptr || pointer == nullptr) return Done(hipErrorInvalidValue);
  *static_cast<void**>(pointer) = freed->pointer;
  return Done(hipSuccess);
}

hipError_t hipDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  if (!IsDevice(device)) return Done(hipErrorInvalidDevice);
  if (value == nullptr || attribute < kUsed || attribute > kReservedHigh) return Done(hipErrorInvalidValue);
  const auto lock = GraphLock();
  const size_t values[] = {GraphMemoryInUse(), high_used, std::max(reserved, GraphMemoryInUse()), high_reserved};
  *static_cast<uint64_t*>(value) = values[attribute];
  return Done(hipSuccess);
}
hipError_t hipDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  if (!IsDevice(device)) return Done(hipErrorInvalidDevice);
  const bool high = attribute == kUsedHigh || attribute == kReservedHigh;
  if (value == nullptr || !high || *static_cast<uint64_t*>(value) != 0) return Done(hipErrorInvalidValue);
  const auto lock = GraphLock();
  (attribute == kUsedHigh ? high_used : high_reserved) = 0;
  return Done(hipSuccess);
}
hipError_t hipDeviceGraphMemTrim(int device) {
  if (!IsDevice(device)) return Done(hipErrorInvalidDevice);
  const auto lock = GraphLock();
  reserved = GraphMemoryInUse();
  return Done(hipSuccess);
}

}  // extern "C"
