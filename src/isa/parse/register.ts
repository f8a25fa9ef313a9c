// Registers in assembly text: `v0`, `s[0:3]`, `a[x+1]`, `[s0,s1]`, `vcc`, `exec_lo`, `src_shared_base`, …
// Source: AMDGPUAsmParser::ParseAMDGPURegister and the functions it calls.

import { agpr, sgpr, special, specialByName, ttmp, vgpr } from '../table/registers.ts';
import { evaluateAbsolute } from '../text/evaluate.ts';
import { parseExpression } from '../text/expr.ts';
import { Tok } from '../text/lexer.ts';
import type { Register } from '../types.ts';
import { FAILURE, NO_MATCH, type ParseState, type ParseStatus, SUCCESS } from './state.ts';

type File = 'v' | 's' | 'a' | 'ttmp';

/** Names that other AMD GPUs have as registers. */
const FOREIGN = new Set(['tba', 'tma', 'tba_lo', 'tba_hi', 'tma_lo', 'tma_hi', 'null']);
const SPECIAL_NAMES = new Set(
  (
    'exec vcc flat_scratch xnack_mask shared_base src_shared_base shared_limit src_shared_limit private_base ' +
    'src_private_base private_limit src_private_limit pops_exiting_wave_id src_pops_exiting_wave_id lds_direct ' +
    'src_lds_direct m0 vccz src_vccz execz src_execz scc src_scc tba tma flat_scratch_lo flat_scratch_hi ' +
    'xnack_mask_lo xnack_mask_hi vcc_lo vcc_hi exec_lo exec_hi tma_lo tma_hi tba_lo tba_hi pc null'
  ).split(' '),
);

/** What LLVM knows as a register but no operand on these targets accepts: `pc`, `v0.l`. */
const UNUSABLE: Register = { kind: 'reg', file: 'special', index: -1, dwords: 0, encoding: -1, text: '', id: -1 };

const specialCache = new Map<string, Register>();

/** The register of a special name: apertures are 64-bit registers in LLVM, all others have their natural width. */
function specialRegister(name: string): Register {
  let found = specialCache.get(name);
  if (found === undefined) {
    const register = specialByName(name) ?? UNUSABLE;
    const aperture = register.encoding >= 235 && register.encoding <= 238;
    found = aperture ? (special(register.encoding, 2) ?? register) : register;
    specialCache.set(name, found);
  }
  return found;
}

/** Whether the register is one of LLVM's inline values (`src_shared_base`, `src_scc`, …), allowed wherever constants are. */
export function isInlineValue(register: Register): boolean {
  return register.file === 'special' && register.encoding >= 235 && register.encoding <= 253;
}

function fileLength(text: string, start: number, end: number): number {
  const c = text.charCodeAt(start);
  if (c === 118 /* v */ || c === 115 /* s */) return 1;
  if (c === 97 /* a */) return text.startsWith('acc', start) && end >= start + 3 ? 3 : 1;
  if (c === 116 /* t */ && text.startsWith('ttmp', start) && end >= start + 4) return 4;
  return 0;
}

/** The decimal number in text[from, to), or -1. */
function decimal(text: string, from: number, to: number): number {
  if (from >= to || to - from > 10) return -1;
  let value = 0;
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i) - 48;
    if (c < 0 || c > 9) return -1;
    value = value * 10 + c;
  }
  return value > 0xffffffff ? -1 : value;
}

/** Whether a register starts at the token `ahead` tokens further (LLVM's isRegister). */
export function isRegisterAt(p: ParseState, ahead = 0): boolean {
  const { lexer } = p;
  const kind = lexer.kind(ahead);
  if (kind === Tok.LBrac) return true;
  if (kind !== Tok.Identifier) return false;
  const start = lexer.start(ahead);
  const end = lexer.end(ahead);
  const prefix = fileLength(lexer.text, start, end);
  if (prefix > 0) {
    if (end - start === prefix) {
      if (lexer.kind(ahead + 1) === Tok.LBrac) return true;
    } else {
      if (decimal(lexer.text, start + prefix, end) >= 0) return true;
      const c = lexer.text.charCodeAt(end - 1);
      if ((c === 108 || c === 104) && lexer.text.charCodeAt(end - 2) === 46) {
        if (decimal(lexer.text, start + prefix, end - 2) >= 0) return true;
      }
    }
  }
  return SPECIAL_NAMES.has(lexer.text.slice(start, end));
}

/** SGPRs that instructions can name; the encodings after them are other registers. */
const SGPRS = 102;

const WIDTHS: Readonly<Record<File, ReadonlySet<number>>> = {
  v: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32]),
  a: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32]),
  s: new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16]),
  ttmp: new Set([1, 2, 4, 8, 16]),
};

function regular(p: ParseState, file: File, first: number, dwords: number, offset: number): Register | undefined {
  if (file === 's' || file === 'ttmp') {
    const align = dwords >= 3 ? 4 : dwords;
    if (first % align !== 0) return p.lexer.fail(offset, 'invalid register alignment');
  }
  if (!WIDTHS[file].has(dwords)) return p.lexer.fail(offset, 'invalid or unsupported register size');
  const size = file === 'ttmp' ? 16 : file === 's' ? 106 : 256;
  if (first + dwords > size) return p.lexer.fail(offset, 'register index is out of range');
  const found =
    file === 'v'
      ? vgpr(first, dwords)
      : file === 's'
        ? sgpr(first, dwords)
        : file === 'a'
          ? agpr(first, dwords)
          : ttmp(first, dwords);
  if (found !== undefined && !(file === 's' && first + dwords > SGPRS)) return found;
  const text = dwords === 1 ? `${file}${first}` : `${file}[${first}:${first + dwords - 1}]`;
  return p.lexer.fail(offset, `${text} register not available on this GPU`);
}

function index(p: ParseState): number {
  const { lexer } = p;
  const offset = lexer.start();
  if (lexer.is(Tok.Integer)) {
    const next = lexer.kind(1);
    if (next === Tok.Colon || next === Tok.RBrac) {
      const value = lexer.number();
      lexer.lex();
      if (value >= 0 && value <= 0xffffffff) return value;
      lexer.fail(offset, 'invalid register index');
      return -1;
    }
  }
  const expr = parseExpression(lexer, p.context);
  if (expr === undefined) return -1;
  const value = evaluateAbsolute(expr, {}) ?? p.context.evaluate?.(expr);
  if (value === undefined) {
    lexer.fail(offset, 'expected absolute expression');
    return -1;
  }
  if (value < 0n || value > 0xffffffffn) {
    lexer.fail(offset, 'invalid register index');
    return -1;
  }
  return Number(value);
}

function range(p: ParseState, file: File, offset: number): Register | undefined {
  const { lexer } = p;
  if (!p.expect(Tok.LBrac, 'missing register index')) return undefined;
  const firstAt = lexer.start();
  const first = index(p);
  if (first < 0) return undefined;
  let last = first;
  if (lexer.skip(Tok.Colon)) {
    last = index(p);
    if (last < 0) return undefined;
  }
  if (!p.expect(Tok.RBrac, 'expected a closing square bracket')) return undefined;
  if (first > last) return lexer.fail(firstAt, 'first register index should not exceed second index');
  return regular(p, file, first, last - first + 1, offset);
}

function named(p: ParseState): Register | undefined {
  const { lexer } = p;
  const start = lexer.start();
  const end = lexer.end();
  const prefix = fileLength(lexer.text, start, end);
  if (prefix > 0 && end - start > prefix) {
    const first = decimal(lexer.text, start + prefix, end);
    if (first >= 0) {
      lexer.lex();
      return regular(p, fileOf(lexer.text, start), first, 1, start);
    }
  }
  const name = lexer.text.slice(start, end);
  if (SPECIAL_NAMES.has(name)) {
    lexer.lex();
    if (!FOREIGN.has(name)) return specialRegister(name);
    return lexer.fail(
      start,
      name === 'null' ? "'null' operand is not supported on this GPU" : `${name} register not available on this GPU`,
    );
  }
  if (prefix === 0) return lexer.fail(start, 'invalid register name');
  lexer.lex();
  if (end - start === prefix) return range(p, fileOf(name, 0), start);
  if (/\.[lh]$/.test(name) && decimal(name, prefix, name.length - 2) >= 0) return UNUSABLE;
  return lexer.fail(start, 'invalid register index');
}

function fileOf(text: string, start: number): File {
  const c = text.charCodeAt(start);
  return c === 118 ? 'v' : c === 115 ? 's' : c === 97 ? 'a' : 'ttmp';
}

/** `[s0,s1,s2,s3]`, `[vcc_lo,vcc_hi]`. */
function list(p: ParseState, depth: number): Register | undefined {
  const { lexer } = p;
  const listAt = lexer.start();
  if (!p.expect(Tok.LBrac, 'expected a register or a list of registers')) return undefined;
  let at = lexer.start();
  let whole = element(p, depth);
  if (whole === undefined) return undefined;
  const { file, index: first } = whole;
  let dwords = 1;
  while (lexer.skip(Tok.Comma)) {
    at = lexer.start();
    const next = element(p, depth);
    if (next === undefined) return undefined;
    if (next.file !== file) return lexer.fail(at, 'registers in a list must be of the same kind');
    if (file === 'special') {
      const fits: boolean = dwords === 1 && next.dwords === 1 && whole.dwords === 1 && next.encoding === first + 1;
      const pair: Register | undefined = fits ? special(first, 2) : undefined;
      if (pair === undefined) return lexer.fail(at, 'register does not fit in the list');
      whole = pair;
      dwords = 2;
    } else {
      if (next.index !== first + dwords) return lexer.fail(at, 'registers in a list must have consecutive indices');
      dwords++;
    }
  }
  if (!p.expect(Tok.RBrac, 'expected a comma or a closing square bracket')) return undefined;
  return file === 'special' ? whole : regular(p, file, first, dwords, listAt);
}

function element(p: ParseState, depth: number): Register | undefined {
  const at = p.lexer.start();
  const register = anyRegister(p, depth + 1);
  if (register !== undefined && register.dwords !== 1 && register.file !== 'special') {
    return p.lexer.fail(at, 'expected a single 32-bit register');
  }
  return register;
}

/** Lists may be nested in LLVM (`[[s0]]`); deeper than any text needs is an error instead of deep recursion. */
const MAX_NESTING = 16;

function anyRegister(p: ParseState, depth: number): Register | undefined {
  if (p.lexer.is(Tok.Identifier)) return named(p);
  if (depth > MAX_NESTING) return p.lexer.fail(p.lexer.start(), 'register lists are nested too deeply');
  return list(p, depth);
}

/** Reads a register and reports it to the context; undefined after a diagnostic. */
export function parseRegister(p: ParseState): Register | undefined {
  const register = anyRegister(p, 0);
  if (register === undefined) return undefined;
  const { file } = register;
  if (file !== 'special' && file !== 'ttmp' && p.context.usesRegister !== undefined) {
    p.context.usesRegister(file, register.index + register.dwords - 1);
  }
  return register;
}

/** Reads a register operand if one is next. */
export function parseRegisterOperand(p: ParseState): ParseStatus {
  if (!isRegisterAt(p)) return NO_MATCH;
  const start = p.lexer.start();
  const register = parseRegister(p);
  if (register === undefined) return FAILURE;
  p.pushRegister(register, start);
  return SUCCESS;
}
