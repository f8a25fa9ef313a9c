// Named operands and modifiers: `offset:8`, `gds`, `op_sel:[1,0]`, cache policy, `mul:2`, DPP controls, SDWA selectors, formats.
// Source: AMDGPUAsmParser::parseIntWithPrefix, parseNamedBit, parseOperandArrayWithPrefix, parseCPol, parseDPPCtrl, parseFORMAT.
import { DATA_FORMATS, NUMBER_FORMATS, SDWA_SELECTORS, SDWA_UNUSED } from '../table/field-names.ts';
import { Tok } from '../text/lexer.ts';
import {
  CPOL_DLC,
  CPOL_GLC,
  CPOL_SCC,
  CPOL_SLC,
  FAILURE,
  ImmType,
  NO_MATCH,
  type ParseState,
  type ParseStatus,
  SUCCESS,
} from './state.ts';
import { parseRegOrImm, parseSmall } from './value.ts';

/** `prefix:EXPR` into `type`; values that `convert` refuses are reported. */
export function parseNamedInt(
  p: ParseState,
  prefix: string,
  type: ImmType,
  convert?: (value: number) => number | undefined,
): ParseStatus {
  const { lexer } = p;
  if (lexer.kind(1) !== Tok.Colon || !lexer.isIdentifier(prefix)) return NO_MATCH;
  const start = lexer.start();
  lexer.lex();
  lexer.lex();
  const value = parseSmall(p);
  if (value === undefined) return FAILURE;
  const converted = convert === undefined ? value : convert(value);
  if (converted === undefined) p.error(start, `invalid ${prefix} value.`);
  p.pushImm(converted ?? value, start, type);
  return SUCCESS;
}

/** `name` or `noname`. */
export function parseNamedBit(p: ParseState, name: string, type: ImmType): ParseStatus {
  const { lexer } = p;
  if (!lexer.is(Tok.Identifier)) return NO_MATCH;
  const start = lexer.start();
  let bit = 1;
  if (!lexer.isIdentifier(name)) {
    if (!lexer.isIdentifier(`no${name}`)) return NO_MATCH;
    bit = 0;
  }
  lexer.lex();
  p.pushImm(bit, start, type);
  return SUCCESS;
}

/** `prefix:[0,1,…]`, up to four bits. */
export function parseBitArray(p: ParseState, prefix: string, type: ImmType): ParseStatus {
  const { lexer } = p;
  if (lexer.kind(1) !== Tok.Colon || !lexer.isIdentifier(prefix)) return NO_MATCH;
  const start = lexer.start();
  lexer.lex();
  lexer.lex();
  if (!p.expect(Tok.LBrac, 'expected a left square bracket')) return FAILURE;
  let value = 0;
  for (let i = 0; ; i++) {
    const at = lexer.start();
    const bit = parseSmall(p);
    if (bit === undefined) return FAILURE;
    if (bit !== 0 && bit !== 1) return p.error(at, `invalid ${prefix} value.`);
    value |= bit << i;
    if (lexer.skip(Tok.RBrac)) break;
    if (i === 3) return p.error(lexer.start(), 'expected a closing square bracket');
    if (!p.expect(Tok.Comma, 'expected a comma')) return FAILURE;
  }
  p.pushImm(value, start, type);
  return SUCCESS;
}

const POLICY_GFX940: Readonly<Record<string, number>> = { sc0: CPOL_GLC, nt: CPOL_SLC, sc1: CPOL_SCC };
const POLICY: Readonly<Record<string, number>> = { glc: CPOL_GLC, slc: CPOL_SLC, dlc: CPOL_DLC, scc: CPOL_SCC };

/** `glc slc scc`, on gfx940 `sc0 nt sc1`, each with an optional `no` in front. */
export function parseCachePolicy(p: ParseState): ParseStatus {
  const { lexer } = p;
  if (!lexer.is(Tok.Identifier)) return NO_MATCH;
  const names = p.isGfx940 && !p.mnemonic.startsWith('s_') ? POLICY_GFX940 : POLICY;
  const start = lexer.start();
  let enabled = 0;
  let seen = 0;
  while (lexer.is(Tok.Identifier)) {
    const at = lexer.start();
    const text = lexer.tokenText();
    const disabling = text.startsWith('no');
    const name = disabling ? text.slice(2) : text;
    const bit = Object.hasOwn(names, name) ? names[name] : 0;
    if (bit === 0) break;
    lexer.lex();
    if (bit === CPOL_DLC) return p.error(at, 'dlc modifier is not supported on this GPU');
    if (seen & bit) return p.error(at, 'duplicate cache policy modifier');
    if (!disabling) enabled |= bit;
    seen |= bit;
  }
  if (seen === 0) return NO_MATCH;
  p.pushImm(enabled, start, ImmType.CPol);
  return SUCCESS;
}

/** `mul:2`, `mul:4`, `div:2`. */
export function parseOutputModifier(p: ParseState): ParseStatus {
  const status = parseNamedInt(p, 'mul', ImmType.OModSI, (v) => (v === 1 || v === 2 || v === 4 ? v >> 1 : undefined));
  if (status !== NO_MATCH) return status;
  return parseNamedInt(p, 'div', ImmType.OModSI, (v) => (v === 1 ? 0 : v === 2 ? 3 : undefined));
}

/** `offset:N` or `inst_offset:N`. */
export function parseFlatOffset(p: ParseState): ParseStatus {
  const status = parseNamedInt(p, 'offset', ImmType.Offset);
  return status !== NO_MATCH ? status : parseNamedInt(p, 'inst_offset', ImmType.InstOffset);
}

/** `blgp:N` or `neg:[…]`. */
export function parseBlgp(p: ParseState): ParseStatus {
  const status = parseNamedInt(p, 'blgp', ImmType.BLGP);
  return status !== NO_MATCH ? status : parseBitArray(p, 'neg', ImmType.BLGP);
}

/** `a16`; these GPUs have no `r128`. */
export function parseR128A16(p: ParseState): ParseStatus {
  const { lexer } = p;
  if (lexer.isIdentifier('r128') || lexer.isIdentifier('nor128')) {
    return p.error(lexer.start(), 'r128 modifier is not supported on this GPU');
  }
  return parseNamedBit(p, 'a16', ImmType.R128A16);
}

/** `prefix:NAME` or `prefix:NUMBER`. */
function parseEnumerated(p: ParseState, prefix: string, names: readonly string[], type: ImmType): ParseStatus {
  const { lexer } = p;
  if (lexer.kind(1) !== Tok.Colon || !lexer.isIdentifier(prefix)) return NO_MATCH;
  const start = lexer.start();
  lexer.lex();
  lexer.lex();
  const at = lexer.start();
  let value: number | undefined;
  if (lexer.is(Tok.Identifier)) {
    value = names.indexOf(lexer.tokenText());
    lexer.lex();
  } else value = parseSmall(p);
  if (value === undefined) return FAILURE;
  if (value < 0 || value >= names.length) return p.error(at, `invalid ${prefix} value`);
  p.pushImm(value, start, type);
  return SUCCESS;
}

/** `dst_sel:WORD_1` and the source selectors. */
export function parseSdwaSelector(p: ParseState, prefix: string, type: ImmType): ParseStatus {
  return parseEnumerated(p, prefix, SDWA_SELECTORS, type);
}

/** `dst_unused:UNUSED_PAD`. */
export function parseSdwaUnused(p: ParseState): ParseStatus {
  return parseEnumerated(p, 'dst_unused', SDWA_UNUSED, ImmType.SDWADstUnused);
}

/** DPP controls with a number: first value, lowest and highest number. */
const DPP: Readonly<Record<string, readonly [number, number, number]>> = {
  wave_shl: [0x130, 1, 1],
  wave_rol: [0x134, 1, 1],
  wave_shr: [0x138, 1, 1],
  wave_ror: [0x13c, 1, 1],
  row_shl: [0x100, 1, 15],
  row_shr: [0x110, 1, 15],
  row_ror: [0x120, 1, 15],
  row_newbcast: [0x150, 0, 15],
};

const DPP_NAMES = new Set([...Object.keys(DPP), 'row_mirror', 'row_half_mirror', 'quad_perm', 'row_bcast']);

/** `quad_perm:[0,1,2,3]`, `row_shl:1`, `row_mirror`, … */
export function parseDppControl(p: ParseState): ParseStatus {
  const { lexer } = p;
  if (!lexer.is(Tok.Identifier)) return NO_MATCH;
  const start = lexer.start();
  const name = lexer.tokenText();
  if (!DPP_NAMES.has(name)) return NO_MATCH;
  lexer.lex();
  let value: number | undefined;
  if (name === 'row_mirror') value = 0x140;
  else if (name === 'row_half_mirror') value = 0x141;
  else if (p.expect(Tok.Colon, 'expected a colon')) {
    value = name === 'quad_perm' ? quadPermutation(p) : dppNumber(p, name);
  }
  if (value === undefined) return FAILURE;
  p.pushImm(value, start, ImmType.DppCtrl);
  return SUCCESS;
}

function quadPermutation(p: ParseState): number | undefined {
  const { lexer } = p;
  if (!p.expect(Tok.LBrac, 'expected an opening square bracket')) return undefined;
  let value = 0;
  for (let i = 0; i < 4; i++) {
    if (i > 0 && !p.expect(Tok.Comma, 'expected a comma')) return undefined;
    const at = lexer.start();
    const lane = parseSmall(p);
    if (lane === undefined) return undefined;
    if (lane < 0 || lane > 3) return lexer.fail(at, 'expected a 2-bit value');
    value |= lane << (2 * i);
  }
  return p.expect(Tok.RBrac, 'expected a closing square bracket') ? value : undefined;
}

function dppNumber(p: ParseState, name: string): number | undefined {
  const at = p.lexer.start();
  const number = parseSmall(p);
  if (number === undefined) return undefined;
  if (name === 'row_bcast') {
    if (number === 15) return 0x142;
    if (number === 31) return 0x143;
  } else {
    const [first, low, high] = DPP[name];
    if (number >= low && number <= high) return low === high ? first : first | number;
  }
  return p.lexer.fail(at, `invalid ${name} value`);
}

/** Data format 8, number format UNORM. */
const DEFAULT_FORMAT = 1;
const UNIFIED = /^BUF_FMT_(INVALID|[0-9_]+_(UNORM|SNORM|USCALED|SSCALED|UINT|SINT|FLOAT))$/;

/** MTBUF format and the soffset after it: `dfmt:4, nfmt:2, s0` or `s0 format:[…]`. */
export function parseFormat(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  const legacy = legacyFormat(p);
  if (legacy === 'bad') return FAILURE;
  const op = p.pushImm(legacy ?? DEFAULT_FORMAT, start, ImmType.Format);
  if (legacy !== undefined) lexer.skip(Tok.Comma);
  if (lexer.is(Tok.EndOfStatement)) return SUCCESS;
  const status = parseRegOrImm(p);
  if (status !== SUCCESS) return status;
  lexer.skip(Tok.Comma);
  const named = lexer.isIdentifier('format') && lexer.kind(1) === Tok.Colon;
  if (legacy !== undefined) return named ? p.error(lexer.start(), 'duplicate format') : SUCCESS;
  if (!named) return SUCCESS;
  lexer.lex();
  lexer.lex();
  const value = lexer.skip(Tok.LBrac) ? symbolicFormat(p) : numericFormat(p);
  if (value === undefined) return FAILURE;
  op.number = value;
  return SUCCESS;
}

function legacyFormat(p: ParseState): number | 'bad' | undefined {
  const { lexer } = p;
  const found: (number | undefined)[] = [undefined, undefined];
  for (let i = 0; i < 2; i++) {
    for (const [which, name, max] of [
      [0, 'dfmt', 15],
      [1, 'nfmt', 7],
    ] as const) {
      if (found[which] !== undefined || lexer.kind(1) !== Tok.Colon || !lexer.isIdentifier(name)) continue;
      const at = lexer.start();
      lexer.lex();
      lexer.lex();
      const value = parseSmall(p);
      if (value === undefined) return 'bad';
      if (value < 0 || value > max) {
        p.error(at, `out of range ${name}`);
        return 'bad';
      }
      found[which] = value;
    }
    if ((found[0] === undefined) !== (found[1] === undefined) && lexer.kind(1) !== Tok.Comma) lexer.skip(Tok.Comma);
  }
  if (found[0] === undefined && found[1] === undefined) return undefined;
  return (found[0] ?? 1) | ((found[1] ?? 0) << 4);
}

function numericFormat(p: ParseState): number | undefined {
  const at = p.lexer.start();
  const value = parseSmall(p);
  if (value === undefined) return undefined;
  return value >= 0 && value <= 127 ? value : p.lexer.fail(at, 'out of range format');
}

function symbolicFormat(p: ParseState): number | undefined {
  const { lexer } = p;
  const found: (number | undefined)[] = [undefined, undefined];
  for (let i = 0; i < 2; i++) {
    const at = lexer.start();
    if (!lexer.is(Tok.Identifier)) return lexer.fail(at, 'expected a format string');
    const name = lexer.tokenText();
    lexer.lex();
    if (i === 0 && UNIFIED.test(name)) return lexer.fail(at, 'unified format is not supported on this GPU');
    const data = DATA_FORMATS.indexOf(name);
    const number = NUMBER_FORMATS.indexOf(name);
    if (data < 0 && number < 0) return lexer.fail(at, 'unsupported format');
    const which = data >= 0 ? 0 : 1;
    if (found[which] !== undefined) {
      return lexer.fail(at, which === 0 ? 'duplicate data format' : 'duplicate numeric format');
    }
    found[which] = data >= 0 ? data : number;
    if (i === 0 && !lexer.skip(Tok.Comma)) break;
  }
  if (!p.expect(Tok.RBrac, 'expected a closing square bracket')) return undefined;
  return (found[0] ?? 1) | ((found[1] ?? 0) << 4);
}
