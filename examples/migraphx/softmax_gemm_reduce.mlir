module {
  func.func @mlir_softmax_gemm_reduce(%arg0: !migraphx.shaped<1x16x64xbf16, 1024x64x1>, %arg1: !migraphx.shaped<1x64x16xbf16, 1024x16x1>) -> !migraphx.shaped<1x1x16xbf16, 16x16x1> attributes {rock.kernel} {
    %0 = migraphx.softmax %arg0 {axis = 2 : i64} : <1x16x64xbf16, 1024x64x1> -> <1x16x64xbf16, 1024x64x1>
    %1 = migraphx.dot %0, %arg1 : <1x16x64xbf16, 1024x64x1>, <1x64x16xbf16, 1024x16x1> -> <1x16x16xbf16, 256x16x1>
    %2 = migraphx.reduce_mean %1 {axes = [1]} : <1x16x16xbf16, 256x16x1> -> <1x1x16xbf16, 16x16x1>
    return %2 : !migraphx.shaped<1x1x16xbf16, 16x16x1>
  }
}
