func.func @fft(%re: tensor<8x32xf32>, %im: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %c1 = arith.constant 1 : index
  %w = arith.constant dense<1.0> : tensor<1xf32>
  %v = arith.constant dense<-0.0> : tensor<1xf32>
  %0:2 = iree_linalg_ext.fft ins(%c1, %w, %v : index, tensor<1xf32>, tensor<1xf32>) outs(%re, %im : tensor<8x32xf32>, tensor<8x32xf32>) : tensor<8x32xf32>, tensor<8x32xf32>
  return %0#0, %0#1 : tensor<8x32xf32>, tensor<8x32xf32>
}
