module {
  func.func private @mlir_two_results(%arg0: !migraphx.shaped<1x16x32xf32, 512x32x1>, %arg1: !migraphx.shaped<1x32x16xf32, 512x16x1>, %arg2: !migraphx.shaped<1x16x16xf32, 256x16x1>) -> (!migraphx.shaped<1x16x16xf32, 256x16x1>, !migraphx.shaped<1x16x16xf32, 256x16x1>) {
    %0 = migraphx.dot %arg0, %arg1 : <1x16x32xf32, 512x32x1>, <1x32x16xf32, 512x16x1> -> <1x16x16xf32, 256x16x1>
    %1 = migraphx.add %0, %arg2 : <1x16x16xf32, 256x16x1>, <1x16x16xf32, 256x16x1> -> <1x16x16xf32, 256x16x1>
    %2 = migraphx.relu %1 : <1x16x16xf32, 256x16x1> -> <1x16x16xf32, 256x16x1>
    return %1, %2 : !migraphx.shaped<1x16x16xf32, 256x16x1>, !migraphx.shaped<1x16x16xf32, 256x16x1>
  }
}
