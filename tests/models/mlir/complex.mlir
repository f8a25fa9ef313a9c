func.func @complex(%x: tensor<16xcomplex<f32>>) -> tensor<16xcomplex<f32>> {
  %e = tensor.empty() : tensor<16xcomplex<f32>>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<16xcomplex<f32>>) outs(%e : tensor<16xcomplex<f32>>) {
   ^bb0(%a: complex<f32>, %o: complex<f32>):
     %b = complex.mul %a, %a : complex<f32>
     linalg.yield %b : complex<f32>
  } -> tensor<16xcomplex<f32>>
  return %0 : tensor<16xcomplex<f32>>
}
