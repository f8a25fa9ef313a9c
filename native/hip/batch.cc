// Several operations in one call: waits for and writes of values, copies, prefetches. Source: HIP API documentation, "Stream Memory Operations",
// hipMemcpyBatchAsync, hipMemcpy3DBatchAsync, hipMemPrefetchBatchAsync.
#include <algorithm>

#include "hip/graph/model.h"

namespace wavesmith::hip {
namespace {

enum Operation : int {
  kWait32 = 1,
  kWrite32 = 2,
  kFlush = 3,
  kWait64 = 4,
  kWrite64 = 5,
  kBarrier = 6,
};
// hipBatchMemOpNodeParams.
struct BatchParams {
  hipCtx_t context;
  unsigned count;
  BatchOperation* operations;
  unsigned flags;
};

bool IsValid(const BatchOperation& o) {
  const bool has_address = o.operation != kFlush && o.operation != kBarrier;
  return o.operation >= kWait32 && o.operation <= kBarrier && (!has_address || o.address != nullptr);
}
hipError_t Check(const BatchOperation* operations, unsigned count, unsigned flags) {
  constexpr unsigned kMost = 256;
  if (operations == nullptr || count == 0 || count > kMost || flags != 0) return hipErrorInvalidValue;
  return std::all_of(operations, operations + count, IsValid) ? hipSuccess : hipErrorInvalidValue;
}
hipError_t MakeBatch(const BatchParams* p, BatchNode* node) {
  if (p == nullptr) return hipErrorInvalidValue;
  const hipError_t error = Check(p->operations, p->count, p->flags);
  if (error == hipSuccess) *node = {{p->operations, p->operations + p->count}, p->context, p->flags};
  return error;
}

// hipMemcpyAttributes and hipMemcpy3DOperand of HIP 7.
struct Operand {
  int type;  // 1: a pointer
  int pad;
  union {
    struct {
      void* pointer;
      size_t row_length;
      size_t layer_height;
      hipMemLocation hint;
    } memory;
    struct {
      void* array;
      size_t x, y, z;
    } array;
  };
};
struct BoxOperation {
  Operand from;
  Operand to;
  hipExtent extent;
  int order;
  unsigned flags;
};

void Failed(size_t* place, size_t index) {
  if (place != nullptr) *place = index;
}

}  // namespace

hipError_t RunBatch(const std::vector<BatchOperation>& operations, hipStream_t stream) {
  for (const BatchOperation& o : operations) {
    hipError_t error = hipSuccess;
    switch (o.operation) {
      case kWait32:
        error = hipStreamWaitValue32(stream, o.address, static_cast<uint32_t>(o.value), o.flags, UINT32_MAX);
        break;
      case kWait64:
        error = hipStreamWaitValue64(stream, o.address, o.value, o.flags, UINT64_MAX);
        break;
      case kWrite32:
        error = hipStreamWriteValue32(stream, o.address, static_cast<uint32_t>(o.value), o.flags);
        break;
      case kWrite64:
        error = hipStreamWriteValue64(stream, o.address, o.value, o.flags);
        break;
      default:
        // Packets of a stream run in order and release to the system: there is nothing to flush.
        break;
    }
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

}  // namespace wavesmith::hip

using namespace wavesmith::hip;  // NOLINT: the C API's definitions follow

extern "C" {

hipError_t hipStreamBatchMemOp(hipStream_t stream, unsigned count, BatchOperation* operations, unsigned flags) {
  hipError_t error = Check(operations, count, flags);
  if (error != hipSuccess) return Done(error);
  const std::vector<BatchOperation> all(operations, operations + count);
  if (IsCapturing(stream)) return Done(CaptureNode(stream, BatchNode{all, nullptr, flags}));
  return Done(RunBatch(all, stream));
}

hipError_t hipGraphAddBatchMemOpNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                     size_t count, const BatchParams* p) {
  BatchNode made;
  const hipError_t error = MakeBatch(p, &made);
  return Done(error == hipSuccess ? AddNode(node, graph, dependencies, count, std::move(made)) : error);
}
hipError_t hipGraphBatchMemOpNodeGetParams(hipGraphNode_t handle, BatchParams* p) {
  const auto lock = GraphLock();
  Node* const node = FindNode(handle);
  auto* const batch = node == nullptr ? nullptr : std::get_if<BatchNode>(&node->params);
  if (p == nullptr || batch == nullptr) return Done(hipErrorInvalidValue);
  *p = {batch->context, static_cast<unsigned>(batch->operations.size()), batch->operations.data(), batch->flags};
  return Done(hipSuccess);
}
hipError_t hipGraphBatchMemOpNodeSetParams(hipGraphNode_t handle, BatchParams* p) {
  const auto lock = GraphLock();
  Node* const node = FindNode(handle);
  auto* const batch = node == nullptr ? nullptr : std::get_if<BatchNode>(&node->params);
  return Done(batch == nullptr ? hipErrorInvalidValue : MakeBatch(p, batch));
}
hipError_t hipGraphExecBatchMemOpNodeSetParams(hipGraphExec_t handle, hipGraphNode_t node, const BatchParams* p) {
  const auto lock = GraphLock();
  Executable* const executable = FindExecutable(handle);
  if (executable == nullptr) return Done(hipErrorInvalidValue);
  const auto copy = executable->copies.find(FindNode(node));
  auto* const batch = copy == executable->copies.end() ? nullptr : std::get_if<BatchNode>(&copy->second->params);
  return Done(batch == nullptr ? hipErrorInvalidValue : MakeBatch(p, batch));
}

hipError_t hipMemcpyBatchAsync(void** to, void** from, size_t* sizes, size_t count, void* attributes,
                               size_t* attribute_indices, size_t attribute_count, size_t* failed, hipStream_t stream) {
  Failed(failed, SIZE_MAX);
  if (to == nullptr || from == nullptr || sizes == nullptr || count == 0) return Done(hipErrorInvalidValue);
  // Attributes say how sources may be read, of which the strictest is what happens in any case.
  if (attribute_count > count || (attribute_count != 0 && (attributes == nullptr || attribute_indices == nullptr))) {
    return Done(hipErrorInvalidValue);
  }
  for (size_t n = 0; n < count; n++) {
    const bool valid = to[n] != nullptr && from[n] != nullptr && sizes[n] != 0;
    const hipError_t error =
        valid ? hipMemcpyAsync(to[n], from[n], sizes[n], hipMemcpyDefault, stream) : Done(hipErrorInvalidValue);
    if (error == hipSuccess) continue;
    Failed(failed, n);
    return Done(error);
  }
  return Done(hipSuccess);
}

hipError_t hipMemcpy3DBatchAsync(size_t count, BoxOperation* operations, size_t* failed, unsigned long long flags,
                                 hipStream_t stream) {
  Failed(failed, SIZE_MAX);
  if (operations == nullptr || count == 0 || flags != 0) return Done(hipErrorInvalidValue);
  constexpr int kPointer = 1;
  for (size_t n = 0; n < count; n++) {
    const BoxOperation& o = operations[n];
    hipError_t error = hipErrorNotSupported;
    if (o.from.type == kPointer && o.to.type == kPointer) {
      const auto memory = [&](const Operand& operand) {
        const size_t row = operand.memory.row_length == 0 ? o.extent.width : operand.memory.row_length;
        const size_t rows = operand.memory.layer_height == 0 ? o.extent.height : operand.memory.layer_height;
        return hipPitchedPtr{operand.memory.pointer, row, row, rows};
      };
      hipMemcpy3DParms box{};
      box.srcPtr = memory(o.from);
      box.dstPtr = memory(o.to);
      box.extent = o.extent;
      box.kind = hipMemcpyDefault;
      error = hipMemcpy3DAsync(&box, stream);
    }
    if (error == hipSuccess) continue;
    Failed(failed, n);
    return Done(error);
  }
  return Done(hipSuccess);
}

}  // extern "C"
