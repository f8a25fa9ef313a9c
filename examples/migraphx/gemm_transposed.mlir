// GEMM whose factors are both transposed, the second by its strides.
module {
  func.func @mlir_dot_transposed(%arg0: !migraphx.shaped<32x16xf32, 16x1>, %arg1: !migraphx.shaped<32x24xf32, 1x32>) -> !migraphx.shaped<16x24xf32, 24x1> {
    %0 = migraphx.transpose %arg0 {permutation = [1, 0]} : <32x16xf32, 16x1> -> <16x32xf32, 1x16>
    %1 = migraphx.dot %0, %arg1 : <16x32xf32, 1x16>, <32x24xf32, 1x32> -> <16x24xf32, 24x1>
    %2 = migraphx.tanh %1 : <16x24xf32, 24x1> -> <16x24xf32, 24x1>
    return %2 : !migraphx.shaped<16x24xf32, 24x1>
  }
}
