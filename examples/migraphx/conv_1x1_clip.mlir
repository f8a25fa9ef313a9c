// Pointwise convolution and clip (ReLU6).
module {
  func.func @mlir_convolution_clip(%arg0: tensor<1x16x8x8xf32>, %arg1: tensor<32x16x1x1xf32>) -> tensor<1x32x8x8xf32> {
    %0 = migraphx.literal (dense<0.000000e+00> : tensor<1xf32>) : tensor<1xf32>
    %1 = migraphx.literal (dense<6.000000e+00> : tensor<1xf32>) : tensor<1xf32>
    %2 = migraphx.convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : tensor<1x16x8x8xf32>, tensor<32x16x1x1xf32> -> tensor<1x32x8x8xf32>
    %3 = migraphx.multibroadcast %0 {out_lens = [1, 32, 8, 8]} : tensor<1xf32> -> tensor<1x32x8x8xf32>
    %4 = migraphx.multibroadcast %1 {out_lens = [1, 32, 8, 8]} : tensor<1xf32> -> tensor<1x32x8x8xf32>
    %5 = migraphx.clip %2, %3, %4 : tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32>, tensor<1x32x8x8xf32> -> tensor<1x32x8x8xf32>
    return %5 : tensor<1x32x8x8xf32>
  }
}
