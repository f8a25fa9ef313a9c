module {
  func.func @mlir_gemm_gemm(%arg0: !migraphx.shaped<1x32x16xf16, 512x16x1>, %arg1: !migraphx.shaped<1x16x32xf16, 512x32x1>, %arg2: !migraphx.shaped<1x32x16xf16, 512x16x1>) -> !migraphx.shaped<1x32x16xf16, 512x16x1> attributes {rock.kernel} {
    %0 = migraphx.dot %arg0, %arg1 : <1x32x16xf16, 512x16x1>, <1x16x32xf16, 512x32x1> -> <1x32x32xf16, 1024x32x1>
    %1 = migraphx.relu %0 : <1x32x32xf16, 1024x32x1> -> <1x32x32xf16, 1024x32x1>
    %2 = migraphx.dot %1, %arg2 : <1x32x32xf16, 1024x32x1>, <1x32x16xf16, 512x16x1> -> <1x32x16xf16, 512x16x1>
    return %2 : !migraphx.shaped<1x32x16xf16, 512x16x1>
  }
}
