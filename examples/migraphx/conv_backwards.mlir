module {
  func.func @mlir_conv_backwards(%arg0: !migraphx.shaped<1x3x6x7xf32, 126x42x7x1>, %arg1: !migraphx.shaped<3x4x3x3xf32, 36x9x3x1>) -> !migraphx.shaped<1x4x11x19xf32, 836x209x19x1> attributes {rock.kernel} {
    %0 = migraphx.backwards_data_convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [1, 1, 1, 1], padding_mode = 0 : i64, stride = [2, 3]} : <1x3x6x7xf32, 126x42x7x1>, <3x4x3x3xf32, 36x9x3x1> -> <1x4x11x19xf32, 836x209x19x1>
    return %0 : !migraphx.shaped<1x4x11x19xf32, 836x209x19x1>
  }
}
