// Pairs of instructions for the comparison of wait states with LLVM's hazard recognizer: rows of the table in classes, one pair for
// two classes and each way in which the first may touch what the second does.
import { type InstructionRow, type TargetName, tableFor } from '../../../src/isa/index.ts';
import { isMember, operandClass } from '../../../src/isa/table/operand-classes.ts';
import { registerTuple, special, specialByName } from '../../../src/isa/table/registers.ts';
import type { Instruction, Operand, OperandDef, Register } from '../../../src/isa/types.ts';

/** Two instructions, the second directly behind the first. */
export interface Pair {
  readonly first: Instruction;
  readonly second: Instruction;
  /** What they share: `vdst → src2, other registers`. */
  readonly shared: string;
}

/** A number below a bound. */
export type Pick = (bound: number) => number;

const FLAGS = [
  ...[
    'VALU',
    'SALU',
    'DS',
    'MUBUF',
    'MTBUF',
    'FLAT',
    'SMRD',
    'DPP',
    'SDWA',
    'VOP3_OPSEL',
    'MAI',
    'TRANS',
    'LDSDMA',
    'GWS',
  ],
  ...['IsPacked', 'mayLoad', 'mayStore'],
];
/** Families of operations that hazards name. */
const FAMILY =
  /^(?:v_(?:dot|readlane|readfirstlane|writelane|permlane|div_fmas|cvt_(?:scalef32_)?sr|cvt_scalef32|cmpx?|fmac?_f64|mfma_\wf?\d+_\d+x\d+|smfmac_\wf?\d+_\d+x\d+)|s_(?:[gs]etreg|movrel|sendmsg|ttracedata|rfe|set_gpr_idx)|ds_(?:read|write)_addtid)/;

function classOf(row: InstructionRow): string {
  const shapes = row.operands.flatMap(({ cls, isOut }) => {
    const { registers, dwords } = operandClass(cls);
    const files =
      registers === undefined
        ? ''
        : `${registers.vgpr ? 'v' : ''}${registers.agpr ? 'a' : ''}${registers.scalar ? 's' : ''}`;
    return registers === undefined ? [] : [`${isOut ? '>' : ''}${files}${Math.min(dwords, 3)}`];
  });
  const passes = row.schedule.filter((w) => w.endsWith('PassMAI'));
  const flags = FLAGS.filter((flag) => row.flags.has(flag));
  return [
    row.encoding,
    ...flags,
    FAMILY.exec(row.operation)?.[0] ?? '',
    ...passes,
    ...shapes,
    ...row.uses,
    '>',
    ...row.defs,
  ].join(' ');
}

/** Ends of the program and jumps have no place in a pair; no-ops are what is counted. */
function isPlain({ name, flags, operation, asmOnly, codeGenOnly }: InstructionRow): boolean {
  // No target has images; rows for data in AGPRs are to LLVM the same instructions with other registers.
  if (asmOnly || codeGenOnly || flags.has('MIMG') || name.includes('_agpr')) return false;
  if (/^(?:s_nop|s_waitcnt|s_endpgm|s_code_end|v_nop)/.test(operation)) return false;
  return operation.startsWith('s_rfe') || !(flags.has('isTerminator') || flags.has('isBranch') || flags.has('isCall'));
}

/** The rows of a target by class. */
export function rowClasses(target: TargetName): InstructionRow[][] {
  const classes = new Map<string, InstructionRow[]>();
  for (const row of tableFor(target).rows.filter(isPlain)) {
    const key = classOf(row);
    const known = classes.get(key);
    if (known === undefined) classes.set(key, [row]);
    else known.push(row);
  }
  return [...classes.values()];
}

/** The operand that one must equal; LLVM's records of encodings do not say it of all. */
function tieOf({ operands, operation }: InstructionRow, at: number): number {
  const { name, tiedTo } = operands[at] as { name: string; tiedTo: number };
  if (/^[vs]d(?:st|ata)_in$/.test(name)) return 0;
  if (operation.startsWith('v_div_scale') && name === 'src1') return operands.findIndex((o) => o.name === 'src0');
  return tiedTo;
}

const align = (n: number, to: number): number => Math.ceil(n / to) * to;

/** Registers of one instruction, each operand its own, from a chosen one on; the second instruction's lie above the first one's. */
function allocate(row: InstructionRow, isSecond: boolean, pick: Pick): Operand[] | undefined {
  const [vector, scalar] = [2 * pick(8), 4 * pick(3)];
  const next = {
    v: (isSecond ? 128 : 0) + vector,
    a: (isSecond ? 128 : 0) + vector,
    s: (isSecond ? 52 : 0) + scalar,
  };
  const made: Operand[] = [];
  for (const [at, { name, cls }] of row.operands.entries()) {
    const { registers, dwords } = operandClass(cls);
    const tie = tieOf(row, at);
    if (tie >= 0) made.push(made[tie] as Operand);
    else if (row.operation === 'v_writelane_b32' && name === 'src0') made.push({ kind: 'inline', encoding: 128 });
    else if (registers === undefined) made.push(immediate(row, at, pick));
    else {
      const file = registers.vgpr ? 'v' : registers.agpr ? 'a' : 's';
      const index = align(next[file], dwords > 2 || file === 's' ? 4 : 2);
      const register = registerTuple(file, index, dwords) ?? (file === 's' ? special(106, dwords) : undefined);
      if (register === undefined || !isMember(register, registers)) return undefined;
      next[file] = index + dwords;
      made.push(register);
    }
  }
  return made;
}

const HIGH_HALF = 8;
const OP_SEL = 4;
/** `row_newbcast:0`: the only control that 64-bit instructions take. */
const ROW_NEWBCAST = 0x150;

/** Fields that decide over hazards are chosen, others are 0. */
function immediate(row: InstructionRow, at: number, pick: Pick): Operand {
  const { name, cls } = row.operands[at] as OperandDef;
  const { fallback, decode } = operandClass(cls);
  const holds = (bits: number): boolean =>
    row.fields.some((f) => f.operand === at && ((((1 << f.width) - 1) << f.shift) & bits) !== 0);
  if (decode === 'literal') return { kind: 'literal', bits: 0x12345678 };
  const imm = (value: number): Operand => ({ kind: 'imm', value });
  if (/_sel$/.test(name) && row.flags.has('SDWA')) return imm(pick(7));
  if (name === 'dpp_ctrl') return imm(ROW_NEWBCAST);
  if (name === 'dst_unused') return imm(pick(3));
  if (name === 'src0_modifiers' && row.flags.has('VOP3_OPSEL') && holds(HIGH_HALF)) return imm(pick(2) * HIGH_HALF);
  if (name === 'src2_modifiers' && /_sr_/.test(row.operation)) return imm(pick(2) * OP_SEL);
  if (name === 'simm16' && /etreg/.test(row.operation)) return imm([1, 1, 3, 2][pick(4)] as number);
  if (name === 'cbsz' || name === 'blgp') {
    const formats = /_F8F6F4_(f\d)_(f\d)_/.exec(row.name);
    if (formats === null) return imm(0);
    return imm({ f8: 0, f6: 2, f4: 4 }[formats[name === 'cbsz' ? 1 : 2] as 'f8' | 'f6' | 'f4']);
  }
  return imm(fallback);
}

const instruction = (row: InstructionRow, operands: readonly Operand[]): Instruction => ({
  row,
  operands,
  size: row.size + (operands.some(({ kind }) => kind === 'literal') && row.size === 4 ? 4 : 0),
});

/** With another register for an operand and all that are tied to it. */
function replaced(
  row: InstructionRow,
  operands: readonly Operand[],
  at: number,
  register: Register,
): Operand[] | undefined {
  const root = tieOf(row, at);
  const target = root >= 0 ? root : at;
  const isHeld = row.operands.every(({ cls }, i) => {
    if (i !== target && tieOf(row, i) !== target) return true;
    const { registers } = operandClass(cls);
    return registers !== undefined && isMember(register, registers);
  });
  if (!isHeld) return undefined;
  return operands.map((operand, i) => (i === target || tieOf(row, i) === target ? register : operand));
}

/** Where the second instruction's register begins: as many registers behind the first one's as it may be for both to meet. */
const SHIFTS = [0, 2, -2, 1, -1, 3, -4];

/** A register of the second instruction's operand that begins so many (`shift`) behind where `at` does, and meets it. */
function meeting(at: Register, dwords: number, shift: number): Register | undefined {
  if (shift >= at.dwords || -shift >= dwords || at.index + shift < 0) return undefined;
  if (at.file === 's' && (at.index + shift) % (dwords > 2 ? 4 : dwords) !== 0) return undefined;
  if (at.file !== 'special') return registerTuple(at.file, at.index + shift, dwords);
  return shift === 0 ? special(at.encoding, dwords) : undefined;
}

/** The sources src_vccz and src_execz. */
const VCCZ = 251;
const EXECZ = 252;

const IMPLICIT = ['VCC', 'EXEC', 'M0'] as const;

/** An instruction of a row with registers of its own; undefined where the row has an operand that they do not fit. */
export function sampleOf(row: InstructionRow, pick: Pick): Instruction | undefined {
  const operands = allocate(row, false, pick);
  return operands && instruction(row, operands);
}

/** Every way in which two rows meet, at least one of them writing. */
export function pairsOf(a: InstructionRow, b: InstructionRow, pick: Pick): Pair[] {
  const [first, second] = [allocate(a, false, pick), allocate(b, true, pick)];
  if (first === undefined || second === undefined) return [];
  const pairs: Pair[] = [];
  const add = (x: Operand[] | undefined, y: Operand[] | undefined, shared: string): void => {
    if (x !== undefined && y !== undefined) pairs.push({ first: instruction(a, x), second: instruction(b, y), shared });
  };
  const shape = (row: InstructionRow, i: number): string => row.operands[i]?.name ?? '';
  first.forEach((p, i) => {
    if (p.kind !== 'reg' || tieOf(a, i) >= 0) return;
    second.forEach((c, j) => {
      if (c.kind !== 'reg' || !(a.operands[i]?.isOut || b.operands[j]?.isOut)) return;
      for (const shift of [0, 2, SHIFTS[2 + pick(SHIFTS.length - 2)] as number]) {
        const register = meeting(p, c.dwords, shift);
        if (register === undefined) continue;
        const what = `${shape(a, i)} → ${shape(b, j)}${register === p ? '' : ', other registers'}`;
        add(first, replaced(b, second, j, register), what);
      }
    });
    for (const name of IMPLICIT) {
      const register =
        specialByName(name.toLowerCase(), p.dwords) ?? specialByName(`${name.toLowerCase()}_lo`, p.dwords);
      if (register === undefined || !a.operands[i]?.isOut) continue;
      const writes = replaced(a, first, i, register);
      if (writes === undefined) continue;
      if (b.uses.includes(name)) add(writes, second, `${shape(a, i)} = ${register.text}`);
      second.forEach((c, j) => {
        if (c.kind !== 'reg' || c.file === 'v' || c.dwords !== register.dwords) return;
        add(writes, replaced(b, second, j, register), `${register.text} → ${shape(b, j)}`);
      });
    }
  });
  for (const name of IMPLICIT) {
    if (!a.defs.includes(name)) continue;
    if (b.uses.includes(name)) add(first, second, `implicit ${name}`);
    second.forEach((c, j) => {
      if (c.kind !== 'reg') return;
      const register = specialByName(name.toLowerCase(), c.dwords);
      if (register !== undefined) add(first, replaced(b, second, j, register), `implicit ${name} → ${shape(b, j)}`);
      const flag = name === 'VCC' ? VCCZ : name === 'EXEC' ? EXECZ : undefined;
      const zero = flag === undefined || c.dwords > 1 || b.operands[j]?.isOut ? undefined : special(flag, c.dwords);
      if (zero !== undefined && b.flags.has('VALU'))
        add(first, replaced(b, second, j, zero), `implicit ${name} → ${zero.text}`);
    });
  }
  if (a.operation.startsWith('s_setreg') || (a.flags.has('MAI') && b.operation.endsWith('_f64')))
    add(first, second, 'nothing');
  return pairs;
}
