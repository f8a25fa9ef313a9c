module {
  func.func @mlir_conv_batch_norm(%arg0: !migraphx.shaped<1x4x6x6xf32, 144x36x6x1>, %arg1: !migraphx.shaped<4x4x3x3xf32, 36x9x3x1>, %arg2: !migraphx.shaped<4xf32, 1>, %arg3: !migraphx.shaped<4xf32, 1>, %arg4: !migraphx.shaped<4xf32, 1>, %arg5: !migraphx.shaped<4xf32, 1>) -> !migraphx.shaped<1x4x4x4xf32, 64x16x4x1> attributes {rock.kernel} {
    %0 = migraphx.convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : <1x4x6x6xf32, 144x36x6x1>, <4x4x3x3xf32, 36x9x3x1> -> <1x4x4x4xf32, 64x16x4x1>
    %1 = migraphx.abs %arg5 : <4xf32, 1> -> <4xf32, 1>
    %2 = migraphx.batch_norm_inference %0, %arg2, %arg3, %arg4, %1 {bn_mode = 1 : i64, epsilon = 1.000000e-03 : f32, momentum = 9.000000e-01 : f32} : <1x4x4x4xf32, 64x16x4x1>, <4xf32, 1>, <4xf32, 1>, <4xf32, 1>, <4xf32, 1> -> <1x4x4x4xf32, 64x16x4x1>
    return %2 : !migraphx.shaped<1x4x4x4xf32, 64x16x4x1>
  }
}
