module {
  func.func @mlir_attention_lse(%arg0: !migraphx.shaped<2x16x16xf32, 256x16x1>, %arg1: !migraphx.shaped<2x16x16xf32, 256x16x1>, %arg2: !migraphx.shaped<2x16x16xf32, 256x16x1>) -> (!migraphx.shaped<2x16x16xf32, 256x16x1>, !migraphx.shaped<2x16x1xf32, 16x1x1>) attributes {rock.kernel} {
    %0 = migraphx.transpose %arg2 {permutation = [0, 2, 1]} : <2x16x16xf32, 256x16x1> -> <2x16x16xf32, 256x1x16>
    %1 = migraphx.dot %arg1, %0 : <2x16x16xf32, 256x16x1>, <2x16x16xf32, 256x1x16> -> <2x16x16xf32, 256x16x1>
    %2 = migraphx.reduce_max %1 {axes = [2 : i64]} : <2x16x16xf32, 256x16x1> -> <2x16x1xf32, 16x1x1>
    %3 = migraphx.sub %1, %2 : <2x16x16xf32, 256x16x1>, <2x16x1xf32, 16x1x1> -> <2x16x16xf32, 256x16x1>
    %4 = migraphx.exp %3 : <2x16x16xf32, 256x16x1> -> <2x16x16xf32, 256x16x1>
    %5 = migraphx.reduce_sum %4 {axes = [2 : i64]} : <2x16x16xf32, 256x16x1> -> <2x16x1xf32, 16x1x1>
    %6 = migraphx.recip %5 : <2x16x1xf32, 16x1x1> -> <2x16x1xf32, 16x1x1>
    %7 = migraphx.mul %4, %6 : <2x16x16xf32, 256x16x1>, <2x16x1xf32, 16x1x1> -> <2x16x16xf32, 256x16x1>
    %8 = migraphx.log %5 : <2x16x1xf32, 16x1x1> -> <2x16x1xf32, 16x1x1>
    %9 = migraphx.add %8, %2 : <2x16x1xf32, 16x1x1>, <2x16x1xf32, 16x1x1> -> <2x16x1xf32, 16x1x1>
    %10 = migraphx.dot %7, %arg0 : <2x16x16xf32, 256x16x1>, <2x16x16xf32, 256x16x1> -> <2x16x16xf32, 256x16x1>
    return %10, %9 : !migraphx.shaped<2x16x16xf32, 256x16x1>, !migraphx.shaped<2x16x1xf32, 16x1x1>
  }
}
