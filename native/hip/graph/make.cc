// Nodes from what a caller gives: every parameter is checked and copied. Source: HIP API documentation, "Graph management".
#include <cstring>

#include "hip/graph/model.h"

namespace wavesmith::hip {

hipError_t MakeKernelNode(const hipKernelNodeParams* p, KernelNode* node) {
  if (p == nullptr) return hipErrorInvalidValue;
  if (p->func == nullptr) return hipErrorInvalidDeviceFunction;
  // A handle of a module's function, or a host function of the program.
  auto* function = static_cast<Function*>(p->func);
  if (!IsFunction(function)) {
    hipError_t error;
    function = FunctionOf(p->func, &error);
    if (function == nullptr) return error;
  }
  if ((p->kernelParams == nullptr) == (p->extra == nullptr) && function->info.HasExplicit())
    return hipErrorInvalidValue;
  LaunchRequest request{function,          {},      {p->blockDim.x, p->blockDim.y, p->blockDim.z},
                        p->sharedMemBytes, nullptr, p->kernelParams,
                        p->extra};
  const dim3& g = p->gridDim;
  const uint32_t groups[3] = {g.x, g.y, g.z};
  for (size_t d = 0; d < 3; d++) {
    if (!Size(size_t{groups[d]} * request.block[d]).Within(UINT32_MAX)) return hipErrorInvalidConfiguration;
    request.grid[d] = groups[d] * request.block[d];
  }
  KernelNode made;
  const hipError_t error = KeepArguments(request, &made.bytes);
  if (error != hipSuccess) return error;
  made.request = request;
  made.shown = *p;
  made.attributes = node->attributes;
  made.Bind();
  *node = made;
  return hipSuccess;
}

hipError_t CaptureLaunch(const LaunchRequest& r) {
  KernelNode made;
  const hipError_t error = KeepArguments(r, &made.bytes);
  if (error != hipSuccess) return error;
  made.request = r;
  made.shown.func = r.function;
  const auto groups = [&](size_t d) { return r.grid[d] / r.block[d]; };
  made.shown.gridDim = dim3(groups(0), groups(1), groups(2));
  made.shown.blockDim = dim3(r.block[0], r.block[1], r.block[2]);
  made.shown.sharedMemBytes = r.dynamic_shared;
  made.Bind();
  return CaptureNode(r.stream, std::move(made));
}

hipError_t MakeMemcpyNode1D(void* to, const void* from, size_t size, hipMemcpyKind kind, MemcpyNode* node) {
  if (to == nullptr || from == nullptr || to == from || size == 0) return hipErrorInvalidValue;
  const hipError_t error = CheckDirection(to, from, kind);
  if (error != hipSuccess) return error;
  if (!Fits(to, size) || !Fits(from, size)) return hipErrorInvalidValue;
  MemoryInfo info;
  if (kind == hipMemcpyDeviceToDevice && (!FindMemory(to, &info) || !FindMemory(from, &info)))
    return hipErrorInvalidValue;
  *node = {MemcpyNode::Form::kRange, {}, to, from, size, kind};
  return hipSuccess;
}

namespace {

bool OnDevice(const void* pointer) {
  MemoryInfo info;
  return FindMemory(pointer, &info) && (info.kind == MemoryKind::kDevice || info.kind == MemoryKind::kVariable);
}
// What the caller said, or else what the pointers are.
hipMemcpyKind DirectionOf(const MemcpyNode& n) {
  const bool box = n.form == MemcpyNode::Form::kBox;
  const hipMemcpyKind kind = box ? n.box.kind : n.kind;
  if (kind != hipMemcpyDefault) return kind;
  const bool to = n.box.dstArray != nullptr || OnDevice(box ? n.box.dstPtr.ptr : n.to);
  const bool from = n.box.srcArray != nullptr || OnDevice(box ? n.box.srcPtr.ptr : n.from);
  return from ? (to ? hipMemcpyDeviceToDevice : hipMemcpyDeviceToHost)
              : (to ? hipMemcpyHostToDevice : hipMemcpyHostToHost);
}

}  // namespace

bool SameDirection(const MemcpyNode& a, const MemcpyNode& b) { return DirectionOf(a) == DirectionOf(b); }

hipError_t MakeMemcpyNode(const hipMemcpy3DParms* p, MemcpyNode* node) {
  const hipError_t error = CheckCopy3D(p);
  if (error != hipSuccess) return error;
  *node = {MemcpyNode::Form::kBox, *p};
  return hipSuccess;
}

hipError_t MakeMemsetNode(const hipMemsetParams* p, MemsetNode* node) {
  if (p == nullptr || p->dst == nullptr || p->width == 0 || p->height == 0) return hipErrorInvalidValue;
  if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) return hipErrorInvalidValue;
  const Size row = Size(p->width) * p->elementSize;
  if (!row.ok() || (p->height > 1 && !row.Within(p->pitch))) return hipErrorInvalidValue;
  MemoryInfo info;
  if (!FindMemory(p->dst, &info) || !Fits(p->dst, Size(p->pitch) * (p->height - 1) + row)) return hipErrorInvalidValue;
  node->params = *p;
  return hipSuccess;
}

}  // namespace wavesmith::hip
