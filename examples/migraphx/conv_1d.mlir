// One-dimensional convolution with bias by axis.
module {
  func.func @mlir_convolution_1d(%arg0: tensor<1x4x32xf32>, %arg1: tensor<8x4x5xf32>, %arg2: tensor<8xf32>) -> tensor<1x8x32xf32> {
    %0 = migraphx.convolution %arg0, %arg1 {dilation = [1], group = 1 : i64, padding = [2, 2], padding_mode = 0 : i64, stride = [1]} : tensor<1x4x32xf32>, tensor<8x4x5xf32> -> tensor<1x8x32xf32>
    %1 = migraphx.broadcast %arg2 {axis = 1 : i64, out_lens = [1, 8, 32]} : tensor<8xf32> -> tensor<1x8x32xf32>
    %2 = migraphx.add %0, %1 : tensor<1x8x32xf32>, tensor<1x8x32xf32> -> tensor<1x8x32xf32>
    return %2 : tensor<1x8x32xf32>
  }
}
