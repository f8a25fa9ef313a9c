// AMDGPU's own directives: target, code object version, kernels, metadata, LDS symbols.
// Source: llvm/lib/Target/AMDGPU/AsmParser/AMDGPUAsmParser.cpp (ParseDirective).
import { WavesmithError } from '../../../base/index.ts';
import { AMDGPU_NOTE_OWNER, NT_AMDGPU_METADATA, writeNote } from '../../../codeobject/elf/notes.ts';
import { SectionFlag, SectionType, SymbolBinding, SymbolType } from '../../../codeobject/elf/object-model.ts';
import { formatProcessorAndFeatures, formatTargetId, parseTargetId } from '../../../codeobject/elf/target-id.ts';
import { metadataFromYaml } from '../../../codeobject/kernel/metadata-yaml.ts';
import { encodeMsgPack, type MsgPackValue } from '../../../codeobject/kernel/msgpack.ts';
import { type Lexer, Tok } from '../../../isa/text/lexer.ts';
import { fromByteText } from '../source.ts';
import type { DirectiveHandler } from './handler.ts';
import { kernelDirective } from './kernel.ts';
import { metadataProblem } from './metadata.ts';

/** Directives that exist only for the HSA OS, or only without it. */
function forOs(os: 'amdhsa' | 'none', handler: DirectiveHandler): DirectiveHandler {
  return (a, lexer, name, offset) => {
    if (a.os === os) handler(a, lexer, name, offset);
    else lexer.fail(offset, 'unknown directive');
  };
}

/** A target id's triple, as LLVM up to 23 writes it (`amdgcn-amd-amdhsa--`) and from 24 on (`amdgpu9.42-amd-amdhsa-unknown-`). */
const TRIPLE = /^(?:amdgcn|amdgpu[\w.]*)-[^-]*-([^-]*)-[^-]*-/;

/** `.amdgcn_target "triple-processor:features"`. */
const targetDirective: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  if (!lexer.is(Tok.String)) {
    lexer.fail(at, lexer.is(Tok.Error) ? lexer.errorText() : 'expected string');
    return;
  }
  const text = lexer.stringValue();
  if (text === undefined) return;
  lexer.lex();
  const current = a.targetId;
  const processor = text.replace(TRIPLE, '');
  if (current === undefined) {
    try {
      a.setTarget(parseTargetId(processor));
    } catch (error) {
      if (!(error instanceof WavesmithError)) throw error;
      lexer.fail(at, error.hint === undefined ? error.message : `${error.message} ${error.hint}`);
      return;
    }
    if (a.os === 'amdhsa' && a.targetId !== undefined) a.streamer?.target(formatTargetId(a.targetId));
  } else if (processor !== formatProcessorAndFeatures(current) || TRIPLE.exec(text)?.[1] !== 'amdhsa') {
    const wanted = formatProcessorAndFeatures(current);
    const advice = ` (fix: --target ${processor}, or edit the directive to ${wanted})`;
    const fix = a.options.explainConflicts === true ? advice : '';
    lexer.fail(
      at,
      `.amdgcn_target directive's target id ${text} does not match the specified target id ${formatTargetId(current)}${fix}`,
    );
    return;
  }
  a.leaveEndOfStatement(lexer);
};

const codeObjectVersion: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const version = a.absolute(lexer);
  if (version === undefined) return;
  if (version < 4n || version > 6n) {
    lexer.fail(at, `code object version ${version} is not supported; it is 4, 5 or 6`);
    return;
  }
  a.codeObjectVersion = Number(version);
  a.streamer?.line(`\t.amdhsa_code_object_version ${version}`);
  a.leaveEndOfStatement(lexer);
};

/** A line of YAML without the assembler's comments; what is in quotes is text. */
function withoutComment(line: string): string {
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote !== '') {
      if (quote === '"' && c === '\\') i++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === ';' || (c === '/' && line[i + 1] === '/')) return line.slice(0, i);
  }
  return line;
}

/** The YAML up to `.end_amdgpu_metadata`, and the cursor behind that; undefined after a diagnostic. */
function readYaml(lexer: Lexer): string | undefined {
  const lines: string[] = [];
  const { text } = lexer;
  let start = lexer.next;
  while (start < text.length) {
    let end = text.indexOf('\n', start);
    if (end < 0) end = text.length;
    const line = text.slice(start, end);
    if (/^\s*\.end_amdgpu_metadata\b/.test(line)) {
      lexer.next = start;
      lexer.nextStatement();
      lexer.lex();
      return lines.join('');
    }
    lines.push(withoutComment(line), '\n');
    start = end + 1;
  }
  lexer.next = text.length;
  lexer.nextStatement();
  return lexer.fail(lexer.start(), 'expected directive .end_amdgpu_metadata not found');
}

/** The block read last: whoever compares an old and an edited text assembles the same metadata twice, and it takes longest to read. */
let lastRead: { readonly yaml: string; readonly document: MsgPackValue } | undefined;

const metadata: DirectiveHandler = (a, lexer, _name, offset) => {
  const yaml = readYaml(lexer);
  if (yaml === undefined) return;
  let document: MsgPackValue;
  let problem: string | undefined;
  try {
    document = lastRead?.yaml === yaml ? lastRead.document : metadataFromYaml(fromByteText(yaml));
    lastRead = { yaml, document };
    problem = metadataProblem(document);
  } catch (error) {
    if (!(error instanceof WavesmithError)) throw error;
    const { line } = error.position;
    lexer.fail(offset, `invalid HSA metadata: ${error.message}${line === undefined ? '' : ` (line ${line} of it)`}`);
    return;
  }
  if (problem !== undefined) {
    lexer.fail(lexer.start(), `invalid HSA metadata: ${problem}`);
    return;
  }
  const { emitter } = a;
  const { sections } = emitter;
  const location = a.location(offset);
  const pad = () => emitter.align(4, { value: 0n, size: 1, code: false }, 0, location);
  sections.push();
  const description = { name: '.note', type: SectionType.NOTE, flags: SectionFlag.ALLOC, entrySize: 0 };
  emitter.switchTo(emitter.section(description));
  pad();
  emitter.bytes(writeNote(AMDGPU_NOTE_OWNER, NT_AMDGPU_METADATA, encodeMsgPack(document)));
  sections.pop();
  a.streamer?.metadata(document);
  a.leaveEndOfStatement(lexer);
};

const ldsSymbol: DirectiveHandler = (a, lexer, _name, offset) => {
  const info = a.requireTarget(lexer, offset);
  if (info === undefined) return;
  const nameAt = lexer.start();
  const name = a.identifierAndComma(lexer, 'expected identifier in directive');
  if (name === undefined) return;
  const sizeAt = lexer.start();
  const size = a.absolute(lexer);
  if (size === undefined) return;
  if (size < 0n || size > BigInt(info.ldsBytes)) {
    lexer.fail(sizeAt, size < 0n ? 'size must be non-negative' : 'size is too large');
    return;
  }
  let alignment = 4n;
  if (lexer.skip(Tok.Comma)) {
    const alignAt = lexer.start();
    const given = a.absolute(lexer);
    if (given === undefined) return;
    if (given <= 0n || (given & (given - 1n)) !== 0n) {
      lexer.fail(alignAt, 'alignment must be a power of two');
      return;
    }
    if (given >= 1n << 31n) {
      lexer.fail(alignAt, 'alignment is too large');
      return;
    }
    alignment = given;
  }
  if (!a.endOfStatement(lexer)) return;
  const symbol = a.symbols.getOrCreate(name);
  if (symbol.isDefined) {
    lexer.fail(nameAt, 'invalid symbol redefinition');
    return;
  }
  symbol.location = a.location(nameAt);
  symbol.type = SymbolType.OBJECT;
  symbol.binding ??= SymbolBinding.GLOBAL;
  symbol.common = { size, alignment, lds: true };
  symbol.size = { kind: 'const', value: size };
  a.streamer?.line(`\t.amdgpu_lds ${name}, ${size}, ${alignment}`);
};

const hsaKernel: DirectiveHandler = (a, lexer) => {
  const at = lexer.start();
  const name = a.identifier(lexer);
  if (name === undefined) {
    lexer.fail(at, 'expected symbol name');
    return;
  }
  if (!a.endOfStatement(lexer)) return;
  const symbol = a.symbols.getOrCreate(name);
  symbol.location ??= a.location(at);
  symbol.type = SymbolType.AMDGPU_HSA_KERNEL;
  a.startKernelScope();
  a.streamer?.line(`\t.amdgpu_hsa_kernel ${name}`);
  a.leaveEndOfStatement(lexer);
};

/** Directives of other operating systems: which one they need. */
function unavailable(os: string): DirectiveHandler {
  return (_a, lexer, name) => {
    lexer.fail(lexer.start(), `${name} directive is not available on non-${os} OSes`);
  };
}

export const TARGET_DIRECTIVES: Readonly<Record<string, DirectiveHandler>> = {
  '.amdgcn_target': targetDirective,
  '.amdhsa_code_object_version': forOs('amdhsa', codeObjectVersion),
  '.amdhsa_kernel': forOs('amdhsa', (a, lexer, _name, offset) => kernelDirective(a, lexer, offset)),
  '.amdgpu_metadata': forOs('amdhsa', metadata),
  '.amdgpu_hsa_kernel': forOs('none', hsaKernel),
  '.amdgpu_lds': ldsSymbol,
  '.amd_amdgpu_hsa_metadata': forOs('none', unavailable('amdhsa')),
  '.amd_amdgpu_pal_metadata': unavailable('amdpal'),
};
