module {
  func.func private @mlir_unsigned(%arg0: !migraphx.shaped<8x16xui8, 16x1>, %arg1: !migraphx.shaped<8x16xui8, 16x1>) -> !migraphx.shaped<8x16xf32, 16x1> {
    %0 = migraphx.max %arg0, %arg1 : <8x16xui8, 16x1>, <8x16xui8, 16x1> -> <8x16xui8, 16x1>
    %1 = migraphx.greater %arg0, %arg1 : <8x16xui8, 16x1>, <8x16xui8, 16x1> -> <8x16xui8, 16x1>
    %2 = migraphx.literal(dense<3> : tensor<8x16xui8>) : <8x16xui8, 16x1>
    %3 = migraphx.div %0, %2 : <8x16xui8, 16x1>, <8x16xui8, 16x1> -> <8x16xui8, 16x1>
    %4 = migraphx.add %3, %1 : <8x16xui8, 16x1>, <8x16xui8, 16x1> -> <8x16xui8, 16x1>
    %5 = migraphx.convert %4 {target_type = 1 : i64} : <8x16xui8, 16x1> to <8x16xf32, 16x1>
    return %5 : !migraphx.shaped<8x16xf32, 16x1>
  }
}
