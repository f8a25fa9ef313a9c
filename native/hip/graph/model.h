// Graphs inside the runtime. A graph owns its nodes; an executable owns a copy of a graph and knows which node became which.
// Everything here is guarded by GraphLock().
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "hip/graph/types.h"
#include "hip/runtime.h"

namespace wavesmith::hip {

struct Graph;

// A launch with its own copy of the arguments, which `shown` points into.
struct KernelNode {
  LaunchRequest request{};
  hipKernelNodeParams shown{};
  std::vector<uint8_t> bytes;
  std::vector<void*> pointers;
  std::map<int, LaunchAttributeValue> attributes;

  KernelNode() = default;
  KernelNode(const KernelNode& other) { *this = other; }
  KernelNode& operator=(const KernelNode& other);
  // Makes the pointers point into the bytes.
  void Bind();
};
struct MemcpyNode {
  // How it was made: a box, a range, or a range of a symbol's memory.
  enum class Form { kBox, kRange, kToSymbol, kFromSymbol };
  Form form = Form::kBox;
  hipMemcpy3DParms box{};
  void* to = nullptr;
  const void* from = nullptr;
  size_t size = 0;
  hipMemcpyKind kind = hipMemcpyDefault;
};
struct MemsetNode {
  hipMemsetParams params{};
};
// A fill of several rows in an executable keeps its shape.
inline bool IsOtherShape(const hipMemsetParams& old, const hipMemsetParams& now) {
  return now.height != 1 && (now.height != old.height || now.width * now.elementSize != old.width * old.elementSize);
}
struct HostNode {
  hipHostNodeParams params{};
};
struct ChildNode {
  std::shared_ptr<Graph> graph;
};
struct EmptyNode {};
struct EventRecordNode {
  hipEvent_t event = nullptr;
};
struct EventWaitNode {
  hipEvent_t event = nullptr;
};
// Memory that a graph allocates: at one address for the life of its node.
struct GraphMemory {
  void* pointer = nullptr;
  size_t size = 0;
  GraphMemory() = default;
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;
  ~GraphMemory();
};
struct AllocNode {
  std::shared_ptr<GraphMemory> memory;
  MemAllocNodeParams params{};
};
struct FreeNode {
  void* pointer = nullptr;
};
// One operation of hipStreamBatchMemOp (hipStreamBatchMemOpParams): a wait for, or a write of, a value.
struct BatchOperation {
  int operation;
  int pad;
  void* address;
  uint64_t value;
  unsigned flags;
  unsigned reserved;
  void* alias;
  uint64_t unused;
};
static_assert(sizeof(BatchOperation) == 48);
struct BatchNode {
  std::vector<BatchOperation> operations;
  hipCtx_t context = nullptr;
  unsigned flags = 0;
};
hipError_t RunBatch(const std::vector<BatchOperation>& operations, hipStream_t stream);
// hipExternalSemaphoreSignalNodeParams and …WaitNodeParams.
struct SemaphoreParams {
  const hipExternalSemaphore_t* semaphores;
  const void* params;
  unsigned count;
};
struct SemaphoreNode {
  SemaphoreParams params{};
  bool waits = false;
};
hipError_t RunSemaphores(const SemaphoreNode& node, hipStream_t stream);
// Work of a captured stream that no kind of node describes.
struct WorkNode {
  std::function<hipError_t(hipStream_t)> run;
};
using NodeParams = std::variant<EmptyNode, KernelNode, MemcpyNode, MemsetNode, HostNode, ChildNode, EventRecordNode,
                                EventWaitNode, AllocNode, FreeNode, BatchNode, SemaphoreNode, WorkNode>;

struct Node {
  Graph* graph = nullptr;
  std::vector<Node*> dependencies;
  NodeParams params;
  bool enabled = true;
  unsigned id = 0;
};

// A resource of the program that lives as long as something counts it.
struct UserObject {
  void* data;
  hipHostFn_t destroy;
  unsigned count;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  std::map<UserObject*, unsigned> objects;
  // The graph a clone was made of, and what its nodes became.
  const Graph* original = nullptr;
  std::map<const Node*, Node*> copies;
  unsigned next_id = 0;
  // A graph that allocates memory can have one executable at a time.
  bool instantiated = false;

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();
  Node* Add(NodeParams params, std::vector<Node*> dependencies);
  bool Allocates() const;
};

struct Executable {
  std::shared_ptr<Graph> graph;
  // The graph it was made of, while that lives.
  const Graph* source = nullptr;
  std::map<const Node*, Node*> copies;
  std::vector<Node*> order;
  unsigned long long flags = 0;
};

std::unique_lock<std::recursive_mutex> GraphLock();
void RegisterGraph(Graph* graph);
// The handle is none any more.
void ForgetNode(Node* node);
void ReleaseUserObject(UserObject* object, unsigned count);
// nullptr for a handle that is none.
Graph* FindGraph(hipGraph_t handle);
Node* FindNode(hipGraphNode_t handle);
Executable* FindExecutable(hipGraphExec_t handle);
inline hipGraphNode_t HandleOf(Node* node) { return reinterpret_cast<hipGraphNode_t>(node); }
inline hipGraph_t HandleOf(Graph* graph) { return reinterpret_cast<hipGraph_t>(graph); }

// A copy with the same edges; `copies` gets what each node became, those of child graphs too.
std::shared_ptr<Graph> CloneGraph(const Graph& graph, std::map<const Node*, Node*>* copies);
// Nodes in an order that puts dependencies first; empty when they form a circle.
std::vector<Node*> OrderOf(const Graph& graph);
NodeType TypeOf(const NodeParams& params);
// Puts a node's work into a stream.
hipError_t RunNode(const Node& node, hipStream_t stream);

// What a caller's parameters mean; an error leaves `node` as it was.
hipError_t MakeKernelNode(const hipKernelNodeParams* params, KernelNode* node);
hipError_t MakeMemcpyNode(const hipMemcpy3DParms* params, MemcpyNode* node);
hipError_t MakeMemcpyNode1D(void* to, const void* from, size_t size, hipMemcpyKind kind, MemcpyNode* node);
// Whether two copies go between the same sides: another direction is another kind of copy, which an executable does not take.
bool SameDirection(const MemcpyNode& a, const MemcpyNode& b);
hipError_t MakeMemsetNode(const hipMemsetParams* params, MemsetNode* node);

// Whether two graphs have the same kinds of nodes in the same order.
bool SameShape(const Graph& a, const Graph& b);
// Work of the host in stream order. What HIP makes synchronous (`wait`) is done on return. In a capturing stream it becomes the node.
hipError_t InStream(hipStream_t stream, bool wait, std::function<void()> work, NodeParams node);
// A copy of a box, of arrays too (hipMemcpy3D).
hipError_t ToBox(const hip_Memcpy2D& p, hipMemcpy3DParms* box);
hipError_t CopyBox(const hipMemcpy3DParms* p, hipStream_t stream, bool wait);
// A capturing stream's next node.
hipError_t CaptureNode(hipStream_t stream, NodeParams params);
hipError_t AddAllocNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                        MemAllocNodeParams* params);
// The next node of a capturing stream allocates memory.
hipError_t CaptureAlloc(hipStream_t stream, int device, size_t size, void** pointer);
hipError_t AddFreeNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                       void* pointer);

// Adds a node for a call of the API.
hipError_t AddNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, size_t count,
                   NodeParams params);

// Graph memory: in use from the run of its alloc node until it is freed.
hipError_t UseGraphMemory(const std::shared_ptr<GraphMemory>& memory);
bool IsGraphMemoryInUse(void* pointer);
// So many bytes of all graphs are in use now: keeps the high-water marks.
void CountGraphMemory(size_t used);
// Bytes of all graphs.
size_t GraphMemoryInUse();

}  // namespace wavesmith::hip
