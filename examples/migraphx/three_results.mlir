module {
  func.func private @mlir_three_results(%arg0: !migraphx.shaped<16x64xf32, 64x1>) -> (!migraphx.shaped<16x1xf32, 1x1>, !migraphx.shaped<16x64xf32, 64x1>, !migraphx.shaped<16x64xf32, 64x1>) {
    %0 = migraphx.reduce_mean %arg0 {axes = [1]} : <16x64xf32, 64x1> -> <16x1xf32, 1x1>
    %1 = migraphx.multibroadcast %0 {out_dyn_dims = [], out_lens = [16, 64]} : <16x1xf32, 1x1> -> <16x64xf32, 1x0>
    %2 = migraphx.sub %arg0, %1 : <16x64xf32, 64x1>, <16x64xf32, 1x0> -> <16x64xf32, 64x1>
    %3 = migraphx.abs %2 : <16x64xf32, 64x1> -> <16x64xf32, 64x1>
    return %0, %2, %3 : !migraphx.shaped<16x1xf32, 1x1>, !migraphx.shaped<16x64xf32, 64x1>, !migraphx.shaped<16x64xf32, 64x1>
  }
}
