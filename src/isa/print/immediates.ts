// Text of immediates with a syntax of their own: hwreg(…), sendmsg(…), wait counts, swizzle(…), buffer formats.
// Source: CDNA ISA manuals (S_GETREG, S_SENDMSG, S_WAITCNT, DS_SWIZZLE_B32, MTBUF), spelled as LLVM's printer spells them.
import {
  DATA_FORMATS,
  GPR_INDEX_MODES,
  GS_OPERATIONS,
  hwregNames,
  MESSAGES,
  MSG_GS,
  MSG_GS_DONE,
  MSG_SYSMSG,
  NUMBER_FORMATS,
  SYSMSG_OPERATIONS,
} from '../table/field-names.ts';
import type { TargetName } from '../types.ts';

/** `hwreg(NAME, offset, width)`; the full register needs no offset and width. */
export function printHwreg(bits: number, target: TargetName): string {
  const id = bits & 63;
  const offset = (bits >> 6) & 31;
  const width = ((bits >> 11) & 31) + 1;
  const name = hwregNames(target)[id] || String(id);
  return width === 32 && offset === 0 ? `hwreg(${name})` : `hwreg(${name}, ${offset}, ${width})`;
}

/** `sendmsg(MSG, OP, STREAM)`, numbers where the combination has no names. */
export function printSendMessage(immediate: number): string {
  const bits = immediate & 0xffff;
  const id = bits & 15;
  const operation = (bits >> 4) & 7;
  const stream = (bits >> 8) & 3;
  const message = MESSAGES[id];
  const isGs = id === MSG_GS || id === MSG_GS_DONE;
  const names = id === MSG_SYSMSG ? SYSMSG_OPERATIONS : isGs ? GS_OPERATIONS : undefined;
  const operationName = names?.[operation];
  const operationValid =
    names === undefined ? operation === 0 : !(id === MSG_GS && operation === 0) && Boolean(operationName);
  const streamValid = isGs && operation !== 0 ? true : stream === 0;
  if (message && operationValid && streamValid) {
    if (names === undefined) return `sendmsg(${message})`;
    return isGs && operation !== 0
      ? `sendmsg(${message}, ${operationName}, ${stream})`
      : `sendmsg(${message}, ${operationName})`;
  }
  if ((id | (operation << 4) | (stream << 8)) === bits) return `sendmsg(${id}, ${operation}, ${stream})`;
  return String(bits);
}

/** `vmcnt(…) expcnt(…) lgkmcnt(…)`, only counters that wait unless none does. */
export function printWaitCount(bits: number): string {
  const vm = (bits & 15) | ((bits >> 10) & 0x30);
  const exp = (bits >> 4) & 7;
  const lgkm = (bits >> 8) & 15;
  const all = vm === 63 && exp === 7 && lgkm === 15;
  const parts: string[] = [];
  if (all || vm !== 63) parts.push(`vmcnt(${vm})`);
  if (all || exp !== 7) parts.push(`expcnt(${exp})`);
  if (all || lgkm !== 15) parts.push(`lgkmcnt(${lgkm})`);
  return parts.join(' ');
}

/** ` N` of S_ENDPGM, nothing for 0. */
export function printEndpgm(bits: number): string {
  return (bits & 0xffff) === 0 ? '' : ` ${bits & 0xffff}`;
}

/** `gpr_idx(SRC0,…)`, hex when unknown bits are set. */
export function printIndexMode(bits: number): string {
  if ((bits & ~15) !== 0) return `0x${(bits >>> 0).toString(16)}`;
  return `gpr_idx(${GPR_INDEX_MODES.filter((_, i) => (bits >> i) & 1).join(',')})`;
}

const DEFAULT_FORMAT = 1;

/** ` format:[…]` of MTBUF, nothing for the default (8-bit UNORM). */
export function printFormat(bits: number): string {
  if (bits === DEFAULT_FORMAT) return '';
  const data = bits & 15;
  const number = (bits >> 4) & 7;
  const parts: string[] = [];
  if (data !== DEFAULT_FORMAT) parts.push(DATA_FORMATS[data] as string);
  if (number !== 0) parts.push(NUMBER_FORMATS[number] as string);
  return ` format:[${parts.join(',')}]`;
}

function isPowerOfTwo(n: number): boolean {
  return n > 0 && (n & (n - 1)) === 0;
}

/** The five-character mask of BITMASK_PERM: `0`, `1`, `p` preserve, `i` invert, most significant first. */
function bitmaskText(and: number, or: number, xor: number): string {
  const zero = (0 | or) ^ xor;
  const one = ((31 & and) | or) ^ xor;
  let text = '';
  for (let bit = 16; bit > 0; bit >>= 1) {
    const z = (zero & bit) !== 0;
    const o = (one & bit) !== 0;
    text += z === o ? (z ? '1' : '0') : z ? 'i' : 'p';
  }
  return text;
}

/** FFT and ROTATE modes exist on GFX9 (`mode` 0xE000 and up, 0xC000). */
function extendedSwizzle(bits: number): string | undefined {
  if (bits >= 0xe000) return `swizzle(FFT,${bits & 31})`;
  if (bits >= 0xc000) return `swizzle(ROTATE,${(bits >> 10) & 1},${(bits >> 5) & 31})`;
  return undefined;
}

/** ` offset:swizzle(…)` of DS_SWIZZLE_B32, nothing for 0. */
export function printSwizzle(immediate: number): string {
  const bits = immediate & 0xffff;
  if (bits === 0) return '';
  if ((bits & 0xff00) === 0x8000) {
    return ` offset:swizzle(QUAD_PERM,${bits & 3},${(bits >> 2) & 3},${(bits >> 4) & 3},${(bits >> 6) & 3})`;
  }
  if ((bits & 0x8000) !== 0) return ` offset:${extendedSwizzle(bits) ?? bits}`;
  const and = bits & 31;
  const or = (bits >> 5) & 31;
  const xor = (bits >> 10) & 31;
  if (and === 31 && or === 0 && isPowerOfTwo(xor)) return ` offset:swizzle(SWAP,${xor})`;
  if (and === 31 && or === 0 && xor > 0 && isPowerOfTwo(xor + 1)) return ` offset:swizzle(REVERSE,${xor + 1})`;
  const group = 32 - and;
  if (group > 1 && isPowerOfTwo(group) && or < group && xor === 0) return ` offset:swizzle(BROADCAST,${group},${or})`;
  return ` offset:swizzle(BITMASK_PERM,"${bitmaskText(and, or, xor)}")`;
}
