// Select by an i8 condition between exp and a sum.
module {
  func.func @mlir_where(%arg0: tensor<16x32xi8>, %arg1: tensor<16x32xf32>, %arg2: tensor<16x32xf32>) -> tensor<16x32xf32> {
    %0 = migraphx.exp %arg1 : tensor<16x32xf32> -> tensor<16x32xf32>
    %1 = migraphx.add %arg1, %arg2 : tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
    %2 = migraphx.where %arg0, %0, %1 : tensor<16x32xi8>, tensor<16x32xf32>, tensor<16x32xf32> -> tensor<16x32xf32>
    return %2 : tensor<16x32xf32>
  }
}
