// A 3×3 convolution, f16 in and f32 out, channels last.
// wavesmith hijack init examples/conv2d.mlir -o out --target gfx942
func.func @conv2d(%image: tensor<1x18x18x16xf16>, %filter: tensor<3x3x16x32xf16>) -> tensor<1x16x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x16x16x32xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  %out = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x18x18x16xf16>, tensor<3x3x16x32xf16>)
      outs(%acc : tensor<1x16x16x32xf32>) -> tensor<1x16x16x32xf32>
  return %out : tensor<1x16x16x32xf32>
}
