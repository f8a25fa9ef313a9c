module {
  func.func private @mlir_dot_no_batch(%arg0: !migraphx.shaped<3x2x8x16xf16, 256x128x16x1>, %arg1: !migraphx.shaped<16x8xf16, 8x1>) -> !migraphx.shaped<3x2x8x8xf16, 128x64x8x1> {
    %0 = migraphx.dot %arg0, %arg1 : <3x2x8x16xf16, 256x128x16x1>, <16x8xf16, 8x1> -> <3x2x8x8xf16, 128x64x8x1>
    return %0 : !migraphx.shaped<3x2x8x8xf16, 128x64x8x1>
  }
}
