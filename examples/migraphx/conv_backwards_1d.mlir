module {
  func.func @mlir_conv_backwards_1d(%arg0: !migraphx.shaped<2x3x5xf32, 15x5x1>, %arg1: !migraphx.shaped<3x2x2xf32, 4x2x1>) -> !migraphx.shaped<2x2x10xf32, 20x10x1> attributes {rock.kernel} {
    %0 = migraphx.backwards_data_convolution %arg0, %arg1 {dilation = [1], group = 1 : i64, padding = [0, 0], padding_mode = 0 : i64, stride = [2]} : <2x3x5xf32, 15x5x1>, <3x2x2xf32, 4x2x1> -> <2x2x10xf32, 20x10x1>
    return %0 : !migraphx.shaped<2x2x10xf32, 20x10x1>
  }
}
