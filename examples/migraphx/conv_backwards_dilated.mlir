module {
  func.func @mlir_conv_backwards_dilated(%arg0: !migraphx.shaped<1x2x4x4xf32, 32x16x4x1>, %arg1: !migraphx.shaped<2x3x2x2xf32, 12x4x2x1>) -> !migraphx.shaped<1x3x8x8xf32, 192x64x8x1> attributes {rock.kernel} {
    %0 = migraphx.backwards_data_convolution %arg0, %arg1 {dilation = [2, 2], group = 1 : i64, padding = [1, 1, 0, 0], padding_mode = 0 : i64, stride = [2, 2]} : <1x2x4x4xf32, 32x16x4x1>, <2x3x2x2xf32, 12x4x2x1> -> <1x3x8x8xf32, 192x64x8x1>
    return %0 : !migraphx.shaped<1x3x8x8xf32, 192x64x8x1>
  }
}
