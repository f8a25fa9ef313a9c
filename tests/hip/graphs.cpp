// Graphs: built node by node with dependencies, run several times; captured from a stream.
#include "check.h"

__global__ void scale(int* p, int n, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= factor;
}
__global__ void add(int* p, int n, int value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += value;
}
static int host_calls = 0;

static void Built() {
  int n = 200, factor = 3, value = 4;
  int* p;
  OK(hipMalloc(&p, n * sizeof(int)));
  std::vector<int> in(n, 5), out(n);
  hipGraph_t graph;
  hipGraphNode_t upload, scaled, added, download, called;
  OK(hipGraphCreate(&graph, 0));
  OK(hipGraphAddMemcpyNode1D(&upload, graph, nullptr, 0, p, in.data(), n * sizeof(int), hipMemcpyHostToDevice));
  void* of_scale[] = {&p, &n, &factor};
  hipKernelNodeParams k{};
  k.func = reinterpret_cast<void*>(scale);
  k.gridDim = dim3(4);
  k.blockDim = dim3(64);
  k.kernelParams = of_scale;
  OK(hipGraphAddKernelNode(&scaled, graph, &upload, 1, &k));
  void* of_add[] = {&p, &n, &value};
  k.func = reinterpret_cast<void*>(add);
  k.kernelParams = of_add;
  OK(hipGraphAddKernelNode(&added, graph, nullptr, 0, &k));
  OK(hipGraphAddDependencies(graph, &scaled, &added, 1));
  hipHostNodeParams host{};
  host.fn = [](void* data) { ++*static_cast<int*>(data); };
  host.userData = &host_calls;
  OK(hipGraphAddHostNode(&called, graph, &added, 1, &host));
  OK(hipGraphAddMemcpyNode1D(&download, graph, &called, 1, out.data(), p, n * sizeof(int), hipMemcpyDeviceToHost));
  size_t count = 0;
  OK(hipGraphGetNodes(graph, nullptr, &count));
  CHECK(count == 5);
  OK(hipGraphGetRootNodes(graph, nullptr, &count));
  CHECK(count == 1);
  hipGraphExec_t run;
  OK(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  // The instance is independent of the graph and of the arguments.
  factor = 100;
  OK(hipGraphDestroy(graph));
  hipStream_t s;
  OK(hipStreamCreate(&s));
  for (int round = 0; round < 3; round++) {
    in.assign(n, round);
    OK(hipGraphLaunch(run, s));
    OK(hipStreamSynchronize(s));
    for (const int x : out) CHECK(x == round * 3 + 4);
  }
  CHECK(host_calls == 3);
  OK(hipGraphExecDestroy(run));
  CHECK(hipGraphLaunch(run, s) != hipSuccess);
  OK(hipStreamDestroy(s));
}

static void Captured() {
  const int n = 200;
  int* p = Upload(std::vector<int>(n, 1));
  hipStream_t s, t;
  OK(hipStreamCreate(&s));
  OK(hipStreamCreate(&t));
  hipEvent_t fork, join;
  OK(hipEventCreate(&fork));
  OK(hipEventCreate(&join));
  OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(s, &status));
  CHECK(status == hipStreamCaptureStatusActive);
  scale<<<4, 64, 0, s>>>(p, n, 2);
  OK(hipEventRecord(fork, s));
  OK(hipStreamWaitEvent(t, fork, 0));
  add<<<4, 64, 0, t>>>(p, n, 5);
  OK(hipEventRecord(join, t));
  OK(hipStreamWaitEvent(s, join, 0));
  OK(hipMemsetAsync(p, 0, 4 * sizeof(int), s));
  hipGraph_t graph;
  OK(hipStreamEndCapture(s, &graph));
  OK(hipStreamIsCapturing(s, &status));
  CHECK(status == hipStreamCaptureStatusNone);
  // Nothing ran while it was captured.
  CHECK(Download(p, n)[7] == 1);
  hipGraphExec_t run;
  OK(hipGraphInstantiate(&run, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(run, s));
  OK(hipGraphLaunch(run, s));
  OK(hipStreamSynchronize(s));
  const auto values = Download(p, n);
  CHECK(values[3] == 0 && values[4] == (1 * 2 + 5) * 2 + 5);
  OK(hipGraphExecDestroy(run));
  OK(hipGraphDestroy(graph));
}

// What an executable's fill may become: one row of any length, several rows in the shape that they had.
static void Fills() {
  int *p, *out;
  size_t pitch;
  OK(hipMallocPitch(reinterpret_cast<void**>(&p), &pitch, 4 * sizeof(int), 2));
  OK(hipMalloc(&out, 8 * sizeof(int)));
  OK(hipMemset(out, 0, 8 * sizeof(int)));
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  hipMemsetParams rows{};
  rows.dst = p;
  rows.elementSize = sizeof(int);
  rows.width = 1;
  rows.height = 2;
  rows.pitch = pitch;
  hipMemsetParams row = rows;
  row.height = 1;
  hipGraphNode_t two, one;
  OK(hipGraphAddMemsetNode(&two, graph, nullptr, 0, &rows));
  OK(hipGraphAddMemsetNode(&one, graph, nullptr, 0, &row));
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  rows.width = 2;
  GIVES(hipErrorInvalidValue, hipGraphExecMemsetNodeSetParams(exec, two, &rows));
  row.dst = out;
  row.width = 3;
  row.value = 9;
  OK(hipGraphExecMemsetNodeSetParams(exec, one, &row));
  OK(hipGraphLaunch(exec, nullptr));
  const auto filled = Download(out, 4);
  CHECK(filled[0] == 9 && filled[2] == 9 && filled[3] == 0);
  // From HIP 7 on an update keeps the shape, too.
  int version;
  OK(hipRuntimeGetVersion(&version));
  hipGraph_t other;
  OK(hipGraphClone(&other, graph));
  hipGraphNode_t differs;
  OK(hipGraphNodeFindInClone(&differs, two, other));
  OK(hipGraphMemsetNodeSetParams(differs, &rows));
  hipGraphExecUpdateResult result;
  if (version < 70'000'000) {
    OK(hipGraphExecUpdate(exec, other, &differs, &result));
  } else {
    GIVES(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(exec, other, &differs, &result));
    CHECK(result == hipGraphExecUpdateErrorParametersChanged);
  }
  OK(hipGraphDestroy(other));
  OK(hipGraphExecDestroy(exec));
  OK(hipGraphDestroy(graph));
}

int main() {
  Built();
  Captured();
  Fills();
  return Ok();
}
