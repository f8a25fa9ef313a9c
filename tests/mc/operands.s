// Operand forms that all three targets have.
.set five, 5
loop:
s_mov_b32 s0, five + 2
s_mov_b32 s[five], lit(4)
s_mov_b64 [s2,s3], [vcc_lo,vcc_hi]
s_add_u32 s0, s1, data@rel32@lo+4
s_addc_u32 s1, s2, data@rel32@hi+12
s_cbranch_scc1 loop
s_branch 1f
1:
s_waitcnt vmcnt(3) & lgkmcnt(0)
s_waitcnt expcnt_sat(9)
s_sendmsg sendmsg(MSG_INTERRUPT)
s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s3
s_setreg_imm32_b32 {id: 1, size: 4}, 0xff
s_load_dwordx4 s[4:7], s[0:1], 0x10 glc
v_add_f32 v0, -|v1|, neg(abs(v2)) mul:4
v_add_u16 v0, 0.5, v1
v_cndmask_b32 v0, v1, v2
v_add_co_u32 v0, v1, v2
v_mov_b32 v0, v1 row_bcast:15 bound_ctrl:0
v_mov_b32_sdwa v0, sext(v1) dst_unused:UNUSED_PAD src0_sel:2
v_pk_fma_f16 v0, v1, v2, v3 op_sel_hi:[0,1,0] neg_hi:[1,0,0]
v_accvgpr_write a1, 3
ds_write2_b32 v0, v1, v2 offset0:3 offset1:255
ds_swizzle_b32 v0, v1 offset:swizzle(QUAD_PERM,0,1,2,3)
global_atomic_add v0, v1, s[2:3] offset:-16
buffer_store_dword a0, v1, s[4:7], 0 idxen offset:4095
