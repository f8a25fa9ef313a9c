// GEMM in bf16 with a sigmoid, on plain tensors.
module {
  func.func @mlir_dot_sigmoid(%arg0: tensor<16x32xbf16>, %arg1: tensor<32x16xbf16>) -> tensor<16x16xbf16> {
    %0 = migraphx.dot %arg0, %arg1 : tensor<16x32xbf16>, tensor<32x16xbf16> -> tensor<16x16xbf16>
    %1 = migraphx.sigmoid %0 : tensor<16x16xbf16> -> tensor<16x16xbf16>
    return %1 : tensor<16x16xbf16>
  }
}
