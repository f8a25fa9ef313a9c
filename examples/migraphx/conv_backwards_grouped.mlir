module {
  func.func @mlir_conv_backwards_grouped(%arg0: !migraphx.shaped<1x4x4x4xf16, 64x16x4x1>, %arg1: !migraphx.shaped<4x3x3x3xf16, 27x9x3x1>) -> !migraphx.shaped<1x6x6x6xf16, 216x36x6x1> attributes {rock.kernel} {
    %0 = migraphx.backwards_data_convolution %arg0, %arg1 {dilation = [1, 1], group = 2 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : <1x4x4x4xf16, 64x16x4x1>, <4x3x3x3xf16, 27x9x3x1> -> <1x6x6x6xf16, 216x36x6x1>
    return %0 : !migraphx.shaped<1x6x6x6xf16, 216x36x6x1>
  }
}
