// A section of code as text, in two passes: `scan` decodes everything and asks for the labels that branches, relocations
// and pc-relative code need; `print` writes instructions, labels, function symbols and padding.
// Source: LLVM's AMDGPUMCCodeEmitter.cpp (where literals and branch offsets sit) and SIInstrInfo.cpp (pc-relative code).
import type { TextOutput } from '../../base/index.ts';
import { RelocationType, SymbolType } from '../../codeobject/index.ts';
import type { Instruction } from '../../isa/index.ts';
import { operandNamed } from '../../isa/operand.ts';
import type { CodeRole, InstructionCache } from './cache.ts';
import { type CodeComments, Commenter } from './comments.ts';
import { hex, type LineSink, pushAll, rawText, wordAt } from './data.ts';
import type { Image, ImageReference, ImageSection, ImageSymbol, Place } from './image.ts';
import type { Labels } from './labels.ts';
import { LayoutPrinter, NOP_WORD } from './layout.ts';
import { dataReference, expressionText, RELOCATION_SPECIFIERS, relocationName } from './references.ts';

/** What a pc-relative pair computes: a place, or the slot of the global offset table that holds a symbol's address. */
type Target = { readonly place: Place } | { readonly slot: ImageReference };

/** How an instruction's text differs from its canonical one. */
type Special =
  | { readonly kind: 'branch' | 'offset'; readonly place: Place }
  | { readonly kind: 'relocation' | 'data'; readonly reference: ImageReference }
  | { readonly kind: 'low' | 'high'; readonly target: Target; readonly pc: Place };

const WORD = 4;
const LITERAL_OFFSET = 4;
/** What `@rel32@lo` and `@rel32@hi` add so that the sum counts from the instruction behind `s_getpc_b64`. */
const LOW_BIAS = 4;
const HIGH_BIAS = 12;
const INLINE_ZERO = 128;
const INLINE_MINUS_ONE = 193;
/** Equal words that are not code are folded from this many on. */
const MIN_RUN = 8;

/** A part of a section, `[start, end)`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** An instruction or a word of data, as it is printed. */
export interface CodeLine {
  /** Offset in the section. */
  readonly offset: number;
  readonly text: string;
  /** The text with `.L` for a code label, where `target` is the label's offset in this section. */
  readonly general: string;
  readonly target: number | undefined;
}

/** A getpc and an add of the low half seen just before. */
interface PcState {
  /** Where the next instruction of the sequence must be. */
  next: number;
  /** Offset behind s_getpc_b64: what it returns. */
  pc: number;
  /** First register of the pair. */
  register: number;
  /** Offset and value of the low half's literal, once seen. */
  low: { at: number; bits: number } | undefined;
}

/** One code section. */
export class CodeSection {
  private readonly image: Image;
  private readonly section: ImageSection;
  private readonly labels: Labels;
  private readonly cache: InstructionCache;
  /** Items in order: an instruction's id in the cache, or minus the number of raw bytes. */
  private items = new Int32Array(1024);
  private itemCount = 0;
  private readonly specials = new Map<number, Special>();
  /** Index of the next reference that has not been passed. */
  private nextReference = 0;
  private pcState: PcState | undefined;

  constructor(image: Image, section: ImageSection, labels: Labels, cache: InstructionCache) {
    this.image = image;
    this.section = section;
    this.labels = labels;
    this.cache = cache;
  }

  /** Decodes the section and asks `labels` for what the text will refer to. */
  scan(): void {
    const { bytes, size: end } = this.section;
    let at = 0;
    for (const boundary of this.boundaries()) {
      while (at < boundary) {
        const dataSize = this.dataAt(at, boundary);
        if (dataSize > 0) {
          this.labels.markStart(this.section, at);
          this.push(-dataSize);
          at += dataSize;
          continue;
        }
        const id = this.cache.idAt(bytes, at, end);
        const length = id < 0 ? 0 : this.cache.sizeOf(id);
        this.labels.markStart(this.section, at);
        if (length > 0 && at + length <= boundary) {
          this.push(id);
          this.inspect(at, length, this.cache.roleOf(id));
          at += length;
        } else {
          const size = Math.min(WORD - (at % WORD), boundary - at);
          this.push(-size);
          this.pcState = undefined;
          this.inspectRelocation(at, size);
          at += size;
        }
      }
    }
  }

  /** Symbol offsets and the section's end, ascending: decoding starts anew at each. */
  private boundaries(): number[] {
    const offsets = new Set(this.section.symbols.map((s) => s.offset));
    offsets.add(this.section.size);
    return [...offsets].sort((a, b) => a - b);
  }

  private push(item: number): void {
    if (this.itemCount === this.items.length) {
      const bigger = new Int32Array(this.items.length * 2);
      bigger.set(this.items);
      this.items = bigger;
    }
    this.items[this.itemCount++] = item;
  }

  private sizeOf(item: number): number {
    return item < 0 ? -item : this.cache.sizeOf(item);
  }

  /** Size of the data at an offset: a relocation at the start of an item that is no branch patches data. */
  private dataAt(at: number, boundary: number): number {
    const reference = this.referenceWithin(at, at + 1);
    if (reference === undefined || reference.type === RelocationType.REL16) return 0;
    const size = dataReference(reference.type, '', 0)?.size ?? 0;
    if (size === 0 || at + size > boundary) return 0;
    this.specials.set(at, { kind: 'data', reference });
    this.wantTarget(reference);
    this.pcState = undefined;
    return size;
  }

  private wantTarget(reference: ImageReference): void {
    const place = this.placeOfReference(reference);
    if (place !== undefined) this.labels.wantReference(place);
  }

  private inspectRelocation(at: number, size: number): ImageReference | undefined {
    const reference = this.referenceWithin(at, at + size);
    if (reference === undefined) return undefined;
    this.specials.set(at, { kind: 'relocation', reference });
    this.wantTarget(reference);
    return reference;
  }

  private inspect(at: number, size: number, data: CodeRole | undefined): void {
    const reference = this.inspectRelocation(at, size);
    const state = this.pcState;
    this.pcState = undefined;
    if (data === undefined) return;
    const isNext = state !== undefined && state.next === at && reference === undefined;
    switch (data.role) {
      case 'branch': {
        const offset = at + WORD + data.displacement;
        if (reference !== undefined || offset < 0 || offset > this.section.size) return;
        const place = { section: this.section, offset };
        this.specials.set(at, { kind: 'branch', place });
        this.labels.wantBranch(place);
        return;
      }
      case 'getPc': {
        const pc = at + size;
        this.pcState = { next: pc, pc, register: data.register, low: undefined };
        return;
      }
      case 'addOffset':
        if (isNext) this.addOffset(at, data.literal);
        return;
      case 'addLow':
        if (isNext && state.low === undefined && data.register === state.register) {
          this.pcState = { ...state, next: at + size, low: { at, bits: data.literal } };
        }
        return;
      case 'addHigh':
        if (isNext && state.low !== undefined && data.register === state.register + 1) {
          this.addPair(state, state.low, at, data.instruction);
        }
        return;
    }
  }

  private referenceWithin(start: number, end: number): ImageReference | undefined {
    const { references } = this.section;
    while (this.nextReference < references.length && references[this.nextReference].offset < start)
      this.nextReference++;
    const next = references[this.nextReference];
    return next !== undefined && next.offset < end ? next : undefined;
  }

  /** `s_add_i32 s, literal, 4` behind s_getpc_b64: the literal counts from its own position to a label. */
  private addOffset(at: number, bits: number): void {
    const offset = at + LITERAL_OFFSET + (bits | 0);
    if (offset < 0 || offset > this.section.size) return;
    const place = { section: this.section, offset };
    this.specials.set(at, { kind: 'offset', place });
    this.labels.wantBranch(place);
  }

  private addPair(state: PcState, low: { at: number; bits: number }, highAt: number, add: Instruction): void {
    const source = operandNamed(add, 'src1');
    let high: number;
    if (source?.kind === 'literal') high = source.bits;
    else if (source?.kind === 'inline' && source.encoding === INLINE_ZERO) high = 0;
    else if (source?.kind === 'inline' && source.encoding === INLINE_MINUS_ONE) high = 0xffffffff;
    else return;
    const offset = state.pc + ((high | 0) * 2 ** 32 + low.bits);
    const target = this.targetOf(offset);
    if (target === undefined) return;
    const pc = { section: this.section, offset: state.pc };
    this.specials.set(low.at, { kind: 'low', target, pc });
    if (source.kind === 'literal') this.specials.set(highAt, { kind: 'high', target, pc });
    if ('slot' in target) {
      this.image.recoverGotSlot(target.slot);
      return;
    }
    if (this.isLabelDifference(target.place)) {
      this.labels.wantBranch(target.place);
      this.labels.wantBranch(pc);
    } else {
      this.labels.wantReference(target.place);
    }
  }

  private targetOf(offset: number): Target | undefined {
    if (this.image.isRelocatable) {
      const isInside = offset >= 0 && offset <= this.section.size;
      return isInside ? { place: { section: this.section, offset } } : undefined;
    }
    const slot = this.image.gotSlot(this.section.base + offset);
    if (slot !== undefined) return this.gotName(slot) === undefined ? undefined : { slot };
    const place = this.image.placeOf(this.section.base + offset);
    return place && { place };
  }

  /** Code of this section that is not a function is reached by a difference of labels, as long branches are. */
  private isLabelDifference(place: Place): boolean {
    if (place.section !== this.section) return false;
    if (this.image.isRelocatable) return true;
    return !this.labels.symbolsAt(place.section, place.offset).some((s) => s.elf.type === SymbolType.FUNC);
  }

  /** The symbol to write for a slot of the global offset table; a slot without a named symbol is left alone. */
  private gotName(slot: ImageReference): string | undefined {
    if (slot.symbol !== undefined) return slot.addend === 0n ? slot.symbol : undefined;
    if (slot.place === undefined) return undefined;
    return this.labels.symbolsAt(slot.place.section, slot.place.offset)[0]?.name;
  }

  /** The place a relocation means when it is against a section: the bias of pc-relative pairs is not part of it. */
  private placeOfReference(reference: ImageReference): Place | undefined {
    if (reference.place === undefined) return undefined;
    const { section, offset } = reference.place;
    const target = offset + Number(reference.addend) - pairBias(reference.type);
    return target >= 0 && target <= section.size ? { section, offset: target } : { section, offset };
  }

  /** Writes the section's lines, with `comments` where they are asked for. `isCanonical` is by instruction id; some function symbols are made protected by `.amdhsa_kernel` alone. */
  print(
    out: TextOutput,
    isCanonical: readonly boolean[],
    isProtectedByDirective: (symbol: ImageSymbol) => boolean,
    skipped: readonly Range[] = [],
    comments?: CodeComments,
  ): void {
    const layout = new LayoutPrinter(this.section, this.labels, out, isProtectedByDirective);
    const commenter = comments === undefined ? undefined : new Commenter(comments, this.section);
    let at = 0;
    let skip = 0;
    let stop = 0;
    for (let i = 0; i < this.itemCount; ) {
      while (skip < skipped.length && skipped[skip].end <= at) skip++;
      if (skip < skipped.length && skipped[skip].start <= at) {
        at += this.sizeOf(this.items[i++]);
        layout.skip(at);
        stop = at;
        continue;
      }
      if (at >= stop) {
        layout.arrive(at);
        stop = layout.stopAfter(at);
      }
      const run = this.runAt(i, at, layout);
      if (run > 0) {
        layout.run(at, run, this.isBehindJump(i, at));
        i += run;
        at += run * WORD;
        continue;
      }
      const item = this.items[i];
      if (item < 0) this.printRaw(out, at, -item);
      else if (commenter === undefined) {
        if (isCanonical[item] && !this.specials.has(at)) this.cache.writeLine(item, out);
        else this.printInstruction(out, item, at, isCanonical[item]);
      } else {
        const lines: string[] = [];
        this.printInstruction(lines, item, at, isCanonical[item]);
        pushAll(out, commenter.comment(lines, at, this.sizeOf(item)));
      }
      at += this.sizeOf(item);
      i++;
    }
    layout.arrive(this.section.size);
  }

  /** The items in order, without symbols and folding. */
  *lines(): IterableIterator<CodeLine> {
    let at = 0;
    for (let i = 0; i < this.itemCount; i++) {
      const item = this.items[i];
      if (item < 0) {
        const text = this.rawLine(this.specials.get(at), at, -item);
        yield { offset: at, text, general: text, target: undefined };
      } else {
        yield this.codeLine(at, this.cache.textOf(item));
      }
      at += this.sizeOf(item);
    }
  }

  private codeLine(offset: number, canonical: string): CodeLine {
    const special = this.specials.get(offset);
    const text = special === undefined ? undefined : this.specialText(special, canonical, offset);
    if (special === undefined || text === undefined)
      return { offset, text: canonical, general: canonical, target: undefined };
    switch (special.kind) {
      case 'relocation':
      case 'data':
        return { offset, text, general: text, target: undefined };
      case 'branch':
        return { offset, text, general: replaceLast(canonical, '.L'), target: special.place.offset };
      case 'offset':
        return { offset, text, general: replaceLiteral(canonical, '.L') ?? text, target: special.place.offset };
      default: {
        const isLabel = 'place' in special.target && this.isLabelDifference(special.target.place);
        if (!isLabel) return { offset, text, general: text, target: undefined };
        const target = (special.target as { place: Place }).place.offset;
        return { offset, text, general: replaceLast(canonical, '.L'), target };
      }
    }
  }

  /** How many equal one-word items from item `i` on can be written as one directive; 0 for none. */
  private runAt(i: number, at: number, layout: LayoutPrinter): number {
    const item = this.items[i];
    const word = at % WORD === 0 && this.sizeOf(item) === WORD ? wordAt(this.section.bytes, at) : undefined;
    if (word === undefined) return 0;
    const isFiller = word === NOP_WORD || word === 0;
    if ((item >= 0 && !isFiller) || this.specials.has(at)) return 0;
    const isBehindJump = this.isBehindJump(i, at);
    const isPadding = isFiller && (isBehindJump || !layout.isInFunction(at));
    if (item >= 0 && !isPadding && word !== 0) return 0;
    const stop = layout.stopAfter(at);
    let count = 0;
    let next = at;
    while (next < stop && this.items[i + count] === item && !this.specials.has(next)) {
      if (item < 0 && wordAt(this.section.bytes, next) !== word) break;
      count++;
      next += WORD;
    }
    if (isPadding && layout.alignmentAt(next, isBehindJump ? count * WORD : 0) > 1) return count;
    const isFoldable = word !== NOP_WORD || !layout.isInFunction(at);
    return isFoldable && count >= MIN_RUN ? count : 0;
  }

  /** True for a no-op that is never reached because the instruction before it always goes elsewhere. */
  private isBehindJump(i: number, at: number): boolean {
    if (i === 0 || wordAt(this.section.bytes, at) !== NOP_WORD) return false;
    const before = this.items[i - 1];
    return before >= 0 && this.cache.rowOf(before).flags.has('isBarrier');
  }

  private printRaw(out: LineSink, at: number, size: number): void {
    const special = this.specials.get(at);
    if (special?.kind === 'relocation') out.push(...this.relocLines(special.reference, at));
    out.push(`\t${this.rawLine(special, at, size)}`);
  }

  /** Data with its reference as an expression, where there is one. */
  private rawLine(special: Special | undefined, at: number, size: number): string {
    const target = special?.kind === 'data' ? this.referenceTarget(special.reference) : undefined;
    const data =
      special?.kind === 'data' && target && dataReference(special.reference.type, target.name, target.addend);
    return data ? data.line : rawText(this.section.bytes, at, size);
  }

  private printInstruction(out: LineSink, item: number, at: number, isCanonical: boolean): void {
    const canonical = this.cache.textOf(item);
    const special = this.specials.get(at);
    const text = special === undefined ? undefined : this.specialText(special, canonical, at);
    if (text !== undefined && isCanonical) out.push(`\t${text}`);
    else if (isCanonical && special?.kind !== 'relocation') out.push(`\t${canonical}`);
    else {
      if (special?.kind === 'relocation') out.push(...this.relocLines(special.reference, at));
      const words: string[] = [];
      for (let w = 0; w < this.cache.sizeOf(item); w += WORD) words.push(hex(wordAt(this.section.bytes, at + w)));
      out.push(`\t.long ${words.join(', ')}\t; ${canonical}`);
    }
  }

  private specialText(special: Special, text: string, at: number): string | undefined {
    switch (special.kind) {
      case 'branch': {
        const name = this.labels.branchTarget(special.place);
        return name && replaceLast(text, name);
      }
      case 'offset': {
        const name = this.labels.branchTarget(special.place);
        return name && replaceLiteral(text, name);
      }
      case 'relocation': {
        const { reference } = special;
        const operand = this.referenceText(reference);
        if (operand === undefined) return undefined;
        const distance = reference.offset - at;
        if (reference.type === RelocationType.REL16) return distance === 0 ? replaceLast(text, operand) : undefined;
        return distance === LITERAL_OFFSET ? replaceLiteral(text, operand) : undefined;
      }
      case 'data':
        return undefined;
      default: {
        const operand = this.pairText(special.kind === 'low', special.target, special.pc);
        return operand && replaceLast(text, operand);
      }
    }
  }

  private pairText(isLow: boolean, target: Target, pc: Place): string | undefined {
    const half = isLow ? 'lo' : 'hi';
    const bias = isLow ? LOW_BIAS : HIGH_BIAS;
    if ('slot' in target) return `${this.gotName(target.slot)}@gotpcrel32@${half}+${bias}`;
    if (this.isLabelDifference(target.place)) {
      const name = this.labels.branchTarget(target.place);
      const from = this.labels.branchTarget(pc);
      if (name === undefined || from === undefined) return undefined;
      return isLow ? `(${name}-${from})&4294967295` : `(${name}-${from})>>32`;
    }
    const { name, delta } = this.labels.write(target.place);
    return expressionText(name, delta + bias, `@rel32@${half}`);
  }

  private referenceText(reference: ImageReference): string | undefined {
    const isPlain = reference.type === RelocationType.REL32 || reference.type === RelocationType.REL16;
    const specifier = isPlain ? '' : RELOCATION_SPECIFIERS.get(reference.type);
    if (specifier === undefined) return undefined;
    const target = this.referenceTarget(reference);
    return target && expressionText(target.name, target.addend, specifier);
  }

  private referenceTarget(reference: ImageReference): { name: string; addend: bigint } | undefined {
    if (reference.symbol !== undefined) return { name: reference.symbol, addend: reference.addend };
    const place = this.placeOfReference(reference);
    if (place === undefined || reference.place === undefined) return undefined;
    const { name, delta } = this.labels.write(place);
    return { name, addend: reference.addend + BigInt(reference.place.offset - place.offset + delta) };
  }

  /** A relocation that no operand expresses, as a `.reloc` directive. */
  private relocLines(reference: ImageReference, at: number): string[] {
    const target = this.referenceTarget(reference);
    const type = relocationName(reference.type);
    if (target === undefined || type === undefined) return [];
    const offset = reference.offset === at ? '.' : `.+${reference.offset - at}`;
    return [`\t.reloc ${offset}, ${type}, ${expressionText(target.name, target.addend)}`];
  }
}

/** The part of the addend by which the halves of a pair reach behind s_getpc_b64. */
function pairBias(type: number): number {
  switch (type) {
    case RelocationType.REL32_LO:
    case RelocationType.GOTPCREL32_LO:
      return LOW_BIAS;
    case RelocationType.REL32_HI:
    case RelocationType.GOTPCREL32_HI:
      return HIGH_BIAS;
    default:
      return 0;
  }
}

/** Replaces the last operand of an instruction's text. */
function replaceLast(text: string, operand: string): string {
  const at = text.lastIndexOf(', ');
  return at < 0 ? `${text.slice(0, text.indexOf(' '))} ${operand}` : `${text.slice(0, at)}, ${operand}`;
}

const LITERAL_TEXT = /(?<=[ ,])(?:lit\(0x[0-9a-f]+\)|-?0x[0-9a-f]+|lit\(-?[0-9.e+-]+\))(?=,|$)/g;

/** Replaces the one literal among the operands; undefined when there is not exactly one candidate. */
function replaceLiteral(text: string, operand: string): string | undefined {
  const found = text.match(LITERAL_TEXT);
  return found?.length === 1 ? text.replace(LITERAL_TEXT, () => operand) : undefined;
}
