// GELU by its tanh approximation, in bf16.
module {
  func.func @mlir_gelu_tanh(%arg0: tensor<32x32xbf16>) -> tensor<32x32xbf16> {
    %0 = migraphx.literal (dense<4.473880e-02> : tensor<1xbf16>) : tensor<1xbf16>
    %1 = migraphx.literal (dense<7.968750e-01> : tensor<1xbf16>) : tensor<1xbf16>
    %2 = migraphx.literal (dense<5.000000e-01> : tensor<1xbf16>) : tensor<1xbf16>
    %3 = migraphx.multibroadcast %0 {out_lens = [32, 32]} : tensor<1xbf16> -> tensor<32x32xbf16>
    %4 = migraphx.multibroadcast %1 {out_lens = [32, 32]} : tensor<1xbf16> -> tensor<32x32xbf16>
    %5 = migraphx.multibroadcast %2 {out_lens = [32, 32]} : tensor<1xbf16> -> tensor<32x32xbf16>
    %6 = migraphx.mul %arg0, %arg0 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %7 = migraphx.mul %6, %arg0 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %8 = migraphx.mul %7, %3 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %9 = migraphx.add %arg0, %8 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %10 = migraphx.mul %9, %4 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %11 = migraphx.tanh %10 : tensor<32x32xbf16> -> tensor<32x32xbf16>
    %12 = migraphx.mul %arg0, %5 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %13 = migraphx.mul %12, %11 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    %14 = migraphx.add %12, %13 : tensor<32x32xbf16>, tensor<32x32xbf16> -> tensor<32x32xbf16>
    return %14 : tensor<32x32xbf16>
  }
}
