// Stream capture: what is put into a capturing stream becomes nodes of a graph. Events carry the capture into other streams.
// Source: HIP API documentation, "Graph management", hipStreamBeginCapture.
#include <algorithm>
#include <map>

#include "hip/runtime.h"

namespace wavesmith::hip {
namespace {

// HIP 5.2's header has these, but other versions name them differently.
constexpr auto kUnsupported = static_cast<hipError_t>(900);
constexpr auto kInvalidated = static_cast<hipError_t>(901);
constexpr auto kUnjoined = static_cast<hipError_t>(904);
constexpr auto kNotCapturing = static_cast<hipError_t>(903);

using Nodes = std::vector<hipGraphNode_t>;

// A place in a capture: the graph and the nodes that what comes next depends on.
struct Place {
  hipGraph_t graph = nullptr;
  Nodes last;
};
struct Origin {
  hipStream_t stream;
  unsigned long long id;
};

std::mutex mutex;
std::atomic<int> captures{0};
std::map<hipStream_t, Place> streams;
std::map<hipEvent_t, Place> events;
std::map<hipGraph_t, Origin> origins;
unsigned long long next_id = 1;

void Join(Nodes& into, const Nodes& from) {
  for (const hipGraphNode_t node : from) {
    if (std::find(into.begin(), into.end(), node) == into.end()) into.push_back(node);
  }
}

}  // namespace

bool IsCapturing(hipStream_t stream) {
  if (captures.load() == 0) return false;
  const std::lock_guard lock(mutex);
  return streams.contains(stream);
}

hipError_t Capture(hipStream_t stream, hipGraphNodeType type, GraphStep step) {
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  if (found == streams.end()) return kInvalidated;
  hipGraphNode_t node;
  Nodes& last = found->second.last;
  const hipError_t error = AddGraphNode(found->second.graph, &node, last.data(), last.size(), type, std::move(step));
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

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode) {
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(error);
  // The legacy default stream cannot be captured.
  if (stream == nullptr || IsCapturing(stream)) return Done(stream == nullptr ? kUnsupported : hipErrorIllegalState);
  hipGraph_t graph;
  error = hipGraphCreate(&graph, 0);
  if (error != hipSuccess) return error;
  const std::lock_guard lock(mutex);
  streams[stream] = {graph, {}};
  origins[graph] = {stream, next_id++};
  captures++;
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  if (graph == nullptr) return Done(hipErrorInvalidValue);
  const std::lock_guard lock(mutex);
  const auto found = streams.find(stream);
  if (found == streams.end() || origins.at(found->second.graph).stream != stream) return Done(kNotCapturing);
  const hipGraph_t made = found->second.graph;
  // What other streams did must have come back to this one.
  bool joined = true;
  for (const auto& [other, place] : streams) {
    if (place.graph != made || other == stream) continue;
    for (const hipGraphNode_t node : place.last) joined = joined && GraphReaches(made, node, found->second.last);
  }
  std::erase_if(streams, [&](const auto& entry) { return entry.second.graph == made; });
  std::erase_if(events, [&](const auto& entry) { return entry.second.graph == made; });
  origins.erase(made);
  captures--;
  if (!joined) {
    (void)hipGraphDestroy(made);
    *graph = nullptr;
    return Done(kUnjoined);
  }
  *graph = made;
  return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  if (status == nullptr) return Done(hipErrorInvalidValue);
  hipError_t error;
  if (FindStream(stream, &error) == nullptr) return Done(error);
  *status = IsCapturing(stream) ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  return hipSuccess;
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  const hipError_t error = hipStreamIsCapturing(stream, status);
  if (error != hipSuccess || id == nullptr || *status == hipStreamCaptureStatusNone) return error;
  const std::lock_guard lock(mutex);
  *id = origins.at(streams.at(stream).graph).id;
  return hipSuccess;
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  // Calls that other streams' captures would forbid are allowed in every mode.
  thread_local hipStreamCaptureMode current = hipStreamCaptureModeGlobal;
  if (mode == nullptr) return Done(hipErrorInvalidValue);
  std::swap(*mode, current);
  return hipSuccess;
}

}  // extern "C"
