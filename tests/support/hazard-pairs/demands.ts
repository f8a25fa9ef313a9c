// The wait states that LLVM 22's hazard recognizer demands between two instructions, and those that `wavesmith check` demands.
import { spawnSync } from 'node:child_process';
import { assembleAndLink } from '../../../src/asm/index.ts';
import { checkCodeObject } from '../../../src/check/index.ts';
import { readCodeObject } from '../../../src/codeobject/index.ts';
import { encode, type TargetName } from '../../../src/isa/index.ts';
import type { Instruction, Operand } from '../../../src/isa/types.ts';
import { llvmTool } from '../llvm.ts';
import type { Pair } from './pairs.ts';

const FILES: Readonly<Record<string, string>> = { v: 'vgpr', a: 'agpr', s: 'sgpr', ttmp: 'ttmp' };
const IMPLICIT: Readonly<Record<string, string>> = { FLAT_SCR: 'flat_scr' };
const implicitName = (name: string): string => `$${IMPLICIT[name] ?? name.toLowerCase()}`;

/** `dwords`: as many registers as the pseudo instruction's operand has. */
function operandText(operand: Operand, dwords?: number): string {
  switch (operand.kind) {
    case 'imm':
      return String(operand.value);
    case 'literal':
      return String(operand.bits);
    case 'inline':
      return String(operand.encoding - 128);
    case 'reg': {
      const { file, index, text } = operand;
      const count = dwords ?? operand.dwords;
      if (file === 'special') return `$${text.replace('flat_scratch', 'flat_scr')}`;
      return `$${Array.from({ length: count }, (_, i) => `${FILES[file]}${index + i}`).join('_')}`;
    }
  }
}

/** An instruction under one of the names that its record's pseudo instruction may have. */
function mirLine({ row, operands }: Instruction, name: string): string {
  const list = (isOut: boolean): string[] =>
    row.operands.flatMap((def, i) => {
      if (def.isOut !== isOut) return [];
      // The data of GWS instructions is a pair of which one is encoded.
      return [operandText(operands[i] as Operand, def.cls === 'AV_LdSt_32_Align2_RegOp' ? 2 : undefined)];
    });
  const outs = list(true);
  const isKept = row.operands.some(
    (def, i) => def.name === 'dst_unused' && (operands[i] as { value?: number }).value === 2,
  );
  const implicit = [
    ...row.defs.map((d) => `implicit-def ${implicitName(d)}`),
    ...row.uses.map((u) => `implicit ${implicitName(u)}`),
    ...(isKept ? [`implicit ${outs[0]}(tied-def 0)`] : []),
  ];
  return `    ${outs.length > 0 ? `${outs.join(', ')} = ` : ''}${name} ${[...list(false), ...implicit].join(', ')}`;
}

/** LLVM's names of the pseudo instruction that a record encodes, the likeliest first; which of them exist only LLVM knows. */
function pseudoNames({ row }: Instruction): string[] {
  const base = row.name
    .replace(/(?:_alt)?(?:_(?:vi|gfx9|gfx90a|gfx940|gfx950))+(?=$|_acd$|_vcd$)/, '')
    .replace(/^(V_(?:ADDC|SUBB|SUBBREV))_CO_/, '$1_')
    .replace(/^(SCRATCH_\w+)_VE$/, '$1');
  if (base.endsWith('_acd')) return [base.replace(/_acd$/, '_e64')];
  if (base.endsWith('_vcd')) return [base.replace(/_vcd$/, '_vgprcd_e64')];
  if (/^V_(?!PK_|DOT|READ|WRITELANE|SWAP|FMA_MIX|MFMA)[^a-z]*$/.test(base)) {
    return row.name.endsWith('_gfx9') ? [`${base}_gfx9_e64`, `${base}_e64`, base] : [`${base}_e64`, base];
  }
  return row.flags.has('DS') && !row.uses.includes('M0') ? [`${base}_gfx9`, base] : [base];
}

function llc(target: TargetName, mir: string): { readonly out: string; readonly error: string } {
  const { stdout, stderr, error } = spawnSync(
    llvmTool('llc') ?? 'llc',
    [
      '-mtriple=amdgcn-amd-amdhsa',
      `-mcpu=${target}`,
      '-mattr=-xnack',
      '-x',
      'mir',
      '-run-pass=post-RA-hazard-rec',
      '-o',
      '-',
      '-',
    ],
    { input: mir, maxBuffer: 1 << 30, encoding: 'utf8' },
  );
  if (error !== undefined) throw error;
  return { out: stdout, error: stderr };
}

const FUNCTION = 400;
const isEnd = ({ row }: Instruction): boolean => row.operation.startsWith('s_rfe');

/** Pairs in functions; what follows a return from a trap begins a new one. */
function functionsOf(pairs: readonly Pair[]): (readonly Pair[])[] {
  const out: Pair[][] = [[]];
  for (const pair of pairs) {
    const last = out.at(-1) as Pair[];
    last.push(pair);
    if (last.length >= FUNCTION || isEnd(pair.second)) out.push([]);
  }
  return out.filter((f) => f.length > 0);
}

function mirOf(pairs: readonly Pair[], lineOf: (one: Instruction) => string): string {
  const text = functionsOf(pairs).map((list, n) => {
    const body = list.map((pair) => {
      return `    S_NOP 15\n    S_NOP 15\n${lineOf(pair.first)}\n${lineOf(pair.second)}`;
    });
    const end = isEnd((list.at(-1) as Pair).second) ? '' : '    S_NOP 15\n    S_ENDPGM 0\n';
    return `---\nname: f${n}\nbody: |\n  bb.0:\n${body.join('\n')}\n${end}...\n`;
  });
  return text.join('');
}

/** LLVM's names of the instructions' pseudo instructions by record; without those that it has none for, with these operands. */
export function namesInLlvm(target: TargetName, some: readonly Instruction[]): ReadonlyMap<string, string> {
  const candidates = some.map(pseudoNames);
  for (;;) {
    const tried = some.flatMap((_, i) => (candidates[i]?.[0] === undefined ? [] : [i]));
    const text = tried.map((i) => {
      const one = some[i] as Instruction;
      const end = isEnd(one) ? '' : '    S_ENDPGM 0\n';
      return `---\nname: f${i}\nbody: |\n  bb.0:\n${mirLine(one, candidates[i]?.[0] as string)}\n${end}...\n`;
    });
    const { error } = llc(target, text.join(''));
    if (error === '') return new Map(tried.map((i) => [some[i]?.row.name as string, candidates[i]?.[0] as string]));
    const line = Number(/^error: [^:]*:(\d+):/m.exec(error)?.[1]);
    const lines = text.join('').split('\n');
    let start = line - 1;
    while (start > 0 && !(lines[start] as string).startsWith('name: f')) start--;
    const failed = Number(
      (/^# Machine code for function f(\d+)/m.exec(error) ??
        /on function '@f(\d+)'/.exec(error) ??
        /^name: f(\d+)/.exec(lines[start] ?? ''))?.[1],
    );
    if (!(failed >= 0)) throw new Error(error.slice(0, 2000));
    candidates[failed]?.shift();
  }
}

const plain = (line: string): string => line.replace(/\(tied-def \d+\)|early-clobber /g, '').trim();

/** The pairs whose instructions LLVM's verifier takes: it has limits, on scalar sources for example, that are no matter of hazards. */
export function verifiedPairs(
  target: TargetName,
  pairs: readonly Pair[],
  names: ReadonlyMap<string, string>,
): readonly Pair[] {
  const lineOf = (one: Instruction): string => mirLine(one, names.get(one.row.name) as string);
  for (let left = pairs; ; ) {
    const { error } = llc(target, mirOf(left, lineOf));
    if (error === '') return left;
    const bad = new Set([...error.matchAll(/^- instruction: (.*)$/gm)].map((match) => plain(match[1] as string)));
    const now = left.filter(({ first, second }) => ![first, second].some((one) => bad.has(plain(lineOf(one)))));
    if (now.length === left.length) throw new Error(error.slice(error.indexOf('***')).slice(0, 3000));
    left = now;
  }
}

/** By pair: the wait states that LLVM puts between its instructions. `names` are `namesInLlvm`. */
export function demandsOfLlvm(
  target: TargetName,
  pairs: readonly Pair[],
  names: ReadonlyMap<string, string>,
): number[] {
  const { out, error } = llc(
    target,
    mirOf(pairs, (one) => mirLine(one, names.get(one.row.name) as string)),
  );
  if (error !== '') throw new Error(error.slice(0, 2000));
  const demands: number[] = [];
  let [isOpen, states] = [false, 0];
  for (const line of out.split('\n')) {
    const nop = /^ +S_NOP (\d+)/.exec(line);
    if (nop !== null) states += Number(nop[1]) + 1;
    else if (/^ +(?:\S.* = )?[A-Z][A-Z0-9]*_\w+(?: |$)/.test(line) && !line.includes('S_ENDPGM')) {
      if (isOpen) demands.push(states);
      isOpen = !isOpen;
      states = 0;
    }
  }
  if (demands.length !== pairs.length) throw new Error(`llc printed ${demands.length} of ${pairs.length} pairs`);
  return demands;
}

/** What the checker demands: states and the rule. */
export interface OwnDemand {
  readonly states: number;
  readonly rule: string;
}

/** By pair: the most wait states that a rule of the checker demands. */
export function demandsOfCheck(target: TargetName, pairs: readonly Pair[]): OwnDemand[] {
  const places: number[] = [];
  let pc = 0;
  const lines: string[] = [];
  const long = (one: Instruction): void => {
    const bytes = encode(one);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length; at += 4) lines.push(`.long ${view.getUint32(at, true)}`);
    pc += bytes.length;
  };
  functionsOf(pairs).forEach((list, n) => {
    lines.push(`.globl f${n}`, `.type f${n},@function`, `f${n}:`);
    for (const { first, second } of list) {
      lines.push('s_nop 15', 's_nop 15');
      pc += 8;
      long(first);
      places.push(pc);
      long(second);
    }
    lines.push('s_nop 15', 's_endpgm');
    pc += 8;
  });
  const text = `.amdgcn_target "amdgcn-amd-amdhsa--${target}"\n.text\n${lines.join('\n')}\n`;
  const codeObject = readCodeObject(assembleAndLink(text));
  const base = Number(codeObject.elf.sections.find(({ name }) => name === '.text')?.address ?? 0);
  const found = new Map<number, OwnDemand>();
  for (const { rule, place, edits } of checkCodeObject(codeObject, { pedantic: true })) {
    if (!rule.startsWith('hazards/') || place.pc === undefined) continue;
    for (const edit of edits) {
      const states = edit.kind === 'insert-states' ? edit.states : 0;
      if (states > (found.get(place.pc)?.states ?? 0)) found.set(place.pc, { states, rule });
    }
  }
  return places.map((place) => found.get(base + place) ?? { states: 0, rule: '' });
}
