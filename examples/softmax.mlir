// Softmax over rows: maximum, exponential and sum in one dispatch, with cross-lane reductions.
// wavesmith hijack init examples/softmax.mlir -o out --target gfx942
func.func @softmax(%input: tensor<8x256xf32>) -> tensor<8x256xf32> {
  %empty = tensor.empty() : tensor<8x256xf32>
  %out = linalg.softmax dimension(1) ins(%input : tensor<8x256xf32>) outs(%empty : tensor<8x256xf32>) -> tensor<8x256xf32>
  return %out : tensor<8x256xf32>
}
