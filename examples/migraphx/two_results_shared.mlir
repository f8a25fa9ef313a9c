module {
  func.func private @mlir_two_results_shared(%arg0: !migraphx.shaped<1x16x32xf32, 512x32x1>, %arg1: !migraphx.shaped<1x32x16xf32, 512x16x1>) -> (!migraphx.shaped<1x16x16xf32, 256x16x1>, !migraphx.shaped<1x16x1xf32, 16x1x1>) {
    %0 = migraphx.dot %arg0, %arg1 : <1x16x32xf32, 512x32x1>, <1x32x16xf32, 512x16x1> -> <1x16x16xf32, 256x16x1>
    %1 = migraphx.reduce_sum %0 {axes = [2 : i64]} : <1x16x16xf32, 256x16x1> -> <1x16x1xf32, 16x1x1>
    return %0, %1 : !migraphx.shaped<1x16x16xf32, 256x16x1>, !migraphx.shaped<1x16x1xf32, 16x1x1>
  }
}
