// Dot product of i8 into i32, dequantised to f32.
module {
  func.func @mlir_quant_dot(%arg0: !migraphx.shaped<1x32x64xi8, 2048x64x1>, %arg1: !migraphx.shaped<1x64x32xi8, 2048x32x1>, %arg2: !migraphx.shaped<1x32x32xf32, 0x0x1>) -> !migraphx.shaped<1x32x32xf32, 1024x32x1> {
    %0 = migraphx.quant_dot %arg0, %arg1 : <1x32x64xi8, 2048x64x1>, <1x64x32xi8, 2048x32x1> -> <1x32x32xi32, 1024x32x1>
    %1 = migraphx.dequantizelinear %0, %arg2 : <1x32x32xi32, 1024x32x1>, <1x32x32xf32, 0x0x1> -> <1x32x32xf32, 1024x32x1>
    return %1 : !migraphx.shaped<1x32x32xf32, 1024x32x1>
  }
}
