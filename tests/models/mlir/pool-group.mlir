func.func @pool(%x: tensor<1x9x9x4xf32>) -> tensor<1x4x4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x4x4x4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  %0 = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>} ins(%x, %w : tensor<1x9x9x4xf32>, tensor<2x2xf32>) outs(%f : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
func.func @group(%x: tensor<1x2x4x10x10xf16>, %k: tensor<2x8x4x3x3xf16>) -> tensor<1x2x8x8x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x8x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %0 = linalg.conv_2d_ngchw_gfchw ins(%x, %k : tensor<1x2x4x10x10xf16>, tensor<2x8x4x3x3xf16>) outs(%f : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  return %0 : tensor<1x2x8x8x8xf32>
}
func.func @depthwise(%x: tensor<1x10x10x6xf32>, %k: tensor<3x3x6xf32>) -> tensor<1x8x8x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x8x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  %0 = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %k : tensor<1x10x10x6xf32>, tensor<3x3x6xf32>) outs(%f : tensor<1x8x8x6xf32>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}
