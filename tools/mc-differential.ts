// Compares the instruction parser with llvm-mc on single lines: accepted or not, bytes, printed text, error text and column.
// usage: mc-differential [--target T]… [--mutations N] [--show N] FILE-OR-FOLDER…   (.s and .txt files of LLVM's MC tests)
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomNumbers } from '../src/base/index.ts';
import { encodeInto } from '../src/isa/codec/encode.ts';
import { InstructionParser } from '../src/isa/parse/parse.ts';
import { printInstruction } from '../src/isa/print/print.ts';
import { TARGET_NAMES } from '../src/isa/table/target-names.ts';
import { isTargetName } from '../src/isa/table/targets.ts';
import { Lexer } from '../src/isa/text/lexer.ts';
import type { TargetName } from '../src/isa/types.ts';
import { llvmTool } from '../tests/support/llvm.ts';

interface Outcome {
  /** Hex bytes when accepted; fixup letters stand for symbolic bytes. */
  readonly bytes?: string;
  readonly text?: string;
  readonly error?: string;
  readonly column?: number;
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, String(name)))
    .filter((name) => /\.(s|txt)$/.test(name));
}

/** Instruction lines of a test: source lines without comments, and the expected texts of disassembler tests. */
function linesOf(path: string): string[] {
  const lines: string[] = [];
  for (const raw of readFileSync(path, 'latin1').split(/\r?\n/)) {
    const check = /^\s*(?:#|\/\/|;)\s*[A-Z0-9_-]+:\s+([a-z][a-z0-9_]+(?: .*)?)$/.exec(raw);
    const text = check === null ? raw : (check[1] as string);
    const line = text
      .replace(/\s*(?:;|\/\/|#).*$/, '')
      .replace(/\/\*.*?\*\//g, ' ')
      .trim();
    if (/^[a-z][a-z0-9_]*(?:$|[ \t])/.test(line) && !line.includes('{{') && !/[=]|::/.test(line)) lines.push(line);
  }
  return lines;
}

const NUMBERS = [
  '0',
  '1',
  '-1',
  '16',
  '64',
  '65',
  '-16',
  '-17',
  '0x7fff',
  '0x8000',
  '0xffff',
  '0x10000',
  '0xffffffff',
  '-32769',
  '0.5',
  '1.0',
  '-4.0',
  '0.15915494',
  '1e30',
  '0x3f800000',
  '4096',
  '255',
  '256',
  '0x123456789',
  '3.0',
  '1.5',
];
const REGISTERS = [
  'v0',
  'v1',
  'v255',
  'v256',
  's0',
  's101',
  's102',
  'vcc',
  'vcc_lo',
  'exec',
  'exec_hi',
  'm0',
  'scc',
  'src_vccz',
  'src_shared_base',
  'a0',
  'a1',
  'v[0:1]',
  'v[1:2]',
  'a[0:1]',
  's[0:1]',
  's[2:3]',
  's[4:7]',
  'v[0:3]',
  'a[2:5]',
  'ttmp0',
  'ttmp[0:1]',
  'flat_scratch',
  'lds_direct',
  'null',
  'off',
  '|v1|',
  '-v2',
  'neg(s1)',
  'abs(v3)',
  'sext(v1)',
  'xnack_mask',
];
const MODIFIERS = [
  'clamp',
  'mul:2',
  'div:2',
  'glc',
  'slc',
  'sc0',
  'nt',
  'sc1',
  'scc',
  'offset:4',
  'offset:4095',
  'offset:-1',
  'offset:65535',
  'gds',
  'offen',
  'idxen',
  'lds',
  'op_sel:[1,0]',
  'op_sel_hi:[0,1,1]',
  'neg_lo:[1,0]',
  'row_shl:1',
  'row_mask:0xf',
  'bound_ctrl:0',
  'quad_perm:[0,1,2,3]',
  'dst_sel:BYTE_0',
  'src0_sel:WORD_1',
  'cbsz:1',
  'blgp:2',
  'abid:1',
  'tfe',
  'lwe',
];

/** Variations of a line: an operand dropped, doubled, replaced, moved; a modifier or suffix added. */
function mutate(line: string, random: (limit: number) => number): string {
  const space = line.search(/\s/);
  const mnemonic = space < 0 ? line : line.slice(0, space);
  const operands = space < 0 ? [] : line.slice(space + 1).split(/,\s*(?![^[(]*[\])])/);
  const pick = (list: readonly string[]): string => list[random(list.length)] as string;
  const at = random(Math.max(1, operands.length));
  switch (random(9)) {
    case 0:
      operands.splice(at, 1);
      break;
    case 1:
      operands.splice(at, 0, operands[at] ?? 'v0');
      break;
    case 2:
      operands[at] = pick(NUMBERS);
      break;
    case 3:
    case 4:
      operands[at] = pick(REGISTERS);
      break;
    case 5:
      return `${line} ${pick(MODIFIERS)}`;
    case 6:
      return `${mnemonic.replace(/_(e32|e64|sdwa|dpp)$/, '')}${pick(['_e32', '_e64', '_sdwa', '_dpp', ''])} ${operands.join(', ')}`;
    case 7:
      return line.replace(/(?<=[:[,vsa])\d+/g, (n) => (random(3) === 0 ? String(Number(n) + 1 + random(3)) : n));
    default:
      if (operands.length > 1) [operands[0], operands[at]] = [operands[at] as string, operands[0] as string];
  }
  return `${mnemonic} ${operands.join(', ')}`;
}

/** What llvm-mc says of each line, or undefined for lines where the two cannot be lined up (a crash). */
function llvmOutcomes(mc: string, target: TargetName, lines: readonly string[], folder: string): Outcome[] {
  const file = join(folder, 'lines.s');
  writeFileSync(file, `${lines.join('\n')}\n`, 'latin1');
  const run = spawnSync(mc, ['-triple=amdgcn', `-mcpu=${target}`, '-show-encoding', file], {
    encoding: 'latin1',
    maxBuffer: 1 << 30,
  });
  if (run.signal !== null || (run.status !== 0 && run.status !== 1)) {
    if (lines.length === 1) return [{ error: `llvm-mc crashed (${run.signal ?? run.status})`, column: -1 }];
    const half = lines.length >> 1;
    return [
      ...llvmOutcomes(mc, target, lines.slice(0, half), folder),
      ...llvmOutcomes(mc, target, lines.slice(half), folder),
    ];
  }
  const outcomes: (Outcome | undefined)[] = new Array(lines.length);
  for (const message of run.stderr.split('\n')) {
    const match = /^[^\n]*?lines\.s:(\d+):(\d+): error: (.*)$/.exec(message);
    if (match === null) continue;
    const index = Number(match[1]) - 1;
    outcomes[index] ??= { error: match[3] as string, column: Number(match[2]) };
  }
  let next = 0;
  for (const out of run.stdout.split('\n')) {
    const match = /^\t(.*?)\s*(?:;|\/\/) encoding: \[(.*)\]$/.exec(out);
    if (match === null) continue;
    while (outcomes[next] !== undefined) next++;
    outcomes[next++] = { text: match[1] as string, bytes: (match[2] as string).replace(/0x|,|'/g, '') };
  }
  return Array.from(outcomes, (o) => o ?? { error: 'no output', column: 0 });
}

function ourOutcomes(target: TargetName, lines: readonly string[]): Outcome[] {
  const lexer = new Lexer(`${lines.join('\n')}\n`);
  const parser = new InstructionParser(lexer, {
    target,
    xnack: false,
    constant: () => undefined,
    here: () => '.Ltmp0',
    numericLabel: (label, direction) => (direction === 'f' ? `.L${label}` : undefined),
  });
  const bytes = new Uint8Array(32);
  const outcomes: Outcome[] = [];
  for (const _ of lines) {
    lexer.nextStatement();
    const before = lexer.diagnostics.length;
    const parsed = parser.parse();
    if (parsed === undefined) {
      const first = lexer.diagnostics[before];
      outcomes.push({ error: first?.message ?? 'no diagnostic', column: first?.column ?? 0 });
      continue;
    }
    const size = encodeInto(parsed.instruction, bytes, 0);
    let hex = Buffer.from(bytes.subarray(0, size)).toString('hex');
    for (const fixup of parsed.fixups) {
      const length = fixup.kind === 'literal32' ? 4 : 2;
      hex = `${hex.slice(0, 2 * fixup.byteOffset)}${'A'.repeat(length)}${hex.slice(2 * (fixup.byteOffset + length))}`;
    }
    const text = parsed.fixups.length === 0 ? printInstruction(target, parsed.instruction) : undefined;
    outcomes.push(text === undefined ? { bytes: hex } : { bytes: hex, text });
  }
  return outcomes;
}

function main(argv: string[]): number {
  const mc = llvmTool('llvm-mc');
  if (mc === undefined) {
    console.log('mc-differential: skipped, llvm-mc is not installed');
    return 0;
  }
  const targets: TargetName[] = [];
  const paths: string[] = [];
  let mutations = 0;
  let show = 20;
  let seed = 1;
  let only: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === '--target' && isTargetName(argv[i + 1] ?? '')) targets.push(argv[++i] as TargetName);
    else if (arg === '--mutations') mutations = Number(argv[++i]);
    else if (arg === '--show') show = Number(argv[++i]);
    else if (arg === '--seed') seed = Number(argv[++i]);
    else if (arg === '--only') only = argv[++i];
    else paths.push(arg);
  }
  console.log(execFileSync(mc, ['--version'], { encoding: 'utf8' }).split('\n')[1]?.trim());
  const source = [...new Set(paths.flatMap(filesOf).flatMap(linesOf))];
  const folder = mkdtempSync(join(tmpdir(), 'wavesmith-mc-'));
  let failures = 0;
  try {
    for (const target of targets.length > 0 ? targets : TARGET_NAMES) {
      let lines = source;
      if (mutations > 0) {
        const next = randomNumbers(seed);
        const random = (limit: number): number => Math.floor(next() * limit);
        const valid = llvmOutcomes(mc, target, source, folder);
        const good = source.filter((_, i) => valid[i]?.bytes !== undefined);
        lines = Array.from({ length: mutations }, () => mutate(good[random(good.length)] as string, random));
        lines = [...new Set(lines.filter((l) => /^[a-z]/.test(l)))];
      }
      failures += compare(
        target,
        lines,
        llvmOutcomes(mc, target, lines, folder),
        ourOutcomes(target, lines),
        show,
        only,
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return failures === 0 ? 0 : 1;
}

function compare(
  target: TargetName,
  lines: readonly string[],
  theirs: readonly Outcome[],
  ours: readonly Outcome[],
  show: number,
  only: string | undefined,
): number {
  const counts: Record<string, number> = {};
  const shown: Record<string, number> = {};
  let accepted = 0;
  const note = (kind: string, line: string, detail: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (only !== undefined && only !== kind) return;
    shown[kind] = (shown[kind] ?? 0) + 1;
    if (shown[kind] <= show) console.log(`  ${kind}: ${line}\n      ${detail}`);
  };
  lines.forEach((line, i) => {
    const a = theirs[i] as Outcome;
    const b = ours[i] as Outcome;
    if (a.column === -1) return;
    if (a.bytes !== undefined) accepted++;
    if (a.bytes !== undefined && b.bytes === undefined)
      note('refused', line, `${b.error} @${b.column}; llvm ${a.text}`);
    else if (a.bytes === undefined && b.bytes !== undefined)
      note('accepted', line, `llvm: ${a.error} @${a.column}; ours ${b.bytes} ${b.text}`);
    else if (a.bytes !== undefined && !sameBytes(a.bytes, b.bytes as string))
      note('bytes', line, `llvm ${a.bytes}, ours ${b.bytes}`);
    else if (a.bytes !== undefined && b.text !== undefined && a.text !== b.text)
      note('text', line, `llvm '${a.text}', ours '${b.text}'`);
    else if (a.error !== undefined && a.error !== b.error)
      note('message', line, `llvm '${a.error}' @${a.column}, ours '${b.error}' @${b.column}`);
    else if (a.error !== undefined && a.column !== b.column)
      note('column', line, `${a.error}: llvm ${a.column}, ours ${b.column}`);
  });
  const differences = Object.entries(counts).map(([kind, n]) => `${kind} ${n}`);
  console.log(`${target}: ${lines.length} lines, ${accepted} valid; ${differences.join(', ') || 'no differences'}`);
  return (counts.refused ?? 0) + (counts.accepted ?? 0) + (counts.bytes ?? 0) + (counts.text ?? 0);
}

/** Same bytes; a symbolic byte is written as a letter by both, the rest of a half-symbolic byte may differ in form. */
function sameBytes(theirs: string, ours: string): boolean {
  const normal = theirs.replace(/[B-Z]/g, 'A');
  return (
    normal === ours ||
    (normal.includes('A') && normal.length === ours.length && normal.replace(/A/g, '') === ours.replace(/A/g, ''))
  );
}

process.exitCode = main(process.argv.slice(2));
