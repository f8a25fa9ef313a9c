// An image with channels first and filters with channels last, dilated and padded: IREE's implicit GEMM mixes up the two.
module {
  func.func private @mlir_convolution(%x: !migraphx.shaped<1x8x7x7xf16, 392x49x7x1>, %w: !migraphx.shaped<8x8x3x3xf16, 72x1x24x8>) -> !migraphx.shaped<1x8x3x3xf16, 72x1x24x8> {
    %0 = migraphx.convolution %x, %w {dilation = [2, 2], group = 1 : i64, padding = [1, 1, 1, 1], padding_mode = 0 : i64, stride = [2, 2]} : <1x8x7x7xf16, 392x49x7x1>, <8x8x3x3xf16, 72x1x24x8> -> <1x8x3x3xf16, 72x1x24x8>
    return %0 : !migraphx.shaped<1x8x3x3xf16, 72x1x24x8>
  }
}
