// The API of graphs as such: creation, edges, questions, clones, user objects. Source: HIP API documentation, "Graph management".
#include <algorithm>
#include <cstdio>

#include "hip/graph/model.h"

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

namespace wavesmith::hip {
namespace {

// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& user_objects = *new std::set<UserObject*>;
// Graphs that the program created; clones inside executables and child nodes belong to those.
auto& owned = *new std::map<Graph*, std::shared_ptr<Graph>>;

// Fills what the caller has room for. With room the count becomes what was given, without it how many there are.
hipError_t Give(const std::vector<Node*>& nodes, hipGraphNode_t* out, size_t* count) {
  if (count == nullptr) return hipErrorInvalidValue;
  if (out == nullptr) {
    *count = nodes.size();
    return hipSuccess;
  }
  for (size_t n = 0; n < *count; n++) out[n] = n < nodes.size() ? HandleOf(nodes[n]) : nullptr;
  *count = std::min(*count, nodes.size());
  return hipSuccess;
}

const char* NameOf(NodeType type) {
  constexpr const char* kNames[] = {"KERNEL", "MEMCPY", "MEMSET",     "HOST",
                                    "GRAPH",  "EMPTY",  "WAIT_EVENT", "EVENT_RECORD"};
  const auto at = static_cast<size_t>(type);
  return at < std::size(kNames) ? kNames[at] : type == NodeType::kMemAlloc ? "MEM_ALLOC" : "MEM_FREE";
}

void PrintGraph(std::FILE* file, const Graph& graph, int depth) {
  std::fprintf(file, "subgraph cluster_%d_%p {\nlabel=\"graph_%p\" graph[style=\"dashed\"];\n", depth,
               static_cast<const void*>(&graph), static_cast<const void*>(&graph));
  for (const auto& node : graph.nodes) {
    std::string text = NameOf(TypeOf(node->params));
    if (const auto* const kernel = std::get_if<KernelNode>(&node->params))
      text += "\\n" + kernel->request.function->name;
    std::fprintf(file, "\"node_%p\"[style=\"bold\" shape=\"rectangle\" label=\"%u\\n%s\"];\n",
                 static_cast<const void*>(node.get()), node->id, text.c_str());
    for (const Node* const d : node->dependencies) {
      std::fprintf(file, "\"node_%p\" -> \"node_%p\";\n", static_cast<const void*>(d),
                   static_cast<const void*>(node.get()));
    }
    if (const auto* const child = std::get_if<ChildNode>(&node->params)) PrintGraph(file, *child->graph, depth + 1);
  }
  std::fputs("}\n", file);
}

}  // namespace

void ReleaseUserObject(UserObject* object, unsigned count) {
  // A program may have released more than it had.
  if (!user_objects.contains(object)) return;
  object->count -= std::min(object->count, count);
  if (object->count != 0) return;
  user_objects.erase(object);
  object->destroy(object->data);
  delete object;
}

}  // namespace wavesmith::hip

extern "C" {

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return Done(hipErrorInvalidValue);
  const auto lock = GraphLock();
  auto made = std::make_shared<Graph>();
  RegisterGraph(made.get());
  *graph = HandleOf(made.get());
  owned[made.get()] = std::move(made);
  return Done(hipSuccess);
}
hipError_t hipGraphDestroy(hipGraph_t handle) {
  const auto lock = GraphLock();
  const auto found = owned.find(FindGraph(handle));
  if (found == owned.end()) return Done(hipErrorInvalidValue);
  owned.erase(found);
  return Done(hipSuccess);
}

hipError_t hipGraphAddDependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                   size_t count) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  if (count == 0) return Done(hipSuccess);
  if (from == nullptr || to == nullptr) return Done(hipErrorInvalidValue);
  for (size_t n = 0; n < count; n++) {
    const Node* const a = FindNode(from[n]);
    const Node* const b = FindNode(to[n]);
    if (a == nullptr || b == nullptr || a == b || a->graph != graph || b->graph != graph) {
      return Done(hipErrorInvalidValue);
    }
    if (std::find(b->dependencies.begin(), b->dependencies.end(), a) != b->dependencies.end()) {
      return Done(hipErrorInvalidValue);
    }
  }
  for (size_t n = 0; n < count; n++) FindNode(to[n])->dependencies.push_back(FindNode(from[n]));
  return Done(hipSuccess);
}
hipError_t hipGraphRemoveDependencies(hipGraph_t handle, const hipGraphNode_t* from, const hipGraphNode_t* to,
                                      size_t count) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  if (count == 0) return Done(hipSuccess);
  if (from == nullptr || to == nullptr) return Done(hipErrorInvalidValue);
  if (graph->Allocates()) return Done(hipErrorNotSupported);
  for (size_t n = 0; n < count; n++) {
    const Node* const a = FindNode(from[n]);
    const Node* const b = FindNode(to[n]);
    if (a == nullptr || b == nullptr || a->graph != graph || b->graph != graph ||
        std::find(b->dependencies.begin(), b->dependencies.end(), a) == b->dependencies.end()) {
      return Done(hipErrorInvalidValue);
    }
  }
  for (size_t n = 0; n < count; n++) std::erase(FindNode(to[n])->dependencies, FindNode(from[n]));
  return Done(hipSuccess);
}

hipError_t hipGraphGetEdges(hipGraph_t handle, hipGraphNode_t* from, hipGraphNode_t* to, size_t* count) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) return Done(hipErrorInvalidValue);
  std::vector<Node*> froms;
  std::vector<Node*> tos;
  for (const auto& node : graph->nodes) {
    for (Node* const dependency : node->dependencies) {
      froms.push_back(dependency);
      tos.push_back(node.get());
    }
  }
  size_t room = *count;
  const hipError_t error = Give(froms, from, count);
  return Done(error == hipSuccess && to != nullptr ? Give(tos, to, &room) : error);
}
hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  // As they may run: dependencies first.
  std::vector<Node*> all = OrderOf(*graph);
  if (all.size() != graph->nodes.size()) {
    for (const auto& node : graph->nodes) all.push_back(node.get());
  }
  return Done(Give(all, nodes, count));
}
hipError_t hipGraphGetRootNodes(hipGraph_t handle, hipGraphNode_t* nodes, size_t* count) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  std::vector<Node*> roots;
  for (const auto& node : graph->nodes) {
    if (node->dependencies.empty()) roots.push_back(node.get());
  }
  return Done(Give(roots, nodes, count));
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t handle, hipGraphNode_t* nodes, size_t* count) {
  const auto lock = GraphLock();
  const Node* const node = FindNode(handle);
  return Done(node == nullptr ? hipErrorInvalidValue : Give(node->dependencies, nodes, count));
}
hipError_t hipGraphNodeGetDependentNodes(hipGraphNode_t handle, hipGraphNode_t* nodes, size_t* count) {
  const auto lock = GraphLock();
  const Node* const node = FindNode(handle);
  if (node == nullptr) return Done(hipErrorInvalidValue);
  std::vector<Node*> dependents;
  for (const auto& other : node->graph->nodes) {
    if (std::find(other->dependencies.begin(), other->dependencies.end(), node) != other->dependencies.end()) {
      dependents.push_back(other.get());
    }
  }
  return Done(Give(dependents, nodes, count));
}
hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType* type) {
  const auto lock = GraphLock();
  const Node* const node = FindNode(handle);
  if (node == nullptr || type == nullptr) return Done(hipErrorInvalidValue);
  *type = static_cast<hipGraphNodeType>(static_cast<int>(TypeOf(node->params)) + (HipMajor() == 5 ? 1 : 0));
  return Done(hipSuccess);
}
hipError_t hipGraphDestroyNode(hipGraphNode_t handle) {
  const auto lock = GraphLock();
  Node* const node = FindNode(handle);
  if (node == nullptr) return Done(hipErrorInvalidValue);
  if (node->graph->Allocates()) return Done(hipErrorNotSupported);
  Graph* const graph = node->graph;
  for (const auto& other : graph->nodes) std::erase(other->dependencies, node);
  ForgetNode(node);
  std::erase_if(graph->nodes, [&](const auto& n) { return n.get() == node; });
  return Done(hipSuccess);
}

hipError_t hipGraphClone(hipGraph_t* result, hipGraph_t handle) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr || result == nullptr) return Done(hipErrorInvalidValue);
  if (graph->Allocates()) return Done(hipErrorNotSupported);
  std::map<const Node*, Node*> copies;
  std::shared_ptr<Graph> clone = CloneGraph(*graph, &copies);
  clone->original = graph;
  clone->copies = std::move(copies);
  for (const auto& [object, count] : graph->objects) {
    clone->objects[object] = count;
    object->count += count;
  }
  *result = HandleOf(clone.get());
  owned[clone.get()] = std::move(clone);
  return Done(hipSuccess);
}
hipError_t hipGraphNodeFindInClone(hipGraphNode_t* result, hipGraphNode_t original, hipGraph_t handle) {
  const auto lock = GraphLock();
  const Graph* const clone = FindGraph(handle);
  const Node* const node = FindNode(original);
  if (result == nullptr || clone == nullptr || node == nullptr) return Done(hipErrorInvalidValue);
  const auto found = clone->copies.find(node);
  if (found == clone->copies.end() || FindNode(HandleOf(found->second)) == nullptr) return Done(hipErrorInvalidValue);
  *result = HandleOf(found->second);
  return Done(hipSuccess);
}

hipError_t hipGraphDebugDotPrint(hipGraph_t handle, const char* path, unsigned) {
  const auto lock = GraphLock();
  const Graph* const graph = FindGraph(handle);
  if (graph == nullptr || path == nullptr) return Done(hipErrorInvalidValue);
  std::FILE* const file = std::fopen(path, "w");
  if (file == nullptr) return Done(hipErrorOperatingSystem);
  std::fputs("digraph dot {\n", file);
  PrintGraph(file, *graph, 0);
  std::fputs("}\n", file);
  return Done(std::fclose(file) == 0 ? hipSuccess : hipErrorOperatingSystem);
}

// User objects -----------------------------------------------------------------------------------------------------------------------------------

hipError_t hipUserObjectCreate(UserObject** result, void* data, hipHostFn_t destroy, unsigned count, unsigned flags) {
  constexpr unsigned kNoDestructorSync = 1;
  if (result == nullptr || destroy == nullptr || count == 0 || count > INT32_MAX || flags != kNoDestructorSync) {
    return Done(hipErrorInvalidValue);
  }
  const auto lock = GraphLock();
  *result = new UserObject{data, destroy, count};
  user_objects.insert(*result);
  return Done(hipSuccess);
}
hipError_t hipUserObjectRelease(UserObject* object, unsigned count) {
  const auto lock = GraphLock();
  if (object == nullptr || count == 0 || count > INT32_MAX) return Done(hipErrorInvalidValue);
  // One that is gone, or has fewer references: nothing is left to release.
  if (!user_objects.contains(object) || object->count < count) return Done(hipSuccess);
  ReleaseUserObject(object, count);
  return Done(hipSuccess);
}
hipError_t hipUserObjectRetain(UserObject* object, unsigned count) {
  const auto lock = GraphLock();
  if (object == nullptr || count == 0 || count > INT32_MAX) return Done(hipErrorInvalidValue);
  if (user_objects.contains(object)) object->count += count;
  return Done(hipSuccess);
}
hipError_t hipGraphRetainUserObject(hipGraph_t handle, UserObject* object, unsigned count, unsigned flags) {
  constexpr unsigned kMove = 1;
  const auto lock = GraphLock();
  Graph* const graph = FindGraph(handle);
  if (graph == nullptr || object == nullptr || count == 0 || count > INT32_MAX || flags > kMove) {
    return Done(hipErrorInvalidValue);
  }
  if (!user_objects.contains(object)) return Done(hipSuccess);
  graph->objects[object] += count;
  if (flags != kMove) object->count += count;
  return Done(hipSuccess);
}
hipError_t hipGraphReleaseUserObject(hipGraph_t handle, UserObject* object, unsigned count) {
  const auto lock = GraphLock();
  Graph* const graph = FindGraph(handle);
  if (graph == nullptr || object == nullptr || count == 0 || count > INT32_MAX) return Done(hipErrorInvalidValue);
  const auto found = graph->objects.find(object);
  if (found == graph->objects.end() || found->second < count) return Done(hipSuccess);
  found->second -= count;
  if (found->second == 0) graph->objects.erase(found);
  ReleaseUserObject(object, count);
  return Done(hipSuccess);
}

}  // extern "C"
