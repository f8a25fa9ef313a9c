// Executables: instantiation, launch, update as a whole. Source: HIP API documentation, "Graph management".
#include <algorithm>

#include "hip/graph/model.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

namespace wavesmith::hip {
namespace {

constexpr unsigned long long kAutoFree = 1;
constexpr unsigned long long kUpload = 2;
constexpr unsigned long long kDeviceLaunch = 4;
constexpr unsigned long long kUsePriority = 8;
enum InstantiateResult : int { kMade = 0, kFailed = 1, kInvalidStructure = 2 };

// One flag at a time, as in HIP.
bool IsFlag(unsigned long long flags) {
  return flags == 0 || flags == kAutoFree || flags == kUpload || flags == kDeviceLaunch || flags == kUsePriority;
}

// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& executables = *new std::map<Executable*, std::unique_ptr<Executable>>;

hipError_t Instantiate(hipGraphExec_t* result, hipGraph_t handle, unsigned long long flags, int* why) {
  const auto lock = GraphLock();
  Graph* const graph = FindGraph(handle);
  *why = kFailed;
  if (graph == nullptr || result == nullptr) return hipErrorInvalidValue;
  *result = nullptr;
  if (OrderOf(*graph).size() != graph->nodes.size()) {
    *why = kInvalidStructure;
    return hipErrorInvalidValue;
  }
  if (graph->Allocates() && graph->instantiated) return hipErrorNotSupported;
  auto made = std::make_unique<Executable>();
  made->graph = CloneGraph(*graph, &made->copies);
  made->source = graph;
  made->order = OrderOf(*made->graph);
  made->flags = flags;
  graph->instantiated = true;
  // What the graph keeps alive lives as long as the executable.
  made->graph->objects = graph->objects;
  for (const auto& [object, count] : graph->objects) object->count += count;
  *result = reinterpret_cast<hipGraphExec_t>(made.get());
  executables[made.get()] = std::move(made);
  *why = kMade;
  return hipSuccess;
}

// The first difference that an update cannot take over; success when there is none.
hipGraphExecUpdateResult Compare(const Node& mine, const Node& theirs) {
  if (mine.params.index() != theirs.params.index()) return hipGraphExecUpdateErrorNodeTypeChanged;
  if (const auto* const kernel = std::get_if<KernelNode>(&mine.params)) {
    const auto& other = std::get<KernelNode>(theirs.params);
    if (kernel->request.function->module != other.request.function->module)
      return hipGraphExecUpdateErrorFunctionChanged;
  }
  if (const auto* const copy = std::get_if<MemcpyNode>(&mine.params)) {
    if (!SameDirection(*copy, std::get<MemcpyNode>(theirs.params))) return hipGraphExecUpdateErrorParametersChanged;
  }
  // Source: hip-tests, hipGraphMemsetNodeFlatAlloc.cc.
  if (const auto* const fill = std::get_if<MemsetNode>(&mine.params); fill != nullptr && HipMajor() >= 7) {
    const auto& other = std::get<MemsetNode>(theirs.params);
    if (IsOtherShape(fill->params, other.params)) return hipGraphExecUpdateErrorParametersChanged;
  }
  if (std::holds_alternative<AllocNode>(mine.params) || std::holds_alternative<FreeNode>(mine.params)) {
    return hipGraphExecUpdateErrorParametersChanged;
  }
  return hipGraphExecUpdateSuccess;
}

}  // namespace

Executable* FindExecutable(hipGraphExec_t handle) {
  auto* const executable = reinterpret_cast<Executable*>(handle);
  return executables.contains(executable) ? executable : nullptr;
}

bool SameShape(const Graph& a, const Graph& b) {
  const std::vector<Node*> mine = OrderOf(a);
  const std::vector<Node*> theirs = OrderOf(b);
  if (mine.size() != theirs.size()) return false;
  for (size_t n = 0; n < mine.size(); n++) {
    if (mine[n]->params.index() != theirs[n]->params.index()) return false;
    if (mine[n]->dependencies.size() != theirs[n]->dependencies.size()) return false;
  }
  return true;
}

}  // namespace wavesmith::hip

extern "C" {

hipError_t hipGraphInstantiate(hipGraphExec_t* result, hipGraph_t handle, hipGraphNode_t* error_node, char* log,
                               size_t log_size) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_size != 0) *log = '\0';
  int why;
  return Done(Instantiate(result, handle, 0, &why));
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* result, hipGraph_t graph, unsigned long long flags) {
  if (!IsFlag(flags)) return Done(hipErrorInvalidValue);
  int why;
  return Done(Instantiate(result, graph, flags, &why));
}
hipError_t hipGraphInstantiateWithParams(hipGraphExec_t* result, hipGraph_t graph, InstantiateParams* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  p->error_node = nullptr;
  p->result = kFailed;
  if (!IsFlag(p->flags)) return Done(hipErrorInvalidValue);
  return Done(Instantiate(result, graph, p->flags, &p->result));
}
hipError_t hipGraphExecGetFlags(hipGraphExec_t handle, unsigned long long* flags) {
  const auto lock = GraphLock();
  const Executable* const executable = FindExecutable(handle);
  if (executable == nullptr || flags == nullptr) return Done(hipErrorInvalidValue);
  *flags = executable->flags;
  return Done(hipSuccess);
}
hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  const auto lock = GraphLock();
  Executable* const executable = FindExecutable(handle);
  if (executable == nullptr) return Done(hipErrorInvalidValue);
  if (Graph* const source = FindGraph(reinterpret_cast<hipGraph_t>(const_cast<Graph*>(executable->source)))) {
    source->instantiated = false;
  }
  executables.erase(executable);
  return Done(hipSuccess);
}

hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t stream) {
  const auto lock = GraphLock();
  const Executable* const executable = FindExecutable(handle);
  if (executable == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(error);
  const std::shared_ptr<Graph> graph = executable->graph;
  for (const Node* const node : std::vector<Node*>(executable->order)) {
    const auto* const alloc = std::get_if<AllocNode>(&node->params);
    if (alloc != nullptr && (executable->flags & kAutoFree) != 0) ReleaseGraphMemory(alloc->memory->pointer);
    error = RunNode(*node, stream);
    if (error != hipSuccess) return Done(error);
    if (alloc != nullptr) CountGraphMemory(GraphMemoryInUse());
  }
  return Done(hipSuccess);
}
// Everything a graph needs is on the device already.
hipError_t hipGraphUpload(hipGraphExec_t handle, hipStream_t stream) {
  const auto lock = GraphLock();
  hipError_t error;
  if (FindExecutable(handle) == nullptr) return Done(hipErrorInvalidValue);
  return Done(FindStream(stream, &error) == nullptr ? error : hipSuccess);
}

hipError_t hipGraphExecUpdate(hipGraphExec_t handle, hipGraph_t graph_handle, hipGraphNode_t* error_node,
                              hipGraphExecUpdateResult* result) {
  const auto lock = GraphLock();
  Executable* const executable = FindExecutable(handle);
  const Graph* const graph = FindGraph(graph_handle);
  if (executable == nullptr || graph == nullptr || error_node == nullptr || result == nullptr) {
    return Done(hipErrorInvalidValue);
  }
  *error_node = nullptr;
  const auto fails = [&](hipGraphExecUpdateResult why, Node* node) {
    *result = why;
    *error_node = node == nullptr ? nullptr : HandleOf(node);
    return Done(hipErrorGraphExecUpdateFailure);
  };
  const std::vector<Node*>& mine = executable->order;
  const std::vector<Node*> theirs = OrderOf(*graph);
  if (mine.size() != theirs.size()) return fails(hipGraphExecUpdateErrorTopologyChanged, nullptr);
  const auto at = [](const std::vector<Node*>& order, const Node* node) {
    return std::find(order.begin(), order.end(), node) - order.begin();
  };
  for (size_t n = 0; n < mine.size(); n++) {
    const hipGraphExecUpdateResult difference = Compare(*mine[n], *theirs[n]);
    if (difference != hipGraphExecUpdateSuccess) return fails(difference, theirs[n]);
    std::vector<ptrdiff_t> a;
    std::vector<ptrdiff_t> b;
    for (const Node* const d : mine[n]->dependencies) a.push_back(at(mine, d));
    for (const Node* const d : theirs[n]->dependencies) b.push_back(at(theirs, d));
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    if (a != b) return fails(hipGraphExecUpdateErrorTopologyChanged, theirs[n]);
  }
  for (size_t n = 0; n < mine.size(); n++) {
    NodeParams params = theirs[n]->params;
    std::map<const Node*, Node*> copies;
    if (auto* const child = std::get_if<ChildNode>(&params)) child->graph = CloneGraph(*child->graph, &copies);
    mine[n]->params = std::move(params);
  }
  *result = hipGraphExecUpdateSuccess;
  return Done(hipSuccess);
}

}  // extern "C"
