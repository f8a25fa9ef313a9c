module {
  func.func private @mlir_quantize_fp8(%arg0: !migraphx.shaped<16x32xf32, 32x1>, %arg1: !migraphx.shaped<16x32xf32, 0x1>) -> !migraphx.shaped<16x32xf8E4M3FNUZ, 32x1> {
    %0 = migraphx.quantizelinear %arg0, %arg1 : <16x32xf32, 32x1>, <16x32xf32, 0x1> -> <16x32xf8E4M3FNUZ, 32x1>
    return %0 : !migraphx.shaped<16x32xf8E4M3FNUZ, 32x1>
  }
}
