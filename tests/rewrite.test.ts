// The rewriter: what is not asked for stays bit for bit, and code that is put in everywhere changes nothing that a kernel computes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { type CodeObject, codeObjectsOf, openContainer, readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import { liftCodeObject } from '../src/program/index.ts';
import { rewriteCodeObject, rewriteProgram } from '../src/rewrite/index.ts';
import { AITER_KERNELS } from './sim/kernels/aiter-cases.ts';
import { changedRuns, hasCorpus } from './sim/kernels/support.ts';
import { TENSILE_KERNELS } from './sim/kernels/tensile-cases.ts';
import { deriveDispatches, fillerFor, VmfbRunner } from './sim/kernels/vmfb.ts';
import { NOP, padEveryInstruction, padEveryPoint, runSubject } from './support/rewrite.ts';
import { sharedPath } from './support/shared.ts';
import { clangSubjects, tritonSubjects } from './support/strict-kernels.ts';

const corpus = sharedPath('corpus');
const files =
  corpus === undefined
    ? []
    : ['gfx90a', 'gfx942', 'gfx950', 'triton'].flatMap((folder) =>
        readdirSync(join(corpus, folder))
          .filter((name) => /\.(co|hsaco)$/.test(name))
          .map((name) => `${folder}/${name}`),
      );

/** A gfx942 code object of one kernel without arguments that stores to `out`; `body` begins with the kernarg pointer in s[0:1]. */
function kernelOf(body: string, more = '', text = ''): CodeObject {
  return readCodeObject(
    assembleAndLink(`.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
${body}
.Lend:
.size k, .Lend-k
${text}
.rodata
.amdhsa_kernel k
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 32
.amdhsa_accum_offset 8
.amdhsa_kernarg_size 8
.amdhsa_user_sgpr_kernarg_segment_ptr 1
${more}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer }
...
.end_amdgpu_metadata
`),
  );
}

/** Stores s20 of each work-item and ends. */
const STORE = `s_load_dwordx2 s[2:3], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, s20
global_store_dword v1, v2, s[2:3]
s_endpgm`;

async function resultOf(codeObject: CodeObject): Promise<{ words: Uint32Array; instructions: number }> {
  const device = await createDevice('sim', { target: 'gfx942' });
  const out = device.alloc(256, 'out');
  const { instructions } = await device.dispatch({
    kernel: device.load(codeObject.bytes).kernel('k'),
    grid: [1, 1, 1],
    block: [64, 1, 1],
    args: [out],
  });
  const words = new Uint32Array(device.read(out).buffer);
  device.close();
  return { words, instructions };
}

describe.skipIf(corpus === undefined)('the reference corpus', () => {
  test('stays bit for bit when nothing is asked for', () => {
    for (const file of files) {
      for (const codeObject of codeObjectsOf(openContainer(readFileSync(join(corpus as string, file)), file))) {
        const again = rewriteCodeObject(codeObject).codeObject.bytes;
        expect(Buffer.compare(again, codeObject.bytes), file).toBe(0);
      }
    }
  });

  test.each([
    'gfx90a/TensileLibrary_HH_HH_HA_Bias_Aux_SAV_Type_HH_HPA_Contraction_l_Ailk_Bjlk_Cijk_Dijk_gfx90a.co',
    'gfx950/fmoe_gelu_fmoe_bf16_blockscaleFp8_g1u1_vs_gelu_1tg_ps_64x384.co',
    'triton/add_f32.gfx950.hsaco',
  ])('%s with code at every point has every instruction once, and a map to it', (file) => {
    const [codeObject] = codeObjectsOf(openContainer(readFileSync(join(corpus as string, file)), file));
    const program = liftCodeObject(codeObject as CodeObject);
    const { codeObject: changed, pcs } = rewriteProgram(program, { edits: padEveryPoint(program) });
    const again = liftCodeObject(changed);
    for (const { pc, instruction } of program.instructions) {
      const now = pcs.now(pc) as number;
      if (instruction.row.flags.has('isBranch')) continue;
      expect(again.at(now)?.instruction.row).toBe(instruction.row);
      expect(pcs.original(now)).toEqual({ pc, isInserted: false });
      expect(pcs.original(now - 4)).toEqual({ pc, isInserted: true });
    }
    expect(again.functions.length).toBe(program.functions.length);
    expect(changed.kernels.map((k) => k.name)).toEqual(codeObject?.kernels.map((k) => k.name));
    expect(again.functions.every((f) => f.kernel === undefined || f.entry % 256 === 0)).toBe(true);
  });
});

describe.skipIf(!hasCorpus)('hand-written kernels with an s_nop before every instruction', () => {
  const all = [...Object.values(AITER_KERNELS).flat(), ...TENSILE_KERNELS];
  const chosen = [
    'gfx942 12x256x8',
    'gfx950 32x896',
    'gfx942 head 128, rtz',
    'f64, beta 0, mapping 8',
    'f16 32x16, staggered, mapping 4',
  ];
  test.each(chosen)('%s', async (name) => {
    const found = all.find(([one]) => one === name);
    changedRuns.change = (bytes) => {
      const program = liftCodeObject(readCodeObject(bytes));
      // A short reach, so that branches need islands.
      return { bytes: rewriteProgram(program, { edits: padEveryInstruction(program), reach: 5000 }).codeObject.bytes };
    };
    try {
      const outcome = await found?.[2]();
      expect((outcome?.worst ?? 1) / (outcome?.largest ?? 1)).toBeLessThan(found?.[1] ?? 0);
    } finally {
      changedRuns.change = undefined;
    }
  });
});

/** A part of the compiled kernels that has every target. */
const compiled = [...clangSubjects(), ...tritonSubjects()].filter((_, i) => i % 3 === 0);

test.skipIf(compiled.length === 0).each(compiled.map((s) => [s.name, s] as const))(
  '%s computes the same with code at every point, in strict mode too',
  async (_name, subject) => {
    const program = liftCodeObject(readCodeObject(subject.codeObject));
    const changed = rewriteProgram(program, { edits: padEveryPoint(program) }).codeObject.bytes;
    const before = await runSubject(subject, subject.codeObject);
    const after = await runSubject(subject, changed, {});
    expect(after.contents).toEqual(before.contents);
    expect(after.result.instructions).toBeGreaterThan(before.result.instructions);
    expect(after.result.diagnostics).toEqual([]);
  },
);

const module = sharedPath('vmfb', 'llama8b-fp8.gfx942.vmfb');

test.skipIf(module === undefined)('kernels of an IREE module compute the same, their entry blocks moved', async () => {
  const bytes = readFileSync(module as string);
  const derived = deriveDispatches(bytes, { tokens: 32, pages: 1, cachePages: 8 });
  const original = new VmfbRunner(bytes);
  const changed = new VmfbRunner(bytes, (object) => {
    const program = liftCodeObject(object);
    const entries = new Map(program.functions.map((f) => [f.entry, new Array<Uint8Array>(70).fill(NOP)]));
    const { before } = padEveryInstruction(program);
    return rewriteProgram(program, { edits: { before: new Map([...(before ?? []), ...entries]) } }).codeObject.bytes;
  });
  for (const start of [
    'decode_bs4$async_dispatch_0_',
    'decode_bs4$async_dispatch_2_matmul',
    'decode_bs4$async_dispatch_15_attention',
  ]) {
    const one = derived.find((d) => d.kernel.startsWith(start));
    if (one?.dispatch === undefined) throw new Error(`no dispatch of ${start}`);
    const a = await original.run(one.kernel, one.dispatch, 1, fillerFor(one));
    const b = await changed.run(one.kernel, one.dispatch, 1, fillerFor(one));
    expect(b.hash).toBe(a.hash);
    expect(b.instructions).toBeGreaterThan(a.instructions);
  }
});

describe('one kernel', () => {
  const LOOP = `s_mov_b32 s20, 0
.Lloop:
s_add_u32 s20, s20, 3
s_cmp_lt_u32 s20, 30
s_cbranch_scc1 .Lloop
${STORE}`;
  const edge = (text: string): Uint8Array => codeOf(text);
  /** Machine code of a few instructions. */
  function codeOf(text: string): Uint8Array {
    const { elf } = kernelOf(`${text}\ns_endpgm`);
    const code = elf.section('.text')?.bytes ?? new Uint8Array();
    return code.slice(0, code.length - 4);
  }

  test('runs code on a taken edge, on the other edge, before and behind', async () => {
    const codeObject = kernelOf(LOOP);
    const program = liftCodeObject(codeObject);
    const branch = program.instructions.find((c) => c.instruction.row.operation === 's_cbranch_scc1');
    const pc = branch?.pc ?? 0;
    const once = (text: string): ReadonlyMap<number, Uint8Array[]> => new Map([[pc, [edge(text)]]]);
    expect((await resultOf(codeObject)).words[5]).toBe(30);
    // 3, 3 + 1 + 3, …: each way back adds one.
    const taken = await resultOf(
      rewriteProgram(program, { edits: { taken: once('s_add_u32 s20, s20, 1') } }).codeObject,
    );
    expect(taken.words[5]).toBe(31);
    const after = await resultOf(
      rewriteProgram(program, { edits: { after: once('s_add_u32 s20, s20, 100') } }).codeObject,
    );
    expect(after.words[5]).toBe(130);
    const before = await resultOf(rewriteProgram(program, { edits: { before: once('s_nop 0') } }).codeObject);
    expect(before.instructions - (await resultOf(codeObject)).instructions).toBe(10);
  });

  test('replaces and removes instructions', async () => {
    const program = liftCodeObject(kernelOf(LOOP));
    const add = program.instructions.find((c) => c.instruction.row.operation === 's_add_u32');
    const replace = new Map([[add?.pc ?? 0, codeOf('s_nop 1\ns_add_u32 s20, s20, 7')]]);
    expect((await resultOf(rewriteProgram(program, { edits: { replace } }).codeObject)).words[0]).toBe(35);
    const first = new Map([[program.instructions[0]?.pc ?? 0, new Uint8Array(0)]]);
    expect((await resultOf(rewriteProgram(program, { edits: { replace: first } }).codeObject)).words[0]).toBe(30);
  });

  test('branches over more code than they reach go by islands', async () => {
    const codeObject = kernelOf(`s_mov_b32 s20, 0
.Lagain:
s_add_u32 s20, s20, 1
s_branch .Lfar
${'s_nop 0\n'.repeat(3000)}
.Lback:
s_cmp_lt_u32 s20, 5
s_cbranch_scc1 .Lagain
${STORE}
${'s_nop 0\n'.repeat(3000)}
.Lfar:
s_branch .Lback`);
    const program = liftCodeObject(codeObject);
    const thick = new Map(program.instructions.map(({ pc }) => [pc, new Array<Uint8Array>(12).fill(NOP)]));
    const skipped = await resultOf(rewriteProgram(program, { edits: { before: thick } }).codeObject);
    expect(skipped.words[0]).toBe(5);
    const {
      islands,
      codeObject: changed,
      codeBytes,
    } = rewriteProgram(program, {
      edits: {
        before: new Map(
          program.instructions.map(({ pc }) => [
            pc,
            [new Uint8Array(NOP.length * 20000).fill(0).map((_, i) => NOP[i % 4] as number)],
          ]),
        ),
      },
    });
    expect(codeBytes[1]).toBeGreaterThan(400_000);
    expect(islands).toBeGreaterThan(3);
    expect((await resultOf(changed)).words[0]).toBe(5);
  });

  test('addresses of functions and of data follow, forward and backward', async () => {
    const codeObject = kernelOf(
      `s_mov_b32 s20, 5
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, helper@rel32@lo+4
s_addc_u32 s5, s5, helper@rel32@hi+12
s_swappc_b64 s[30:31], s[4:5]
s_getpc_b64 s[6:7]
s_add_u32 s6, s6, table@rel32@lo+4
s_addc_u32 s7, s7, table@rel32@hi+12
s_load_dword s8, s[6:7], 0x4
s_waitcnt lgkmcnt(0)
s_add_u32 s20, s20, s8
${STORE}`,
      '',
      `.p2align 6
.type helper,@function
helper:
s_mul_i32 s20, s20, 3
s_setpc_b64 s[30:31]
.Lhend:
.size helper, .Lhend-helper
.section .rodata
.p2align 4
.type table,@object
table:
.long 1, 1000, 3
.size table, 12
.text
`,
    );
    expect((await resultOf(codeObject)).words[0]).toBe(1015);
    const program = liftCodeObject(codeObject);
    const { codeObject: changed } = rewriteProgram(program, { edits: padEveryPoint(program) });
    expect((await resultOf(changed)).words[0]).toBe(1015);
    expect(changed.elf.symbols.find((s) => s.name === 'helper')?.value).not.toBe(
      codeObject.elf.symbols.find((s) => s.name === 'helper')?.value,
    );
  });

  test('descriptor and metadata change, also when the note outgrows its place', async () => {
    const codeObject = kernelOf(LOOP);
    const { codeObject: changed } = rewriteCodeObject(codeObject, {
      kernels: new Map([
        [
          'k',
          {
            descriptor: (d) => {
              d.rsrc1.granulatedWorkitemVgprCount = 3;
              d.rsrc3.accumOffset = 5;
            },
            metadata: new Map([
              ['.vgpr_count', 70000n],
              ['.private_segment_fixed_size', 4096n],
            ]),
          },
        ],
      ]),
    });
    const [kernel] = changed.kernels;
    expect(kernel?.metadata?.vgprCount).toBe(70000);
    expect(kernel?.metadata?.privateSegmentFixedSize).toBe(4096);
    expect(kernel?.descriptor?.rsrc3.accumOffset).toBe(5);
    const same = rewriteCodeObject(codeObject, {
      kernels: new Map([['k', { metadata: new Map([['.vgpr_count', 9n]]) }]]),
    });
    expect(same.codeObject.bytes.length).toBe(codeObject.bytes.length);
    expect(same.codeObject.kernels[0]?.metadata?.vgprCount).toBe(9);
  });

  test('code that jumps to a place that is not known takes no edits, and says where it jumps', () => {
    const codeObject = kernelOf(`s_load_dwordx2 s[4:5], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_setpc_b64 s[4:5]`);
    const program = liftCodeObject(codeObject);
    expect(() => rewriteProgram(program, { edits: padEveryInstruction(program) })).toThrowError(
      expect.objectContaining({
        code: 'rewrite/unresolved-branch',
        message: expect.stringContaining('s_setpc_b64 s[4:5]'),
      }),
    );
    expect(Buffer.compare(rewriteProgram(program).codeObject.bytes, codeObject.bytes)).toBe(0);
  });

  test('an address that cannot be followed is refused', () => {
    const codeObject = kernelOf(`s_getpc_b64 s[4:5]
s_and_b32 s4, s4, 0xfffff000
v_mov_b32 v1, s4
s_endpgm`);
    expect(() => rewriteCodeObject(codeObject)).toThrowError(expect.objectContaining({ code: 'rewrite/pc-value' }));
  });

  test('an edit at no instruction is refused', () => {
    expect(() => rewriteCodeObject(kernelOf(LOOP), { edits: { before: new Map([[4, [NOP]]]) } })).toThrowError(
      expect.objectContaining({ code: 'rewrite/no-instruction' }),
    );
  });
});

test('a table that begins where the code ends is data, though the code moves', async () => {
  const codeObject = readCodeObject(
    assembleAndLink(`.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl k
.p2align 8
.type k,@function
k:
  s_getpc_b64 s[8:9]
  s_add_u32 s8, s8, table@rel32@lo+4
  s_addc_u32 s9, s9, table@rel32@hi+12
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_load_dword s20, s[8:9], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, s20
  global_store_dword v1, v2, s[2:3]
  s_endpgm
.size k, .-k
.p2align 12
.section .data.rel.ro,"aw"
.p2align 12
table:
  .long 77
.rodata
.amdhsa_kernel k
.amdhsa_next_free_vgpr 8
.amdhsa_next_free_sgpr 32
.amdhsa_accum_offset 8
.amdhsa_kernarg_size 8
.amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 32
    .vgpr_count: 8
    .max_flat_workgroup_size: 64
    .args:
      - { .name: out, .offset: 0, .size: 8, .value_kind: global_buffer }
...
.end_amdgpu_metadata
`),
  );
  const { elf } = codeObject;
  const [text, data] = [elf.section('.text'), elf.section('.data.rel.ro')];
  // What the test is about: nothing lies between them.
  expect((text?.address ?? 0) + (text?.size ?? 0)).toBe(data?.address);
  const program = liftCodeObject(codeObject);
  const { codeObject: changed, data: references } = rewriteProgram(program, { edits: padEveryInstruction(program) });
  expect(changed.elf.section('.text')?.address).not.toBe(text?.address);
  expect(references.map(({ target }) => target)).toEqual([data?.address]);
  expect((await resultOf(changed)).words[0]).toBe(77);
});
