module {
  func.func private @mlir_attention_int8(%arg0: !migraphx.shaped<1x64x32xi8, 2048x32x1>, %arg1: !migraphx.shaped<1x32x64xi8, 2048x64x1>, %arg2: !migraphx.shaped<1x64x32xf16, 2048x32x1>, %arg3: !migraphx.shaped<1x64x64xf16, 4096x64x1>, %arg4: !migraphx.shaped<1x1x1xf16, 1x1x1>) -> !migraphx.shaped<1x64x32xf16, 2048x32x1> {
    %0 = migraphx.quant_dot %arg0, %arg1 : <1x64x32xi8, 2048x32x1>, <1x32x64xi8, 2048x64x1> -> <1x64x64xi32, 4096x64x1>
    %1 = migraphx.dequantizelinear %0, %arg4 : <1x64x64xi32, 4096x64x1>, <1x1x1xf16, 1x1x1> -> <1x64x64xf16, 4096x64x1>
    %2 = migraphx.add %1, %arg3 : <1x64x64xf16, 4096x64x1>, <1x64x64xf16, 4096x64x1> -> <1x64x64xf16, 4096x64x1>
    %3 = migraphx.softmax %2 {axis = 2 : i64} : <1x64x64xf16, 4096x64x1> -> <1x64x64xf16, 4096x64x1>
    %4 = migraphx.dot %3, %arg2 : <1x64x64xf16, 4096x64x1>, <1x64x32xf16, 2048x32x1> -> <1x64x32xf16, 2048x32x1>
    return %4 : !migraphx.shaped<1x64x32xf16, 2048x32x1>
  }
}
