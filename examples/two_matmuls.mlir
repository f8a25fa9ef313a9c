// Two matrix products in a row: two dispatches, which IREE links into one executable unless told not to.
// wavesmith hijack init examples/two_matmuls.mlir -o out --target gfx942 [--link]
func.func @two_matmuls(%a: tensor<64x64xf16>, %b: tensor<64x96xf16>, %c: tensor<96x32xf16>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64x96xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64x96xf32>) -> tensor<64x96xf32>
  %ab = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x96xf16>)
                      outs(%f0 : tensor<64x96xf32>) -> tensor<64x96xf32>
  %h = arith.truncf %ab : tensor<64x96xf32> to tensor<64x96xf16>
  %e1 = tensor.empty() : tensor<64x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %out = linalg.matmul ins(%h, %c : tensor<64x96xf16>, tensor<96x32xf16>)
                       outs(%f1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %out : tensor<64x32xf32>
}
