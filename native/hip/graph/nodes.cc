// The API of nodes: adding them, asking and setting their parameters, in graphs and in executables.
// Source: HIP API documentation, "Graph management".
#include <cstring>

#include "hip/graph/model.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

namespace wavesmith::hip {
namespace {

template <typename T>
T* ParamsOf(hipGraphNode_t handle) {
  Node* const node = FindNode(handle);
  return node == nullptr ? nullptr : std::get_if<T>(&node->params);
}
// The node that a graph's node became in an executable.
Node* NodeIn(hipGraphExec_t handle, hipGraphNode_t node) {
  const Executable* const executable = FindExecutable(handle);
  if (executable == nullptr) return nullptr;
  const auto found = executable->copies.find(reinterpret_cast<const Node*>(node));
  return found == executable->copies.end() ? nullptr : found->second;
}
template <typename T>
T* ParamsIn(hipGraphExec_t handle, hipGraphNode_t node) {
  Node* const found = NodeIn(handle, node);
  return found == nullptr ? nullptr : std::get_if<T>(&found->params);
}

using Form = MemcpyNode::Form;

hipError_t MakeSymbolNode(Form form, const void* symbol, void* to, const void* from, size_t size, size_t offset,
                          hipMemcpyKind kind, MemcpyNode* node) {
  if (symbol == nullptr) return hipErrorInvalidSymbol;
  uint8_t* place;
  const hipError_t error = SymbolRange(symbol, offset, size, &place);
  if (error != hipSuccess) return error;
  const bool writes = form == Form::kToSymbol;
  // The variable's shadow in the program is no place to copy from or to.
  if ((writes ? from : to) == symbol) return hipErrorInvalidValue;
  if (kind == (writes ? hipMemcpyDeviceToHost : hipMemcpyHostToDevice)) return hipErrorInvalidMemcpyDirection;
  const hipError_t made = MakeMemcpyNode1D(writes ? place : to, writes ? from : place, size, kind, node);
  if (made == hipSuccess) node->form = form;
  return made;
}

// Puts a made node's parameters where they belong.
template <typename T>
hipError_t Set(T* place, hipError_t error, const T& made) {
  if (error == hipSuccess) *place = made;
  return error;
}
hipError_t SetCopyIn(MemcpyNode* place, hipError_t error, const MemcpyNode& made) {
  if (error == hipSuccess && !SameDirection(*place, made)) return hipErrorInvalidValue;
  return Set(place, error, made);
}

// Access properties: normal, streaming, persisting, which a miss cannot have.
bool IsWindow(const LaunchAttributeValue& value) {
  constexpr int kStreaming = 1;
  constexpr int kPersisting = 2;
  // hipDeviceAttributeAccessPolicyMaxWindowSize.
  constexpr size_t kMostBytes = 0;
  const auto& window = value.window;
  return window.ratio >= 0 && window.ratio <= 1 && window.hit >= 0 && window.hit <= kPersisting && window.miss >= 0 &&
         window.miss <= kStreaming && window.bytes <= kMostBytes;
}

hipError_t CheckHost(const hipHostNodeParams* p) {
  return p == nullptr || p->fn == nullptr ? hipErrorInvalidValue : hipSuccess;
}

}  // namespace
}  // namespace wavesmith::hip

extern "C" {

// Kernels ---------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipGraphAddKernelNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipKernelNodeParams* p) {
  if (node == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  KernelNode made;
  const hipError_t error = MakeKernelNode(p, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, std::move(made)) : error);
}
hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* p) {
  const auto lock = GraphLock();
  const auto* const kernel = ParamsOf<KernelNode>(node);
  if (kernel == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  *p = kernel->shown;
  return Done(hipSuccess);
}
hipError_t hipGraphKernelNodeSetParams(hipGraphNode_t node, const hipKernelNodeParams* p) {
  const auto lock = GraphLock();
  auto* const kernel = ParamsOf<KernelNode>(node);
  return Done(kernel == nullptr ? hipErrorInvalidValue : MakeKernelNode(p, kernel));
}
hipError_t hipGraphExecKernelNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipKernelNodeParams* p) {
  const auto lock = GraphLock();
  auto* const kernel = ParamsIn<KernelNode>(exec, node);
  return Done(kernel == nullptr ? hipErrorInvalidValue : MakeKernelNode(p, kernel));
}
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute_id,
                                          const hipKernelNodeAttrValue* value) {
  const auto attribute = static_cast<int>(attribute_id);
  const auto lock = GraphLock();
  auto* const kernel = ParamsOf<KernelNode>(node);
  const bool known = attribute == 1 || attribute == 2 || attribute == 8;
  if (kernel == nullptr || value == nullptr || !known) return Done(hipErrorInvalidValue);
  LaunchAttributeValue kept{};
  // The union is as long as its longest member in the program's headers.
  std::memcpy(&kept, value, sizeof kept.window);
  if (attribute == 1 && !IsWindow(kept)) return Done(hipErrorInvalidValue);
  kernel->attributes[attribute] = kept;
  if (attribute == 2) kernel->request.cooperative = kept.cooperative != 0;
  return Done(hipSuccess);
}
hipError_t hipGraphKernelNodeGetAttribute(hipGraphNode_t node, hipKernelNodeAttrID attribute_id,
                                          hipKernelNodeAttrValue* value) {
  const auto attribute = static_cast<int>(attribute_id);
  const auto lock = GraphLock();
  auto* const kernel = ParamsOf<KernelNode>(node);
  const bool known = attribute == 1 || attribute == 2 || attribute == 8;
  if (kernel == nullptr || value == nullptr || !known) return Done(hipErrorInvalidValue);
  LaunchAttributeValue kept{};
  if (const auto found = kernel->attributes.find(attribute); found != kernel->attributes.end()) kept = found->second;
  std::memcpy(value, &kept, attribute == 1 ? sizeof kept.window : sizeof kept.priority);
  return Done(hipSuccess);
}
hipError_t hipGraphKernelNodeCopyAttributes(hipGraphNode_t from, hipGraphNode_t to) {
  const auto lock = GraphLock();
  const auto* const source = ParamsOf<KernelNode>(from);
  auto* const target = ParamsOf<KernelNode>(to);
  if (source == nullptr || target == nullptr) return Done(hipErrorInvalidValue);
  target->attributes = source->attributes;
  target->request.cooperative = source->request.cooperative;
  return Done(hipSuccess);
}

// Copies ----------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* p) {
  MemcpyNode made;
  const hipError_t error = node == nullptr ? hipErrorInvalidValue : MakeMemcpyNode(p, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, made) : error);
}
hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* p) {
  const auto lock = GraphLock();
  const auto* const copy = ParamsOf<MemcpyNode>(node);
  if (copy == nullptr || p == nullptr || copy->form != Form::kBox) return Done(hipErrorInvalidValue);
  *p = copy->box;
  return Done(hipSuccess);
}
hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* p) {
  const auto lock = GraphLock();
  auto* const copy = ParamsOf<MemcpyNode>(node);
  return Done(copy == nullptr ? hipErrorInvalidValue : MakeMemcpyNode(p, copy));
}
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* p) {
  const auto lock = GraphLock();
  auto* const copy = ParamsIn<MemcpyNode>(exec, node);
  MemcpyNode made;
  if (copy == nullptr) return Done(hipErrorInvalidValue);
  const hipError_t error = MakeMemcpyNode(p, &made);
  // A box's direction, too, is as it was named.
  if (error == hipSuccess && copy->form == Form::kBox && copy->box.kind != p->kind) return Done(hipErrorInvalidValue);
  return Done(SetCopyIn(copy, error, made));
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* to, const void* from, size_t size, hipMemcpyKind kind) {
  MemcpyNode made;
  const hipError_t error = MakeMemcpyNode1D(to, from, size, kind, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, made) : error);
}
hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* to, const void* from, size_t size,
                                         hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsOf<MemcpyNode>(node);
  return Done(copy == nullptr ? hipErrorInvalidValue : MakeMemcpyNode1D(to, from, size, kind, copy));
}
hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* to, const void* from,
                                             size_t size, hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsIn<MemcpyNode>(exec, node);
  MemcpyNode made;
  // A range's direction is as it was named, even where another name means the same.
  if (copy == nullptr || (copy->form == Form::kRange && copy->kind != kind)) return Done(hipErrorInvalidValue);
  return Done(SetCopyIn(copy, MakeMemcpyNode1D(to, from, size, kind, &made), made));
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                           size_t count, void* to, const void* symbol, size_t size, size_t offset,
                                           hipMemcpyKind kind) {
  MemcpyNode made;
  const hipError_t error = MakeSymbolNode(Form::kFromSymbol, symbol, to, nullptr, size, offset, kind, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, made) : error);
}
hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* to, const void* symbol, size_t size,
                                                 size_t offset, hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsOf<MemcpyNode>(node);
  return Done(copy == nullptr ? hipErrorInvalidValue
                              : MakeSymbolNode(Form::kFromSymbol, symbol, to, nullptr, size, offset, kind, copy));
}
hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* to,
                                                     const void* symbol, size_t size, size_t offset,
                                                     hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsIn<MemcpyNode>(exec, node);
  MemcpyNode made;
  if (copy == nullptr) return Done(hipErrorInvalidValue);
  return Done(SetCopyIn(copy, MakeSymbolNode(Form::kFromSymbol, symbol, to, nullptr, size, offset, kind, &made), made));
}
hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                         size_t count, const void* symbol, const void* from, size_t size, size_t offset,
                                         hipMemcpyKind kind) {
  MemcpyNode made;
  const hipError_t error = MakeSymbolNode(Form::kToSymbol, symbol, nullptr, from, size, offset, kind, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, made) : error);
}
hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* from, size_t size,
                                               size_t offset, hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsOf<MemcpyNode>(node);
  return Done(copy == nullptr ? hipErrorInvalidValue
                              : MakeSymbolNode(Form::kToSymbol, symbol, nullptr, from, size, offset, kind, copy));
}
hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node, const void* symbol,
                                                   const void* from, size_t size, size_t offset, hipMemcpyKind kind) {
  const auto lock = GraphLock();
  auto* const copy = ParamsIn<MemcpyNode>(exec, node);
  MemcpyNode made;
  if (copy == nullptr) return Done(hipErrorInvalidValue);
  return Done(SetCopyIn(copy, MakeSymbolNode(Form::kToSymbol, symbol, nullptr, from, size, offset, kind, &made), made));
}

// Fills -----------------------------------------------------------------------------------------------------------------------------------------

hipError_t hipGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemsetParams* p) {
  MemsetNode made;
  const hipError_t error = node == nullptr ? hipErrorInvalidValue : MakeMemsetNode(p, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, made) : error);
}
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* p) {
  const auto lock = GraphLock();
  const auto* const fill = ParamsOf<MemsetNode>(node);
  if (fill == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  *p = fill->params;
  return Done(hipSuccess);
}
hipError_t hipGraphMemsetNodeSetParams(hipGraphNode_t node, const hipMemsetParams* p) {
  const auto lock = GraphLock();
  auto* const fill = ParamsOf<MemsetNode>(node);
  return Done(fill == nullptr ? hipErrorInvalidValue : MakeMemsetNode(p, fill));
}
hipError_t hipGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipMemsetParams* p) {
  const auto lock = GraphLock();
  auto* const fill = ParamsIn<MemsetNode>(exec, node);
  if (fill == nullptr) return Done(hipErrorInvalidValue);
  MemsetNode changed;
  const hipError_t error = MakeMemsetNode(p, &changed);
  if (error != hipSuccess) return Done(error);
  // Every fill keeps its device.
  const hipMemsetParams& old = fill->params;
  MemoryInfo from;
  MemoryInfo to;
  const bool is_other_device = FindMemory(old.dst, &from) && FindMemory(p->dst, &to) && from.device != to.device;
  if (IsOtherShape(old, *p) || is_other_device) return Done(hipErrorInvalidValue);
  *fill = changed;
  return Done(hipSuccess);
}
hipError_t hipDrvGraphAddMemsetNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                    size_t count, const MemsetDriverParams* p, hipCtx_t) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  const hipMemsetParams params{p->dst, p->element, p->height, p->pitch, p->value, p->width};
  return hipGraphAddMemsetNode(node, graph, dependencies, count, &params);
}
hipError_t hipDrvGraphExecMemsetNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const MemsetDriverParams* p,
                                              hipCtx_t) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  const hipMemsetParams params{p->dst, p->element, p->height, p->pitch, p->value, p->width};
  return hipGraphExecMemsetNodeSetParams(exec, node, &params);
}

// Host functions, events, graphs, nothing -------------------------------------------------------------------------------------------------------

hipError_t hipGraphAddHostNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                               const hipHostNodeParams* p) {
  const hipError_t error = CheckHost(p);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, HostNode{*p}) : error);
}
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* p) {
  const auto lock = GraphLock();
  const auto* const host = ParamsOf<HostNode>(node);
  if (host == nullptr || p == nullptr) return Done(hipErrorInvalidValue);
  *p = host->params;
  return Done(hipSuccess);
}
hipError_t hipGraphHostNodeSetParams(hipGraphNode_t node, const hipHostNodeParams* p) {
  const auto lock = GraphLock();
  auto* const host = ParamsOf<HostNode>(node);
  if (host == nullptr || CheckHost(p) != hipSuccess) return Done(hipErrorInvalidValue);
  host->params = *p;
  return Done(hipSuccess);
}
hipError_t hipGraphExecHostNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, const hipHostNodeParams* p) {
  const auto lock = GraphLock();
  auto* const host = ParamsIn<HostNode>(exec, node);
  if (host == nullptr || CheckHost(p) != hipSuccess) return Done(hipErrorInvalidValue);
  host->params = *p;
  return Done(hipSuccess);
}

hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                size_t count) {
  return Done(AddNode(node, graph, dependencies, count, EmptyNode{}));
}

// NOLINTBEGIN(bugprone-macro-parentheses): `params` is a type.
#define WAVESMITH_EVENT_NODE(kind, params)                                                                       \
  hipError_t hipGraphAdd##kind##Node(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, \
                                     size_t count, hipEvent_t event) {                                           \
    if (!IsEvent(event)) return Done(hipErrorInvalidValue);                                                      \
    return Done(AddNode(node, graph, dependencies, count, params{event}));                                       \
  }                                                                                                              \
  hipError_t hipGraph##kind##NodeGetEvent(hipGraphNode_t node, hipEvent_t* event) {                              \
    const auto lock = GraphLock();                                                                               \
    const auto* const found = ParamsOf<params>(node);                                                            \
    if (found == nullptr || event == nullptr) return Done(hipErrorInvalidValue);                                 \
    *event = found->event;                                                                                       \
    return Done(hipSuccess);                                                                                     \
  }                                                                                                              \
  hipError_t hipGraph##kind##NodeSetEvent(hipGraphNode_t node, hipEvent_t event) {                               \
    const auto lock = GraphLock();                                                                               \
    auto* const found = ParamsOf<params>(node);                                                                  \
    if (found == nullptr || !IsEvent(event)) return Done(hipErrorInvalidValue);                                  \
    found->event = event;                                                                                        \
    return Done(hipSuccess);                                                                                     \
  }                                                                                                              \
  hipError_t hipGraphExec##kind##NodeSetEvent(hipGraphExec_t exec, hipGraphNode_t node, hipEvent_t event) {      \
    const auto lock = GraphLock();                                                                               \
    auto* const found = ParamsIn<params>(exec, node);                                                            \
    if (found == nullptr || !IsEvent(event)) return Done(hipErrorInvalidValue);                                  \
    found->event = event;                                                                                        \
    return Done(hipSuccess);                                                                                     \
  }
// NOLINTEND(bugprone-macro-parentheses)
WAVESMITH_EVENT_NODE(EventRecord, EventRecordNode)
WAVESMITH_EVENT_NODE(EventWait, EventWaitNode)

hipError_t hipGraphAddChildGraphNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, hipGraph_t handle) {
  const auto lock = GraphLock();
  const Graph* const child = FindGraph(handle);
  if (child == nullptr || FindGraph(graph) == nullptr) return Done(hipErrorInvalidValue);
  if (child->Allocates()) return Done(hipErrorNotSupported);
  std::map<const Node*, Node*> copies;
  std::shared_ptr<Graph> copy = CloneGraph(*child, &copies);
  copy->original = child;
  copy->copies = std::move(copies);
  return Done(AddNode(node, graph, dependencies, count, ChildNode{std::move(copy)}));
}
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) {
  const auto lock = GraphLock();
  const auto* const child = ParamsOf<ChildNode>(node);
  if (child == nullptr || graph == nullptr) return Done(hipErrorInvalidValue);
  *graph = HandleOf(child->graph.get());
  return Done(hipSuccess);
}
hipError_t hipGraphExecChildGraphNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipGraph_t handle) {
  const auto lock = GraphLock();
  auto* const child = ParamsIn<ChildNode>(exec, node);
  const Graph* const graph = FindGraph(handle);
  if (child == nullptr || graph == nullptr || !SameShape(*child->graph, *graph)) return Done(hipErrorInvalidValue);
  std::map<const Node*, Node*> copies;
  child->graph = CloneGraph(*graph, &copies);
  return Done(hipSuccess);
}

hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  const auto lock = GraphLock();
  Node* const found = NodeIn(exec, node);
  if (found == nullptr) return Done(hipErrorInvalidValue);
  const NodeType type = TypeOf(found->params);
  if (type != NodeType::kKernel && type != NodeType::kMemcpy && type != NodeType::kMemset) {
    return Done(hipErrorInvalidValue);
  }
  found->enabled = enabled != 0;
  return Done(hipSuccess);
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  const auto lock = GraphLock();
  const Node* const found = NodeIn(exec, node);
  if (found == nullptr || enabled == nullptr) return Done(hipErrorInvalidValue);
  const NodeType type = TypeOf(found->params);
  if (type != NodeType::kKernel && type != NodeType::kMemcpy && type != NodeType::kMemset) {
    return Done(hipErrorInvalidValue);
  }
  *enabled = found->enabled ? 1 : 0;
  return Done(hipSuccess);
}

// Nodes of any kind -----------------------------------------------------------------------------------------------------------------------------

hipError_t hipGraphAddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                           GenericNodeParams* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  switch (p->type) {
    case NodeType::kKernel:
      return hipGraphAddKernelNode(node, graph, dependencies, count, &p->kernel);
    case NodeType::kMemcpy:
      return hipGraphAddMemcpyNode(node, graph, dependencies, count, &p->memcpy.copy);
    case NodeType::kMemset:
      return hipGraphAddMemsetNode(node, graph, dependencies, count, &p->memset);
    case NodeType::kHost:
      return hipGraphAddHostNode(node, graph, dependencies, count, &p->host);
    case NodeType::kGraph:
      return hipGraphAddChildGraphNode(node, graph, dependencies, count, p->graph);
    case NodeType::kEmpty:
      return hipGraphAddEmptyNode(node, graph, dependencies, count);
    case NodeType::kWaitEvent:
      return hipGraphAddEventWaitNode(node, graph, dependencies, count, p->event);
    case NodeType::kEventRecord:
      return hipGraphAddEventRecordNode(node, graph, dependencies, count, p->event);
    case NodeType::kMemAlloc:
      return Done(AddAllocNode(node, graph, dependencies, count, &p->alloc));
    case NodeType::kMemFree:
      return Done(AddFreeNode(node, graph, dependencies, count, p->free));
    default:
      return Done(hipErrorInvalidValue);
  }
}
hipError_t hipGraphNodeSetParams(hipGraphNode_t node, GenericNodeParams* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  switch (p->type) {
    case NodeType::kKernel:
      return hipGraphKernelNodeSetParams(node, &p->kernel);
    case NodeType::kMemcpy:
      return hipGraphMemcpyNodeSetParams(node, &p->memcpy.copy);
    case NodeType::kMemset:
      return hipGraphMemsetNodeSetParams(node, &p->memset);
    case NodeType::kHost:
      return hipGraphHostNodeSetParams(node, &p->host);
    case NodeType::kWaitEvent:
      return hipGraphEventWaitNodeSetEvent(node, p->event);
    case NodeType::kEventRecord:
      return hipGraphEventRecordNodeSetEvent(node, p->event);
    default:
      return Done(hipErrorInvalidValue);
  }
}
hipError_t hipGraphExecNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, GenericNodeParams* p) {
  if (p == nullptr) return Done(hipErrorInvalidValue);
  switch (p->type) {
    case NodeType::kKernel:
      return hipGraphExecKernelNodeSetParams(exec, node, &p->kernel);
    case NodeType::kMemcpy:
      return hipGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copy);
    case NodeType::kMemset:
      return hipGraphExecMemsetNodeSetParams(exec, node, &p->memset);
    case NodeType::kHost:
      return hipGraphExecHostNodeSetParams(exec, node, &p->host);
    case NodeType::kGraph:
      return hipGraphExecChildGraphNodeSetParams(exec, node, p->graph);
    case NodeType::kWaitEvent:
      return hipGraphExecEventWaitNodeSetEvent(exec, node, p->event);
    case NodeType::kEventRecord:
      return hipGraphExecEventRecordNodeSetEvent(exec, node, p->event);
    default:
      return Done(hipErrorInvalidValue);
  }
}

}  // extern "C"
