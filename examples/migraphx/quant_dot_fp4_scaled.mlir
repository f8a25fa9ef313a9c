module {
  func.func private @mlir_quant_dot_fp4_scaled(%arg0: !migraphx.shaped<1x16x64xf4E2M1FN, 1024x64x1>, %arg1: !migraphx.shaped<1x64x16xf4E2M1FN, 1024x16x1>, %arg2: !migraphx.shaped<1x16x2x1xf8E8M0FNU, 32x2x1x1>, %arg3: !migraphx.shaped<1x2x1x16xf8E8M0FNU, 32x16x16x1>) -> !migraphx.shaped<1x16x16xf32, 256x16x1> {
    %0 = migraphx.multibroadcast %arg2 {out_dyn_dims = [], out_lens = [1, 16, 2, 32]} : <1x16x2x1xf8E8M0FNU, 32x2x1x1> -> <1x16x2x32xf8E8M0FNU, 32x2x1x0>
    %1 = migraphx.reshape %0 {dims = [1, 16, 64]} : <1x16x2x32xf8E8M0FNU, 32x2x1x0> -> <1x16x64xf8E8M0FNU, 1024x64x1>
    %2 = migraphx.multibroadcast %arg3 {out_dyn_dims = [], out_lens = [1, 2, 32, 16]} : <1x2x1x16xf8E8M0FNU, 32x16x16x1> -> <1x2x32x16xf8E8M0FNU, 32x16x0x1>
    %3 = migraphx.reshape %2 {dims = [1, 64, 16]} : <1x2x32x16xf8E8M0FNU, 32x16x0x1> -> <1x64x16xf8E8M0FNU, 1024x16x1>
    %r = migraphx.quant_dot %arg0 scaled by %1, %arg1 scaled by %3 : <1x16x64xf4E2M1FN, 1024x64x1> scaled by !migraphx.shaped<1x16x64xf8E8M0FNU, 1024x64x1>, <1x64x16xf4E2M1FN, 1024x16x1> scaled by !migraphx.shaped<1x64x16xf8E8M0FNU, 1024x16x1> -> <1x16x16xf32, 256x16x1>
    return %r : !migraphx.shaped<1x16x16xf32, 256x16x1>
  }
}
