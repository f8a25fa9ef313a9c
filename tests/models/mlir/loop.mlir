func.func @loop(%x: tensor<16xf32>, %limit: tensor<f32>) -> (tensor<16xf32>, tensor<i32>) {
  %zero = arith.constant 0.0 : f32
  %i0 = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %most = arith.constant dense<9> : tensor<i32>
  %r:2 = scf.while (%v = %x, %n = %i0) : (tensor<16xf32>, tensor<i32>) -> (tensor<16xf32>, tensor<i32>) {
    %c = arith.cmpi slt, %n, %most : tensor<i32>
    %cond = tensor.extract %c[] : tensor<i1>
    scf.condition(%cond) %v, %n : tensor<16xf32>, tensor<i32>
  } do {
  ^bb0(%v: tensor<16xf32>, %n: tensor<i32>):
    %w = arith.addf %v, %x : tensor<16xf32>
    %m = arith.addi %n, %one : tensor<i32>
    scf.yield %w, %m : tensor<16xf32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<16xf32>, tensor<i32>
}
