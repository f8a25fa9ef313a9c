// Completion and signature help: mnemonics of the target, modifiers that the instruction's encodings have, registers in use,
// names, directives. What is valid comes from the instruction table.
import type { CompletionItem, Position, Range, SignatureHelp } from 'vscode-languageserver';
import { CompletionItemKind } from 'vscode-languageserver';
import { TARGET_NAMES, targetInfo } from '../isa/index.ts';
import { listOperations } from '../isa/print/describe.ts';
import {
  DATA_FORMATS,
  hwregNames,
  MESSAGES,
  NUMBER_FORMATS,
  SDWA_SELECTORS,
  SDWA_UNUSED,
} from '../isa/table/field-names.ts';
import { operandClass } from '../isa/table/operand-classes.ts';
import { tableFor } from '../isa/table/table.ts';
import type { InstructionRow, TargetName } from '../isa/types.ts';
import { tupleEnd } from './classify.ts';
import { DIRECTIVE_DOCS, directiveMarkdown, KERNEL_DIRECTIVES } from './directive-docs.ts';
import type { SourceDocument } from './document.ts';
import { descriptionOf, encodeStatement, instructionMarkdown, syntaxText } from './instruction-docs.ts';
import { OPERAND_DOCS, operandMarkdown } from './operand-docs.ts';
import { registerDocumentation, registerFile, SPECIAL_REGISTERS } from './registers.ts';
import type { Statement } from './scan.ts';

const DPP =
  'quad_perm row_shl row_shr row_ror row_newbcast row_bcast row_mirror row_half_mirror wave_shl wave_shr wave_rol wave_ror';
const LISTS = new Set(['quad_perm', 'op_sel', 'op_sel_hi', 'neg_lo', 'neg_hi', 'format']);
const FLAGS = new Set(['row_mirror', 'row_half_mirror']);
const CALLS = new Set(['vmcnt', 'lgkmcnt', 'expcnt', 'hwreg', 'sendmsg', 'gpr_idx', 'neg', 'abs', 'sext']);

/** The words that can stand in the operands of a row, besides registers and names. */
function wordsOf(row: InstructionRow, target: TargetName): string[] {
  const words: string[] = [];
  for (const [word] of row.template.matchAll(/\$\w+|[^\s,$]+/g)) if (!word.startsWith('$')) words.push(word);
  for (const { cls } of row.operands) {
    const { parse, operandType } = operandClass(cls);
    const named = /^(?:NamedInt|NamedBit|Array|SDWASel):(\w+)/.exec(parse)?.[1];
    if (named !== undefined) words.push(named);
    else if (parse === 'CPol') words.push(...policyOf(row, target));
    else if (parse === 'OModSI') words.push('mul', 'div');
    else if (parse === 'FlatOffset' || parse === 'SMEMOffset') words.push('offset');
    else if (parse === 'BLGP') words.push('blgp');
    else if (parse === 'DPPCtrl') words.push(...DPP.split(' '));
    else if (parse === 'SDWADstUnused') words.push('dst_unused');
    else if (parse === 'SWaitCnt') words.push('vmcnt', 'lgkmcnt', 'expcnt');
    else if (parse === 'Hwreg') words.push('hwreg');
    else if (parse === 'SendMsg') words.push('sendmsg');
    else if (parse === 'GPRIdxMode') words.push('gpr_idx');
    else if (parse === 'Swizzle') words.push('offset');
    else if (parse === 'FORMAT') words.push('format');
    else if (parse === 'R128A16') words.push('a16');
    if (operandType === 'INPUT_MODS')
      words.push(...(/FP/.test(parse) ? ['neg', 'abs'] : /Int/.test(parse) ? ['sext'] : []));
  }
  return words;
}

function policyOf(row: InstructionRow, target: TargetName): string[] {
  const isNew = targetInfo(target).features.has('GFX940Insts') && !row.mnemonic.startsWith('s_');
  return isNew ? ['sc0', 'sc1', 'nt'] : ['glc', 'slc', 'scc'];
}

/** The rows of a mnemonic as written. */
function rowsOf(mnemonic: string, target: TargetName): readonly InstructionRow[] {
  const table = tableFor(target);
  const rows = /_(?:e32|e64|sdwa|dpp)$/.test(mnemonic) ? table.byMnemonic(mnemonic) : table.byOperation(mnemonic);
  return rows.filter((row) => !row.codeGenOnly);
}

/** Modifiers, helper calls and keywords that an instruction can have. */
export function modifiersOf(mnemonic: string, target: TargetName): string[] {
  return [...new Set(rowsOf(mnemonic, target).flatMap((row) => wordsOf(row, target)))];
}

/** How a modifier is inserted: `offset:`, `op_sel:[`, `vmcnt(`. */
function inserted(word: string): string {
  if (CALLS.has(word)) return `${word}(`;
  if (LISTS.has(word)) return `${word}:[`;
  const [syntax] = OPERAND_DOCS[word] ?? [''];
  return syntax.startsWith(`${word}:`) && !FLAGS.has(word) ? `${word}:` : word;
}

/** Values after `name:` or inside `name(`. */
function valuesOf(name: string, target: TargetName): readonly string[] {
  if (name === 'hwreg') return hwregNames(target).filter((n) => n !== '');
  if (name === 'sendmsg') return MESSAGES.filter((n) => n !== '');
  if (name === 'dst_sel' || name === 'src0_sel' || name === 'src1_sel') return SDWA_SELECTORS;
  if (name === 'dst_unused') return SDWA_UNUSED;
  if (name === 'format') return [...DATA_FORMATS, ...NUMBER_FORMATS];
  return [];
}

/** What can stand at an offset. */
export function completions(document: SourceDocument, offset: number, target: TargetName): CompletionItem[] {
  const { text } = document;
  const lineStart = Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const line = text.slice(lineStart, offset);
  if (document.scan.isComment(offset) && !isStatementStart(line)) return [];
  const word = /(?:(?:v|a|s|ttmp)\[[\d:]*|[\w.$@]*)$/.exec(line)?.[0] ?? '';
  const range = document.range(offset - word.length, offset);
  const found = document.statementAt(offset);
  const region = regionAt(document, offset);
  if (region === 'metadata') return [];
  const head = headBefore(line.slice(0, line.length - word.length));
  if (head === '') return statementItems(document, range, word, region === 'kernel', target);
  if (head.startsWith('.')) return directiveOperandItems(document, range, head);
  return operandItems(document, { range, word, line, head, statement: found?.statement }, target);
}

function isStatementStart(line: string): boolean {
  return /^\s*[\w.$]*$/.test(line);
}

/** The mnemonic or directive before the cursor on its line; empty when the cursor is at the start of a statement. */
function headBefore(line: string): string {
  return /^\s*(?:[\w.$@]+:\s*)*([\w.$@]+)(?=\s)/.exec(line)?.[1] ?? '';
}

function regionAt(document: SourceDocument, offset: number): Statement['region'] {
  const { scan } = document;
  for (const { kind, open, close } of scan.blocks) {
    if (kind !== 'kernel' && kind !== 'metadata') continue;
    const closed = scan.headText(scan.statements[close] as Statement).startsWith('.end_');
    const end = closed ? (scan.statements[close] as Statement).start : document.text.length;
    if (offset > (scan.statements[open] as Statement).end && offset <= end) return kind;
  }
  return 'code';
}

const plain = (
  range: Range,
  label: string,
  kind: CompletionItemKind,
  more: Partial<CompletionItem> = {},
): CompletionItem => ({
  label,
  kind,
  textEdit: { range, newText: label },
  ...more,
});

function statementItems(
  document: SourceDocument,
  range: Range,
  word: string,
  inKernel: boolean,
  target: TargetName,
): CompletionItem[] {
  const items: CompletionItem[] = [];
  if (inKernel) {
    for (const name of KERNEL_DIRECTIVES.keys())
      items.push(plain(range, name, CompletionItemKind.Property, { data: { directive: name } }));
    items.push(
      plain(range, '.end_amdhsa_kernel', CompletionItemKind.Keyword, { data: { directive: '.end_amdhsa_kernel' } }),
    );
    return items;
  }
  for (const entity of document.names.entities.values()) {
    if (entity.kind === 'macro') items.push(plain(range, entity.name, CompletionItemKind.Snippet, { detail: 'macro' }));
  }
  for (const name of DIRECTIVE_DOCS.keys())
    items.push(plain(range, name, CompletionItemKind.Keyword, { data: { directive: name } }));
  if (word.startsWith('.')) return items;
  for (const name of mnemonicsOf(target)) {
    items.push(plain(range, name, CompletionItemKind.Function, { data: { mnemonic: name, target } }));
  }
  return items;
}

const mnemonics = new Map<TargetName, readonly string[]>();

/** Every operation of a target, and its spellings with a suffix. */
function mnemonicsOf(target: TargetName): readonly string[] {
  let names = mnemonics.get(target);
  if (names === undefined) {
    const all = new Set(listOperations(target));
    for (const row of tableFor(target).rows) if (!row.codeGenOnly) all.add(row.mnemonic);
    names = [...all].sort();
    mnemonics.set(target, names);
  }
  return names;
}

function nameItems(document: SourceDocument, range: Range, isBranch: boolean): CompletionItem[] {
  const items: CompletionItem[] = [];
  for (const entity of document.names.entities.values()) {
    if (entity.kind !== 'label' && entity.kind !== 'symbol') continue;
    const kind = entity.isFunction
      ? CompletionItemKind.Method
      : entity.kind === 'label'
        ? CompletionItemKind.Reference
        : CompletionItemKind.Constant;
    items.push(
      plain(range, entity.name, kind, { detail: entity.kind, sortText: `${isBranch ? '0' : '3'}${entity.name}` }),
    );
  }
  return items;
}

function directiveOperandItems(document: SourceDocument, range: Range, head: string): CompletionItem[] {
  if (head === '.amdgcn_target') {
    const ids = TARGET_NAMES.map((name) => `"amdgcn-amd-amdhsa--${name}"`);
    return ids.map((id) => plain(range, id, CompletionItemKind.Value));
  }
  if (head === '.type') {
    const types = ['@function', '@object', '@notype', '@common', '@tls_object'];
    return [...nameItems(document, range, false), ...types.map((t) => plain(range, t, CompletionItemKind.EnumMember))];
  }
  return nameItems(document, range, false);
}

interface OperandContext {
  readonly range: Range;
  readonly word: string;
  readonly line: string;
  readonly head: string;
  readonly statement: Statement | undefined;
}

function operandItems(document: SourceDocument, context: OperandContext, target: TargetName): CompletionItem[] {
  const { range, word, line, head, statement } = context;
  const opener = /(\w+)(?::\[?|\()[^)\]]*$/.exec(line.slice(0, line.length - word.length))?.[1];
  const values = opener === undefined ? [] : valuesOf(opener, target);
  if (values.length > 0)
    return values.map((v) => plain(range, v, CompletionItemKind.EnumMember, { data: { word: v } }));
  const rows = rowsOf(head, target);
  const isBranch = rows.some((row) => row.operands.some((o) => operandClass(o.cls).operandType === 'PCREL'));
  const items = nameItems(document, range, isBranch);
  const written = statement === undefined ? '' : document.text.slice(statement.start, statement.end);
  for (const name of modifiersOf(head, target)) {
    if (name !== word && new RegExp(`\\b${name}\\b`).test(written)) continue;
    const newText = inserted(name);
    const item = {
      label: newText,
      kind: CompletionItemKind.Property,
      textEdit: { range, newText },
      sortText: `2${name}`,
      data: { word: name },
    };
    items.push(item);
  }
  if (/^(?:v|a|s|ttmp|vcc|exec|m|x|f|src|n)/.test(word)) {
    for (const register of registersOf(document)) {
      if (register.startsWith(word))
        items.push(
          plain(range, register, CompletionItemKind.Variable, { sortText: `1${register}`, data: { register } }),
        );
    }
  }
  return items;
}

/** Registers that the source uses, and the special ones. */
function registersOf(document: SourceDocument): Set<string> {
  const { scan } = document;
  const found = new Set(Object.keys(SPECIAL_REGISTERS));
  for (const statement of scan.statements) {
    if (statement.region !== 'code') continue;
    for (let token = statement.head + 1; token < statement.first + statement.count; token++) {
      const last = tupleEnd(document, statement, token);
      const text = document.text.slice(scan.start(token), scan.end(last < 0 ? token : last));
      if (text.length < 16 && registerFile(text) !== undefined) found.add(text);
      if (last >= 0) token = last;
    }
  }
  return found;
}

/** Adds the documentation of an item of a list. */
export function resolveCompletion(item: CompletionItem): CompletionItem {
  const data = (item.data ?? {}) as Record<string, unknown>;
  const { mnemonic, target, directive, word, register } = data;
  let value: string | undefined;
  if (typeof mnemonic === 'string' && TARGET_NAMES.includes(target as TargetName)) {
    value = instructionMarkdown(mnemonic, target as TargetName);
  } else if (typeof directive === 'string') value = directiveMarkdown(directive);
  else if (typeof word === 'string') value = operandMarkdown(word);
  else if (typeof register === 'string') value = registerDocumentation(register);
  return value === undefined ? item : { ...item, documentation: { kind: 'markdown', value } };
}

/** The operand templates of the instruction at a position, the operand at the cursor marked. */
export function signatureHelp(
  document: SourceDocument,
  position: Position,
  target: TargetName,
): SignatureHelp | undefined {
  const offset = document.offset(position);
  const lineStart = document.offset({ line: position.line, character: 0 });
  const line = document.text.slice(lineStart, offset);
  const head = headBefore(line);
  if (head === '' || head.startsWith('.') || document.scan.isComment(offset)) return undefined;
  const description = descriptionOf(head, target);
  if (description === undefined) return undefined;
  const operands = line.slice(line.indexOf(head) + head.length);
  let commas = 0;
  let depth = 0;
  for (const c of operands) {
    if ('[('.includes(c)) depth++;
    else if ('])'.includes(c)) depth--;
    else if (c === ',' && depth === 0) commas++;
  }
  const statement = document.statementAt(offset)?.statement;
  const encoded =
    statement === undefined || statement.head < 0
      ? undefined
      : encodeStatement(document.text.slice(document.scan.start(statement.head), statement.end), target);
  const signatures = description.encodings.map((encoding) => {
    const label = syntaxText(encoding);
    const parameters: { label: [number, number] }[] = [];
    const places: number[] = [];
    for (const match of label.matchAll(/\[?\b[\w.]+\]?/g)) {
      if (match.index === 0) continue;
      parameters.push({ label: [match.index, match.index + match[0].length] });
      places.push(label.slice(0, match.index).split(',').length - 1);
    }
    const active = places.indexOf(commas);
    return {
      label,
      documentation: `${encoding.encoding}, ${encoding.bytes} bytes`,
      parameters,
      activeParameter: active < 0 ? parameters.length : active,
    };
  });
  const own = description.encodings.findIndex((e) => e.record === encoded?.record);
  const activeSignature = Math.max(0, own);
  return { signatures, activeSignature, activeParameter: signatures[activeSignature]?.activeParameter ?? 0 };
}
