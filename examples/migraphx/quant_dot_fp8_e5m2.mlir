module {
  func.func private @mlir_quant_dot_fp8_e5m2(%arg0: !migraphx.shaped<2x16x32xf8E5M2FNUZ, 512x32x1>, %arg1: !migraphx.shaped<2x32x16xf8E5M2FNUZ, 512x16x1>, %arg2: !migraphx.shaped<2x16x16xf32, 256x16x1>) -> !migraphx.shaped<2x16x16xf32, 256x16x1> {
    %0 = migraphx.quant_dot %arg0, %arg1 : <2x16x32xf8E5M2FNUZ, 512x32x1>, <2x32x16xf8E5M2FNUZ, 512x16x1> -> <2x16x16xf32, 256x16x1>
    %1 = migraphx.add %0, %arg2 : <2x16x16xf32, 256x16x1>, <2x16x16xf32, 256x16x1> -> <2x16x16xf32, 256x16x1>
    return %1 : !migraphx.shaped<2x16x16xf32, 256x16x1>
  }
}
