// Graphs, nodes and executables as objects: registries, copies, order, and what each kind of node puts into a stream.
#include "hip/graph/model.h"

#include <algorithm>
#include <cstring>

namespace wavesmith::hip {
namespace {

// Deliberately never destroyed: programs use graphs in their own destructors.
std::recursive_mutex& Mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}
std::set<Graph*>& Graphs() {
  static auto* const graphs = new std::set<Graph*>;
  return *graphs;
}
std::set<Node*>& Nodes() {
  static auto* const nodes = new std::set<Node*>;
  return *nodes;
}
// Memory in use, held until it is freed.
std::map<void*, std::shared_ptr<GraphMemory>>& MemoryInUse() {
  static auto* const memory = new std::map<void*, std::shared_ptr<GraphMemory>>;
  return *memory;
}

template <typename... F>
struct Overload : F... {
  using F::operator()...;
};
template <typename... F>
Overload(F...) -> Overload<F...>;

hipError_t RunMemcpy(const MemcpyNode& n, hipStream_t stream) {
  if (n.form == MemcpyNode::Form::kBox) return hipMemcpy3DAsync(&n.box, stream);
  return hipMemcpyAsync(n.to, n.from, n.size, n.kind, stream);
}

hipError_t RunMemset(const hipMemsetParams& m, hipStream_t stream) {
  hipError_t error = hipSuccess;
  for (size_t y = 0; y < m.height && error == hipSuccess; y++) {
    auto* const row = static_cast<uint8_t*>(m.dst) + y * m.pitch;
    error = m.elementSize == 1   ? hipMemsetD8Async(row, static_cast<unsigned char>(m.value), m.width, stream)
            : m.elementSize == 2 ? hipMemsetD16Async(row, static_cast<unsigned short>(m.value), m.width, stream)
                                 : hipMemsetD32Async(row, static_cast<int>(m.value), m.width, stream);
  }
  return error;
}

hipError_t RunKernel(const KernelNode& k, hipStream_t stream) {
  std::vector<uint8_t> bytes = k.bytes;
  size_t size = bytes.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, bytes.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  LaunchRequest request = k.request;
  request.stream = stream;
  request.parameters = nullptr;
  request.extra = extra;
  return Launch(request);
}

hipError_t RunChild(const ChildNode& child, hipStream_t stream) {
  for (const Node* const node : OrderOf(*child.graph)) {
    const hipError_t error = RunNode(*node, stream);
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t RunFree(void* pointer, hipStream_t stream) {
  if (!IsGraphMemoryInUse(pointer)) return hipFreeAsync(pointer, stream);
  hipError_t error;
  Stream* const s = StreamOf(stream, &error);
  if (s == nullptr) return error;
  return s->Host([pointer] { ReleaseGraphMemory(pointer); });
}

}  // namespace

KernelNode& KernelNode::operator=(const KernelNode& other) {
  request = other.request;
  shown = other.shown;
  bytes = other.bytes;
  pointers = other.pointers;
  attributes = other.attributes;
  Bind();
  return *this;
}
void KernelNode::Bind() {
  if (shown.extra != nullptr || request.function == nullptr) return;
  pointers.clear();
  for (const Argument& argument : request.function->info.arguments) {
    if (!argument.hidden()) pointers.push_back(bytes.data() + argument.offset);
  }
  shown.kernelParams = pointers.data();
}

GraphMemory::~GraphMemory() {
  if (pointer != nullptr) FreeNow(pointer);
}

Graph::~Graph() {
  for (const auto& node : nodes) Nodes().erase(node.get());
  Graphs().erase(this);
  for (const auto& [object, count] : objects) ReleaseUserObject(object, count);
}
Node* Graph::Add(NodeParams params, std::vector<Node*> dependencies) {
  auto made = std::make_unique<Node>();
  made->graph = this;
  made->dependencies = std::move(dependencies);
  made->params = std::move(params);
  made->id = next_id++;
  nodes.push_back(std::move(made));
  Nodes().insert(nodes.back().get());
  Graphs().insert(this);
  return nodes.back().get();
}
bool Graph::Allocates() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto& n) {
    return std::holds_alternative<AllocNode>(n->params) || std::holds_alternative<FreeNode>(n->params);
  });
}

void RegisterGraph(Graph* graph) { Graphs().insert(graph); }
void ForgetNode(Node* node) { Nodes().erase(node); }
std::unique_lock<std::recursive_mutex> GraphLock() { return std::unique_lock(Mutex()); }
Graph* FindGraph(hipGraph_t handle) {
  auto* const graph = reinterpret_cast<Graph*>(handle);
  return Graphs().contains(graph) ? graph : nullptr;
}
Node* FindNode(hipGraphNode_t handle) {
  auto* const node = reinterpret_cast<Node*>(handle);
  return Nodes().contains(node) ? node : nullptr;
}

std::shared_ptr<Graph> CloneGraph(const Graph& graph, std::map<const Node*, Node*>* copies) {
  auto made = std::make_shared<Graph>();
  RegisterGraph(made.get());
  for (const auto& node : graph.nodes) {
    NodeParams params = node->params;
    if (auto* const child = std::get_if<ChildNode>(&params)) child->graph = CloneGraph(*child->graph, copies);
    Node* const copy = made->Add(std::move(params), {});
    copy->enabled = node->enabled;
    (*copies)[node.get()] = copy;
  }
  for (const auto& node : graph.nodes) {
    for (const Node* const dependency : node->dependencies) {
      copies->at(node.get())->dependencies.push_back(copies->at(dependency));
    }
  }
  return made;
}

std::vector<Node*> OrderOf(const Graph& graph) {
  std::vector<Node*> order;
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

NodeType TypeOf(const NodeParams& params) {
  return std::visit(
      Overload{[](const EmptyNode&) { return NodeType::kEmpty; }, [](const KernelNode&) { return NodeType::kKernel; },
               [](const MemcpyNode&) { return NodeType::kMemcpy; }, [](const MemsetNode&) { return NodeType::kMemset; },
               [](const HostNode&) { return NodeType::kHost; }, [](const ChildNode&) { return NodeType::kGraph; },
               [](const EventRecordNode&) { return NodeType::kEventRecord; },
               [](const EventWaitNode&) { return NodeType::kWaitEvent; },
               [](const AllocNode&) { return NodeType::kMemAlloc; }, [](const FreeNode&) { return NodeType::kMemFree; },
               [](const BatchNode&) { return NodeType::kBatchMemOp; },
               [](const SemaphoreNode& n) { return n.waits ? NodeType::kSemaphoreWait : NodeType::kSemaphoreSignal; },
               [](const WorkNode&) { return NodeType::kHost; }},
      params);
}

hipError_t RunNode(const Node& node, hipStream_t stream) {
  if (!node.enabled) return hipSuccess;
  return std::visit(
      Overload{[](const EmptyNode&) { return hipSuccess; }, [&](const KernelNode& n) { return RunKernel(n, stream); },
               [&](const MemcpyNode& n) { return RunMemcpy(n, stream); },
               [&](const MemsetNode& n) { return RunMemset(n.params, stream); },
               [&](const HostNode& n) { return hipLaunchHostFunc(stream, n.params.fn, n.params.userData); },
               [&](const ChildNode& n) { return RunChild(n, stream); },
               [&](const EventRecordNode& n) { return hipEventRecord(n.event, stream); },
               [&](const EventWaitNode& n) { return hipStreamWaitEvent(stream, n.event, 0); },
               [](const AllocNode& n) { return UseGraphMemory(n.memory); },
               [&](const FreeNode& n) { return RunFree(n.pointer, stream); },
               [&](const BatchNode& n) { return RunBatch(n.operations, stream); },
               [&](const SemaphoreNode& n) { return RunSemaphores(n, stream); },
               [&](const WorkNode& n) { return n.run(stream); }},
      node.params);
}

hipError_t UseGraphMemory(const std::shared_ptr<GraphMemory>& memory) {
  const auto lock = GraphLock();
  // A second launch before the first one's memory was freed.
  return MemoryInUse().emplace(memory->pointer, memory).second ? hipSuccess : hipErrorInvalidValue;
}
bool ReleaseGraphMemory(void* pointer) {
  std::shared_ptr<GraphMemory> last;
  const auto lock = GraphLock();
  const auto found = MemoryInUse().find(pointer);
  if (found == MemoryInUse().end()) return false;
  last = std::move(found->second);
  MemoryInUse().erase(found);
  return true;
}
bool IsGraphMemoryInUse(void* pointer) {
  const auto lock = GraphLock();
  return MemoryInUse().contains(pointer);
}
size_t GraphMemoryInUse() {
  const auto lock = GraphLock();
  size_t bytes = 0;
  for (const auto& [pointer, memory] : MemoryInUse()) bytes += memory->size;
  return bytes;
}

hipError_t AddNode(hipGraphNode_t* result, hipGraph_t handle, const hipGraphNode_t* dependencies, size_t count,
                   NodeParams params) {
  const auto lock = GraphLock();
  Graph* const graph = FindGraph(handle);
  if (graph == nullptr || result == nullptr || (count != 0 && dependencies == nullptr)) return hipErrorInvalidValue;
  std::vector<Node*> nodes;
  for (size_t n = 0; n < count; n++) {
    Node* const dependency = FindNode(dependencies[n]);
    if (dependency == nullptr || dependency->graph != graph) return hipErrorInvalidValue;
    if (std::find(nodes.begin(), nodes.end(), dependency) != nodes.end()) return hipErrorInvalidValue;
    nodes.push_back(dependency);
  }
  *result = HandleOf(graph->Add(std::move(params), std::move(nodes)));
  return hipSuccess;
}

}  // namespace wavesmith::hip
