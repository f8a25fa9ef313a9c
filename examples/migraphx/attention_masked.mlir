// Attention with a mask that is added to the scores, heads in a dimension of their own, in f32.
module {
  func.func @mlir_attention_masked(%arg0: tensor<1x2x16x32xf32>, %arg1: tensor<1x2x32x16xf32>, %arg2: tensor<1x2x16x32xf32>, %arg3: tensor<1x1x16x16xf32>) -> tensor<1x2x16x32xf32> {
    %0 = migraphx.literal (dense<2.500000e-01> : tensor<1xf32>) : tensor<1xf32>
    %1 = migraphx.dot %arg0, %arg1 : tensor<1x2x16x32xf32>, tensor<1x2x32x16xf32> -> tensor<1x2x16x16xf32>
    %2 = migraphx.multibroadcast %0 {out_lens = [1, 2, 16, 16]} : tensor<1xf32> -> tensor<1x2x16x16xf32>
    %3 = migraphx.mul %1, %2 : tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32> -> tensor<1x2x16x16xf32>
    %4 = migraphx.multibroadcast %arg3 {out_lens = [1, 2, 16, 16]} : tensor<1x1x16x16xf32> -> tensor<1x2x16x16xf32>
    %5 = migraphx.add %3, %4 : tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32> -> tensor<1x2x16x16xf32>
    %6 = migraphx.softmax %5 {axis = 3 : i64} : tensor<1x2x16x16xf32> -> tensor<1x2x16x16xf32>
    %7 = migraphx.dot %6, %arg2 : tensor<1x2x16x16xf32>, tensor<1x2x16x32xf32> -> tensor<1x2x16x32xf32>
    return %7 : tensor<1x2x16x32xf32>
  }
}
