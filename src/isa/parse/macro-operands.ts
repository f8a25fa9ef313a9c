// Operands written as macros: wait counts, `hwreg(…)`, `sendmsg(…)`, `swizzle(…)`, `gpr_idx(…)`, branch targets, `s_endpgm`'s code.
// Source: AMDGPUAsmParser::parseSWaitCnt, parseHwreg, parseSendMsg, parseSwizzle, parseGPRIdxMode, parseSOPPBrTarget.
import {
  GPR_INDEX_MODES,
  GS_OPERATIONS,
  hwregNames,
  MESSAGES,
  MSG_GS,
  MSG_GS_DONE,
  MSG_SYSMSG,
  SYSMSG_OPERATIONS,
} from '../table/field-names.ts';
import { evaluateAbsolute } from '../text/evaluate.ts';
import { parseExpression } from '../text/expr.ts';
import { Tok } from '../text/lexer.ts';
import { isRegisterAt } from './register.ts';
import { FAILURE, ImmType, NO_MATCH, type ParseState, type ParseStatus, SUCCESS, setInteger } from './state.ts';
import { isModifier, parseAbsolute, parseSmall } from './value.ts';

/** Fields of the wait count operand on GFX9: value bits as [width, position] pairs, low bits first. */
const COUNTERS: Readonly<Record<string, readonly (readonly [number, number])[]>> = {
  vmcnt: [
    [4, 0],
    [2, 14],
  ],
  expcnt: [[3, 4]],
  lgkmcnt: [[4, 8]],
};
/** All counters at their maximum: no waiting. */
const ALL_COUNTS = 0xcf7f;

function setCounter(word: number, name: string, value: number): number {
  let out = word;
  let rest = value;
  for (const [width, at] of COUNTERS[name]) {
    const mask = (1 << width) - 1;
    out = (out & ~(mask << at)) | ((rest & mask) << at);
    rest >>= width;
  }
  return out;
}

function counterMax(name: string): number {
  return (1 << COUNTERS[name].reduce((sum, [width]) => sum + width, 0)) - 1;
}

/** `vmcnt(0) & lgkmcnt(0)`, saturating forms `vmcnt_sat(…)`, or a number. */
export function parseWaitCount(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  let word = ALL_COUNTS;
  if (lexer.is(Tok.Identifier) && lexer.kind(1) === Tok.LParen) {
    while (!lexer.is(Tok.EndOfStatement)) {
      const next = oneCount(p, word);
      if (next === undefined) return FAILURE;
      word = next;
    }
    p.pushImm(word, start);
    return SUCCESS;
  }
  const value = parseAbsolute(p);
  if (value === undefined) return FAILURE;
  setInteger(p.pushImm(0, start), BigInt(value));
  return SUCCESS;
}

function oneCount(p: ParseState, word: number): number | undefined {
  const { lexer } = p;
  const at = lexer.start();
  const name = lexer.tokenText();
  if (!p.expect(Tok.Identifier, 'expected a counter name')) return undefined;
  if (!p.expect(Tok.LParen, 'expected a left parenthesis')) return undefined;
  const valueAt = lexer.start();
  const value = parseSmall(p);
  if (value === undefined) return undefined;
  const saturate = name.endsWith('_sat');
  const counter = saturate ? name.slice(0, -4) : name;
  if (!Object.hasOwn(COUNTERS, counter)) return lexer.fail(at, `invalid counter name ${name}`);
  const max = counterMax(counter);
  const fits = value >= 0 && value <= max;
  if (!fits && !saturate) return lexer.fail(valueAt, `too large value for ${name}`);
  if (!p.expect(Tok.RParen, 'expected a closing parenthesis')) return undefined;
  if ((lexer.skip(Tok.Amp) || lexer.skip(Tok.Comma)) && lexer.is(Tok.EndOfStatement)) {
    return lexer.fail(lexer.start(), 'expected a counter name');
  }
  return setCounter(word, counter, fits ? value : max);
}

/** Hardware registers that only other AMD GPUs have. */
const HWREGS_FOREIGN = new Set(
  (
    'PERF_SNAPSHOT_DATA PERF_SNAPSHOT_PC_LO PERF_SNAPSHOT_PC_HI FLAT_SCR_LO FLAT_SCR_HI XNACK_MASK HW_ID1 HW_ID2 ' +
    'POPS_PACKER SHADER_CYCLES SHADER_CYCLES_HI SHADER_CYCLES_LO DVGPR_ALLOC_LO DVGPR_ALLOC_HI STATE_PRIV ' +
    'PERF_SNAPSHOT_DATA1 PERF_SNAPSHOT_DATA2 EXCP_FLAG_PRIV EXCP_FLAG_USER TRAP_CTRL SCRATCH_BASE_LO SCRATCH_BASE_HI ' +
    'WAVE_MODE WAVE_STATUS WAVE_STATE_PRIV WAVE_GPR_ALLOC WAVE_LDS_ALLOC IB_STS2 SCHED_MODE WAVE_HW_ID1 WAVE_HW_ID2 ' +
    'WAVE_SCRATCH_BASE_LO WAVE_SCRATCH_BASE_HI WAVE_EXCP_FLAG_PRIV WAVE_EXCP_FLAG_USER WAVE_TRAP_CTRL WAVE_SCHED_MODE'
  )
    .split(' ')
    .map((n) => `HW_REG_${n}`),
);

interface Field {
  value: number;
  at: number;
  defined: boolean;
}

/** `hwreg(NAME, offset, size)`, `{id: …, offset: …, size: …}` or a number. */
export function parseHwreg(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  const fields: Record<string, Field> = {
    id: { value: 0, at: start, defined: false },
    offset: { value: 0, at: start, defined: false },
    size: { value: 32, at: start, defined: false },
  };
  let value: number | undefined;
  if (lexer.is(Tok.LCurly) || (lexer.isIdentifier('hwreg') && lexer.kind(1) === Tok.LParen)) {
    const ok = lexer.is(Tok.LCurly) ? structured(p, fields) : hwregFunction(p, fields);
    if (!ok) return FAILURE;
    const { id, offset, size } = fields;
    if (id.value === -2) return p.error(id.at, 'invalid hardware register: not supported on this GPU');
    if (id.value < 0 || id.value > 63) return p.error(id.at, 'invalid hardware register: only 6-bit values are legal');
    if (offset.value < 0 || offset.value > 31) {
      return p.error(offset.at, 'invalid bit offset: only 5-bit values are legal');
    }
    if (size.value < 1 || size.value > 32) {
      return p.error(size.at, 'invalid bitfield width: only values from 1 to 32 are legal');
    }
    value = id.value | (offset.value << 6) | ((size.value - 1) << 11);
  } else {
    value = parseSmall(p, 'a hwreg macro, structured immediate');
    if (value === undefined) return FAILURE;
  }
  if (value < 0 || value > 0xffff) return p.error(start, 'invalid immediate: only 16-bit values are legal');
  p.pushImm(value, start, ImmType.Hwreg);
  return SUCCESS;
}

function structured(p: ParseState, fields: Record<string, Field>): boolean {
  const { lexer } = p;
  lexer.lex();
  let first = true;
  while (!lexer.skip(Tok.RCurly)) {
    if (!first && !p.expect(Tok.Comma, 'comma or closing brace expected')) return false;
    const id = lexer.tokenText();
    const at = lexer.start();
    if (!p.expect(Tok.Identifier, 'field name expected') || !p.expect(Tok.Colon, 'colon expected')) return false;
    const field = Object.hasOwn(fields, id) ? fields[id] : undefined;
    if (field === undefined || field.defined) {
      p.error(at, field === undefined ? 'unknown field' : 'duplicate field');
      return false;
    }
    field.at = lexer.start();
    const value = parseSmall(p);
    if (value === undefined) return false;
    field.value = value;
    field.defined = true;
    first = false;
  }
  return true;
}

/** The id of a hardware register, -2 for one of other GPUs, undefined for no register. */
function hwregId(p: ParseState, name: string): number | undefined {
  const id = hwregNames(p.target).indexOf(name);
  if (id > 0) return id;
  return HWREGS_FOREIGN.has(name) || hwregNames('gfx942').includes(name) ? -2 : undefined;
}

function hwregFunction(p: ParseState, { id, offset, size }: Record<string, Field>): boolean {
  const { lexer } = p;
  lexer.lex();
  lexer.lex();
  id.at = lexer.start();
  const name = lexer.is(Tok.Identifier) ? lexer.tokenText() : '';
  const known = name === '' ? undefined : hwregId(p, name);
  if (known !== undefined) {
    id.value = known;
    lexer.lex();
  } else {
    const value = parseSmall(p, 'a register name');
    if (value === undefined) return false;
    id.value = value === -2 ? -1 : value;
  }
  if (lexer.skip(Tok.RParen)) return true;
  if (!p.expect(Tok.Comma, 'expected a comma or a closing parenthesis')) return false;
  offset.at = lexer.start();
  const bit = parseSmall(p);
  if (bit === undefined) return false;
  offset.value = bit;
  if (!p.expect(Tok.Comma, 'expected a comma')) return false;
  size.at = lexer.start();
  const width = parseSmall(p);
  if (width === undefined) return false;
  size.value = width;
  return p.expect(Tok.RParen, 'expected a closing parenthesis');
}

const MESSAGES_FOREIGN = new Set(
  (
    'GET_DDID HS_TESSFACTOR DEALLOC_VGPRS RTN_GET_DOORBELL RTN_GET_DDID RTN_GET_TMA RTN_GET_REALTIME RTN_SAVE_WAVE ' +
    'RTN_GET_TBA RTN_GET_TBA_TO_PC RTN_GET_SE_AID_ID RTN_GET_CLUSTER_BARRIER_STATE RTN_SAVE_WAVE_HAS_TDM'
  )
    .split(' ')
    .map((n) => `MSG_${n}`),
);
/** Operations that only other AMD GPUs have. */
const OPERATIONS_FOREIGN = new Set(['SYSMSG_OP_HOST_TRAP_ACK']);

/** `sendmsg(MSG, OP, STREAM)` or a number. */
export function parseSendMessage(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  if (lexer.isIdentifier('sendmsg') && lexer.kind(1) === Tok.LParen) {
    lexer.lex();
    lexer.lex();
    const value = message(p);
    if (value === undefined) return FAILURE;
    p.pushImm(value, start, ImmType.SendMsg);
    return SUCCESS;
  }
  const value = parseSmall(p, 'a sendmsg macro');
  if (value === undefined) return FAILURE;
  if (value < 0 || value > 0xffff) return p.error(start, 'invalid immediate: only 16-bit values are legal');
  p.pushImm(value, start, ImmType.SendMsg);
  return SUCCESS;
}

interface MessagePart {
  value: number;
  at: number;
  defined: boolean;
  symbolic: boolean;
}

function message(p: ParseState): number | undefined {
  const { lexer } = p;
  const id: MessagePart = { value: 0, at: lexer.start(), defined: true, symbolic: false };
  const name = lexer.is(Tok.Identifier) ? lexer.tokenText() : '';
  const known = name === '' ? -1 : MESSAGES.indexOf(name);
  if (known > 0 || MESSAGES_FOREIGN.has(name)) {
    id.symbolic = true;
    id.value = known > 0 ? known : -2;
    lexer.lex();
  } else {
    const value = parseSmall(p, 'a message name');
    if (value === undefined) return undefined;
    id.value = value;
  }
  const operation: MessagePart = { value: 0, at: id.at, defined: false, symbolic: false };
  const stream: MessagePart = { value: 0, at: id.at, defined: false, symbolic: false };
  if (lexer.skip(Tok.Comma)) {
    operation.defined = true;
    operation.at = lexer.start();
    const names = id.value === MSG_SYSMSG ? SYSMSG_OPERATIONS : GS_OPERATIONS;
    const text = lexer.is(Tok.Identifier) ? lexer.tokenText() : '';
    if (text !== '' && names.includes(text)) {
      operation.value = names.indexOf(text);
      lexer.lex();
    } else if (id.value === MSG_SYSMSG && OPERATIONS_FOREIGN.has(text)) {
      operation.value = -2;
      lexer.lex();
    } else {
      const value = parseSmall(p, 'an operation name');
      if (value === undefined) return undefined;
      operation.value = value;
    }
    if (lexer.skip(Tok.Comma)) {
      stream.defined = true;
      stream.at = lexer.start();
      const value = parseSmall(p);
      if (value === undefined) return undefined;
      stream.value = value;
    }
  }
  if (!p.expect(Tok.RParen, 'expected a closing parenthesis')) return undefined;
  return messageProblem(p, id, operation, stream) ? undefined : id.value | (operation.value << 4) | (stream.value << 8);
}

/** Reports what is wrong with a message; symbolic ids are checked strictly, numbers only for fitting their fields. */
function messageProblem(p: ParseState, id: MessagePart, operation: MessagePart, stream: MessagePart): boolean {
  const fail = (at: number, text: string): boolean => {
    p.error(at, text);
    return true;
  };
  const strict = id.symbolic;
  const needsOperation = id.value === MSG_SYSMSG || id.value === MSG_GS || id.value === MSG_GS_DONE;
  if (strict && id.value === -2) return fail(id.at, 'specified message id is not supported on this GPU');
  if (!strict && (id.value < 0 || id.value > 15)) return fail(id.at, 'invalid message id');
  if (strict && needsOperation !== operation.defined) {
    return operation.defined
      ? fail(operation.at, 'message does not support operations')
      : fail(id.at, 'missing message operation');
  }
  if (strict && operation.value === -2) {
    return fail(operation.at, 'specified operation id is not supported on this GPU');
  }
  const names = id.value === MSG_SYSMSG ? SYSMSG_OPERATIONS : GS_OPERATIONS;
  const validOperation = strict
    ? needsOperation
      ? !(id.value === MSG_GS && operation.value === 0) && Boolean(names[operation.value])
      : operation.value === 0
    : operation.value >= 0 && operation.value <= 7;
  if (!validOperation) return fail(operation.at, 'invalid operation id');
  const streams = (id.value === MSG_GS || id.value === MSG_GS_DONE) && operation.value !== 0;
  if (strict && !streams && stream.defined) return fail(stream.at, 'message operation does not support streams');
  const validStream = strict && !streams ? stream.value === 0 : stream.value >= 0 && stream.value <= 3;
  return validStream ? false : fail(stream.at, 'invalid message stream id');
}

/** `offset:swizzle(MODE, …)` or `offset:N`. */
export function parseSwizzle(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  if (!p.skipId('offset')) return NO_MATCH;
  if (!p.expect(Tok.Colon, 'expected a colon')) return FAILURE;
  let value: number | undefined;
  if (p.skipId('swizzle')) value = swizzleMacro(p);
  else {
    const at = lexer.start();
    value = parseSmall(p, 'a swizzle macro');
    if (value !== undefined && (value < 0 || value > 0xffff)) return p.error(at, 'expected a 16-bit offset');
  }
  if (value === undefined) return FAILURE;
  p.pushImm(value, start, ImmType.Swizzle);
  return SUCCESS;
}

function swizzleMacro(p: ParseState): number | undefined {
  const { lexer } = p;
  if (!p.expect(Tok.LParen, 'expected a left parentheses')) return undefined;
  const at = lexer.start();
  const mode = lexer.is(Tok.Identifier) ? lexer.tokenText() : '';
  const parse = Object.hasOwn(SWIZZLES, mode) ? SWIZZLES[mode] : undefined;
  if (parse === undefined) return lexer.fail(at, 'expected a swizzle mode');
  lexer.lex();
  const value = parse(p);
  if (value === undefined || !p.expect(Tok.RParen, 'expected a closing parentheses')) return undefined;
  return value;
}

function bitmask(and: number, or: number, xor: number): number {
  return and | (or << 5) | (xor << 10);
}

const SWIZZLES: Readonly<Record<string, (p: ParseState) => number | undefined>> = {
  QUAD_PERM: (p) => {
    let value = 0x8000;
    for (let i = 0; i < 4; i++) {
      const lane = swizzleNumber(p, 0, 3, 'expected a 2-bit lane id');
      if (lane === undefined) return undefined;
      value |= lane << (2 * i);
    }
    return value;
  },
  BITMASK_PERM: (p) => {
    const { lexer } = p;
    if (!p.expect(Tok.Comma, 'expected a comma')) return undefined;
    const at = lexer.start();
    if (!lexer.is(Tok.String)) return lexer.fail(at, 'expected a string');
    const mask = lexer.text.slice(lexer.start() + 1, lexer.end() - 1);
    lexer.lex();
    if (mask.length !== 5) return lexer.fail(at, 'expected a 5-character mask');
    let and = 0;
    let or = 0;
    let xor = 0;
    for (let i = 0; i < 5; i++) {
      const bit = 1 << (4 - i);
      const c = mask[i];
      if (c === '1') or |= bit;
      else if (c === 'p' || c === 'i') and |= bit;
      else if (c !== '0') return lexer.fail(at, 'invalid mask');
      if (c === 'i') xor |= bit;
    }
    return bitmask(and, or, xor);
  },
  BROADCAST: (p) => {
    const size = groupSize(p, 2, 32);
    if (size === undefined) return undefined;
    const lane = swizzleNumber(p, 0, size - 1, 'lane id must be in the interval [0,group size - 1]');
    return lane === undefined ? undefined : bitmask(32 - size, lane, 0);
  },
  SWAP: (p) => {
    const size = groupSize(p, 1, 16);
    return size === undefined ? undefined : bitmask(31, 0, size);
  },
  REVERSE: (p) => {
    const size = groupSize(p, 2, 32);
    return size === undefined ? undefined : bitmask(31, 0, size - 1);
  },
  FFT: (p) => {
    const value = swizzleNumber(p, 0, 31, 'FFT swizzle must be in the interval [0,31]');
    return value === undefined ? undefined : 0xe000 | value;
  },
  ROTATE: (p) => {
    const direction = swizzleNumber(p, 0, 1, 'direction must be 0 (left) or 1 (right)');
    if (direction === undefined) return undefined;
    const size = swizzleNumber(p, 0, 31, 'number of threads to rotate must be in the interval [0,31]');
    return size === undefined ? undefined : 0xc000 | (direction << 10) | (size << 5);
  },
};

function swizzleNumber(p: ParseState, low: number, high: number, problem: string): number | undefined {
  if (!p.expect(Tok.Comma, 'expected a comma')) return undefined;
  const at = p.lexer.start();
  const value = parseSmall(p);
  if (value === undefined) return undefined;
  return value >= low && value <= high ? value : p.lexer.fail(at, problem);
}

function groupSize(p: ParseState, low: number, high: number): number | undefined {
  const at = p.lexer.start(1);
  const size = swizzleNumber(p, low, high, `group size must be in the interval [${low},${high}]`);
  if (size === undefined) return undefined;
  return (size & (size - 1)) === 0 ? size : p.lexer.fail(at, 'group size must be a power of two');
}

/** `gpr_idx(SRC0,DST)` or a number. */
export function parseGprIndexMode(p: ParseState): ParseStatus {
  const { lexer } = p;
  const start = lexer.start();
  let value: number | undefined = 0;
  if (lexer.isIdentifier('gpr_idx') && lexer.kind(1) === Tok.LParen) {
    lexer.lex();
    lexer.lex();
    value = indexModes(p);
    if (value === undefined) return FAILURE;
  } else {
    value = parseSmall(p);
    if (value === undefined) return FAILURE;
    if (value < 0 || value > 15) return p.error(start, 'invalid immediate: only 4-bit values are legal');
  }
  p.pushImm(value, start, ImmType.GPRIdxMode);
  return SUCCESS;
}

function indexModes(p: ParseState): number | undefined {
  const { lexer } = p;
  if (lexer.skip(Tok.RParen)) return 0;
  let value = 0;
  for (;;) {
    const at = lexer.start();
    const mode = lexer.is(Tok.Identifier) ? GPR_INDEX_MODES.indexOf(lexer.tokenText()) : -1;
    if (mode < 0) {
      const what = 'expected a VGPR index mode';
      return lexer.fail(at, value === 0 ? `${what} or a closing parenthesis` : what);
    }
    lexer.lex();
    if (value & (1 << mode)) return lexer.fail(at, 'duplicate VGPR index mode');
    value |= 1 << mode;
    if (lexer.skip(Tok.RParen)) return value;
    if (!p.expect(Tok.Comma, 'expected a comma or a closing parenthesis')) return undefined;
  }
}

/** A label or a 16-bit signed number of dwords. */
export function parseBranchTarget(p: ParseState): ParseStatus {
  if (isRegisterAt(p) || isModifier(p)) return NO_MATCH;
  const { lexer } = p;
  const start = lexer.start();
  const expr = parseExpression(lexer, p.context);
  if (expr === undefined) return FAILURE;
  const value = evaluateAbsolute(expr, {}) ?? p.context.evaluate?.(expr);
  if (value === undefined) {
    p.pushExpr(expr, start);
    if (expr.kind !== 'symbol') p.error(start, 'expected an absolute expression or a label');
    return SUCCESS;
  }
  const op = p.pushImm(0, start);
  setInteger(op, value);
  if (op.number < -0x8000 || op.number > 0xffff) p.error(start, 'expected a 16-bit signed jump offset');
  return SUCCESS;
}

/** The optional 16-bit code of `s_endpgm`. */
export function parseEndProgram(p: ParseState): ParseStatus {
  const start = p.lexer.start();
  const value = parseSmall(p);
  if (value === undefined) return FAILURE;
  if (value < 0 || value > 0xffff) return p.error(start, 'expected a 16-bit value');
  p.pushImm(value, start, ImmType.Endpgm);
  return SUCCESS;
}

/** A keyword of the instruction's template: `off`, `offen`, `idxen`, `lds`, `gds`. */
export function parseKeyword(p: ParseState, word: string): ParseStatus {
  const start = p.lexer.start();
  if (!p.skipId(word)) return NO_MATCH;
  if (word === 'gds') p.pushImm(1, start, ImmType.GDS);
  else p.pushToken(word, start);
  return SUCCESS;
}
