// Rows of vector instructions: every one of a target, and their forms: scalar and constant operands, SDWA, DPP, modifiers, op_sel, and
// numbers that are no ordinary ones.

import { AssemblyError } from '../../../src/asm/index.ts';
import type { InstructionRow, TargetName } from '../../../src/isa/types.ts';
import { kernelObject } from '../../../tests/support/kernel-source.ts';
import { type Choice, rowsOf, SCALAR, textOf } from './forms.ts';
import type { Row } from './timing.ts';
import { formatOf, KINDS, type Kind } from './values.ts';

/** Moves between lanes have rows of their own (lane-rows.ts); matrix instructions and those that change EXEC are no loop of lanes. */
const OTHERS = /cmpx|mfma|smfmac|nop|readlane|writelane|readfirst|clrexc|screen_partition/;
/** Operands that are counts or selections: small integers. */
const SMALL_SECOND = /ldexp|trig_preop|cmp_class|lsh|ashr|alignb|bfe|bfm/;
const TARGETS = ['gfx942', 'gfx90a', 'gfx950'] as const;

/** Whether an assembler takes a text: some fields have values that encodings have no use for. */
function assembles(target: TargetName, text: string): boolean {
  try {
    kernelObject({ target, code: text });
    return true;
  } catch (error) {
    if (error instanceof AssemblyError) return false;
    throw error;
  }
}

/** Operations of a lane in a vector instruction. */
function operationsOf(mnemonic: string): number {
  const packed = /_(?:2x)?pk(\d*)_/.exec(mnemonic)?.[1];
  if (packed !== undefined) return packed === '' ? 2 : mnemonic.includes('_2xpk') ? 2 * Number(packed) : Number(packed);
  return /_pk|pk_/.test(mnemonic) ? 2 : 1;
}

function vectorRow(
  section: string,
  target: TargetName,
  row: InstructionRow,
  suffix: string,
  choice: Choice = {},
  kind: Kind = 'ordinary',
): Row[] {
  const all: Choice = SMALL_SECOND.test(row.mnemonic)
    ? { src1: (w) => (w === 9 ? 256 : 0) + 52, vsrc1: 52, ...choice }
    : choice;
  const text = textOf(target, row, 0, all);
  if (text === undefined || !assembles(target, text)) return [];
  return [
    {
      section,
      name: `${row.mnemonic.replace(/_e(?:32|64)$/, '')}${suffix}`,
      target,
      line: (n) => textOf(target, row, n, all) as string,
      reads: row.mnemonic,
      kind,
      offset: () => 0,
      instructions: 1,
      operations: operationsOf(row.mnemonic),
    },
  ];
}

const vectors = (target: TargetName): InstructionRow[] =>
  rowsOf(target).filter((row) => /^(VOP[123]|SDWA|DPP)/.test(row.encoding) && !OTHERS.test(row.mnemonic));

/** Rows in their shortest encoding. */
function plain(target: TargetName): InstructionRow[] {
  const all = vectors(target).filter((row) => row.encoding.startsWith('VOP'));
  const short = new Set(all.filter((row) => row.mnemonic.endsWith('_e32')).map((row) => row.operation));
  return all.filter((row) => !row.mnemonic.endsWith('_e64') || !short.has(row.operation));
}

/** Every vector instruction of gfx942, and those that only the other targets have. */
export function everyVector(): Row[] {
  const known = new Set<string>();
  return TARGETS.flatMap((target) =>
    plain(target).flatMap((row) => {
      if (known.has(row.mnemonic)) return [];
      known.add(row.mnemonic);
      return vectorRow('every vector instruction', target, row, target === 'gfx942' ? '' : ` ${target}`);
    }),
  );
}

/** Comparisons differ in one instruction of the host. */
const isOneOfMany = (row: InstructionRow): boolean => /^v_cmp_(?!lt_|class)/.test(row.mnemonic);

/** The first operand in a scalar register, as inline constant and as literal. */
export function firstOperands(): Row[] {
  const target = 'gfx942';
  return plain(target).flatMap((row) => {
    if (isOneOfMany(row) || row.operands.every((o) => o.name !== 'src0')) return [];
    const constant = formatOf(row.mnemonic) === 'bits' ? 133 : 245;
    return [
      ...vectorRow('first operands', target, row, ', scalar', { src0: SCALAR }),
      ...vectorRow('first operands', target, row, ', constant', { src0: constant }),
      ...(/^VOP[12C]$/.test(row.encoding) ? vectorRow('first operands', target, row, ', literal', { src0: 255 }) : []),
    ];
  });
}

export function sdwa(): Row[] {
  const target = 'gfx942';
  return vectors(target)
    .filter((row) => row.encoding === 'SDWA' && !isOneOfMany(row))
    .flatMap((row) => [
      ...vectorRow('SDWA', target, row, ' WORD_1, BYTE_1', { src0_sel: 5, src1_sel: 1, dst_sel: 6 }),
      ...(row.operands.some((o) => o.name === 'dst_sel')
        ? vectorRow('SDWA', target, row, ' to WORD_1, kept', { src0_sel: 4, src1_sel: 5, dst_sel: 5, dst_unused: 2 })
        : []),
    ]);
}

const DPP_CONTROLS = {
  'quad_perm:[1,0,3,2]': 0xb1,
  'row_shr:1': 0x111,
  'row_bcast:15': 0x142,
  'wave_shr:1': 0x138,
  'row_newbcast:3': 0x153,
} as const;

export function dpp(): Row[] {
  const target = 'gfx942';
  return Object.entries(DPP_CONTROLS).flatMap(([name, control]) =>
    vectors(target)
      .filter((row) => row.encoding === 'DPP' && !isOneOfMany(row))
      // One control for all, the others for some.
      .filter(
        (row) =>
          control === 0x111 || /^v_(mov_b\d+|add_f32|add_u32|max_f32|min_i32|fma_f64|add_f64)/.test(row.mnemonic),
      )
      .flatMap((row) =>
        vectorRow('DPP', target, row, ` ${name}`, {
          dpp_ctrl: control,
          row_mask: control === 0x142 ? 0xa : 0xf,
          bound_ctrl: control === 0x142 ? 0 : 1,
        }),
      ),
  );
}

/** Negated and absolute operands, clamped and scaled results, halves of registers. */
export function modifiers(): Row[] {
  const target = 'gfx942';
  const section = 'modifiers';
  return vectors(target)
    .filter((row) => /^VOP3/.test(row.encoding) && !isOneOfMany(row))
    .flatMap((row) => {
      const has = (name: string): boolean => row.operands.some((o) => o.name === name);
      const each = (value: number): Choice => ({ src0_modifiers: value, src1_modifiers: value, src2_modifiers: value });
      if (row.flags.has('IsPacked')) {
        return [
          ...vectorRow(section, target, row, ', op_sel and neg', {
            src0_modifiers: 4,
            src1_modifiers: 13,
            src2_modifiers: 11,
          }),
          ...vectorRow(section, target, row, ', clamp', { clamp: 1 }),
        ];
      }
      const isFloat = row.operands.some((o) => /modifiers$/.test(o.name) && /^FP/.test(o.cls));
      return [
        ...(isFloat
          ? vectorRow(section, target, row, ', negated sizes', {
              src0_modifiers: 1,
              src1_modifiers: 2,
              src2_modifiers: 3,
            })
          : []),
        ...(has('clamp') ? vectorRow(section, target, row, ', clamp', { clamp: 1 }) : []),
        ...(row.flags.has('VOP3_OPSEL')
          ? vectorRow(section, target, row, ', op_sel', { ...each(4), src0_modifiers: 12 })
          : []),
      ];
    });
}

/** Floats of each kind. */
export function kinds(): Row[] {
  const target = 'gfx942';
  const rows = plain(target).filter((row) => formatOf(row.mnemonic) !== 'bits' && !isOneOfMany(row));
  return KINDS.filter((kind) => kind !== 'ordinary').flatMap((kind) =>
    rows.flatMap((row) => vectorRow('numbers', target, row, `, ${kind}`, {}, kind)),
  );
}
