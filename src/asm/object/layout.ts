// Room `asm/object`: the object while it is assembled: sections, fragments, symbols, where they come to lie, and the relocations that
// remain.
// Begin with model.ts (what there is), then this file (where it goes), then fixups.ts (what is patched or relocated).
//
// Places fragments and evaluates expressions over symbols: distances while reading, addresses after layout.
// Sources: llvm/lib/MC/MCAssembler.cpp (layout, relaxation), MCExpr.cpp (AttemptToFoldSymbolOffsetDifference).

import { type ExprValue, evaluate, type SymbolResolver } from '../../isa/text/evaluate.ts';
import type { Expr, ExpressionFunction } from '../../isa/text/expr-tree.ts';
import type { Location } from '../assemble/source.ts';
import type { AsmSection, AsmSymbol, Fragment } from './model.ts';
import type { SymbolTable } from './symbols.ts';

/** A label's place: a fragment and an offset in it. */
export interface Place {
  readonly fragment: Fragment;
  readonly offset: bigint;
}

/** Resource limits of the target that AMDGPU's expression functions use. */
export interface ExpressionTarget {
  extraSgprs(usesVcc: boolean, usesFlatScratch: boolean, usesXnack: boolean): bigint;
}

const MAX_ALIASES = 64;
/** Label distances grow the code that depends on them at most this often before layout gives up. */
const MAX_PASSES = 64;

/** Evaluates expressions in the current state of an assembly. */
export class Evaluation {
  private readonly symbols: SymbolTable;
  private readonly target: ExpressionTarget;
  /** True once every fragment has its start. */
  isLaidOut = false;
  /** Every variable is replaced by its value. */
  private readonly expanding: SymbolResolver;
  /** Variables are replaced by their values, but the distance of labels is not known. */
  private readonly unplacing: SymbolResolver;
  /** A variable that is an alias of a label stays itself, as relocations need it. */
  private readonly keepingAliases: SymbolResolver;

  /** Without `knowsPlaces` labels have no distance, as when llvm-mc prints text. */
  constructor(symbols: SymbolTable, target: ExpressionTarget, knowsPlaces = true) {
    this.symbols = symbols;
    this.target = target;
    const difference = (add: string, sub: string) => (knowsPlaces ? this.difference(add, sub) : undefined);
    const call = (name: ExpressionFunction, args: readonly bigint[]) => this.call(name, args);
    this.expanding = { variable: (name) => this.symbols.get(name)?.value, difference, call };
    this.unplacing = { variable: (name) => this.symbols.get(name)?.value, call };
    this.keepingAliases = {
      variable: (name) => {
        const symbol = this.symbols.get(name);
        if (symbol?.value === undefined) return undefined;
        return this.place(symbol) === undefined ? symbol.value : undefined;
      },
      difference,
      call,
    };
  }

  /** The constant an expression is now, or undefined. */
  absolute(expr: Expr): bigint | undefined {
    if (expr.kind === 'const') return expr.value;
    const value = evaluate(expr, this.expanding);
    return value === undefined || value.add !== undefined || value.sub !== undefined ? undefined : value.constant;
  }

  /** The constant an expression is whatever the places of labels. */
  unplaced(expr: Expr): bigint | undefined {
    if (expr.kind === 'const') return expr.value;
    const value = evaluate(expr, this.unplacing);
    return value === undefined || value.add !== undefined || value.sub !== undefined ? undefined : value.constant;
  }

  /** The value of an expression for a relocation: `add - sub + constant`. */
  relocatable(expr: Expr): ExprValue | undefined {
    return evaluate(expr, this.keepingAliases);
  }

  /** Where a symbol is: labels directly, aliases through their value. */
  place(symbol: AsmSymbol): Place | undefined {
    if (symbol.fragment !== undefined) return { fragment: symbol.fragment, offset: BigInt(symbol.offset) };
    if (symbol.value === undefined) return undefined;
    const value = evaluate(symbol.value, this.expanding);
    if (value?.add === undefined || value.sub !== undefined || value.add.specifier !== undefined) return undefined;
    const base = this.symbols.get(value.add.name);
    if (base?.fragment === undefined) return undefined;
    return { fragment: base.fragment, offset: BigInt(base.offset) + value.constant };
  }

  /** `place` of the symbol behind a key. */
  placeOf(key: string): Place | undefined {
    const symbol = this.symbols.get(key);
    return symbol === undefined ? undefined : this.place(symbol);
  }

  /** The symbol an alias stands on, itself for anything else. */
  base(symbol: AsmSymbol): AsmSymbol | undefined {
    let at: AsmSymbol | undefined = symbol;
    for (let depth = 0; at?.value !== undefined && depth < MAX_ALIASES; depth++) {
      const value = evaluate(at.value, this.expanding);
      at = value?.add === undefined ? undefined : this.symbols.get(value.add.name);
    }
    return at;
  }

  /** `add - sub` when the distance is known. */
  private difference(addName: string, subName: string): bigint | undefined {
    const add = this.symbols.get(addName);
    const sub = this.symbols.get(subName);
    const a = add === undefined ? undefined : this.place(add);
    const b = sub === undefined ? undefined : this.place(sub);
    if (a === undefined || b === undefined || a.fragment.section !== b.fragment.section) return undefined;
    if (a.fragment === b.fragment) return a.offset - b.offset;
    if (this.isLaidOut) return BigInt(a.fragment.start - b.fragment.start) + a.offset - b.offset;
    if (a.fragment.subsection !== b.fragment.subsection) return undefined;
    const isForward = a.fragment.index > b.fragment.index;
    const [from, to] = isForward ? [b.fragment, a.fragment] : [a.fragment, b.fragment];
    let between = 0n;
    for (let i = from.index; i < to.index; i++) {
      const size = this.fixedSize(from.subsection[i]);
      if (size === undefined) return undefined;
      between += size;
    }
    return (isForward ? between : -between) + a.offset - b.offset;
  }

  private fixedSize(fragment: Fragment): bigint | undefined {
    if (fragment.kind === 'data') return BigInt(fragment.data.length);
    if (fragment.kind !== 'fill' || fragment.count.kind !== 'const' || fragment.count.value < 0n) return undefined;
    return fragment.count.value * BigInt(fragment.valueSize);
  }

  private call(name: ExpressionFunction, args: readonly bigint[]): bigint | undefined {
    if (name === 'extrasgprs') return this.target.extraSgprs(args[0] !== 0n, args[1] !== 0n, args[2] !== 0n);
    const unsigned = args.map((value) => BigInt.asUintN(64, value));
    if (name === 'totalnumvgprs') {
      const [agprs, vgprs] = unsigned;
      return agprs > 0n ? ((vgprs + 3n) / 4n) * 4n + agprs : vgprs;
    }
    if (name === 'occupancy') return occupancy(unsigned);
    return undefined;
  }
}

/** SGPR limits of 10, 9, 8, … waves, before GFX8 and from GFX8 to GFX9 (getOccupancyWithNumSGPRs). */
const OLD_SGPR_LIMITS: readonly bigint[] = [48n, 56n, 64n, 72n, 80n];
const NEW_SGPR_LIMITS: readonly bigint[] = [80n, 88n, 100n];
/** LLVM's numbers of GPU generations. */
const GENERATION_GFX8 = 7n;
const GENERATION_GFX10 = 9n;

/** The occupancy function of AMDGPUMCExpr: waves per SIMD by SGPRs and VGPRs. */
function occupancy(args: readonly bigint[]): bigint | undefined {
  const [maxWaves, granule, totalVgprs, generation, initial, sgprs, vgprs] = args;
  let result = initial;
  const lower = (value: bigint) => {
    if (value < result) result = value;
  };
  if (sgprs > 0n && generation >= GENERATION_GFX10) lower(maxWaves);
  else if (sgprs > 0n) {
    const limits = generation >= GENERATION_GFX8 ? NEW_SGPR_LIMITS : OLD_SGPR_LIMITS;
    const at = limits.findIndex((limit) => sgprs <= limit);
    lower(10n - BigInt(at < 0 ? limits.length : at));
  }
  if (vgprs > 0n) {
    if (granule === 0n) return undefined;
    const allocated = ((vgprs + granule - 1n) / granule) * granule;
    const waves = vgprs < granule ? maxWaves : totalVgprs / allocated;
    lower(waves < 1n ? 1n : waves > maxWaves ? maxWaves : waves);
  }
  return result;
}

/** Reports a problem at a place in the source. */
export type Report = (location: Location, message: string) => void;

/** Gives every fragment its start and size. Returns false when sections exceed `maxBytes`. */
export function layoutSections(
  sections: readonly AsmSection[],
  evaluation: Evaluation,
  report: Report,
  maxBytes: number,
): boolean {
  evaluation.isLaidOut = true;
  const silent: Report = () => {};
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    let changed = false;
    let total = 0;
    for (const section of sections) {
      let at = 0;
      for (const fragment of section.fragments()) {
        const size = fragmentSize(fragment, at, evaluation, silent);
        if (fragment.start !== at || fragment.size !== size) changed = true;
        fragment.start = at;
        fragment.size = size;
        at += size;
      }
      section.size = at;
      total += at;
      if (total > maxBytes) return false;
    }
    if (!changed) break;
  }
  for (const section of sections) {
    for (const fragment of section.fragments()) fragmentSize(fragment, fragment.start, evaluation, report);
  }
  return true;
}

function fragmentSize(fragment: Fragment, at: number, evaluation: Evaluation, report: Report): number {
  switch (fragment.kind) {
    case 'data':
      return fragment.data.length;
    case 'align': {
      const pad = (fragment.alignment - (at % fragment.alignment)) % fragment.alignment;
      if (pad > fragment.maxBytes) return 0;
      if (!fragment.code && pad % fragment.fillSize !== 0) {
        report(
          fragment.location,
          `alignment padding (${pad} bytes) is not a multiple of the fill value's size (${fragment.fillSize})`,
        );
      }
      return pad;
    }
    case 'fill': {
      const count = evaluation.absolute(fragment.count);
      if (count === undefined) {
        report(fragment.location, 'expected assembly-time absolute expression');
        return 0;
      }
      const size = count * BigInt(fragment.valueSize);
      if (size < 0n || size > 1n << 48n) {
        report(fragment.location, 'invalid number of bytes');
        return 0;
      }
      return Number(size);
    }
    case 'org': {
      const target = orgTarget(fragment.target, fragment.section, evaluation);
      if (target === undefined) {
        report(fragment.location, 'expected assembly-time absolute expression');
        return 0;
      }
      const size = target - BigInt(at);
      if (size < 0n || size > 1n << 40n) {
        report(fragment.location, `invalid .org offset '${target}' (at offset '${at}')`);
        return 0;
      }
      return Number(size);
    }
    case 'computed':
      fragment.bytes = Uint8Array.from(fragment.encode(evaluation.absolute(fragment.distance) ?? 0n));
      return fragment.bytes.length;
    case 'leb': {
      const value = evaluation.absolute(fragment.value);
      if (value === undefined) {
        report(fragment.location, `.${fragment.signed ? 's' : 'u'}leb128 expression is not absolute`);
        return fragment.bytes.length;
      }
      fragment.bytes = encodeLeb(value, fragment.signed, fragment.bytes.length);
      return fragment.bytes.length;
    }
  }
}

/** `.org` takes an offset, or a label of the same section plus an offset. */
function orgTarget(expr: Expr, section: AsmSection, evaluation: Evaluation): bigint | undefined {
  const constant = evaluation.absolute(expr);
  if (constant !== undefined) return constant;
  const value = evaluation.relocatable(expr);
  if (value?.add === undefined || value.sub !== undefined) return undefined;
  const place = evaluation.placeOf(value.add.name);
  if (place === undefined || place.fragment.section !== section) return undefined;
  return BigInt(place.fragment.start) + place.offset + value.constant;
}

/** LEB128 of a 64-bit value, padded to at least `minimum` bytes. */
export function encodeLeb(value: bigint, signed: boolean, minimum = 0): Uint8Array {
  const bytes: number[] = [];
  let rest = signed ? value : BigInt.asUintN(64, value);
  for (;;) {
    const byte = Number(rest & 0x7fn);
    rest >>= 7n;
    const isLast = signed ? (rest === 0n && (byte & 0x40) === 0) || (rest === -1n && (byte & 0x40) !== 0) : rest === 0n;
    const isDone = isLast && bytes.length + 1 >= minimum;
    bytes.push(isDone ? byte : byte | 0x80);
    if (isDone) return Uint8Array.from(bytes);
  }
}
