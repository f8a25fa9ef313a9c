// Jumps through tables that no relocation tells of: recovered where a bound of the index proves how long the table is, and followed when
// code moves; refused where nothing does.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { readCodeObject } from '../src/codeobject/index.ts';
import { createDevice } from '../src/device/index.ts';
import { type Instrumented, instrument, type ProbeDefinition, TOOLS } from '../src/instrument/index.ts';
import type { TargetName } from '../src/isa/index.ts';
import { liftCodeObject } from '../src/program/index.ts';
import { rewriteCodeObject } from '../src/rewrite/index.ts';
import { wavesmith } from './support/cli.ts';
import { EVERY_RECORD } from './support/every-point.ts';
import { kernelSource } from './support/kernel-source.ts';

const CASES = `.L0:
  v_add_u32 v2, 1, v2
  s_branch .Lnext
.L1:
  v_add_u32 v2, 16, v2
  s_branch .Lnext
.L2:
  v_lshlrev_b32 v2, 1, v2
  s_branch .Lnext
.L3:
  v_add_u32 v2, v0, v2
.Lnext:`;

/** A loop whose turns go through a table, by the argument and the turn: what a turn does is `body`, which begins with the index in s6. */
function looped(body: string, behind = '', turns = 7): string {
  return `s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_load_dword s12, s[0:1], 0x8
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v2, 0
  s_mov_b32 s8, 0
  s_waitcnt lgkmcnt(0)
.Ltop:
  s_add_u32 s6, s8, s12
  ${body}
  s_add_u32 s8, s8, 1
  s_cmp_lt_u32 s8, ${turns}
  s_cbranch_scc1 .Ltop
  global_store_dword v1, v2, s[2:3]
  s_endpgm
  ${behind}`;
}

const ADDRESS = `s_getpc_b64 s[4:5]
.Lbase:
  s_add_u32 s4, s4, .Ltable-.Lbase
  s_addc_u32 s5, s5, 0`;

const DISTANCES = `.Ltable:
  .long .L0-.Ltable
  .long .L1-.Ltable
  .long .L2-.Ltable
  .long .L3-.Ltable`;

/** Through a table of pointers. */
const POINTERS = `s_and_b32 s6, s6, 3
  s_lshl_b32 s6, s6, 3
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, .Ltable@rel32@lo+4
  s_addc_u32 s5, s5, .Ltable@rel32@hi+12
  s_load_dwordx2 s[4:5], s[4:5], s6
  s_waitcnt lgkmcnt(0)
  s_setpc_b64 s[4:5]`;
/** Loads the distance of the index from the table at s[4:5] and goes to it. */
const THROUGH = `s_lshl_b32 s6, s6, 2
  s_load_dword s7, s[4:5], s6
  s_waitcnt lgkmcnt(0)
  s_ashr_i32 s9, s7, 31
  s_add_u32 s4, s4, s7
  s_addc_u32 s5, s5, s9
  s_setpc_b64 s[4:5]`;

const RECOVERED: Readonly<Record<string, string>> = {
  'a row of branches, the index masked': looped(`s_and_b32 s6, s6, 3
  s_lshl_b32 s6, s6, 2
  s_getpc_b64 s[4:5]
.Lbase:
  s_add_u32 s4, s4, s6
  s_addc_u32 s5, s5, 0
  s_add_u32 s4, s4, .Ltable-.Lbase
  s_addc_u32 s5, s5, 0
  s_setpc_b64 s[4:5]
.Ltable:
  s_branch .L0
  s_branch .L1
  s_branch .L2
  s_branch .L3
${CASES}`),
  'a jump into code of equal parts, the greatest index first': looped(`s_min_u32 s6, s6, 3
  s_sub_u32 s6, 3, s6
  s_min_u32 s6, s6, 3
  s_lshl_b32 s6, s6, 3
  ${ADDRESS}
  s_add_u32 s4, s6, s4
  s_addc_u32 s5, 0, s5
  s_setpc_b64 s[4:5]
.Ltable:
  v_mad_u32_u24 v2, v2, 3, v0
  v_mad_u32_u24 v2, v2, 5, v0
  v_mad_u32_u24 v2, v2, 7, v0
  v_mad_u32_u24 v2, v2, 9, v0`),
  'distances from the table, in the code, the index compared': looped(
    `s_cmp_gt_u32 s6, 3
  s_cbranch_scc1 .Lnext
  ${ADDRESS}
  ${THROUGH}
${CASES}`,
    DISTANCES,
  ),
  'distances from the table, with a comparison of numbers with a sign': looped(
    `s_cmp_lt_i32 s6, 0
  s_cbranch_scc1 .Lnext
  s_cmp_le_i32 s6, 3
  s_cbranch_scc0 .Lnext
  ${ADDRESS}
  ${THROUGH}
${CASES}`,
    DISTANCES,
  ),
  'distances by the turn of the loop alone': looped(
    `s_mov_b32 s6, s8
  ${ADDRESS}
  ${THROUGH}
${CASES}`,
    DISTANCES,
    4,
  ),
  'distances from the table, in constant data': looped(
    `s_and_b32 s6, s6, 3
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, .Ltable@rel32@lo+4
  s_addc_u32 s5, s5, .Ltable@rel32@hi+12
  ${THROUGH}
${CASES}`,
    `.section .rodata.tables,"a",@progbits
  .p2align 2
.Ltable:
  .long .L0-.Ltable
  .long .L1-.Ltable
  .long .L2-.Ltable
  .long .L3-.Ltable
  .text`,
  ),
  'distances from another place, the address of the table beside it': looped(
    `s_bfe_u32 s6, s6, 0x20000
  s_getpc_b64 s[10:11]
.Lbase:
  s_add_u32 s4, s10, .Ltable-.Lbase
  s_addc_u32 s5, s11, 0
  s_lshl_b32 s6, s6, 2
  s_load_dword s7, s[4:5], s6
  s_waitcnt lgkmcnt(0)
  s_add_u32 s4, s10, s7
  s_addc_u32 s5, s11, 0
  s_setpc_b64 s[4:5]
${CASES}`,
    DISTANCES.replaceAll('-.Ltable', '-.Lbase'),
  ),
  'pointers that the loader fills in': looped(
    `${POINTERS}
${CASES}`,
    `.section .data.rel.ro,"aw",@progbits
  .p2align 3
.Ltable:
  .quad .L0
  .quad .L1
  .quad .L2
  .quad .L3
  .text`,
  ),
};

const made = (target: TargetName, code: string): Uint8Array =>
  assembleAndLink(
    kernelSource({
      target,
      code,
      args: [
        [8, 'global_buffer'],
        [4, 'by_value'],
      ],
    }),
  );

async function run(target: TargetName, code: Uint8Array, first: number, result?: Instrumented) {
  const device = await createDevice('sim', { target });
  const buffer = device.alloc(256);
  const kernel = device.load(code).kernel('k');
  const done = await device.dispatch({ kernel, grid: [1, 1, 1], block: [64, 1, 1], args: [buffer, first] });
  const contents = device.read(buffer).slice();
  const symbol = result?.codeObject.kernels[0]?.descriptorSymbol;
  const at = kernel.descriptorAddress - Number(symbol?.value) + (result?.memory.address ?? 0);
  const region = result && device.memory.find(at, result.memory.size);
  const memory = region?.bytes.slice(at - region.base, at - region.base + (result?.memory.size ?? 0));
  device.close();
  return { contents, memory, instructions: done.instructions };
}

const targets: readonly TargetName[] = ['gfx90a', 'gfx942', 'gfx950'];

describe.each(Object.entries(RECOVERED))('%s', (_, code) => {
  test.each(targets)('on %s', async (target) => {
    const bytes = made(target, code);
    const object = readCodeObject(bytes);
    const [table, ...others] = liftCodeObject(object).jumpTables;
    expect(others).toEqual([]);
    expect(new Set(table?.targets).size).toBe(4);
    expect(Buffer.compare(rewriteCodeObject(object).codeObject.bytes, bytes)).toBe(0);
    const counter = instrument(object, TOOLS['instr-count'] as unknown as ProbeDefinition);
    const record = instrument(object, EVERY_RECORD as unknown as ProbeDefinition);
    for (const { rejected, findings } of [counter, record]) expect([...rejected, ...findings]).toEqual([]);
    for (const first of [0, 2, 2 ** 32 - 3]) {
      const original = await run(target, bytes, first);
      const counted = await run(target, counter.codeObject.bytes, first, counter);
      expect(counted.contents).toEqual(original.contents);
      expect(Number(counter.report(counted.memory ?? new Uint8Array()).instructions)).toBe(original.instructions);
      expect((await run(target, record.codeObject.bytes, first)).contents).toEqual(original.contents);
    }
  });
});

const WRITTEN = `.data
  .p2align 2
.Ltable:
  .long 0
  .long 4
  .long 8
  .long 12
  .text`;

describe('no table is guessed', () => {
  test('and the kernel runs as it was, is named, and fails --require-all', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wavesmith-jumps-'));
    try {
      const [file, output] = [join(folder, 'open.co'), join(folder, 'probed.co')];
      writeFileSync(file, made('gfx942', looped(`s_and_b32 s6, s6, 255\n${ADDRESS}\n${THROUGH}\n${CASES}`, DISTANCES)));
      const line = ['probe', '--tool', 'instr-count', file, '-o', output];
      const plain = await wavesmith(...line);
      expect(plain.code).toBe(0);
      expect(plain.out).toMatch(/where 's_setpc_b64 s\[4:5\]' at 0x\w+ goes is not known/);
      expect(readFileSync(output)).toEqual(readFileSync(file));
      expect((await wavesmith(...line, '--require-all')).code).toBe(1);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test.each([
    ['an index without a bound', looped(`${ADDRESS}\n${THROUGH}\n${CASES}`, DISTANCES)],
    [
      'an index that is compared and then changed',
      looped(
        `s_cmp_gt_u32 s6, 3
  s_cbranch_scc1 .Lnext
  s_add_u32 s6, s6, s12
  ${ADDRESS}\n${THROUGH}\n${CASES}`,
        DISTANCES,
      ),
    ],
    [
      'a comparison with a sign alone',
      looped(`s_cmp_gt_i32 s6, 3\n  s_cbranch_scc1 .Lnext\n  ${ADDRESS}\n${THROUGH}\n${CASES}`, DISTANCES),
    ],
    [
      'a way around the comparison',
      looped(
        `s_cmp_eq_u32 s8, 5
  s_cbranch_scc1 .Lgo
  s_cmp_gt_u32 s6, 3
  s_cbranch_scc1 .Lnext
.Lgo:
  ${ADDRESS}\n${THROUGH}\n${CASES}`,
        DISTANCES,
      ),
    ],
    [
      'an index that goes over the end of the code',
      looped(`s_and_b32 s6, s6, 255\n${ADDRESS}\n${THROUGH}\n${CASES}`, DISTANCES),
    ],
    [
      'a table that code may write',
      looped(
        `s_and_b32 s6, s6, 3
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, .Ltable@rel32@lo+4
  s_addc_u32 s5, s5, .Ltable@rel32@hi+12
  ${THROUGH}\n${CASES}`,
        WRITTEN,
      ),
    ],
    [
      'pointers that code may write',
      looped(`${POINTERS}\n${CASES}`, '.data\n.p2align 3\n.Ltable:\n.quad .L0\n.quad .L1\n.quad .L2\n.quad .L3\n.text'),
    ],
  ])('%s', (_, code) => {
    const object = readCodeObject(made('gfx942', code));
    expect(liftCodeObject(object).jumpTables).toEqual([]);
    const { placed, rejected } = instrument(object, TOOLS['instr-count'] as unknown as ProbeDefinition);
    expect(placed).toBe(0);
    expect(new Set(rejected.map(({ reason }) => reason.replace(/0x\w+/, '…')))).toEqual(
      new Set(["where 's_setpc_b64 s[4:5]' at … goes is not known"]),
    );
  });
});
