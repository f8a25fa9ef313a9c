// Graphs: nodes with dependencies, run in an order that respects them on one stream. Source: HIP API documentation, "Graph management".
#include <algorithm>
#include <cstring>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

struct Node {
  std::vector<Node*> dependencies;
  hipGraphNodeType type;
  GraphStep run;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Executable {
  std::vector<GraphStep> steps;
};

std::mutex mutex;
std::set<Graph*> graphs;
std::set<Executable*> executables;

Graph* Find(hipGraph_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  return graphs.contains(graph) ? graph : nullptr;
}

Node* FindNode(const Graph& graph, hipGraphNode_t handle) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const auto& candidate) {
    return candidate.get() == reinterpret_cast<Node*>(handle);
  });
  return found == graph.nodes.end() ? nullptr : found->get();
}

// Fills what the caller has room for; `count` gets how many there are.
hipError_t Give(const std::vector<Node*>& nodes, hipGraphNode_t* out, size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  for (size_t n = 0; out != nullptr && n < *count; n++) {
    out[n] = n < nodes.size() ? reinterpret_cast<hipGraphNode_t>(nodes[n]) : nullptr;
  }
  *count = nodes.size();
  return hipSuccess;
}

// Nodes in an order that puts dependencies first; empty when they form a circle.
std::vector<const Node*> Order(const Graph& graph) {
  std::vector<const Node*> order;
  std::set<const Node*> done;
  while (order.size() < graph.nodes.size()) {
    const size_t before = order.size();
    for (const auto& node : graph.nodes) {
      const bool ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                     [&](const Node* d) { return done.contains(d); });
      if (!ready || !done.insert(node.get()).second) continue;
      order.push_back(node.get());
    }
    if (order.size() == before) return {};
  }
  return order;
}

}  // namespace

hipError_t AddGraphNode(hipGraph_t handle, hipGraphNode_t* node, const hipGraphNode_t* dependencies, size_t count,
                        hipGraphNodeType type, GraphStep run) {
  const std::lock_guard lock(mutex);
  Graph* const graph = Find(handle);
  if (graph == nullptr || node == nullptr || (count != 0 && dependencies == nullptr)) return hipErrorInvalidValue;
  auto made = std::make_unique<Node>();
  for (size_t n = 0; n < count; n++) {
    Node* const dependency = FindNode(*graph, dependencies[n]);
    if (dependency == nullptr) return hipErrorInvalidValue;
    made->dependencies.push_back(dependency);
  }
  made->type = type;
  made->run = std::move(run);
  *node = reinterpret_cast<hipGraphNode_t>(made.get());
  graph->nodes.push_back(std::move(made));
  return hipSuccess;
}

bool GraphReaches(hipGraph_t handle, hipGraphNode_t node, const std::vector<hipGraphNode_t>& to) {
  const std::lock_guard lock(mutex);
  if (Find(handle) == nullptr) return false;
  std::set<const Node*> seen;
  std::vector<const Node*> open;
  for (const hipGraphNode_t n : to) open.push_back(reinterpret_cast<const Node*>(n));
  while (!open.empty()) {
    const Node* const at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    open.insert(open.end(), at->dependencies.begin(), at->dependencies.end());
  }
  return seen.contains(reinterpret_cast<const Node*>(node));
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  auto* const made = new Graph;
  const std::lock_guard lock(mutex);
  graphs.insert(made);
  *graph = reinterpret_cast<hipGraph_t>(made);
  return hipSuccess;
}
hipError_t hipGraphDestroy(hipGraph_t handle) {
  const std::lock_guard lock(mutex);
  Graph* const graph = Find(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  graphs.erase(graph);
  delete graph;
  return hipSuccess;
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeEmpty, [](hipStream_t) { return hipSuccess; }));
}

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  // A handle of a module's function, or a host function of the program.
  auto* function = static_cast<Function*>(p->func);
  if (!IsFunction(function)) {
    hipError_t error;
    function = FunctionOf(p->func, &error);
    if (function == nullptr) return Done(error);
  }
  LaunchRequest request{function,
                        {p->gridDim.x * p->blockDim.x, p->gridDim.y * p->blockDim.y, p->gridDim.z * p->blockDim.z},
                        {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                        p->sharedMemBytes,
                        nullptr,
                        p->kernelParams,
                        p->extra};
  GraphStep step;
  const hipError_t error = KeepLaunch(request, &step);
  if (error != hipSuccess) return Done(error);
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeKernel, std::move(step)));
}

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* p) {
  if (p == nullptr || p->dst == nullptr) return Done(hipErrorInvalidValue);
  const hipMemsetParams m = *p;
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeMemset, [=](hipStream_t stream) {
    hipError_t error = hipSuccess;
    for (size_t y = 0; y < m.height && error == hipSuccess; y++) {
      auto* const row = static_cast<uint8_t*>(m.dst) + y * m.pitch;
      error = m.elementSize == 1   ? hipMemsetD8Async(row, static_cast<unsigned char>(m.value), m.width, stream)
              : m.elementSize == 2 ? hipMemsetD16Async(row, static_cast<unsigned short>(m.value), m.width, stream)
                                   : hipMemsetD32Async(row, static_cast<int>(m.value), m.width, stream);
    }
    return error;
  }));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeMemcpy,
                  [=](hipStream_t stream) { return hipMemcpyAsync(to, from, size, kind, stream); }));
}
hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  const hipMemcpy3DParms copy = *p;
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeMemcpy,
                  [=](hipStream_t stream) { return hipMemcpy3DAsync(&copy, stream); }));
}
hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                               size_t count, const hipHostNodeParams* p) {
  if (p == nullptr || p->fn == nullptr) return Done(hipErrorInvalidValue);
  const hipHostNodeParams host = *p;
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeHost,
                  [=](hipStream_t stream) { return hipLaunchHostFunc(stream, host.fn, host.userData); }));
}
hipError_t hipGraphAddEventRecordNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                      size_t count, hipEvent_t event) {
  return Done(AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeEventRecord, [=](hipStream_t stream) { return hipEventRecord(event, stream); }));
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, hipEvent_t event) {
  return Done(
      AddGraphNode(graph, node, dependencies, count, hipGraphNodeTypeWaitEvent, [=](hipStream_t stream) { return hipStreamWaitEvent(stream, event, 0); }));
}
hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  const std::lock_guard lock(mutex);
  const Graph* const graph = Find(handle);
  if (graph == nullptr || from == nullptr || to == nullptr) return Done(hipErrorInvalidValue);
  for (size_t n = 0; n < count; n++) {
    if (FindNode(*graph, from[n]) == nullptr || FindNode(*graph, to[n]) == nullptr) return Done(hipErrorInvalidValue);
  }
  for (size_t n = 0; n < count; n++) FindNode(*graph, to[n])->dependencies.push_back(FindNode(*graph, from[n]));
  return hipSuccess;
}

hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  const std::lock_guard lock(mutex);
  const Graph* const graph = Find(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  std::vector<Node*> all;
  for (const auto& node : graph->nodes) all.push_back(node.get());
  return Done(Give(all, nodes, count));
}
hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  const std::lock_guard lock(mutex);
  const Graph* const graph = Find(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  std::vector<Node*> roots;
  for (const auto& node : graph->nodes) {
    if (node->dependencies.empty()) roots.push_back(node.get());
  }
  return Done(Give(roots, nodes, count));
}
hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType* type) {
  const std::lock_guard lock(mutex);
  for (const Graph* const graph : graphs) {
    const Node* const node = FindNode(*graph, handle);
    if (node == nullptr || type == nullptr) continue;
    *type = node->type;
    return hipSuccess;
  }
  return Done(hipErrorInvalidValue);
}

hipError_t hipGraphInstantiate(hipGraphExec_t* result, hipGraph_t handle, hipGraphNode_t*, char*, size_t) {
  const std::lock_guard lock(mutex);
  const Graph* const graph = Find(handle);
  if (graph == nullptr || result == nullptr) return Done(hipErrorInvalidValue);
  const auto order = Order(*graph);
  if (order.empty() && !graph->nodes.empty()) return Done(hipErrorInvalidValue);
  auto* const made = new Executable;
  for (const Node* const node : order) made->steps.push_back(node->run);
  executables.insert(made);
  *result = reinterpret_cast<hipGraphExec_t>(made);
  return hipSuccess;
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* result, hipGraph_t graph, unsigned long long) {
  return hipGraphInstantiate(result, graph, nullptr, nullptr, 0);
}
hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream) {
  auto* const executable = reinterpret_cast<Executable*>(handle);
  std::vector<GraphStep> steps;
  {
    const std::lock_guard lock(mutex);
    if (!executables.contains(executable)) return Done(hipErrorInvalidValue);
    steps = executable->steps;
  }
  for (const auto& step : steps) {
    const hipError_t error = step(stream);
    if (error != hipSuccess) return Done(error);
  }
  return hipSuccess;
}
hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  auto* const executable = reinterpret_cast<Executable*>(handle);
  const std::lock_guard lock(mutex);
  if (executables.erase(executable) == 0) return Done(hipErrorInvalidValue);
  delete executable;
  return hipSuccess;
}

}  // extern "C"
