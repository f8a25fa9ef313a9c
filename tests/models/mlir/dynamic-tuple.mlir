func.func @dynamic_tuple(%a: tensor<?x8xf32>, %b: tensor<?x?xf32>, %n: index) -> (tensor<?x8xf32>, tensor<?x?xf32>, tensor<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.addf %a, %a : tensor<?x8xf32>
  %y = math.absf %b : tensor<?x?xf32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<?xi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      linalg.yield %j : i32
  } -> tensor<?xi32>
  return %x, %y, %z : tensor<?x8xf32>, tensor<?x?xf32>, tensor<?xi32>
}
