func.func @reduce_odd(%x: tensor<37x1003xf32>, %d: tensor<7x13x11xf64>) -> (tensor<37xf32>, tensor<13xf64>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %z64 = arith.constant 0.0 : f64
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<37xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37xf32>) -> tensor<37xf32>
  %sum = linalg.reduce ins(%x : tensor<37x1003xf32>) outs(%f : tensor<37xf32>) dimensions = [1]
    (%a: f32, %b: f32) { %c = arith.addf %a, %b : f32 linalg.yield %c : f32 }
  %e2 = tensor.empty() : tensor<13xf64>
  %f2 = linalg.fill ins(%z64 : f64) outs(%e2 : tensor<13xf64>) -> tensor<13xf64>
  %sum2 = linalg.reduce ins(%d : tensor<7x13x11xf64>) outs(%f2 : tensor<13xf64>) dimensions = [0, 2]
    (%a: f64, %b: f64) { %c = arith.addf %a, %b : f64 linalg.yield %c : f64 }
  %e3 = tensor.empty() : tensor<f32>
  %f3 = linalg.fill ins(%low : f32) outs(%e3 : tensor<f32>) -> tensor<f32>
  %m = linalg.reduce ins(%x : tensor<37x1003xf32>) outs(%f3 : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) { %c = arith.maximumf %a, %b : f32 linalg.yield %c : f32 }
  return %sum, %sum2, %m : tensor<37xf32>, tensor<13xf64>, tensor<f32>
}
