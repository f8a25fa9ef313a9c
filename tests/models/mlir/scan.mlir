func.func @scan(%x: tensor<5x33xi32>) -> (tensor<5x33xi32>, tensor<5xi32>) {
  %e = tensor.empty() : tensor<5x33xi32>
  %z = arith.constant dense<0> : tensor<5xi32>
  %0:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : tensor<5x33xi32>) outs(%e, %z : tensor<5x33xi32>, tensor<5xi32>) {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    iree_linalg_ext.yield %s : i32
  } -> tensor<5x33xi32>, tensor<5xi32>
  return %0#0, %0#1 : tensor<5x33xi32>, tensor<5xi32>
}
