// Convolution with padding and stride, bias by broadcast, ReLU, in f16.
module {
  func.func @mlir_convolution_add_relu(%arg0: !migraphx.shaped<1x16x6x6xf16, 0x1x0x0>, %arg1: !migraphx.shaped<1x8x12x12xf16, 1152x144x12x1>, %arg2: !migraphx.shaped<16x8x3x3xf16, 72x9x3x1>) -> !migraphx.shaped<1x16x6x6xf16, 576x36x6x1> attributes {arch = "gfx942:sramecc+:xnack-", kernel = "mixr", num_cu = 304 : i64} {
    %0 = migraphx.convolution %arg1, %arg2 {dilation = [1, 1], group = 1 : i64, padding = [1, 1, 1, 1], padding_mode = 0 : i64, stride = [2, 2]} : <1x8x12x12xf16, 1152x144x12x1>, <16x8x3x3xf16, 72x9x3x1> -> <1x16x6x6xf16, 576x36x6x1>
    %1 = migraphx.add %0, %arg0 : <1x16x6x6xf16, 576x36x6x1>, <1x16x6x6xf16, 0x1x0x0> -> <1x16x6x6xf16, 576x36x6x1>
    %2 = migraphx.relu %1 : <1x16x6x6xf16, 576x36x6x1> -> <1x16x6x6xf16, 576x36x6x1>
    return %2 : !migraphx.shaped<1x16x6x6xf16, 576x36x6x1>
  }
}
