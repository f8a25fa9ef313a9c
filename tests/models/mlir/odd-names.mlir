module @"odd name!" {
func.func @"my fn.1"(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = arith.addf %x, %x : tensor<64xf32>
  return %y : tensor<64xf32>
}
func.func @"my fn:1"(%x: tensor<32xf32>) -> tensor<32xf32> {
  %y = arith.mulf %x, %x : tensor<32xf32>
  return %y : tensor<32xf32>
}
func.func @"größe"(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = arith.subf %x, %x : tensor<16xf32>
  %z = math.exp %x : tensor<16xf32>
  %w = arith.addf %y, %z : tensor<16xf32>
  return %w : tensor<16xf32>
}
}
