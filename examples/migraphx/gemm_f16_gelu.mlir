// GEMM in f16 with the GELU of ONNX models: x * 0.5 * (1 + erf(x / sqrt 2)).
module {
  func.func @mlir_dot_gelu(%arg0: !migraphx.shaped<1x32x64xf16, 2048x64x1>, %arg1: !migraphx.shaped<1x64x32xf16, 2048x32x1>) -> !migraphx.shaped<1x32x32xf16, 1024x32x1> attributes {kernel = "mixr"} {
    %0 = migraphx.literal (dense<5.000000e-01> : tensor<1xf16>) : <1xf16, 0>
    %1 = migraphx.literal (dense<1.000000e+00> : tensor<1xf16>) : <1xf16, 0>
    %2 = migraphx.literal (dense<1.414060e+00> : tensor<1xf16>) : <1xf16, 0>
    %3 = migraphx.dot %arg0, %arg1 : <1x32x64xf16, 2048x64x1>, <1x64x32xf16, 2048x32x1> -> <1x32x32xf16, 1024x32x1>
    %4 = migraphx.multibroadcast %2 {out_dyn_dims = [], out_lens = [1, 32, 32]} : <1xf16, 0> -> <1x32x32xf16, 0x0x0>
    %5 = migraphx.div %3, %4 : <1x32x32xf16, 1024x32x1>, <1x32x32xf16, 0x0x0> -> <1x32x32xf16, 1024x32x1>
    %6 = migraphx.erf %5 : <1x32x32xf16, 1024x32x1> -> <1x32x32xf16, 1024x32x1>
    %7 = migraphx.multibroadcast %1 {out_dyn_dims = [], out_lens = [1, 32, 32]} : <1xf16, 0> -> <1x32x32xf16, 0x0x0>
    %8 = migraphx.add %6, %7 : <1x32x32xf16, 1024x32x1>, <1x32x32xf16, 0x0x0> -> <1x32x32xf16, 1024x32x1>
    %9 = migraphx.mul %3, %8 : <1x32x32xf16, 1024x32x1>, <1x32x32xf16, 1024x32x1> -> <1x32x32xf16, 1024x32x1>
    %10 = migraphx.multibroadcast %0 {out_dyn_dims = [], out_lens = [1, 32, 32]} : <1xf16, 0> -> <1x32x32xf16, 0x0x0>
    %11 = migraphx.mul %9, %10 : <1x32x32xf16, 1024x32x1>, <1x32x32xf16, 0x0x0> -> <1x32x32xf16, 1024x32x1>
    return %11 : !migraphx.shaped<1x32x32xf16, 1024x32x1>
  }
}
