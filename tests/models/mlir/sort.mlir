func.func @sort(%x: tensor<64xf32>, %i: tensor<64xi32>) -> (tensor<64xf32>, tensor<64xi32>) {
  %0:2 = iree_linalg_ext.sort dimension(0) outs(%x, %i : tensor<64xf32>, tensor<64xi32>) {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %l = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %l : i1
  } -> tensor<64xf32>, tensor<64xi32>
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xi32>
}
