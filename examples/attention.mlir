// One head group of attention: softmax(Q·Kᵀ·scale)·V over 4 heads, 64 positions, 32 features, fused into one kernel.
// wavesmith hijack init examples/attention.mlir -o out --target gfx942
func.func @attention(%query: tensor<4x64x32xf16>, %key: tensor<4x64x32xf16>, %value: tensor<4x64x32xf16>)
    -> tensor<4x64x32xf16> {
  %scale = arith.constant 1.767580e-01 : f16
  %empty = tensor.empty() : tensor<4x64x32xf16>
  %out = iree_linalg_ext.attention <{
      indexing_maps = [
        affine_map<(b, m, n, k1, k2) -> (b, m, k1)>,
        affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>,
        affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
        affine_map<(b, m, n, k1, k2) -> ()>,
        affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}>
      ins(%query, %key, %value, %scale : tensor<4x64x32xf16>, tensor<4x64x32xf16>, tensor<4x64x32xf16>, f16)
      outs(%empty : tensor<4x64x32xf16>) {
    ^bb0(%score: f32):
      iree_linalg_ext.yield %score : f32
  } -> tensor<4x64x32xf16>
  return %out : tensor<4x64x32xf16>
}
