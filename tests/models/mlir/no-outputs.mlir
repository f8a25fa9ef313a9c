util.global private mutable @state = dense<0.0> : tensor<64xf32>
func.func @store(%x: tensor<64xf32>) {
  %s = util.global.load @state : tensor<64xf32>
  %y = arith.addf %x, %s : tensor<64xf32>
  util.global.store %y, @state : tensor<64xf32>
  return
}
func.func @load() -> tensor<64xf32> {
  %s = util.global.load @state : tensor<64xf32>
  %y = arith.mulf %s, %s : tensor<64xf32>
  return %y : tensor<64xf32>
}
