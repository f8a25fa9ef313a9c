// Batched GEMM whose second factor is the same in every batch.
module {
  func.func @mlir_dot_add(%arg0: tensor<4x16x32xf16>, %arg1: tensor<1x32x16xf16>, %arg2: tensor<4x16x16xf16>) -> tensor<4x16x16xf16> attributes {arch = "gfx942", kernel = "mixr"} {
    %0 = migraphx.multibroadcast(%arg1) {out_dyn_dims = [], out_lens = [4, 32, 16]} : (tensor<1x32x16xf16>) -> tensor<4x32x16xf16>
    %1 = migraphx.dot(%arg0, %0) : (tensor<4x16x32xf16>, tensor<4x32x16xf16>) -> tensor<4x16x16xf16>
    %2 = migraphx.add(%1, %arg2) : (tensor<4x16x16xf16>, tensor<4x16x16xf16>) -> tensor<4x16x16xf16>
    return %2 : tensor<4x16x16xf16>
  }
}
