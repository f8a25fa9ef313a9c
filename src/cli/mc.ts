// `wavesmith mc`: drop-in for llvm-mc on AMDGPU assembly: prints, encodes or disassembles what LLVM's MC tests feed it.
// Source: llvm/tools/llvm-mc/llvm-mc.cpp (options), Disassembler.cpp (byte input), MCAsmStreamer.cpp (output form).
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assemble } from '../asm/assemble/assemble.ts';
import { AsmStreamer } from '../asm/assemble/llvm-mc-printer.ts';
import type { AssembleOptions } from '../asm/assemble/options.ts';
import { formatDiagnostic } from '../asm/assemble/source.ts';
import { TextOutput, WavesmithError } from '../base/index.ts';
import { writeObject } from '../codeobject/elf/write.ts';
import { optimizeLess } from '../device/node/v8-flags.ts';
import { decoderFor } from '../isa/codec/decode.ts';
import { encode } from '../isa/codec/encode.ts';
import { MAX_INSTRUCTION_TEXT, textWriterFor } from '../isa/print/text-writer.ts';
import { isTargetName, TARGET_LIST } from '../isa/table/targets.ts';
import type { Instruction, TargetName } from '../isa/types.ts';
import { type ByteStatement, readByteInput } from './mc-bytes.ts';
import { readInput, writeOutput, writeText } from './support.ts';

const HELP = `Usage: wavesmith mc [options] [FILE]

llvm-mc for AMDGPU: assembles FILE (or standard input) and prints it in LLVM's form.

  -triple T              amdgcn, amdgcn-amd-amdhsa, … (also -arch amdgcn)
  -mcpu T                ${TARGET_LIST}
  -mattr LIST            + or - xnack, sramecc, tgsplit, wavefrontsize64, wavefrontsize32 (no lane masks)
  -show-encoding         print the bytes of each instruction
  -disassemble           read bytes (0x01,0x02…) and print instructions; -hex reads plain hex digits
  -filetype F            asm (default), obj or null
  -o FILE                where to write (- for standard output)
  -defsym NAME=VALUE     set a symbol
  -I DIR                 a folder for .include
  --amdhsa-code-object-version N
`;

interface Flags {
  file: string;
  output: string;
  triple: string;
  cpu: string;
  attributes: string[];
  showEncoding: boolean;
  disassemble: boolean;
  filetype: string;
  includes: string[];
  defines: Record<string, bigint>;
  version: number | undefined;
  hex: boolean;
}

function usage(message: string, hint = "'wavesmith mc --help' shows the options."): WavesmithError {
  return new WavesmithError('cli/usage', message, { hint });
}

/** Options that take a value, by name without dashes. */
const VALUED = new Set([
  'triple',
  'arch',
  'mcpu',
  'mattr',
  'filetype',
  'o',
  'defsym',
  'I',
  'amdhsa-code-object-version',
]);
/** Options of llvm-mc that change nothing here. */
const IGNORED = new Set(['assemble', 'no-warn', 'preserve-comments', 'output-asm-variant']);

function parseFlags(argv: readonly string[]): Flags | undefined {
  const flags: Flags = {
    file: '-',
    output: '-',
    triple: '',
    cpu: '',
    attributes: [],
    showEncoding: false,
    disassemble: false,
    filetype: 'asm',
    includes: [],
    defines: {},
    version: undefined,
    hex: false,
  };
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i];
    if (arg === '-' || !arg.startsWith('-')) {
      flags.file = arg;
      continue;
    }
    const [, name, , inline] = /^--?([^=]+)(=(.*))?$/s.exec(arg) ?? ['', arg, '', undefined];
    if (name === 'help' || name === 'h') return undefined;
    if (name.startsWith('I') && name.length > 1) {
      flags.includes.push(name.slice(1));
      continue;
    }
    if (VALUED.has(name)) {
      const value = inline ?? argv[++i];
      if (value === undefined) throw usage(`Option '${arg}' needs a value.`);
      setValue(flags, name, value);
    } else if (name === 'show-encoding') flags.showEncoding = true;
    else if (name === 'disassemble') flags.disassemble = true;
    else if (name === 'hex') flags.hex = true;
    else if (!IGNORED.has(name)) throw usage(`Option '${arg}' is not supported.`);
  }
  return flags;
}

function setValue(flags: Flags, name: string, value: string): void {
  switch (name) {
    case 'triple':
    case 'arch':
      flags.triple = value;
      break;
    case 'mcpu':
      flags.cpu = value;
      break;
    case 'mattr':
      flags.attributes.push(...value.split(',').filter((a) => a !== ''));
      break;
    case 'filetype':
      flags.filetype = value;
      break;
    case 'o':
      flags.output = value;
      break;
    case 'I':
      flags.includes.push(value);
      break;
    case 'defsym':
      define(flags, value);
      break;
    default:
      flags.version = Number(value);
  }
}

function define(flags: Flags, text: string): void {
  const match = /^([^=]+)=(-?)(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)$/.exec(text);
  if (match === null) throw usage(`'-defsym ${text}' is not NAME=INTEGER.`);
  const digits = /^0\d/.test(match[3]) ? `0o${match[3].slice(1)}` : match[3];
  flags.defines[match[1]] = match[2] === '-' ? -BigInt(digits) : BigInt(digits);
}

function targetOf(flags: Flags): TargetName {
  const arch = flags.triple.split('-')[0];
  if (arch !== 'amdgcn') {
    throw usage(`The triple '${flags.triple}' is not an AMDGPU triple.`, "Use '-triple=amdgcn-amd-amdhsa'.");
  }
  if (isTargetName(flags.cpu)) return flags.cpu;
  throw usage(`The processor '${flags.cpu}' is not supported.`, `Supported are ${TARGET_LIST}.`);
}

/** Features that `-mattr` sets in the target id; those that these processors have anyway are accepted. */
function targetIdOf(target: TargetName, attributes: readonly string[]): string {
  let id: string = target;
  for (const name of ['sramecc', 'xnack']) {
    const last = attributes.findLast((a) => a.slice(1) === name);
    if (last !== undefined) id += `:${name}${last[0]}`;
  }
  return id;
}

/** Features that `-mattr` may name. */
const FEATURES = new Set(
  ['sramecc', 'xnack', 'tgsplit', 'wavefrontsize32', 'wavefrontsize64'].flatMap((f) => [`+${f}`, `-${f}`]),
);

/** Whether the last mention of a feature in `-mattr` turns it on. */
function isOn(attributes: readonly string[], feature: string): boolean {
  return attributes.findLast((a) => a.slice(1) === feature)?.startsWith('+') ?? false;
}

function checkAttributes(attributes: readonly string[]): void {
  const unknown = attributes.find((a) => !FEATURES.has(a));
  if (unknown !== undefined) {
    throw usage(`The feature '${unknown}' is not supported.`, `Known are ${[...FEATURES].join(' ')}.`);
  }
}

function emit(flags: Flags, content: Uint8Array | string): void {
  if (flags.output === '-') process.stdout.write(content);
  else if (flags.output !== '/dev/null') writeOutput(flags.output, content);
}

export async function run(argv: string[]): Promise<number> {
  const flags = parseFlags(argv);
  if (flags === undefined) {
    process.stdout.write(HELP);
    return 0;
  }
  const target = targetOf(flags);
  optimizeLess();
  if (!['asm', 'obj', 'null'].includes(flags.filetype)) throw usage(`There is no file type '${flags.filetype}'.`);
  checkAttributes(flags.attributes);
  const source = readInput(flags.file);
  const name = flags.file === '-' ? '<stdin>' : flags.file;
  return flags.disassemble ? disassemble(flags, target, source, name) : assembleSource(flags, target, source, name);
}

function assembleSource(flags: Flags, target: TargetName, source: Uint8Array, name: string): number {
  const [, , os = ''] = flags.triple.split('-');
  const streamer =
    flags.filetype === 'asm'
      ? new AsmStreamer({ showEncoding: flags.showEncoding, onPrint: (text) => process.stdout.write(`${text}\n`) })
      : undefined;
  const folders = flags.includes.concat(flags.file === '-' ? [] : dirname(flags.file));
  const options: AssembleOptions = {
    target: targetIdOf(target, flags.attributes),
    file: name,
    defines: flags.defines,
    os: os.startsWith('amdhsa') ? 'amdhsa' : 'none',
    reportCascades: true,
    // llvm-mc reports every error, however many.
    limits: { maxDiagnostics: Number.MAX_SAFE_INTEGER },
    tgSplit: isOn(flags.attributes, 'tgsplit'),
    wave32: isOn(flags.attributes, 'wavefrontsize32'),
    readFile: (path) => {
      const found = [path, ...folders.map((folder) => join(folder, path))].find((p) => existsSync(p));
      return found === undefined ? undefined : readFileSync(found);
    },
    ...(flags.version === undefined ? {} : { codeObjectVersion: flags.version }),
    ...(streamer === undefined ? {} : { streamer }),
  };
  const { object, diagnostics } = assemble(source, options);
  for (const diagnostic of diagnostics) process.stderr.write(formatDiagnostic(diagnostic));
  const failed = diagnostics.some((d) => d.severity === 'error');
  if (streamer !== undefined) emit(flags, streamer.text());
  else if (flags.filetype === 'obj' && object !== undefined && !failed) emit(flags, writeObject(object));
  return failed ? 1 : 0;
}

/** Column of `; encoding:` in LLVM's output. */
const COMMENT_COLUMN = 40;

function disassemble(flags: Flags, target: TargetName, source: Uint8Array, name: string): number {
  let failed = false;
  const messages = new TextOutput((chunk) => process.stderr.write(Buffer.from(chunk)));
  const work = (out: TextOutput): void => {
    const isWrong = readByteInput(source, name, flags.hex, {
      problem: (text) => messages.write(text),
      statement: (statement) => {
        if (!disassembleStatement(statement, flags, target, out, messages)) failed = true;
      },
    });
    if (isWrong) failed = true;
  };
  if (flags.output === '/dev/null') work(new TextOutput(() => {}));
  else writeText(flags.output === '-' ? undefined : flags.output, work);
  messages.finish();
  return failed ? 1 : 0;
}

const TAB = 9;
const NEWLINE = 10;
const SPACE = 32;

/** False when a block in brackets has an invalid instruction. */
function disassembleStatement(
  statement: ByteStatement,
  flags: Flags,
  target: TargetName,
  out: TextOutput,
  messages: TextOutput,
): boolean {
  const writer = textWriterFor(target);
  const { bytes, isBlock } = statement;
  for (let at = 0; at < bytes.length; ) {
    const size = writer.match(bytes, at, bytes.length);
    if (size === 0) {
      messages.write(statement.warning(at, 'invalid instruction encoding'));
      if (isBlock) return false;
      at += Math.min(4, bytes.length - at);
      continue;
    }
    out.room(MAX_INSTRUCTION_TEXT + COMMENT_COLUMN);
    const to = out.bytes;
    to[out.at] = TAB;
    const start = out.at + 1;
    let end = writer.writeText(to, start);
    if (flags.showEncoding) {
      const padding = Math.max(1, COMMENT_COLUMN - (end - start));
      to.fill(SPACE, end, end + padding);
      end += padding;
      out.at = end;
      out.write(`; encoding: [${encodingOf(target, bytes, at)}]\n`);
    } else {
      to[end] = NEWLINE;
      out.at = end + 1;
    }
    at += size;
  }
  return true;
}

/** The bytes that LLVM shows for an instruction: it encodes again, so that bits that mean nothing come out as it writes them. */
function encodingOf(target: TargetName, bytes: Uint8Array, at: number): string {
  const instruction = decoderFor(target).decode(bytes, at) as Instruction;
  return Array.from(encode(instruction), (b) => `0x${b.toString(16).padStart(2, '0')}`).join(',');
}
