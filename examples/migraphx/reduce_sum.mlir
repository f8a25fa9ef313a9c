// Sum of squares over the spatial dimensions, in f16.
module {
  func.func @mlir_reduce_sum(%arg0: tensor<2x8x8x8xf16>) -> tensor<2x8x1x1xf16> {
    %0 = migraphx.mul %arg0, %arg0 : tensor<2x8x8x8xf16>, tensor<2x8x8x8xf16> -> tensor<2x8x8x8xf16>
    %1 = migraphx.reduce_sum %0 {axes = [2, 3]} : tensor<2x8x8x8xf16> -> tensor<2x8x1x1xf16>
    return %1 : tensor<2x8x1x1xf16>
  }
}
