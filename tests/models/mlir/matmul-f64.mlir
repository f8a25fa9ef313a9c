func.func @matmul_f64(%a: tensor<33x65xf64>, %b: tensor<65x17xf64>) -> tensor<33x17xf64> {
  %z = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<33x17xf64>
  %c = linalg.fill ins(%z : f64) outs(%e : tensor<33x17xf64>) -> tensor<33x17xf64>
  %0 = linalg.matmul ins(%a, %b : tensor<33x65xf64>, tensor<65x17xf64>) outs(%c : tensor<33x17xf64>) -> tensor<33x17xf64>
  return %0 : tensor<33x17xf64>
}
