module {
  func.func @mlir_conv_gemm(%arg0: !migraphx.shaped<1x8x6x6xf16, 288x36x6x1>, %arg1: !migraphx.shaped<16x8x1x1xf16, 8x1x1x1>, %arg2: !migraphx.shaped<1x16x8xf16, 128x8x1>) -> !migraphx.shaped<1x36x8xf16, 288x8x1> attributes {rock.kernel} {
    %0 = migraphx.convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : <1x8x6x6xf16, 288x36x6x1>, <16x8x1x1xf16, 8x1x1x1> -> <1x16x6x6xf16, 576x36x6x1>
    %1 = migraphx.transpose %0 {permutation = [0, 2, 3, 1]} : <1x16x6x6xf16, 576x36x6x1> -> <1x6x6x16xf16, 576x6x1x36>
    %2 = migraphx.reshape %1 {dims = [1, 36, 16]} : <1x6x6x16xf16, 576x6x1x36> -> <1x36x16xf16, 576x16x1>
    %3 = migraphx.dot %2, %arg2 : <1x36x16xf16, 576x16x1>, <1x16x8xf16, 128x8x1> -> <1x36x8xf16, 288x8x1>
    return %3 : !migraphx.shaped<1x36x8xf16, 288x8x1>
  }
}
