module {
  func.func @mlir_unpack_signed(%arg0: !migraphx.shaped<4x8xi8, 8x1>) -> !migraphx.shaped<4x16xf32, 16x1> {
    %0 = migraphx.unpack %arg0 {axis = 1 : i64, isUnsigned = false} : <4x8xi8, 8x1> -> <4x16xi8, 16x1>
    %1 = migraphx.convert %0 {target_type = 1 : i64} : <4x16xi8, 16x1> to <4x16xf32, 16x1>
    return %1 : !migraphx.shaped<4x16xf32, 16x1>
  }
}
