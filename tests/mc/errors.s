// Lines that llvm-mc refuses; the ones between must still be assembled.
s_nop 0
s_nop
v_add_f32 v0, v1
s_mov_b64 s[1:2], 0
s_mov_b32 s0, 0x123456789a
v_add_f32 v0, s1, s2
v_fma_f32 v0, v1, 100.0, v2
s_nop 1
s_add_u32 s0, 0x1234, 0x5678
s_mov_b32 s0, 1b
s_mov_b32 s0, (1
v_mov_b32 v0, v1 row_shl:16
s_waitcnt vmcnt(64)
s_waitcnt foo(0)
s_sendmsg sendmsg(MSG_GS)
s_getreg_b32 s0, hwreg(1, 32, 1)
global_load_dword v0, v[2:3], off offset:4096
ds_read_b32 v0, v1 offset:65536
v_mov_b32_e64_dpp v0, v1 row_shl:1
v_dual_mov_b32 v0, v1
s_endpgm
