module {
  func.func @mlir_attention_gqa(%arg0: !migraphx.shaped<2x2x32x32xf16, 2048x1024x32x1>, %arg1: !migraphx.shaped<2x4x32x32xf16, 4096x1024x32x1>, %arg2: !migraphx.shaped<2x2x32x32xf16, 2048x1024x32x1>) -> !migraphx.shaped<2x4x32x32xf16, 4096x1024x32x1> attributes {rock.kernel} {
    %0 = migraphx.multibroadcast %arg0 {out_dyn_dims = [], out_lens = [2, 2, 2, 32, 32]} : <2x2x32x32xf16, 2048x1024x32x1> -> <2x2x2x32x32xf16, 2048x1024x0x32x1>
    %1 = migraphx.reshape %0 {dims = [2, 4, 32, 32]} : <2x2x2x32x32xf16, 2048x1024x0x32x1> -> <2x4x32x32xf16, 4096x1024x32x1>
    %2 = migraphx.multibroadcast %arg2 {out_dyn_dims = [], out_lens = [2, 2, 2, 32, 32]} : <2x2x32x32xf16, 2048x1024x32x1> -> <2x2x2x32x32xf16, 2048x1024x0x32x1>
    %3 = migraphx.reshape %2 {dims = [2, 4, 32, 32]} : <2x2x2x32x32xf16, 2048x1024x0x32x1> -> <2x4x32x32xf16, 4096x1024x32x1>
    %4 = migraphx.transpose %3 {permutation = [0, 1, 3, 2]} : <2x4x32x32xf16, 4096x1024x32x1> -> <2x4x32x32xf16, 4096x1024x1x32>
    %5 = migraphx.dot %arg1, %4 : <2x4x32x32xf16, 4096x1024x32x1>, <2x4x32x32xf16, 4096x1024x1x32> -> <2x4x32x32xf16, 4096x1024x32x1>
    %6 = migraphx.literal(dense<1.767580e-01> : tensor<1xf16>) : <1xf16, 1>
    %7 = migraphx.multibroadcast %6 {out_dyn_dims = [], out_lens = [2, 4, 32, 32]} : <1xf16, 1> -> <2x4x32x32xf16, 0x0x0x0>
    %8 = migraphx.mul %5, %7 : <2x4x32x32xf16, 4096x1024x32x1>, <2x4x32x32xf16, 0x0x0x0> -> <2x4x32x32xf16, 4096x1024x32x1>
    %9 = migraphx.softmax %8 {axis = 3 : i64} : <2x4x32x32xf16, 4096x1024x32x1> -> <2x4x32x32xf16, 4096x1024x32x1>
    %10 = migraphx.dot %9, %1 : <2x4x32x32xf16, 4096x1024x32x1>, <2x4x32x32xf16, 4096x1024x32x1> -> <2x4x32x32xf16, 4096x1024x32x1>
    return %10 : !migraphx.shaped<2x4x32x32xf16, 4096x1024x32x1>
  }
}
