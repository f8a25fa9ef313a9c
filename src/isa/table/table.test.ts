import { describe, expect, test } from 'vitest';
import { operandClass, operandClasses } from './operand-classes.ts';
import { allRows, operationOf, tableFor } from './table.ts';
import { TARGET_NAMES } from './target-names.ts';
import { isTargetName, targetFromElfMach, targetInfo } from './targets.ts';

describe('rows', () => {
  test('operands have a class, ties point backwards, template operands exist', () => {
    const wrong: string[] = [];
    for (const row of allRows()) {
      row.operands.forEach((operand, i) => {
        if (!operandClasses().has(operand.cls) || operand.tiedTo >= i) wrong.push(`${row.name} ${operand.name}`);
      });
      for (const [, name] of row.template.matchAll(/\$(\w+)/g)) {
        if (!row.operands.some((o) => o.name === name)) wrong.push(`${row.name} $${name}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('fixed bits lie in the mask and fields outside it, within the size', () => {
    const wrong: string[] = [];
    for (const row of allRows()) {
      if (row.fixedMask.length !== row.size / 4 || row.fixedBits.length !== row.size / 4) wrong.push(row.name);
      if (row.fixedBits.some((bits, i) => (bits & ~(row.fixedMask[i] as number)) !== 0)) wrong.push(row.name);
      let taken = row.fixedMask.reduce((all, mask, i) => all | (BigInt(mask) << BigInt(32 * i)), 0n);
      for (const field of row.fields) {
        const mask = ((1n << BigInt(field.width)) - 1n) << BigInt(field.at);
        if ((taken & mask) !== 0n || field.at + field.width > row.size * 8) wrong.push(`${row.name} bit ${field.at}`);
        taken |= mask;
      }
    }
    expect(wrong).toEqual([]);
  });

  test('two rows that the decoder may yield from one table never differ only in name', () => {
    const wrong: string[] = [];
    for (const target of TARGET_NAMES) {
      const seen = new Map<string, string>();
      for (const row of tableFor(target).rows) {
        if (row.asmOnly || row.codeGenOnly) continue;
        const key = `${row.namespace} ${row.size} ${row.fixedMask} ${row.fixedBits}`;
        if (seen.has(key)) wrong.push(`${row.name} on ${target}`);
        seen.set(key, row.name);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('lookups', () => {
  test('by record name, mnemonic and operation', () => {
    const table = tableFor('gfx942');
    const row = table.byName('V_ADD_F32_e64_vi');
    expect(row?.mnemonic).toBe('v_add_f32_e64');
    expect(table.byMnemonic('v_add_f32_e64')).toEqual([row]);
    expect(
      table
        .byOperation('v_add_f32')
        .map((r) => r.encoding)
        .sort(),
    ).toEqual(['DPP', 'SDWA', 'VOP2', 'VOP3']);
    expect(table.byMnemonic('v_mac_f32_e32')).toEqual([]);
    expect(tableFor('gfx90a').byMnemonic('v_mac_f32_e32')).toHaveLength(1);
  });

  test('an operation is the mnemonic without the encoding suffix', () => {
    expect(['v_add_f32_e32', 'v_mov_b32_sdwa', 'v_mov_b32_dpp', 's_mov_b64'].map(operationOf)).toEqual([
      'v_add_f32',
      'v_mov_b32',
      'v_mov_b32',
      's_mov_b64',
    ]);
  });
});

describe('operand classes', () => {
  test.each([
    ['VSrc_f32', { decode: 'src9', dwords: 1, type: 'fp32', inline: true, literal: true }],
    ['VCSrc_f16', { decode: 'src9', dwords: 1, type: 'fp16', inline: true, literal: false }],
    ['AVSrc_64', { decode: 'srcAV10', dwords: 2, type: 'none', inline: false }],
    ['SSrc_b64', { decode: 'src9', dwords: 2, type: 'int64', literal: true }],
    ['CPol_GLC', { decode: 'imm', predicate: 'CPolGLC', optional: false }],
    ['DppRowMask', { parse: 'NamedInt:row_mask:0', optional: true, fallback: 15 }],
    ['s16imm', { signed: true }],
    ['u16imm', { signed: false }],
  ])('%s', (name, properties) => {
    expect(operandClass(name)).toMatchObject(properties);
  });
});

describe('targets', () => {
  test.each([
    ['gfx90a', 0x3f, 65536, false],
    ['gfx942', 0x4c, 65536, true],
    ['gfx950', 0x4f, 163840, true],
  ] as const)('%s', (name, mach, ldsBytes, scoped) => {
    expect(isTargetName(name)).toBe(true);
    expect(targetFromElfMach(mach)).toBe(name);
    expect(targetInfo(name)).toMatchObject({
      elfMach: mach,
      ldsBytes,
      scopedCachePolicy: scoped,
      packedWorkitemId: true,
    });
    expect(targetInfo(name).architectedFlatScratch).toBe(scoped);
  });

  test('unknown names and numbers are not targets', () => {
    expect(isTargetName('gfx1100')).toBe(false);
    expect(targetFromElfMach(0)).toBeUndefined();
  });
});
