// `wavesmith mca FILE`: how long a loop's turn takes, without running it: the form of llvm-mca with the numbers of docs/timing.md.

import { assemble } from '../asm/assemble/assemble.ts';
import { readHeader } from '../asm/disassemble/header.ts';
import { WavesmithError } from '../base/index.ts';
import { type ElfFile, link, readElf, SectionFlag, SymbolType } from '../codeobject/index.ts';
import { analyseBlock, type BlockInstruction, type BlockReport } from '../device/sim/timing/throughput.ts';
import { decoderFor } from '../isa/codec/decode.ts';
import { branchTarget, printInstruction } from '../isa/index.ts';
import { DEFAULT_TARGET } from '../isa/table/targets.ts';
import type { TargetName } from '../isa/types.ts';
import { isText } from './code-or-text.ts';
import { readCodeInput } from './read-code-input.ts';
import { selectCodeObject } from './select-code-object.ts';
import { newCommand, parseArguments, printJson } from './support.ts';
import { CHIP_NAMES, chipOf } from './timing.ts';

interface Options {
  target?: string;
  chip?: string;
  waves: string;
  object?: string;
  kernel?: string;
  from?: string;
  to?: string;
  json?: boolean;
}

/** A piece of code to analyse. */
interface Piece {
  readonly name: string;
  readonly block: readonly BlockInstruction[];
}

const MAX_INSTRUCTIONS = 20_000;

/** Runs the command. */
export async function run(argv: string[]): Promise<number> {
  const command = newCommand('mca', 'How long the turns of loops take, without running them.')
    .argument('<file>', 'assembler text (- for standard input), or a file with code objects')
    .option('--target <name>', 'of text without .amdgcn_target')
    .option('--chip <name|file>', `the chip: ${CHIP_NAMES.join(', ')}, or a chip file (.json)`)
    .option('--waves <n>', 'waves on the SIMD', '1')
    .option('--kernel <name>', 'only the loops of this kernel')
    .option('--object <n|target>', 'which code object of a file with several (number from 0, or target)')
    .option('--from <address>', 'analyse the instructions from this address on as one piece')
    .option('--to <address>', 'up to before this address')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Text may mark pieces as for llvm-mca: '; LLVM-MCA-BEGIN name' to '; LLVM-MCA-END'. Else the innermost loops are analysed, or all of a
code without loops. Loads are taken to hit the nearest cache, and LDS to have no conflicts: 'wavesmith run --timing' knows better.`,
    );
  if (!parseArguments(command, argv)) return 0;
  const options = command.opts<Options>();
  const waves = Number(options.waves);
  if (!Number.isInteger(waves) || waves < 1) {
    throw new WavesmithError('cli/bad-option', `--waves takes a whole number from 1, not '${options.waves}'.`);
  }
  const [file = '-'] = command.args;
  const { target, pieces } = readPieces(file, options);
  const chip = chipOf(options.chip, target);
  if (waves > chip.get('wavesPerSimd')) {
    throw new WavesmithError(
      'timing/too-many-waves',
      `A SIMD of ${chip.name} holds ${chip.get('wavesPerSimd')} waves, not ${waves}.`,
    );
  }
  const reports = pieces.map(({ name, block }) => ({ name, ...analyseBlock(chip, block, waves) }));
  if (options.json === true) {
    printJson(
      reports.map((r) => ({
        ...r,
        lines: r.lines.map((l) => ({ ...l, instruction: printInstruction(target, l.instruction).trim() })),
      })),
    );
  } else process.stdout.write(reports.map((r) => reportText(target, r.name, r)).join('\n'));
  return 0;
}

function reportText(target: TargetName, name: string, r: BlockReport): string {
  const [first] = r.pressure;
  const wave = r.waves === 1 ? '' : ` of one of ${r.waves} waves`;
  const bound = first === undefined ? '' : `, at least ${first.cycles} (${first.unit}) with many waves`;
  const lines = [
    `${name} on ${r.chip}: ${r.lines.length} instructions`,
    `  cycles a turn${wave}   ${r.cyclesPerTurnAndWave.toFixed(1)}${bound}`,
    `  chain of results      ${r.chainCycles.toFixed(1)} cycles a turn`,
    `  instructions a cycle  ${r.ipc.toFixed(3)} of a SIMD`,
    `  cycles of units       ${r.pressure.map((p) => `${p.unit} ${p.cycles.toFixed(1)}`).join(', ') || 'none'}`,
    '',
    '    address  unit     latency    busy  stalls  instruction (* in the longest chain)',
    ...r.lines.map((l) =>
      [
        `0x${l.pc.toString(16)}`.padStart(11),
        ` ${l.unit.padEnd(8)}`,
        l.latency.toFixed(0).padStart(7),
        l.busy.toFixed(0).padStart(7),
        (l.stalls < 0.5 ? '-' : l.stalls.toFixed(0)).padStart(7),
        ` ${l.isCritical ? '*' : ' '}${printInstruction(target, l.instruction).trim()}`,
      ].join(' '),
    ),
    '',
  ];
  return lines.join('\n');
}

/** Instructions of a code object by address, and the functions of its text by name. */
interface Code {
  readonly target: TargetName;
  readonly instructions: readonly BlockInstruction[];
  readonly elf: ElfFile;
  /** Source lines by address, of assembled text. */
  readonly lines: ReadonlyMap<number, number>;
  readonly regions: readonly Region[];
}

/** A piece that the text marks, from one line to another. */
interface Region {
  readonly name: string;
  readonly first: number;
  readonly last: number;
}

/** The pieces of a file that are asked for. */
function readPieces(
  file: string,
  options: Options,
): { readonly target: TargetName; readonly pieces: readonly Piece[] } {
  const bytes = readCodeInput(file);
  const code = isText(bytes)
    ? fromText(bytes, file, options.target)
    : fromElf(selectCodeObject(bytes, file, options).elf);
  const pieces =
    options.from !== undefined || options.to !== undefined
      ? [addressPiece(code, options)]
      : code.regions.length > 0
        ? code.regions.map((r) => markedPiece(code, r))
        : loopsOf(code, options.kernel);
  const bad = pieces.find((p) => p.block.length === 0 || p.block.length > MAX_INSTRUCTIONS);
  if (pieces.length > 0 && bad === undefined) return { target: code.target, pieces };
  const what = bad === undefined ? 'no instructions' : `${bad.block.length} instructions in '${bad.name}'`;
  throw new WavesmithError('timing/no-code', `'${file}' has ${what}, not 1 to ${MAX_INSTRUCTIONS}.`, {
    file,
    hint: 'Mark a piece in the text, or use --kernel, or --from and --to.',
  });
}

function fromText(bytes: Uint8Array, file: string, target: string | undefined): Code {
  const text = new TextDecoder().decode(bytes);
  const { object, diagnostics, lines } = assemble(bytes, {
    file,
    target: target ?? DEFAULT_TARGET_OF(text),
    trackLines: true,
  });
  if (object === undefined) {
    const errors = diagnostics.filter((d) => d.severity === 'error');
    throw new WavesmithError(
      'timing/no-code',
      `'${file}' does not assemble: ${errors[0]?.message ?? 'unknown error'}.`,
      {
        file,
        line: errors[0]?.line,
        column: errors[0]?.column,
        hint: `${errors.length} errors in all; 'wavesmith asm ${file}' shows them.`,
      },
    );
  }
  const code = fromElf(readElf(link([object], { undefinedSymbols: 'dynamic' })));
  const known = new Map<number, number>();
  for (const section of code.elf.sections) {
    for (const [offset, place] of lines?.get(section.name) ?? []) known.set(section.address + offset, place.line);
  }
  return { ...code, lines: known, regions: regionsOf(text, file) };
}

/** Text without .amdgcn_target is of the default target. */
const DEFAULT_TARGET_OF = (text: string): string | undefined =>
  /^\s*\.amdgcn_target\b/m.test(text) ? undefined : DEFAULT_TARGET;

function regionsOf(text: string, file: string): Region[] {
  const out: Region[] = [];
  let open: { name: string; first: number } | undefined;
  text.split('\n').forEach((line, n) => {
    const [, word, name = ''] = /(?:;|#|\/\/)\s*LLVM-MCA-(BEGIN|END)\b\s*(.*?)\s*$/.exec(line) ?? [];
    if (word === undefined) return;
    if ((word === 'BEGIN') !== (open === undefined)) {
      throw new WavesmithError('timing/no-code', `LLVM-MCA-${word} does not match the mark before it.`, {
        file,
        line: n + 1,
      });
    }
    if (open === undefined) open = { name: name === '' ? `line ${n + 1}` : name, first: n + 1 };
    else {
      out.push({ ...open, last: n + 1 });
      open = undefined;
    }
  });
  if (open !== undefined) {
    throw new WavesmithError('timing/no-code', `'${open.name}' has no LLVM-MCA-END.`, { file, line: open.first });
  }
  return out;
}

function fromElf(elf: ElfFile): Code {
  const { target } = readHeader(elf);
  const instructions: BlockInstruction[] = [];
  const decoder = decoderFor(target);
  for (const { address, bytes, flags } of elf.sections) {
    if ((flags & BigInt(SectionFlag.EXECINSTR)) === 0n) continue;
    for (let offset = 0; offset + 4 <= bytes.length; ) {
      const instruction = decoder.decode(bytes, offset);
      if (instruction !== undefined) instructions.push({ pc: address + offset, size: instruction.size, instruction });
      offset += instruction?.size ?? 4;
    }
  }
  return { target, instructions, elf, lines: new Map(), regions: [] };
}

const between = ({ instructions }: Code, from: number, to: number): BlockInstruction[] =>
  instructions.filter((i) => i.pc >= from && i.pc < to);

function addressPiece(code: Code, { from, to }: Options): Piece {
  const parse = (text: string | undefined, option: string, otherwise: number): number => {
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 0) return value;
    throw new WavesmithError('cli/bad-option', `${option} takes an address, not '${text}'.`);
  };
  const name = `${from ?? 'the start'} to ${to ?? 'the end'}`;
  const block = between(code, parse(from, '--from', 0), parse(to, '--to', Number.MAX_SAFE_INTEGER));
  return { name, block };
}

function markedPiece(code: Code, { name, first, last }: Region): Piece {
  const isInside = (pc: number): boolean => {
    const line = code.lines.get(pc) ?? 0;
    return line > first && line < last;
  };
  return { name, block: code.instructions.filter((i) => isInside(i.pc)) };
}

/** The innermost loops, or all of a code without loops. */
function loopsOf(code: Code, kernel: string | undefined): Piece[] {
  const functions = code.elf.symbols
    .concat(code.elf.dynamicSymbols)
    .filter((s) => s.type === SymbolType.FUNC && s.name !== '')
    .map((s) => ({ name: s.name, from: Number(s.value), to: Number(s.value) + Math.max(4, Number(s.size)) }));
  const wanted = kernel === undefined ? undefined : functions.find((f) => f.name === kernel);
  if (kernel !== undefined && wanted === undefined) {
    throw new WavesmithError('timing/no-code', `There is no function '${kernel}'.`, {
      hint: `There is ${[...new Set(functions.map((f) => f.name))].join(', ') || 'none'}.`,
    });
  }
  const all = wanted === undefined ? code.instructions : between(code, wanted.from, wanted.to);
  const loops = all.flatMap(({ pc, size, instruction }) => {
    const target = branchTarget(instruction, pc);
    return target !== undefined && target <= pc ? [{ from: target, to: pc + size }] : [];
  });
  const inner = loops.filter((l) => !loops.some((o) => o !== l && o.from >= l.from && o.to <= l.to));
  const nameAt = (pc: number): string => functions.find((f) => pc >= f.from && pc < f.to)?.name ?? 'loop';
  const pieces = inner.map(({ from, to }) => ({
    name: `${nameAt(from)}, loop at 0x${from.toString(16)}`,
    block: between(code, from, to),
  }));
  if (pieces.length > 0) return pieces;
  return all.length === 0 ? [] : [{ name: kernel ?? 'all of the code', block: all }];
}
