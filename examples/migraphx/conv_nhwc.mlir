// Convolution of an image and filters that lie in memory with channels last.
module {
  func.func @mlir_convolution_nhwc(%arg0: !migraphx.shaped<1x4x5x5xf32, 100x1x20x4>, %arg1: !migraphx.shaped<7x4x3x3xf32, 36x1x12x4>) -> !migraphx.shaped<1x7x3x3xf32, 63x1x21x7> {
    %0 = migraphx.convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [0, 0, 0, 0], padding_mode = 0 : i64, stride = [1, 1]} : <1x4x5x5xf32, 100x1x20x4>, <7x4x3x3xf32, 36x1x12x4> -> <1x7x3x3xf32, 63x1x21x7>
    return %0 : !migraphx.shaped<1x7x3x3xf32, 63x1x21x7>
  }
}
