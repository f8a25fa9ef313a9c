// The kernels of the device contract.
import { type DeviceTestKernel, deviceTestSource } from '../../../src/cli/selftest-kernels.ts';

const CONTRACT_KERNELS: Readonly<Record<string, DeviceTestKernel>> = {
  store: { code: 'v_mov_b32_e32 v2, s6\nglobal_store_dword v1, v2, s[4:5]' },
  increment: {
    code: `global_load_dword v2, v1, s[4:5]
s_waitcnt vmcnt(0)
v_add_u32_e32 v2, s6, v2
global_store_dword v1, v2, s[4:5]`,
  },
  // One atomic per work-item: what it counts is how many ran.
  count: { code: 'v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s6\nglobal_atomic_add v1, v2, s[4:5]' },
  // The value is the byte offset of the last dword of dynamic LDS; it goes through there.
  through_lds: {
    lds: 64,
    code: `v_mov_b32_e32 v2, s6
v_mov_b32_e32 v3, 0x600d
ds_write_b32 v2, v3
s_waitcnt lgkmcnt(0)
ds_read_b32 v4, v2
s_waitcnt lgkmcnt(0)
global_store_dword v1, v4, s[4:5]`,
  },
  trap: { code: 's_trap 2' },
  endless: { code: '.Lendless:\ns_nop 0\ns_branch .Lendless' },
  illegal: { code: '.long 0xffffffff' },
  narrow: { most: 64, code: '' },
};

/** The text of all kernels for a target. */
export function contractSource(target: string): string {
  return deviceTestSource(target, CONTRACT_KERNELS);
}
