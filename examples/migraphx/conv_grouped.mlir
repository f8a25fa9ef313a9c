// Grouped convolution with dilation.
module {
  func.func @mlir_convolution_grouped(%arg0: tensor<2x8x10x10xf32>, %arg1: tensor<16x2x3x3xf32>) -> tensor<2x16x6x6xf32> {
    %0 = migraphx.convolution %arg0, %arg1 {dilation = [2, 2], group = 4 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : tensor<2x8x10x10xf32>, tensor<16x2x3x3xf32> -> tensor<2x16x6x6xf32>
    return %0 : tensor<2x16x6x6xf32>
  }
}
