// A matrix product with a dimension known only at run time: grid and constants are not in the compiled record, so
// 'hijack run --dispatch' asks for --grid, --constant and --buffer; 'hijack run' for --input.
func.func @dyn(%lhs: tensor<?x64xf16>, %rhs: tensor<64x64xf16>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %lhs, %c0 : tensor<?x64xf16>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty(%m) : tensor<?x64xf32>
  %acc = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x64xf32>) -> tensor<?x64xf32>
  %out = linalg.matmul ins(%lhs, %rhs : tensor<?x64xf16>, tensor<64x64xf16>) outs(%acc : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %out : tensor<?x64xf32>
}
