// Convolution of i8 into i32, scaled and rounded back to i8 with a zero point.
module {
  func.func @mlir_quant_convolution(%arg0: tensor<1x8x8x8xi8>, %arg1: tensor<16x8x3x3xi8>) -> tensor<1x16x8x8xi8> {
    %0 = migraphx.literal (dense<3.000000e-03> : tensor<1xf32>) : tensor<1xf32>
    %1 = migraphx.literal (dense<2.000000e-01> : tensor<1xf32>) : tensor<1xf32>
    %2 = migraphx.literal (dense<-5> : tensor<1xi8>) : tensor<1xi8>
    %3 = migraphx.quant_convolution %arg0, %arg1 {dilation = [1, 1], group = 1 : i64, padding = [1, 1, 1, 1], padding_mode = 0 : i64, stride = [1, 1]} : tensor<1x8x8x8xi8>, tensor<16x8x3x3xi8> -> tensor<1x16x8x8xi32>
    %4 = migraphx.multibroadcast %0 {out_lens = [1, 16, 8, 8]} : tensor<1xf32> -> tensor<1x16x8x8xf32>
    %5 = migraphx.multibroadcast %1 {out_lens = [1, 16, 8, 8]} : tensor<1xf32> -> tensor<1x16x8x8xf32>
    %6 = migraphx.multibroadcast %2 {out_lens = [1, 16, 8, 8]} : tensor<1xi8> -> tensor<1x16x8x8xi8>
    %7 = migraphx.dequantizelinear %3, %4 : tensor<1x16x8x8xi32>, tensor<1x16x8x8xf32> -> tensor<1x16x8x8xf32>
    %8 = migraphx.quantizelinear %7, %5, %6 : tensor<1x16x8x8xf32>, tensor<1x16x8x8xf32>, tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
    return %8 : tensor<1x16x8x8xi8>
  }
}
