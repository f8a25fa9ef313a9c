// A small f16 matrix product with f32 accumulation: one dispatch, v_mfma_f32_16x16x16_f16 on gfx942.
// wavesmith hijack init examples/matmul_f16.mlir -o out --target gfx942
func.func @matmul(%lhs: tensor<128x128xf16>, %rhs: tensor<128x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %out = linalg.matmul ins(%lhs, %rhs : tensor<128x128xf16>, tensor<128x128xf16>)
                       outs(%acc : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %out : tensor<128x128xf32>
}
