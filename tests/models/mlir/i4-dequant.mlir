func.func @i4_dequant(%x: tensor<8x64xf16>, %w: tensor<32x64xi4>, %s: tensor<32xf16>) -> tensor<8x32xf32> {
  %z = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<32x64xf16>
  %wf = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%w, %s : tensor<32x64xi4>, tensor<32xf16>) outs(%we : tensor<32x64xf16>) {
    ^bb0(%a: i4, %b: f16, %o: f16):
      %i = arith.extsi %a : i4 to i32
      %f = arith.sitofp %i : i32 to f16
      %g = arith.mulf %f, %b : f16
      linalg.yield %g : f16
  } -> tensor<32x64xf16>
  %e = tensor.empty() : tensor<8x32xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %wf : tensor<8x64xf16>, tensor<32x64xf16>) outs(%c : tensor<8x32xf32>) {
    ^bb0(%a: f16, %b: f16, %o: f32):
      %p = arith.extf %a : f16 to f32
      %q = arith.extf %b : f16 to f32
      %m = arith.mulf %p, %q : f32
      %t = arith.addf %m, %o : f32
      linalg.yield %t : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}
