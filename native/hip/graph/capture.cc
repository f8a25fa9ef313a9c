// Stream capture: what is put into a capturing stream becomes nodes of a graph. Events carry the capture into other streams.
// Source: HIP API documentation, "Graph management", hipStreamBeginCapture.
#include <algorithm>
#include <map>
#include <thread>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

using Handles = std::vector<hipGraphNode_t>;

// A place in a capture: the graph and the nodes that what comes next depends on.
struct Place {
  hipGraph_t graph = nullptr;
  Handles last;
};
struct Origin {
  hipStream_t stream;
  unsigned long long id;
  hipStreamCaptureMode mode;
  std::thread::id thread;
  // The program's own graph, which outlives the capture.
  bool is_given;
};

std::mutex mutex;
std::atomic<int> captures{0};
// Never destroyed: work that a stream still has ends after the destructors of a program's and of this library's objects.
auto& streams = *new std::map<hipStream_t, Place>;
auto& events = *new std::map<hipEvent_t, Place>;
auto& origins = *new std::map<hipGraph_t, Origin>;
auto& invalidated = *new std::set<hipGraph_t>;
unsigned long long next_id = 1;
thread_local hipStreamCaptureMode thread_mode = hipStreamCaptureModeGlobal;

void Join(Handles& into, const Handles& from) {
  for (const hipGraphNode_t node : from) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

// Whether one of `to` depends on `node`, or is it.
bool Reaches(hipGraphNode_t node, const Handles& to) {
  const auto lock = GraphLock();
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

bool IsLegacy(hipStream_t stream) { return stream == nullptr || stream == reinterpret_cast<hipStream_t>(1); }

}  // namespace

bool IsCapturing(hipStream_t stream) {
  if (captures.load() == 0) return false;
  const std::lock_guard lock(mutex);
  return streams.contains(stream);
}

bool IsCapturedEvent(hipEvent_t event) {
  if (captures.load() == 0) return false;
  const std::lock_guard lock(mutex);
  return events.contains(event);
}
void ForgetCapturedEvent(hipEvent_t event) {
  if (captures.load() == 0) return;
  const std::lock_guard lock(mutex);
  events.erase(event);
}

void DropCapture(hipStream_t stream) {
  if (captures.load() == 0) return;
  hipGraph_t dropped = nullptr;
  {
    const std::lock_guard lock(mutex);
    const auto found = streams.find(stream);
    if (found == streams.end()) return;
    const hipGraph_t graph = found->second.graph;
    if (origins.at(graph).stream != stream) {
      streams.erase(found);
      return;
    }
    if (!origins.at(graph).is_given) dropped = graph;
    std::erase_if(streams, [&](const auto& entry) { return entry.second.graph == graph; });
    std::erase_if(events, [&](const auto& entry) { return entry.second.graph == graph; });
    origins.erase(graph);
    invalidated.erase(graph);
    captures--;
  }
  if (dropped != nullptr) (void)hipGraphDestroy(dropped);
}

hipError_t CheckImplicit(hipStream_t stream) {
  if (captures.load() == 0 || !IsLegacy(stream)) return hipSuccess;
  const std::lock_guard lock(mutex);
  for (const auto& [graph, origin] : origins) {
    hipError_t error;
    const Stream* const capturing = FindStream(origin.stream, &error);
    if (capturing != nullptr && (capturing->flags() & hipStreamNonBlocking) == 0) return hipErrorStreamCaptureImplicit;
  }
  return hipSuccess;
}

hipError_t CheckUnsafe() {
  if (captures.load() == 0 || thread_mode == hipStreamCaptureModeRelaxed) return hipSuccess;
  const std::lock_guard lock(mutex);
  bool forbidden = false;
  for (const auto& [graph, origin] : origins) {
    const bool own = origin.thread == std::this_thread::get_id();
    const bool counts = origin.mode == hipStreamCaptureModeGlobal
                            ? thread_mode == hipStreamCaptureModeGlobal || own
                            : origin.mode == hipStreamCaptureModeThreadLocal && own;
    if (!counts) continue;
    forbidden = true;
    invalidated.insert(graph);
  }
  return forbidden ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t CaptureNode(hipStream_t stream, NodeParams params) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  if (found == streams.end() || invalidated.contains(found->second.graph)) return hipErrorStreamCaptureInvalidated;
  hipGraphNode_t node;
  Handles& last = found->second.last;
  const hipError_t error = AddNode(&node, found->second.graph, last.data(), last.size(), std::move(params));
  if (error == hipSuccess) last = {node};
  return error;
}

hipError_t CaptureRecord(hipEvent_t event, hipStream_t stream) {
  const std::lock_guard lock(mutex);
  events[event] = streams.at(stream);
  return hipSuccess;
}

bool CaptureWait(hipStream_t stream, hipEvent_t event) {
  if (captures.load() == 0) return false;
  const std::lock_guard lock(mutex);
  const auto found = events.find(event);
  if (found == events.end()) return false;
  Place& place = streams[stream];
  place.graph = found->second.graph;
  Join(place.last, found->second.last);
  return true;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipStreamBeginCaptureToGraph(hipStream_t stream, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                        const void*, size_t count, hipStreamCaptureMode mode) {
  hipError_t error;
  if (static_cast<unsigned>(mode) > hipStreamCaptureModeRelaxed) return Done(hipErrorInvalidValue);
  // The legacy default stream cannot be captured.
  if (IsLegacy(stream)) return Done(hipErrorStreamCaptureUnsupported);
  if (FindStream(stream, &error) == nullptr) return Done(error);
  if (IsCapturing(stream)) return Done(hipErrorIllegalState);
  const auto graph_lock = GraphLock();
  if (FindGraph(graph) == nullptr || (count != 0 && dependencies == nullptr)) return Done(hipErrorInvalidValue);
  Handles last;
  for (size_t n = 0; n < count; n++) {
    const Node* const node = FindNode(dependencies[n]);
    if (node == nullptr || node->graph != FindGraph(graph)) return Done(hipErrorInvalidValue);
    last.push_back(dependencies[n]);
  }
  const std::lock_guard lock(mutex);
  if (origins.contains(graph)) return Done(hipErrorIllegalState);
  streams[stream] = {graph, std::move(last)};
  origins[graph] = {stream, next_id++, mode, std::this_thread::get_id(), true};
  captures++;
  return Done(hipSuccess);
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  hipGraph_t graph;
  hipError_t error = hipGraphCreate(&graph, 0);
  if (error != hipSuccess) return Done(error);
  error = hipStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode);
  if (error != hipSuccess) {
    (void)hipGraphDestroy(graph);
    return Done(error);
  }
  const std::lock_guard lock(mutex);
  origins.at(graph).is_given = false;
  return Done(hipSuccess);
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  hipError_t error;
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  if (IsLegacy(stream)) return Done(hipErrorIllegalState);
  if (FindStream(stream, &error) == nullptr) return Done(error);
  const auto graph_lock = GraphLock();
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  if (found == streams.end()) return Done(hipErrorIllegalState);
  const hipGraph_t made = found->second.graph;
  const Origin origin = origins.at(made);
  if (origin.stream != stream) return Done(hipErrorStreamCaptureUnmatched);
  if (origin.mode != hipStreamCaptureModeRelaxed && origin.thread != std::this_thread::get_id()) {
    return Done(hipErrorStreamCaptureWrongThread);
  }
  // What other streams did must have come back to this one.
  bool joined = true;
  for (const auto& [other, place] : streams) {
    if (place.graph != made || other == stream) continue;
    for (const hipGraphNode_t node : place.last) joined = joined && Reaches(node, found->second.last);
  }
  std::erase_if(streams, [&](const auto& entry) { return entry.second.graph == made; });
  std::erase_if(events, [&](const auto& entry) { return entry.second.graph == made; });
  origins.erase(made);
  captures--;
  const bool valid = invalidated.erase(made) == 0;
  if (joined && valid) {
    *graph = made;
    return Done(hipSuccess);
  }
  *graph = nullptr;
  if (!origin.is_given) (void)hipGraphDestroy(made);
  return Done(valid ? hipErrorStreamCaptureUnjoined : hipErrorStreamCaptureInvalidated);
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  hipError_t error;
  if (status == nullptr) return Done(hipErrorInvalidValue);
  error = CheckImplicit(stream);
  if (error != hipSuccess) return Done(error);
  if (FindStream(stream, &error) == nullptr) return Done(error);
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  *status = found == streams.end()                      ? hipStreamCaptureStatusNone
            : invalidated.contains(found->second.graph) ? hipStreamCaptureStatusInvalidated
                                                        : hipStreamCaptureStatusActive;
  if (*status != hipStreamCaptureStatusActive) return Done(hipSuccess);
  if (id != nullptr) *id = origins.at(found->second.graph).id;
  if (graph != nullptr) *graph = found->second.graph;
  // They stay where they are until the stream's next call.
  if (dependencies != nullptr) *dependencies = found->second.last.data();
  if (count != nullptr) *count = found->second.last.size();
  return Done(hipSuccess);
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return hipStreamGetCaptureInfo_v2(stream, status, nullptr, nullptr, nullptr, nullptr);
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* dependencies, size_t count,
                                              unsigned flags) {
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(error);
  const auto graph_lock = GraphLock();
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  if (found == streams.end()) return Done(hipErrorIllegalState);
  if ((count != 0 && dependencies == nullptr) || flags > 1) return Done(hipErrorInvalidValue);
  Handles given;
  for (size_t n = 0; n < count; n++) {
    const Node* const node = FindNode(dependencies[n]);
    if (node == nullptr || node->graph != FindGraph(found->second.graph)) return Done(hipErrorInvalidValue);
    given.push_back(dependencies[n]);
  }
  if (flags == hipStreamSetCaptureDependencies) {
    found->second.last = std::move(given);
  } else {
    Join(found->second.last, given);
  }
  return Done(hipSuccess);
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  if (mode == nullptr || static_cast<unsigned>(*mode) > hipStreamCaptureModeRelaxed) return Done(hipErrorInvalidValue);
  std::swap(*mode, thread_mode);
  return Done(hipSuccess);
}

}  // extern "C"
