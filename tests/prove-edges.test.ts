// Pairs of kernels that differ at the edges: in results that come too early, registers that nobody has written, memory past its end, lanes
// that meet or are off, fields of descriptor and metadata. None may be proved.
import { describe, expect, it } from 'vitest';
import { proveKernel } from '../src/equivalence/index.ts';
import { all, build, LGKM, LOAD, prove, STORE, type Variant, VM } from './support/prove-kernel.ts';
import { PAIRS as ATOMICS } from './support/prove-pairs/atomics.ts';
import { PAIRS as BARRIERS } from './support/prove-pairs/barriers.ts';
import { PAIRS as BUFFERS } from './support/prove-pairs/buffers.ts';
import { PAIRS as CALLS } from './support/prove-pairs/calls.ts';
import { PAIRS as CONTROLS } from './support/prove-pairs/controls.ts';
import { PAIRS as ENDINGS } from './support/prove-pairs/endings.ts';
import { PAIRS as FAULTS } from './support/prove-pairs/faults.ts';
import { PAIRS as INTERFACE } from './support/prove-pairs/interface.ts';
import { PAIRS as LANES } from './support/prove-pairs/lanes.ts';
import { PAIRS as MASKS } from './support/prove-pairs/masks.ts';
import { PAIRS as MEMORY } from './support/prove-pairs/memory.ts';
import { PAIRS as MODES } from './support/prove-pairs/modes.ts';
import { PAIRS as ORDER } from './support/prove-pairs/order.ts';
import { PAIRS as PARTS } from './support/prove-pairs/parts.ts';
import { PAIRS as PLACES } from './support/prove-pairs/places.ts';
import { PAIRS as REGISTERS } from './support/prove-pairs/registers.ts';
import { PAIRS as SPACES } from './support/prove-pairs/spaces.ts';
import { PAIRS as TIMING } from './support/prove-pairs/timing.ts';

const NOPS = 's_nop 7';

/** A kernel that reaches scratch by its address and by its own instructions. */
const scratchPointer = (...accesses: readonly string[]): Variant => ({
  target: 'gfx90a',
  body: all(
    's_add_u32 flat_scratch_lo, s2, s5\ns_addc_u32 flat_scratch_hi, s3, 0',
    NOPS,
    'v_mov_b32_e32 v6, 0',
    's_mov_b64 s[12:13], flat_scratch',
    LGKM,
    ...accesses.flatMap((access) => [access, VM]),
    STORE,
  ),
  directives:
    '\t.amdhsa_user_sgpr_flat_scratch_init 1\n\t.amdhsa_system_sgpr_private_segment_wavefront_offset 1\n\t.amdhsa_private_segment_fixed_size 64',
  change: (t) =>
    t
      .replace('user_sgpr_count 2', 'user_sgpr_count 4')
      .replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
});

describe('never proved', () => {
  it.each([
    ...ATOMICS,
    ...BARRIERS,
    ...BUFFERS,
    ...CALLS,
    ...ENDINGS,
    ...MASKS,
    ...MODES,
    ...SPACES,
    ...CONTROLS,
    ...FAULTS,
    ...INTERFACE,
    ...LANES,
    ...MEMORY,
    ...ORDER,
    ...PARTS,
    ...PLACES,
    ...REGISTERS,
    ...TIMING,
  ])('%s', (_name, a, b) => {
    expect(proveKernel(build(a), build(a), 'k', { ignoreIdentity: true })).toMatchObject({ verdict: 'proved' });
    expect(prove(a, b)).toMatchObject({ verdict: 'not-proved', reason: expect.stringMatching(/^[A-Z'].*\.$/s) });
  });

  it('what is done to scratch through its address', () => {
    const store = 'scratch_store_dword v6, v0, off offset:4';
    const load = 'global_load_dword v2, v6, s[12:13] offset:256';
    expect(prove(scratchPointer(store, load), scratchPointer(load, store)).reason).toBe(
      'Scratch is reached by its address.',
    );
  });
});

describe('proved', () => {
  it('thousands of stores that are apart', () => {
    const stores = Array.from({ length: 3000 }, (_, i) => `ds_write_b32 v3, v2 offset:${4 * i}`);
    const kernel = build(all(LOAD, VM, 'v_lshlrev_b32_e32 v3, 16, v0', ...stores));
    expect(proveKernel(kernel, kernel, 'k', { ignoreIdentity: true }).verdict).toBe('proved');
  });

  it('moved code with addresses to return to in lanes and in scratch', () => {
    const call = (name: string): string =>
      all(
        's_getpc_b64 s[12:13]',
        `s_add_u32 s12, s12, ${name}@rel32@lo+4`,
        `s_addc_u32 s13, s13, ${name}@rel32@hi+12`,
        's_swappc_b64 s[30:31], s[12:13]',
      );
    const kernel = (extra: string): Variant => ({
      body: all(extra, call('outer'), call('outer'), STORE),
      after: all(
        'outer:',
        's_xor_saveexec_b64 s[14:15], -1',
        'scratch_store_dword off, v5, off offset:4',
        's_mov_b64 exec, s[14:15]',
        'v_writelane_b32 v5, s30, 0',
        'v_writelane_b32 v5, s31, 1',
        's_or_saveexec_b64 s[16:17], -1',
        'scratch_store_dword off, v5, off offset:8',
        's_mov_b64 exec, s[16:17]',
        call('inner'),
        extra,
        's_or_saveexec_b64 s[16:17], -1',
        'scratch_load_dword v5, off, off offset:8',
        's_mov_b64 exec, s[16:17]',
        VM,
        's_nop 4',
        'v_readlane_b32 s30, v5, 0',
        'v_readlane_b32 s31, v5, 1',
        's_xor_saveexec_b64 s[14:15], -1',
        'scratch_load_dword v5, off, off offset:4',
        's_mov_b64 exec, s[14:15]',
        VM,
        's_setpc_b64 s[30:31]',
        'inner:',
        'v_add_u32_e32 v2, 3, v0',
        's_setpc_b64 s[30:31]',
      ),
      directives: '.amdhsa_private_segment_fixed_size 64\n.amdhsa_enable_private_segment 1',
      change: (t) => t.replace('.private_segment_fixed_size: 0', '.private_segment_fixed_size: 64'),
    });
    const proof = prove(kernel(''), kernel('s_nop 0'));
    expect(proof).toMatchObject({ verdict: 'proved', reason: undefined });
    expect(proof.assumptions.join()).toContain('No pointer reaches an address of code');
  });

  it('a flag in code that is never reached', () => {
    const kernel = build(
      all(
        LOAD,
        's_mov_b32 s12, 0',
        's_cmp_lg_u32 s12, 0',
        's_cbranch_scc0 .Lx',
        's_load_dword s13, s[6:7], 0x0 glc',
        LGKM,
        '.Lx:',
        VM,
        STORE,
      ),
    );
    expect(proveKernel(kernel, kernel, 'k', { ignoreIdentity: true })).toMatchObject({ reason: undefined });
  });

  it('LDS that grows where the baseline stays inside', () => {
    const body = all('ds_write_b32 v1, v0', LGKM, 's_barrier', 'ds_read_b32 v2, v1', LGKM, STORE);
    const change = (t: string): string =>
      t.replaceAll('group_segment_fixed_size 4096', 'group_segment_fixed_size 8192');
    const metadata = (t: string): string => change(t).replace('fixed_size: 4096', 'fixed_size: 8192');
    expect(prove(body, { body, change: metadata })).toMatchObject({ reason: undefined });
  });
});
