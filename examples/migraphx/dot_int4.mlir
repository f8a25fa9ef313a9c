module {
  func.func @mlir_dot_int4(%arg0: !migraphx.shaped<32x16xui8, 16x1>, %arg1: !migraphx.shaped<32x2x1xf16, 2x1x1>, %arg2: !migraphx.shaped<32x2x1xui8, 2x1x1>, %arg3: !migraphx.shaped<1x8x32xf16, 256x32x1>) -> !migraphx.shaped<1x8x32xf16, 256x32x1> attributes {rock.kernel} {
    %0 = migraphx.unpack %arg0 {axis = 1 : i64} : <32x16xui8, 16x1> -> <32x32xui8, 32x1>
    %1 = migraphx.multibroadcast %arg1 {out_dyn_dims = [], out_lens = [32, 2, 16]} : <32x2x1xf16, 2x1x1> -> <32x2x16xf16, 2x1x0>
    %2 = migraphx.reshape %1 {dims = [32, 32]} : <32x2x16xf16, 2x1x0> -> <32x32xf16, 32x1>
    %3 = migraphx.multibroadcast %arg2 {out_dyn_dims = [], out_lens = [32, 2, 16]} : <32x2x1xui8, 2x1x1> -> <32x2x16xui8, 2x1x0>
    %4 = migraphx.reshape %3 {dims = [32, 32]} : <32x2x16xui8, 2x1x0> -> <32x32xui8, 32x1>
    %5 = migraphx.dequantizelinear %0, %2, %4 : <32x32xui8, 32x1>, <32x32xf16, 32x1>, <32x32xui8, 32x1> -> <32x32xf16, 32x1>
    %6 = migraphx.transpose %5 {permutation = [1, 0]} : <32x32xf16, 32x1> -> <32x32xf16, 1x32>
    %7 = migraphx.multibroadcast %6 {out_dyn_dims = [], out_lens = [1, 32, 32]} : <32x32xf16, 1x32> -> <1x32x32xf16, 0x1x32>
    %8 = migraphx.dot %arg3, %7 : <1x8x32xf16, 256x32x1>, <1x32x32xf16, 0x1x32> -> <1x8x32xf16, 256x32x1>
    return %8 : !migraphx.shaped<1x8x32xf16, 256x32x1>
  }
}
