// The entry of a kernel, and what changes against a baseline: each rule with a file that breaks it and one that does not.
import { describe, expect, test } from 'vitest';
import { type KernelSource, kernelObject } from '../../../tests/support/kernel-source.ts';
import { checkCodeObject } from '../index.ts';

const PRELOAD = { user_sgpr_kernarg_preload_length: 2 };
const STUB = 's_load_dwordx2 s[2:3], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_branch .Lmain';

function rulesOf(options: KernelSource, against?: KernelSource): string[] {
  const baseline = against === undefined ? undefined : kernelObject(against);
  return checkCodeObject(kernelObject(options), { against: baseline }).map((f) => `${f.severity} ${f.rule}`);
}

describe('the entry', () => {
  test.each<[string, string[], KernelSource]>([
    [
      'preloaded arguments with their block',
      [],
      { code: `${STUB}\n.p2align 8\n.Lmain:\ns_nop 0`, descriptor: PRELOAD },
    ],
    ['a block that traps', [], { code: 's_trap 2\n.p2align 8\ns_nop 0', descriptor: PRELOAD }],
    [
      'a block whose branch skips code of preloading hardware',
      [],
      {
        code: `${STUB}\n.p2align 8\ns_nop 0\n.Lmain:\ns_nop 1`,
        descriptor: PRELOAD,
      },
    ],
    ['no block', ['error abi/preload-entry'], { code: 's_nop 0', descriptor: PRELOAD }],
    ['a lost alignment', ['error abi/preload-entry'], { code: `${STUB}\n.Lmain:\ns_nop 0`, descriptor: PRELOAD }],
    ['no preloading', [], { code: 's_nop 0' }],
  ])('%s', (_, rules, options) => {
    expect(rulesOf(options)).toEqual(rules);
  });

  test('an entry point that is not aligned', () => {
    const [found] = checkCodeObject(kernelObject({ code: '' })).filter((f) => f.rule === 'abi/entry-alignment');
    expect(found).toBeUndefined();
    const codeObject = kernelObject({ code: 's_nop 0' });
    const kernels = codeObject.kernels.map((k) => ({ ...k, entry: (k.entry ?? 0) + 4 }));
    expect(checkCodeObject({ ...codeObject, kernels }).map((f) => f.rule)).toEqual(['abi/entry-alignment']);
  });

  test('more user SGPRs than the descriptor loads', () => {
    const codeObject = kernelObject();
    const kernels = codeObject.kernels.map((k) => {
      const d = k.descriptor;
      return d === undefined ? k : { ...k, descriptor: { ...d, rsrc2: { ...d.rsrc2, userSgprCount: 1 } } };
    });
    expect(checkCodeObject({ ...codeObject, kernels }).map((f) => f.message)).toEqual([
      "Kernel 'k' enables 2 user SGPRs, but its descriptor loads only 1.",
    ]);
  });
});

describe('against a baseline', () => {
  const two: KernelSource = {
    args: [
      [8, 'global_buffer'],
      [4, 'by_value'],
    ],
  };
  test.each<[string, string[], KernelSource, KernelSource]>([
    ['the same file', [], two, two],
    [
      'other code and registers',
      [],
      { code: 'v_mov_b32 v20, 0', descriptor: { next_free_vgpr: 24, accum_offset: 24 } },
      {},
    ],
    ['another target', ['error abi/target'], { target: 'gfx942' }, { target: 'gfx950' }],
    ['another feature', ['error abi/target'], { target: 'gfx942:xnack+' }, { target: 'gfx942:xnack-' }],
    ['version 4 for 5', ['error abi/code-object-version'], { version: 4 }, { version: 5 }],
    ['version 6 for 5', ['warning abi/code-object-version'], { version: 6 }, { version: 5 }],
    ['another name', ['error abi/kernel-name'], { name: 'other' }, { name: 'k' }],
    ['an argument of another kind', ['error abi/kernarg-layout'], { args: [[8, 'by_value']] }, {}],
    [
      'an argument more',
      ['error abi/kernarg-layout'],
      two,
      { args: [[8, 'global_buffer']], descriptor: { kernarg_size: 12 }, metadata: { '.kernarg_segment_size': 12 } },
    ],
    [
      'a larger segment',
      ['error abi/kernarg-layout'],
      { descriptor: { kernarg_size: 16 }, metadata: { '.kernarg_segment_size': 16 } },
      {},
    ],
    [
      'a required workgroup size',
      ['error abi/workgroup-size'],
      { metadata: { '.reqd_workgroup_size': '[64, 1, 1]' } },
      {},
    ],
    ['fewer work-items allowed', ['error abi/workgroup-size'], { metadata: { '.max_flat_workgroup_size': 64 } }, {}],
    ['more work-items allowed', [], { metadata: { '.max_flat_workgroup_size': 1024 } }, {}],
    ['another user SGPR', ['error abi/user-sgprs-changed'], { descriptor: { user_sgpr_dispatch_ptr: 1 } }, {}],
  ])('%s', (_, rules, options, against) => {
    expect(rulesOf(options, against)).toEqual(rules);
  });

  test('the argument that changed is named', () => {
    const against = kernelObject(two);
    const [found] = checkCodeObject(
      kernelObject({
        args: [
          [8, 'global_buffer'],
          [8, 'by_value'],
        ],
      }),
      { against },
    );
    expect(found?.message).toBe(
      "Argument 1 of kernel 'k' is by_value of 8 bytes at 8, the baseline's is by_value of 4 bytes at 8.",
    );
  });
});
