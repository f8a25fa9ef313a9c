// A tuning specification of IREE for matmul_f16.mlir (https://iree.dev/reference/tuning), with {names} where tune.yaml beside it has values.
// Tiles of a workgroup, tiles of a wave in matrix instructions, and how many loads of a tile are on their way at once.
module @tuning attributes { transform.with_named_sequence, iree_codegen.tuning_spec_with_default_entrypoint } {
  transform.named_sequence @apply_op_config(%op: !transform.any_op {transform.readonly},
                                            %config: !transform.any_param {transform.readonly}) {
    transform.annotate %op "compilation_info" = %config : !transform.any_op, !transform.any_param
    transform.annotate %op "__tuning_spec_applied__" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @match_matmul(%matmul: !transform.any_op {transform.readonly})
      -> (!transform.any_op, !transform.any_param) {
    %batch, %m, %n, %k = transform.iree.match.contraction %matmul,
      lhs_type = f16, rhs_type = f16, output_type = f32 : !transform.any_op -> !transform.param<i64>
    %config = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = #iree_gpu.lowering_config<{
        mma_kind = #iree_gpu.mma_layout<MFMA_F32_16x16x16_F16>, promote_operands = [0, 1],
        reduction = [0, 0, {k}], subgroup = [{subgroup}, {subgroup}, 0], workgroup = [{tile}, {tile}, 0]}>,
      translation_info = #iree_codegen.translation_info<
        pipeline = #iree_gpu.pipeline<TileAndFuse> workgroup_size = [{threads}, 1, 1] subgroup_size = 64, {
          gpu_pipeline_options = #iree_gpu.pipeline_options<prefetch_num_stages = {stages}>}>> -> !transform.any_param
    transform.yield %matmul, %config : !transform.any_op, !transform.any_param
  }
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {transform.consumed}) -> !transform.any_op
      attributes { iree_codegen.tuning_spec_entrypoint } {
    %res = transform.foreach_match in %variant @match_matmul -> @apply_op_config : (!transform.any_op) -> !transform.any_op
    transform.yield %res : !transform.any_op
  }
}
