// What the names of a debugger's expression mean for a wave and a lane: registers, arguments, memory.
import { WavesmithError } from '../../../base/index.ts';
import type { DebugType } from '../../../codeobject/index.ts';
import { flatSpace, globalSpace, ldsSpace, type Space, scratchSpace } from '../interpreter/spaces.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { MemoryFault } from '../state/region.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { hex } from '../tools/lanes.ts';
import { isVectorSlot, scalarSlot, slotsFromText, vectorWord } from '../tools/registers.ts';
import type { Scope } from './expression.ts';
import { kernelParameters } from './kernel-arguments.ts';
import type { ScopeSource } from './scope-source.ts';
import { findVariable, memberOf } from './source-variables.ts';
import {
  type Load,
  type Operand,
  type Reader,
  type ShownVariable,
  type SpaceName,
  spaceOfFlat,
  THREE_WORDS,
  typedValue,
} from './typed.ts';
import { bitsOf } from './value.ts';

const SPACES: Readonly<Record<SpaceName, Space>> = {
  global: globalSpace,
  lds: ldsSpace,
  scratch: scratchSpace,
  flat: flatSpace,
};

/** Lanes that EXEC turns on. */
export function activeLanes(w: Wave): number[] {
  const lanes: number[] = [];
  for (let lane = 0; lane < LANES; lane++) if (w.isActive(lane)) lanes.push(lane);
  return lanes;
}

/** Bytes of device memory; what is not there is `run/bad-address`. */
function globalBytes(memory: DeviceMemory, address: number, size: number): Uint8Array {
  const region = memory.find(address, size);
  if (region === undefined) throw badAddress(new MemoryFault('global', address, size, false), 'global', address, size);
  return region.bytes.slice(address - region.base, address - region.base + size);
}

/** Bytes as a lane of a wave sees them; what is not there is `run/bad-address`. */
export function loadBytes(w: Wave, space: SpaceName, address: number, size: number, lane: number): Uint8Array {
  const before = w.lane;
  w.lane = lane;
  try {
    return Uint8Array.from({ length: size }, (_, i) => SPACES[space].load(w, address + i, 1));
  } catch (error) {
    throw badAddress(error, space, address, size);
  } finally {
    w.lane = before;
  }
}

/** Writes bytes as a lane of a wave would. */
export function storeBytes(w: Wave, space: SpaceName, address: number, bytes: Uint8Array, lane: number): void {
  loadBytes(w, space, address, bytes.length, lane);
  const before = w.lane;
  w.lane = lane;
  try {
    bytes.forEach((byte, i) => {
      SPACES[space].store(w, address + i, 1, byte);
    });
  } catch (error) {
    throw badAddress(error, space, address, bytes.length);
  } finally {
    w.lane = before;
  }
}

function badAddress(error: unknown, space: SpaceName, address: number, size: number): unknown {
  if (!(error instanceof MemoryFault)) return error;
  const at = spaceOfFlat(address);
  const where = { global: 'memory', lds: "the workgroup's LDS", scratch: "the lane's scratch" }[
    space === 'flat' ? at.space : space
  ];
  return new WavesmithError('run/bad-address', `${where} has no ${size} accessible bytes at ${hex(address)}.`, {
    hint: "'info arguments' shows the buffers.",
  });
}

/** The wave that a register or LDS belongs to. */
function some(w: Wave | undefined, what: string): Wave {
  if (w !== undefined) return w;
  throw new WavesmithError('run/bad-expression', `No wave is stopped, so ${what} has no value.`, {
    hint: "Arguments and global memory can be read at any time: print *f32(x + 4). 'info waves' lists the waves.",
  });
}

/** What names mean to a wave and lane; without a wave, to the dispatch. */
export function scopeOf(wave: Wave | undefined, lane: number, source: ScopeSource): Scope {
  return new WaveScope(wave, lane, source);
}

class WaveScope implements Scope {
  readonly lane: number;
  private readonly wave: Wave | undefined;
  private readonly source: ScopeSource;

  constructor(wave: Wave | undefined, lane: number, source: ScopeSource) {
    this.wave = wave;
    this.lane = lane;
    this.source = source;
  }

  get load(): Load {
    return this.source.loadAs(this.wave);
  }

  get codeBase(): number {
    return this.source.codeBase;
  }

  get whyUnknown(): string | undefined {
    return withoutVariables(this.source) ?? dynamicShared(this.source);
  }

  register(text: string, lane: number): bigint {
    const w = some(this.wave, text);
    const { first, count } = slotsFromText(text);
    let bits = 0n;
    for (let slot = first + count - 1; slot >= first; slot--) {
      const word = isVectorSlot(slot) ? vectorWord(w, slot, lane) : scalarSlot(w, slot);
      bits = (bits << 32n) | BigInt(word >>> 0);
    }
    return bits;
  }

  variable(name: string, lane: number): ShownVariable | undefined {
    const { wave, source } = this;
    if (source.info === undefined || OF_HIP.has(name)) return undefined;
    // No wavefront is stopped: the kernel's own parameters are those of the dispatch.
    if (wave === undefined) return kernelParameters(wave, lane, source)?.find((one) => one.name === name);
    return variableOrMember(wave, lane, source, name);
  }

  named(name: string, lane: number): Operand | undefined {
    const { wave, source } = this;
    const place = placeOperand(wave, name, lane, source);
    if (place !== undefined) return place;
    const all = source.arguments();
    const index = /^arg(\d{1,3})$/.exec(name)?.[1];
    const argument = all.find((a) => a.name === name) ?? (index === undefined ? undefined : all[Number(index)]);
    if (argument?.address !== undefined) return BigInt(argument.address);
    if (argument !== undefined) return argument.bytes === undefined ? undefined : bitsOf(argument.bytes);
    const enumerator = source.info?.enumerator(name);
    if (enumerator !== undefined) return typedValue(enumerator.type, BigInt(enumerator.value), this);
    const constant = source.info?.constant(name);
    if (constant !== undefined) return typedValue(constant.type, constant.value, this);
    const code = this.codeNamed(name);
    return code === undefined ? undefined : BigInt(code);
  }

  typeNamed(name: string): DebugType | undefined {
    return this.source.info?.typeNamed(name);
  }

  codeNamed(name: string): number | undefined {
    return this.source.codeNamed?.(name);
  }

  remembered(name: string): Operand | undefined {
    return this.source.remembered?.value(name);
  }
}

/** Headers of HIP declare them as variables that stand nowhere. */
const OF_HIP = new Set(['threadIdx', 'blockIdx', 'blockDim', 'gridDim']);

/** Where `extern __shared__` arrays are, which no debug information names; undefined where there are none. */
function dynamicShared({ info, shared }: ScopeSource): string | undefined {
  if (info === undefined || shared === undefined || shared.fixed === shared.all) return undefined;
  return `'extern __shared__' arrays are not in the debug information: theirs are the bytes of LDS from ${shared.fixed} to ${shared.all}, as lds.f32(${shared.fixed}).`;
}

/** What is said of code whose compiler describes no variables. */
export function withoutVariables({ info }: ScopeSource): string | undefined {
  const found = info?.withoutVariables();
  return found === undefined
    ? undefined
    : `The debug information of ${found.producer} has lines and functions but describes no variables: registers, arguments and memory can be shown.`;
}

/** A variable, or a member of the object whose function it is. */
function variableOrMember(w: Wave, lane: number, source: ScopeSource, name: string): ShownVariable | undefined {
  const found = findVariable(w, lane, source, name) ?? variableOfFunction(w, lane, source, name);
  if (found !== undefined || name === 'this') return found;
  const own = findVariable(w, lane, source, 'this');
  return own === undefined ? undefined : memberOf(own, name);
}

/** `FUNCTION::NAME`: a variable of a function that has not returned. */
function variableOfFunction(w: Wave, lane: number, source: ScopeSource, text: string): ShownVariable | undefined {
  const [, called, name] = /^(.+)::(\w+)$/.exec(text) ?? [];
  const frame = called === undefined ? undefined : source.frameNamed?.(w, called);
  if (frame === undefined || name === undefined) return undefined;
  const there = Object.create(source, { selectedFrame: { value: () => frame } }) as ScopeSource;
  const found = findVariable(w, lane, there, name);
  return found && { ...found, name: text };
}

/** Reads memory as a wave sees it; without a wave, global memory. */
export function loadFrom(wave: Wave | undefined, memory: DeviceMemory | undefined): Load {
  return (space, address, bytes, lane) => {
    const at = addressNumber(address);
    const isGlobal = space === 'global' || (space === 'flat' && spaceOfFlat(at).space === 'global');
    if (isGlobal && memory !== undefined) return globalBytes(memory, at, bytes);
    return loadBytes(some(wave, space), space, at, bytes, lane);
  };
}

/** An address of at most 53 bits; others are nobody's. */
export function addressNumber(address: bigint): number {
  if (address >= 0n && address < 1n << 53n) return Number(address);
  throw new WavesmithError('run/bad-address', `${address} is no address.`);
}

/** `pc`, `wave`, `workgroup.x`, and the words of HIP for where a work-item is. */
function placeOperand(wave: Wave | undefined, name: string, lane: number, source: ScopeSource): Operand | undefined {
  const { shape } = source;
  const reader = { load: source.loadAs(wave), lane };
  switch (name) {
    case 'wave':
      return BigInt(some(wave, name).index);
    case 'pc':
      return BigInt(source.pcOf(some(wave, name)));
    case 'workgroup':
    case 'blockIdx':
      return threeWords(some(wave, name).workgroup.id, reader);
    case 'threadIdx': {
      const [x = 1, y = 1, z = 1] = shape?.block ?? [];
      const id = some(wave, name).index * LANES + lane;
      return threeWords([id % x, Math.floor(id / x) % y, Math.floor(id / (x * y)) % z], reader);
    }
    case 'blockDim':
      return shape === undefined ? undefined : threeWords(shape.block, reader);
    case 'gridDim':
      return shape === undefined ? undefined : threeWords(shape.grid, reader);
    default:
      return undefined;
  }
}

function threeWords(words: readonly number[], reader: Reader): Operand {
  return { ...typedValue(THREE_WORDS, 0n, reader), bytes: new Uint8Array(Uint32Array.from(words).buffer) };
}
