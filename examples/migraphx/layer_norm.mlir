// Layer normalisation from means, in f32.
module {
  func.func @mlir_layer_norm(%arg0: tensor<16x64xf32>, %arg1: tensor<64xf32>) -> tensor<16x64xf32> {
    %0 = migraphx.literal (dense<9.99999974E-6> : tensor<1xf32>) : tensor<1xf32>
    %1 = migraphx.reduce_mean %arg0 {axes = [1]} : tensor<16x64xf32> -> tensor<16x1xf32>
    %2 = migraphx.multibroadcast %1 {out_lens = [16, 64]} : tensor<16x1xf32> -> tensor<16x64xf32>
    %3 = migraphx.sub %arg0, %2 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x64xf32>
    %4 = migraphx.mul %3, %3 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x64xf32>
    %5 = migraphx.reduce_mean %4 {axes = [1]} : tensor<16x64xf32> -> tensor<16x1xf32>
    %6 = migraphx.multibroadcast %0 {out_lens = [16, 1]} : tensor<1xf32> -> tensor<16x1xf32>
    %7 = migraphx.add %5, %6 : tensor<16x1xf32>, tensor<16x1xf32> -> tensor<16x1xf32>
    %8 = migraphx.rsqrt %7 : tensor<16x1xf32> -> tensor<16x1xf32>
    %9 = migraphx.multibroadcast %8 {out_lens = [16, 64]} : tensor<16x1xf32> -> tensor<16x64xf32>
    %10 = migraphx.mul %3, %9 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x64xf32>
    %11 = migraphx.multibroadcast %arg1 {out_lens = [16, 64]} : tensor<64xf32> -> tensor<16x64xf32>
    %12 = migraphx.mul %10, %11 : tensor<16x64xf32>, tensor<16x64xf32> -> tensor<16x64xf32>
    return %12 : tensor<16x64xf32>
  }
}
