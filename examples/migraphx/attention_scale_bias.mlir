module {
  func.func private @mlir_attention_scale_bias(%arg0: !migraphx.shaped<1x7x3xf32, 21x3x1>, %arg1: !migraphx.shaped<1x3x7xf32, 21x7x1>, %arg2: !migraphx.shaped<1x7x3xf32, 21x3x1>, %arg3: !migraphx.shaped<1x7x7xf32, 49x7x1> {mhal.read_access}, %arg4: !migraphx.shaped<1x7x7xf32, 49x7x1>) -> !migraphx.shaped<1x7x3xf32, 21x3x1> {
    %0 = migraphx.dot %arg0, %arg1 : <1x7x3xf32, 21x3x1>, <1x3x7xf32, 21x7x1> -> <1x7x7xf32, 49x7x1>
    %1 = migraphx.mul %0, %arg3 : <1x7x7xf32, 49x7x1>, <1x7x7xf32, 49x7x1> -> <1x7x7xf32, 49x7x1>
    %2 = migraphx.add %1, %arg4 : <1x7x7xf32, 49x7x1>, <1x7x7xf32, 49x7x1> -> <1x7x7xf32, 49x7x1>
    %3 = migraphx.softmax %2 {axis = 2 : i64} : <1x7x7xf32, 49x7x1> -> <1x7x7xf32, 49x7x1>
    %4 = migraphx.dot %3, %arg2 : <1x7x7xf32, 49x7x1>, <1x7x3xf32, 21x3x1> -> <1x7x3xf32, 21x3x1>
    return %4 : !migraphx.shaped<1x7x3xf32, 21x3x1>
  }
}
