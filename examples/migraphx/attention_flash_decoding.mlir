module {
  func.func @mlir_attention_flash_decoding(%arg0: !migraphx.shaped<1x32x32xf16, 1024x32x1>, %arg1: !migraphx.shaped<1x32x32xf16, 1024x32x1>, %arg2: !migraphx.shaped<1x32x32xf16, 1024x32x1>) -> (!migraphx.shaped<1x2x32x32xf16, 2048x1024x32x1>, !migraphx.shaped<1x2x32x1xf32, 64x32x1x1>) attributes {rock.kernel} {
    %0 = migraphx.reshape %arg0 {dims = [1, 1, 32, 32]} : <1x32x32xf16, 1024x32x1> -> <1x1x32x32xf16, 1024x1024x32x1>
    %1 = migraphx.multibroadcast %0 {out_dyn_dims = [], out_lens = [1, 2, 32, 32]} : <1x1x32x32xf16, 1024x1024x32x1> -> <1x2x32x32xf16, 1024x0x32x1>
    %2 = migraphx.reshape %arg1 {dims = [1, 2, 16, 32]} : <1x32x32xf16, 1024x32x1> -> <1x2x16x32xf16, 1024x512x32x1>
    %3 = migraphx.transpose %2 {permutation = [0, 1, 3, 2]} : <1x2x16x32xf16, 1024x512x32x1> -> <1x2x32x16xf16, 1024x512x1x32>
    %4 = migraphx.reshape %arg2 {dims = [1, 32, 2, 16]} : <1x32x32xf16, 1024x32x1> -> <1x32x2x16xf16, 1024x32x16x1>
    %5 = migraphx.transpose %4 {permutation = [0, 2, 3, 1]} : <1x32x2x16xf16, 1024x32x16x1> -> <1x2x16x32xf16, 1024x16x1x32>
    %6 = migraphx.dot %1, %3 : <1x2x32x32xf16, 1024x0x32x1>, <1x2x32x16xf16, 1024x512x1x32> -> <1x2x32x16xf16, 1024x512x16x1>
    %7 = migraphx.convert %6 {target_type = 2 : i64} : <1x2x32x16xf16, 1024x512x16x1> to <1x2x32x16xf32, 1024x512x16x1>
    %8 = migraphx.reduce_max %7 {axes = [3]} : <1x2x32x16xf32, 1024x512x16x1> -> <1x2x32x1xf32, 64x32x1x1>
    %9 = migraphx.multibroadcast %8 {out_dyn_dims = [], out_lens = [1, 2, 32, 16]} : <1x2x32x1xf32, 64x32x1x1> -> <1x2x32x16xf32, 64x32x1x0>
    %10 = migraphx.sub %7, %9 : <1x2x32x16xf32, 1024x512x16x1>, <1x2x32x16xf32, 64x32x1x0> -> <1x2x32x16xf32, 1024x512x16x1>
    %11 = migraphx.exp %10 : <1x2x32x16xf32, 1024x512x16x1> -> <1x2x32x16xf32, 1024x512x16x1>
    %12 = migraphx.reduce_sum %11 {axes = [3]} : <1x2x32x16xf32, 1024x512x16x1> -> <1x2x32x1xf32, 64x32x1x1>
    %13 = migraphx.multibroadcast %12 {out_dyn_dims = [], out_lens = [1, 2, 32, 16]} : <1x2x32x1xf32, 64x32x1x1> -> <1x2x32x16xf32, 64x32x1x0>
    %14 = migraphx.div %11, %13 : <1x2x32x16xf32, 1024x512x16x1>, <1x2x32x16xf32, 64x32x1x0> -> <1x2x32x16xf32, 1024x512x16x1>
    %15 = migraphx.convert %14 {target_type = 1 : i64} : <1x2x32x16xf32, 1024x512x16x1> to <1x2x32x16xf16, 1024x512x16x1>
    %16 = migraphx.dot %15, %5 : <1x2x32x16xf16, 1024x512x16x1>, <1x2x16x32xf16, 1024x16x1x32> -> <1x2x32x32xf16, 2048x1024x32x1>
    %17 = migraphx.log %12 : <1x2x32x1xf32, 64x32x1x1> -> <1x2x32x1xf32, 64x32x1x1>
    %18 = migraphx.add %8, %17 : <1x2x32x1xf32, 64x32x1x1>, <1x2x32x1xf32, 64x32x1x1> -> <1x2x32x1xf32, 64x32x1x1>
    return %16, %18 : !migraphx.shaped<1x2x32x32xf16, 2048x1024x32x1>, !migraphx.shaped<1x2x32x1xf32, 64x32x1x1>
  }
}
