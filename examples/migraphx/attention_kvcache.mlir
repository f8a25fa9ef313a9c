module {
  func.func @mlir_attention_kvcache(%arg0: !migraphx.shaped<1x12x2x16xf16, 384x16x192x1>, %arg1: !migraphx.shaped<1x4x32x16xf16, 2048x512x16x1>, %arg2: !migraphx.shaped<1x4x32x16xf16, 2048x512x16x1>, %arg3: !migraphx.shaped<1x4xsi32, 0x0>) -> !migraphx.shaped<1x2x64xf16, 128x64x1> attributes {rock.kernel} {
    %0 = migraphx.literal(dense<[0, 1]> : tensor<2xsi32>) : <2xsi32, 1>
    %1 = migraphx.literal(dense<2.500000e-01> : tensor<1xf16>) : <1xf16, 1>
    %2 = migraphx.literal(dense<0xFC00> : tensor<1xf16>) : <1xf16, 1>
    %3 = migraphx.literal(dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]> : tensor<32xsi32>) : <32xsi32, 1>
    %4 = migraphx.slice %arg0 {axes = [1], ends = [4], starts = [0]} : <1x12x2x16xf16, 384x16x192x1> -> <1x4x2x16xf16, 384x16x192x1>
    %5 = migraphx.transpose %arg1 {permutation = [0, 1, 3, 2]} : <1x4x32x16xf16, 2048x512x16x1> -> <1x4x16x32xf16, 2048x512x1x16>
    %6 = migraphx.dot %4, %5 : <1x4x2x16xf16, 384x16x192x1>, <1x4x16x32xf16, 2048x512x1x16> -> <1x4x2x32xf16, 256x64x32x1>
    %7 = migraphx.multibroadcast %3 {out_dyn_dims = [], out_lens = [1, 4, 2, 32]} : <32xsi32, 1> -> <1x4x2x32xsi32, 0x0x0x1>
    %8 = migraphx.multibroadcast %2 {out_dyn_dims = [], out_lens = [1, 4, 2, 32]} : <1xf16, 1> -> <1x4x2x32xf16, 0x0x0x0>
    %9 = migraphx.multibroadcast %1 {out_dyn_dims = [], out_lens = [1, 4, 2, 32]} : <1xf16, 1> -> <1x4x2x32xf16, 0x0x0x0>
    %10 = migraphx.mul %6, %9 : <1x4x2x32xf16, 256x64x32x1>, <1x4x2x32xf16, 0x0x0x0> -> <1x4x2x32xf16, 256x64x32x1>
    %11 = migraphx.reshape %0 {dims = [2, 1]} : <2xsi32, 1> -> <2x1xsi32, 1x1>
    %12 = migraphx.multibroadcast %11 {out_dyn_dims = [], out_lens = [1, 4, 2, 32]} : <2x1xsi32, 1x1> -> <1x4x2x32xsi32, 0x0x1x0>
    %13 = migraphx.greater %7, %12 : <1x4x2x32xsi32, 0x0x0x1>, <1x4x2x32xsi32, 0x0x1x0> -> <1x4x2x32xsi32, 256x64x32x1>
    %14 = migraphx.convert %13 {target_type = 0 : i64} : <1x4x2x32xsi32, 256x64x32x1> to <1x4x2x32xsi8, 256x64x32x1>
    %15 = migraphx.where %14, %8, %10 : <1x4x2x32xsi8, 256x64x32x1>, <1x4x2x32xf16, 0x0x0x0>, <1x4x2x32xf16, 256x64x32x1> -> <1x4x2x32xf16, 256x64x32x1>
    %16 = migraphx.reshape %arg3 {dims = [1, 4, 1, 1]} : <1x4xsi32, 0x0> -> <1x4x1x1xsi32, 4x1x1x1>
    %17 = migraphx.multibroadcast %16 {out_dyn_dims = [], out_lens = [1, 4, 2, 32]} : <1x4x1x1xsi32, 4x1x1x1> -> <1x4x2x32xsi32, 4x1x0x0>
    %18 = migraphx.greater %7, %17 : <1x4x2x32xsi32, 0x0x0x1>, <1x4x2x32xsi32, 4x1x0x0> -> <1x4x2x32xsi32, 256x64x32x1>
    %19 = migraphx.convert %18 {target_type = 0 : i64} : <1x4x2x32xsi32, 256x64x32x1> to <1x4x2x32xsi8, 256x64x32x1>
    %20 = migraphx.where %19, %8, %15 : <1x4x2x32xsi8, 256x64x32x1>, <1x4x2x32xf16, 0x0x0x0>, <1x4x2x32xf16, 256x64x32x1> -> <1x4x2x32xf16, 256x64x32x1>
    %21 = migraphx.softmax %20 {axis = 3 : i64} : <1x4x2x32xf16, 256x64x32x1> -> <1x4x2x32xf16, 256x64x32x1>
    %22 = migraphx.dot %21, %arg2 : <1x4x2x32xf16, 256x64x32x1>, <1x4x32x16xf16, 2048x512x16x1> -> <1x4x2x16xf16, 128x32x16x1>
    %23 = migraphx.transpose %22 {permutation = [0, 2, 1, 3]} : <1x4x2x16xf16, 128x32x16x1> -> <1x2x4x16xf16, 128x16x32x1>
    %24 = migraphx.reshape %23 {dims = [1, 2, 64]} : <1x2x4x16xf16, 128x16x32x1> -> <1x2x64xf16, 128x64x1>
    return %24 : !migraphx.shaped<1x2x64xf16, 128x64x1>
  }
}
