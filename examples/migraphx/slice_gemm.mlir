// GEMM of a part of the first argument, converted to f16 afterwards.
module {
  func.func @mlir_slice_dot(%arg0: tensor<1x64x64xf32>, %arg1: tensor<1x32x32xf32>) -> tensor<1x16x32xf16> {
    %0 = migraphx.slice %arg0 {axes = [1, 2], ends = [24, 48], starts = [8, 16]} : tensor<1x64x64xf32> -> tensor<1x16x32xf32>
    %1 = migraphx.dot %0, %arg1 : tensor<1x16x32xf32>, tensor<1x32x32xf32> -> tensor<1x16x32xf32>
    %2 = migraphx.convert %1 : tensor<1x16x32xf32> to tensor<1x16x32xf16>
    return %2 : tensor<1x16x32xf16>
  }
}
