// Sets variables of the source program: where their bytes are, in registers or memory of the selected lane.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { PRIVATE_APERTURE_HIGH, SHARED_APERTURE_HIGH } from '../../apertures.ts';
import type { Wave } from '../state/wave.ts';
import { bytesOf, setBytes, setRegister } from './change.ts';
import type { Debugger } from './debugger.ts';
import { evaluate } from './look.ts';
import { loadBytes } from './scope.ts';
import { findVariable, partAt, type ShownVariable, type VariableHome } from './source-variables.ts';
import { bitsOf, type Value, valueType } from './value.ts';

const HIGH_WORD = 4294967296;
const REGISTER = /^(?:[sva]\d+|(?:vcc|exec)(?:_lo|_hi)?|scc|m0|mode|pc)$/i;

/** The variable that `sum`, `q.b[1]`, `p->next` or `*p` means where a wave is; undefined when it is none, or a register. */
export function variableAt(d: Debugger, w: Wave, text: string): ShownVariable | undefined {
  const match = /^(\**)\s*([A-Za-z_]\w*)((?:\.\w+|->\w+|\[\d+\])*)$/.exec(text.trim());
  const [, stars = '', name = '', rest = ''] = match ?? [];
  if (match === null || REGISTER.test(name)) return undefined;
  const found = findVariable(w, d.lane, d, name);
  if (found === undefined) return undefined;
  const path = [...rest.matchAll(/(\.|->|\[)(\w+)/g)].flatMap(([, kind, step = '']): (string | number)[] =>
    kind === '[' ? [Number(step)] : kind === '.' ? [step] : ['*', step],
  );
  return partAt(found, [...path, ...Array.from(stars, () => '*')]);
}

/** Sets a variable, or a part of one, to the value of an expression or the name of an enumerator. */
export function setVariable(d: Debugger, w: Wave, variable: ShownVariable, text: string): void {
  const { name, type, bytes, home, why } = variable;
  if (bytes === undefined || home === undefined) {
    throw new WavesmithError('run/bad-value', `'${name}' cannot be set here: ${why || 'it is a constant'}.`);
  }
  const data = dataOf(d, name, type, text);
  if (home.kind === 'registers') {
    const whole = new Uint8Array(4 * home.names.length);
    home.names.forEach((register, i) => {
      new DataView(whole.buffer).setUint32(4 * i, Number(evaluateBits(d, register)), true);
    });
    whole.set(data, home.offset);
    home.names.forEach((register, i) => {
      setRegister(d, w, register, bitsOf(whole.subarray(4 * i, 4 * i + 4)));
    });
  } else {
    const { space, address } = placeOf(home);
    setBytes(d, w, space, address, data);
  }
  bytes.set(data);
}

/** So many of a variable's kind from it on, one behind the other in memory. */
export function partsBehind(d: Debugger, w: Wave, variable: ShownVariable, n: number): ShownVariable[] {
  const { name, type, home, why } = variable;
  if (home?.kind !== 'memory' || type.bytes === 0) {
    throw new WavesmithError('run/bad-expression', `'${name}' is not in memory, so nothing stands behind it.`, {
      hint: why || undefined,
    });
  }
  const { space, address } = placeOf(home);
  return Array.from({ length: n }, (_, i) => {
    const bytes = loadBytes(w, space, address + i * type.bytes, type.bytes, d.lane);
    return { ...variable, name: `[${i}]`, bytes, home: { ...home, address: home.address + i * type.bytes } };
  });
}

function evaluateBits(d: Debugger, register: string): bigint {
  return evaluate(d, register) as bigint;
}

function placeOf({ space, address }: Extract<VariableHome, { kind: 'memory' }>): {
  readonly space: 'global' | 'lds' | 'scratch';
  readonly address: number;
} {
  if (space !== 'flat') return { space, address };
  const high = Math.floor(address / HIGH_WORD);
  if (high === SHARED_APERTURE_HIGH) return { space: 'lds', address: address % HIGH_WORD };
  if (high === PRIVATE_APERTURE_HIGH) return { space: 'scratch', address: address % HIGH_WORD };
  return { space: 'global', address };
}

/** The bytes of a value of a type. */
function dataOf(d: Debugger, name: string, type: DebugType, text: string): Uint8Array {
  const letter = type.kind === 'float' ? 'f' : type.isSigned ? 'i' : 'u';
  const isScalar = type.kind !== 'struct' && type.kind !== 'array' && type.kind !== 'unknown';
  const element = isScalar ? valueType(`${letter}${8 * type.bytes}`) : undefined;
  if (element === undefined) {
    throw new WavesmithError('run/bad-value', `'${name}' of type ${type.name} cannot be set as a whole.`, {
      hint: 'Set its members or elements one by one.',
    });
  }
  const trimmed = text.trim();
  const enumerator = type.kind === 'enum' ? [...type.names].find(([, label]) => label === trimmed)?.[0] : undefined;
  const word = type.kind === 'bool' && /^(?:true|false)$/.test(trimmed) ? BigInt(trimmed === 'true') : undefined;
  const value: Value = enumerator === undefined ? (word ?? evaluate(d, trimmed)) : BigInt(enumerator);
  return bytesOf(value, element);
}
