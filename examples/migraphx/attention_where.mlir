module {
  func.func @mlir_attention_where(%arg0: !migraphx.shaped<1x2x16x16xf16, 512x256x16x1>, %arg1: !migraphx.shaped<1x2x16x16xf16, 512x256x16x1>, %arg2: !migraphx.shaped<1x2x16x16xi8, 512x256x16x1>, %arg3: !migraphx.shaped<1x2x16x16xf16, 512x256x16x1>, %arg4: !migraphx.shaped<1x2x16x16xf16, 512x256x16x1>) -> !migraphx.shaped<1x2x16x16xf16, 512x256x16x1> {
    %0 = migraphx.literal(dense<1.250000e-01> : tensor<1xf16>) : <1xf16, 0>
    %1 = migraphx.transpose %arg1 {permutation = [0, 1, 3, 2]} : <1x2x16x16xf16, 512x256x16x1> -> <1x2x16x16xf16, 512x256x1x16>
    %2 = migraphx.dot %arg0, %1 : <1x2x16x16xf16, 512x256x16x1>, <1x2x16x16xf16, 512x256x1x16> -> <1x2x16x16xf16, 512x256x16x1>
    %3 = migraphx.multibroadcast %0 {out_dyn_dims = [], out_lens = [1, 2, 16, 16]} : <1xf16, 0> -> <1x2x16x16xf16, 0x0x0x0>
    %4 = migraphx.mul %2, %3 : <1x2x16x16xf16, 512x256x16x1>, <1x2x16x16xf16, 0x0x0x0> -> <1x2x16x16xf16, 512x256x16x1>
    %5 = migraphx.where %arg2, %4, %arg3 : <1x2x16x16xi8, 512x256x16x1>, <1x2x16x16xf16, 512x256x16x1>, <1x2x16x16xf16, 512x256x16x1> -> <1x2x16x16xf16, 512x256x16x1>
    %6 = migraphx.softmax %5 {axis = 3 : i64} : <1x2x16x16xf16, 512x256x16x1> -> <1x2x16x16xf16, 512x256x16x1>
    %7 = migraphx.dot %6, %arg4 : <1x2x16x16xf16, 512x256x16x1>, <1x2x16x16xf16, 512x256x16x1> -> <1x2x16x16xf16, 512x256x16x1>
    return %7 : !migraphx.shaped<1x2x16x16xf16, 512x256x16x1>
  }
}
