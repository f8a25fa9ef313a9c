module {
  func.func @mlir_greater_or_equal(%arg0: !migraphx.shaped<1x4x8x16xsi32, 512x128x16x1>) -> !migraphx.shaped<1x4x8x16xsi32, 512x128x16x1> attributes {kernel, arch = ""} {
    %0 = migraphx.literal(dense<1> : tensor<1x4x8x16xsi32>) : <1x4x8x16xsi32, 512x128x16x1>
    %1 = migraphx.add %arg0, %0 : <1x4x8x16xsi32, 512x128x16x1>, <1x4x8x16xsi32, 512x128x16x1> -> <1x4x8x16xsi32, 512x128x16x1>
    %2 = migraphx.greater_or_equal %1, %arg0 : <1x4x8x16xsi32, 512x128x16x1>, <1x4x8x16xsi32, 512x128x16x1> -> <1x4x8x16xsi32, 512x128x16x1>
    %3 = migraphx.equal %arg0, %0 : <1x4x8x16xsi32, 512x128x16x1>, <1x4x8x16xsi32, 512x128x16x1> -> <1x4x8x16xsi32, 512x128x16x1>
    %4 = migraphx.add %2, %3 : <1x4x8x16xsi32, 512x128x16x1>, <1x4x8x16xsi32, 512x128x16x1> -> <1x4x8x16xsi32, 512x128x16x1>
    return %4 : !migraphx.shaped<1x4x8x16xsi32, 512x128x16x1>
  }
}
