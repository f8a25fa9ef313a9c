// GEMM whose bias is a literal in the module.
module {
  func.func @mlir_dot_literal(%arg0: tensor<8x16xf32>, %arg1: tensor<16x8xf32>) -> tensor<8x8xf32> {
    %0 = migraphx.literal (dense<[1.0, -2.0, 3.0, -4.0, 0.5, -0.25, 0.125, 8.0]> : tensor<8xf32>) : tensor<8xf32>
    %1 = migraphx.dot %arg0, %arg1 : tensor<8x16xf32>, tensor<16x8xf32> -> tensor<8x8xf32>
    %2 = migraphx.multibroadcast %0 {out_lens = [8, 8]} : tensor<8xf32> -> tensor<8x8xf32>
    %3 = migraphx.add %1, %2 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    return %3 : tensor<8x8xf32>
  }
}
