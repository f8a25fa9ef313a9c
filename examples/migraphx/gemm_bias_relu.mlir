// GEMM, bias, ReLU in f32.
module {
  func.func @mlir_dot_add_relu(%arg0: !migraphx.shaped<1x32x48xf32, 1536x48x1>, %arg1: !migraphx.shaped<1x48x64xf32, 3072x64x1>, %arg2: !migraphx.shaped<1x32x64xf32, 0x0x1>) -> !migraphx.shaped<1x32x64xf32, 2048x64x1> attributes {arch = "gfx942:sramecc+:xnack-", kernel = "mixr", num_cu = 304 : i64} {
    %0 = migraphx.dot %arg0, %arg1 : <1x32x48xf32, 1536x48x1>, <1x48x64xf32, 3072x64x1> -> <1x32x64xf32, 2048x64x1>
    %1 = migraphx.add %0, %arg2 : <1x32x64xf32, 2048x64x1>, <1x32x64xf32, 0x0x1> -> <1x32x64xf32, 2048x64x1>
    %2 = migraphx.relu %1 : <1x32x64xf32, 2048x64x1> -> <1x32x64xf32, 2048x64x1>
    return %2 : !migraphx.shaped<1x32x64xf32, 2048x64x1>
  }
}
