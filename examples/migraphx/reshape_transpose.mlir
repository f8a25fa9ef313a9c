// Heads split off and moved to the front, as before attention.
module {
  func.func @mlir_split_heads(%arg0: tensor<2x16x64xf16>, %arg1: tensor<64xf16>) -> tensor<2x4x16x16xf16> {
    %0 = migraphx.broadcast %arg1 {axis = 2 : i64, out_lens = [2, 16, 64]} : tensor<64xf16> -> tensor<2x16x64xf16>
    %1 = migraphx.add %arg0, %0 : tensor<2x16x64xf16>, tensor<2x16x64xf16> -> tensor<2x16x64xf16>
    %2 = migraphx.reshape %1 {dims = [2, 16, 4, 16]} : tensor<2x16x64xf16> -> tensor<2x16x4x16xf16>
    %3 = migraphx.transpose %2 {permutation = [0, 2, 1, 3]} : tensor<2x16x4x16xf16> -> tensor<2x4x16x16xf16>
    return %3 : tensor<2x4x16x16xf16>
  }
}
