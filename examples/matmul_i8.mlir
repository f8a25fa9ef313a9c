// An integer matrix product: i8 factors, i32 sums, v_mfma_i32_16x16x32_i8 on gfx942.
// wavesmith hijack init examples/matmul_i8.mlir -o out --target gfx942
func.func @matmul_i8(%lhs: tensor<128x128xi8>, %rhs: tensor<128x128xi8>) -> tensor<128x128xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<128x128xi32>
  %acc = linalg.fill ins(%zero : i32) outs(%empty : tensor<128x128xi32>) -> tensor<128x128xi32>
  %out = linalg.matmul ins(%lhs, %rhs : tensor<128x128xi8>, tensor<128x128xi8>)
                       outs(%acc : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %out : tensor<128x128xi32>
}
