// Nodes that signal semaphores of other drivers or wait for them. Source: HIP API documentation, "Graph management".
#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

hipError_t Check(const SemaphoreParams* p) {
  return p == nullptr || p->semaphores == nullptr || p->params == nullptr ? hipErrorInvalidValue : hipSuccess;
}
SemaphoreNode* NodeOf(hipGraphNode_t handle, bool waits) {
  Node* const node = FindNode(handle);
  auto* const found = node == nullptr ? nullptr : std::get_if<SemaphoreNode>(&node->params);
  return found == nullptr || found->waits != waits ? nullptr : found;
}
SemaphoreNode* NodeIn(hipGraphExec_t handle, hipGraphNode_t node, bool waits) {
  const Executable* const executable = FindExecutable(handle);
  if (executable == nullptr) return nullptr;
  const auto found = executable->copies.find(reinterpret_cast<const Node*>(node));
  if (found == executable->copies.end()) return nullptr;
  auto* const params = std::get_if<SemaphoreNode>(&found->second->params);
  return params == nullptr || params->waits != waits ? nullptr : params;
}
hipError_t Add(bool waits, hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
               const SemaphoreParams* p) {
  const hipError_t error = node == nullptr ? hipErrorInvalidValue : Check(p);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, SemaphoreNode{*p, waits}) : error);
}
hipError_t Get(const SemaphoreNode* node, SemaphoreParams* p) {
  if (node == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  *p = node->params;
  return Done(hipSuccess);
}
hipError_t Set(SemaphoreNode* node, const SemaphoreParams* p) {
  if (node == nullptr || Check(p) != hipSuccess) return Done(hipErrorInvalidValue);
  node->params = *p;
  return Done(hipSuccess);
}

}  // namespace

hipError_t RunSemaphores(const SemaphoreNode& node, hipStream_t stream) {
  const SemaphoreParams& p = node.params;
  if (node.waits) {
    return hipWaitExternalSemaphoresAsync(p.semaphores, static_cast<const hipExternalSemaphoreWaitParams*>(p.params),
                                          p.count, stream);
  }
  return hipSignalExternalSemaphoresAsync(p.semaphores, static_cast<const hipExternalSemaphoreSignalParams*>(p.params),
                                          p.count, stream);
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

// The same functions of two kinds of node.
#define WAVESMITH_SEMAPHORE_NODE(kind, waits)                                                                 \
  hipError_t hipGraphAddExternalSemaphores##kind##Node(hipGraphNode_t* node, hipGraph_t graph,                \
                                                       const hipGraphNode_t* dependencies, size_t count,      \
                                                       const SemaphoreParams* p) {                            \
    return Add(waits, node, graph, dependencies, count, p);                                                   \
  }                                                                                                           \
  hipError_t hipGraphExternalSemaphores##kind##NodeGetParams(hipGraphNode_t node, SemaphoreParams* p) {       \
    const auto lock = GraphLock();                                                                            \
    return Get(NodeOf(node, waits), p);                                                                       \
  }                                                                                                           \
  hipError_t hipGraphExternalSemaphores##kind##NodeSetParams(hipGraphNode_t node, const SemaphoreParams* p) { \
    const auto lock = GraphLock();                                                                            \
    return Set(NodeOf(node, waits), p);                                                                       \
  }                                                                                                           \
  hipError_t hipGraphExecExternalSemaphores##kind##NodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,    \
                                                                 const SemaphoreParams* p) {                  \
    const auto lock = GraphLock();                                                                            \
    return Set(NodeIn(exec, node, waits), p);                                                                 \
  }
WAVESMITH_SEMAPHORE_NODE(Signal, false)
WAVESMITH_SEMAPHORE_NODE(Wait, true)

}  // extern "C"
