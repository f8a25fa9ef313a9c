// Attention: scores scaled, softmax over the keys, in f16.
module {
  func.func @mlir_attention(%arg0: tensor<2x32x32xf16>, %arg1: tensor<2x32x32xf16>, %arg2: tensor<2x32x32xf16>) -> tensor<2x32x32xf16> attributes {kernel = "mixr"} {
    %0 = migraphx.literal (dense<1.767580e-01> : tensor<1xf16>) : tensor<1xf16>
    %1 = migraphx.transpose %arg1 {permutation = [0, 2, 1]} : tensor<2x32x32xf16> -> tensor<2x32x32xf16>
    %2 = migraphx.dot %arg0, %1 : tensor<2x32x32xf16>, tensor<2x32x32xf16> -> tensor<2x32x32xf16>
    %3 = migraphx.multibroadcast %0 {out_lens = [2, 32, 32]} : tensor<1xf16> -> tensor<2x32x32xf16>
    %4 = migraphx.mul %2, %3 : tensor<2x32x32xf16>, tensor<2x32x32xf16> -> tensor<2x32x32xf16>
    %5 = migraphx.softmax %4 {axis = 2 : i64} : tensor<2x32x32xf16> -> tensor<2x32x32xf16>
    %6 = migraphx.dot %5, %arg2 : tensor<2x32x32xf16>, tensor<2x32x32xf16> -> tensor<2x32x32xf16>
    return %6 : tensor<2x32x32xf16>
  }
}
