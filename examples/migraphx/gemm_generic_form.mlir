// A module in the generic form, with aliases and a location.
!a = tensor<24x32xf32>
!b = tensor<32x40xf32>
module @generic_form {
  func.func @mlir_dot(%arg0: !a, %arg1: !b) -> tensor<24x40xf32> {
    %0 = "migraphx.dot"(%arg0, %arg1) : (!a, !b) -> tensor<24x40xf32> loc(#loc1)
    %1 = "migraphx.exp"(%0) : (tensor<24x40xf32>) -> tensor<24x40xf32>
    "func.return"(%1) : (tensor<24x40xf32>) -> ()
  }
}
#loc1 = loc("main:@2")
