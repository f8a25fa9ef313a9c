module {
  func.func @mlir_pad_relu(%arg0: !migraphx.shaped<2x3x4xf32, 12x4x1>) -> !migraphx.shaped<2x6x5xf32, 30x5x1> {
    %0 = migraphx.pad %arg0 {mode = 0 : i32, pads = [0, 1, 1, 0, 2, 0], value = 1.500000e+00 : f32} : <2x3x4xf32, 12x4x1> -> <2x6x5xf32, 30x5x1>
    %1 = migraphx.relu %0 : <2x6x5xf32, 30x5x1> -> <2x6x5xf32, 30x5x1>
    return %1 : !migraphx.shaped<2x6x5xf32, 30x5x1>
  }
}
