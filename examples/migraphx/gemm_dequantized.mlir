// GEMM whose second factor is stored as i8 with a scale per column.
module {
  func.func @mlir_dequantize_dot(%arg0: tensor<16x32xf32>, %arg1: tensor<32x16xi8>, %arg2: tensor<16xf32>) -> tensor<16x16xf32> {
    %0 = migraphx.multibroadcast %arg2 {out_lens = [32, 16]} : tensor<16xf32> -> tensor<32x16xf32>
    %1 = migraphx.dequantizelinear %arg1, %0 : tensor<32x16xi8>, tensor<32x16xf32> -> tensor<32x16xf32>
    %2 = migraphx.dot %arg0, %1 : tensor<16x32xf32>, tensor<32x16xf32> -> tensor<16x16xf32>
    return %2 : tensor<16x16xf32>
  }
}
