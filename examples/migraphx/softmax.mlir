// Softmax over the last axis of scaled values.
module {
  func.func @mlir_softmax(%arg0: tensor<4x8x40xf32>, %arg1: tensor<40xf32>) -> tensor<4x8x40xf32> {
    %0 = migraphx.multibroadcast %arg1 {out_lens = [4, 8, 40]} : tensor<40xf32> -> tensor<4x8x40xf32>
    %1 = migraphx.mul %arg0, %0 : tensor<4x8x40xf32>, tensor<4x8x40xf32> -> tensor<4x8x40xf32>
    %2 = migraphx.softmax %1 {axis = 2 : i64} : tensor<4x8x40xf32> -> tensor<4x8x40xf32>
    return %2 : tensor<4x8x40xf32>
  }
}
