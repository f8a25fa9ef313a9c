// rocMLIR's attention as one operation, with a bias in its region, shared keys and values, and the log of the sums as second result.
module {
  func.func @mlir_attention(%q: !migraphx.shaped<1x4x16x8xf32, 512x128x8x1>, %k: !migraphx.shaped<1x2x8x16xf32, 256x128x16x1>, %v: !migraphx.shaped<1x2x16x8xf32, 256x128x8x1>, %bias: !migraphx.shaped<1x4x16x16xf32, 1024x256x16x1>) -> (!migraphx.shaped<1x4x16x8xf32, 512x128x8x1>, !migraphx.shaped<1x4x16xf32, 64x16x1>) attributes {kernel} {
    %0, %1 = migraphx.attention %q, %k, %v
      pre_softmax_inputs(%bias : !migraphx.shaped<1x4x16x16xf32, 1024x256x16x1>) {
      ^bb0(%qk: !migraphx.shaped<1x4x16x16xf32, 1024x256x16x1>,
           %b: !migraphx.shaped<1x4x16x16xf32, 1024x256x16x1>):
        %sum = migraphx.add %qk, %b
          : <1x4x16x16xf32, 1024x256x16x1>, <1x4x16x16xf32, 1024x256x16x1> -> <1x4x16x16xf32, 1024x256x16x1>
        migraphx.yield
      } softmax_type = f32 {perf_config = "attn:v2:128,128,128,2,64,64,8,4,1,2,1"}
      : <1x4x16x8xf32, 512x128x8x1>, <1x2x8x16xf32, 256x128x16x1>, <1x2x16x8xf32, 256x128x8x1>
      -> !migraphx.shaped<1x4x16x8xf32, 512x128x8x1>, !migraphx.shaped<1x4x16xf32, 64x16x1>
    return %0, %1 : !migraphx.shaped<1x4x16x8xf32, 512x128x8x1>, !migraphx.shaped<1x4x16xf32, 64x16x1>
  }
}
