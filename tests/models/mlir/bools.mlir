func.func @bools(%x: tensor<40xi1>, %a: tensor<40xi64>, %b: tensor<40xi16>, %s: i1, %u: f64) -> (tensor<40xi64>, tensor<40xi1>, f64) {
  %e = arith.extsi %b : tensor<40xi16> to tensor<40xi64>
  %r = arith.select %x, %a, %e : tensor<40xi1>, tensor<40xi64>
  %q = arith.cmpi slt, %a, %e : tensor<40xi64>
  %me = tensor.empty() : tensor<40xi1>
  %m = linalg.fill ins(%s : i1) outs(%me : tensor<40xi1>) -> tensor<40xi1>
  %w = arith.andi %q, %m : tensor<40xi1>
  %z = arith.addf %u, %u : f64
  return %r, %w, %z : tensor<40xi64>, tensor<40xi1>, f64
}
