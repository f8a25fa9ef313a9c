// The functions that programs compiled with -fgpu-default-stream=per-thread call: the default stream is the calling thread's.
// Source: hip_runtime_api.h, section "HIP_API_PER_THREAD_DEFAULT_STREAM".
#include "hip/runtime.h"

namespace {

hipStream_t OfThread(hipStream_t stream) { return stream == nullptr ? hipStreamPerThread : stream; }

// Asynchronous in the thread's stream, then waited for.
hipError_t Finish(hipError_t error) { return error == hipSuccess ? hipStreamSynchronize(hipStreamPerThread) : error; }

}  // namespace

extern "C" {

hipError_t hipMemcpy_spt(void* to, const void* from, size_t size, hipMemcpyKind kind) {
  return hipMemcpyWithStream(to, from, size, kind, hipStreamPerThread);
}
hipError_t hipMemcpyAsync_spt(void* to, const void* from, size_t size, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyAsync(to, from, size, kind, OfThread(stream));
}
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* from, size_t size, size_t offset, hipMemcpyKind kind) {
  return Finish(hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, hipStreamPerThread));
}
hipError_t hipMemcpyFromSymbol_spt(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind) {
  return Finish(hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, hipStreamPerThread));
}
hipError_t hipMemcpy2D_spt(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                           hipMemcpyKind kind) {
  return Finish(hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, hipStreamPerThread));
}
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* p) { return Finish(hipMemcpy3DAsync(p, hipStreamPerThread)); }
hipError_t hipMemset_spt(void* to, int value, size_t size) {
  return Finish(hipMemsetAsync(to, value, size, hipStreamPerThread));
}
hipError_t hipMemset2D_spt(void* to, size_t pitch, int value, size_t width, size_t height) {
  return Finish(hipMemset2DAsync(to, pitch, value, width, height, hipStreamPerThread));
}
hipError_t hipMemset3D_spt(hipPitchedPtr to, int value, hipExtent extent) {
  return Finish(hipMemset3DAsync(to, value, extent, hipStreamPerThread));
}

hipError_t hipMemcpy2DAsync_spt(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, OfThread(stream));
}
hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* p, hipStream_t stream) {
  return hipMemcpy3DAsync(p, OfThread(stream));
}
hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* from, size_t size, size_t offset,
                                      hipMemcpyKind kind, hipStream_t stream) {
  return hipMemcpyToSymbolAsync(symbol, from, size, offset, kind, OfThread(stream));
}
hipError_t hipMemcpyFromSymbolAsync_spt(void* to, const void* symbol, size_t size, size_t offset, hipMemcpyKind kind,
                                        hipStream_t stream) {
  return hipMemcpyFromSymbolAsync(to, symbol, size, offset, kind, OfThread(stream));
}
hipError_t hipMemsetAsync_spt(void* to, int value, size_t size, hipStream_t stream) {
  return hipMemsetAsync(to, value, size, OfThread(stream));
}
hipError_t hipMemset2DAsync_spt(void* to, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return hipMemset2DAsync(to, pitch, value, width, height, OfThread(stream));
}
hipError_t hipMemset3DAsync_spt(hipPitchedPtr to, int value, hipExtent extent, hipStream_t stream) {
  return hipMemset3DAsync(to, value, extent, OfThread(stream));
}
hipError_t hipStreamBeginCapture_spt(hipStream_t stream, hipStreamCaptureMode mode) {
  return hipStreamBeginCapture(OfThread(stream), mode);
}
hipError_t hipStreamEndCapture_spt(hipStream_t stream, hipGraph_t* graph) {
  return hipStreamEndCapture(OfThread(stream), graph);
}
hipError_t hipStreamIsCapturing_spt(hipStream_t stream, hipStreamCaptureStatus* status) {
  return hipStreamIsCapturing(OfThread(stream), status);
}
hipError_t hipStreamGetCaptureInfo_spt(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo(OfThread(stream), status, id);
}
hipError_t hipStreamGetCaptureInfo_v2_spt(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                          hipGraph_t* graph, const hipGraphNode_t** dependencies, size_t* count) {
  return hipStreamGetCaptureInfo_v2(OfThread(stream), status, id, graph, dependencies, count);
}

hipError_t hipStreamQuery_spt(hipStream_t stream) { return hipStreamQuery(OfThread(stream)); }
hipError_t hipStreamSynchronize_spt(hipStream_t stream) { return hipStreamSynchronize(OfThread(stream)); }
hipError_t hipStreamGetPriority_spt(hipStream_t stream, int* priority) {
  return hipStreamGetPriority(OfThread(stream), priority);
}
hipError_t hipStreamGetFlags_spt(hipStream_t stream, unsigned* flags) {
  return hipStreamGetFlags(OfThread(stream), flags);
}
hipError_t hipStreamWaitEvent_spt(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return hipStreamWaitEvent(OfThread(stream), event, flags);
}
hipError_t hipEventRecord_spt(hipEvent_t event, hipStream_t stream) { return hipEventRecord(event, OfThread(stream)); }
hipError_t hipStreamAddCallback_spt(hipStream_t stream, hipStreamCallback_t callback, void* data, unsigned flags) {
  return hipStreamAddCallback(OfThread(stream), callback, data, flags);
}
hipError_t hipLaunchHostFunc_spt(hipStream_t stream, hipHostFn_t function, void* data) {
  return hipLaunchHostFunc(OfThread(stream), function, data);
}
hipError_t hipGraphLaunch_spt(hipGraphExec_t graph, hipStream_t stream) {
  return hipGraphLaunch(graph, OfThread(stream));
}

hipError_t hipLaunchKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                               hipStream_t stream) {
  return hipLaunchKernel(function, grid, block, arguments, shared, OfThread(stream));
}
hipError_t hipLaunchCooperativeKernel_spt(const void* function, dim3 grid, dim3 block, void** arguments,
                                          uint32_t shared, hipStream_t stream) {
  return hipLaunchCooperativeKernel(function, grid, block, arguments, shared, OfThread(stream));
}

}  // extern "C"
