// What the names of a debugger's expression mean for a wave and a lane: registers, arguments, memory.
import { WavesmithError } from '../../../base/index.ts';
import { globalSpace, ldsSpace, scratchSpace } from '../interpreter/spaces.ts';
import type { DeviceMemory } from '../state/memory.ts';
import { MemoryFault } from '../state/region.ts';
import { LANES, type Wave } from '../state/wave.ts';
import { hex } from '../tools/lanes.ts';
import { isVectorSlot, scalarSlot, slotsFromText, vectorWord } from '../tools/registers.ts';
import type { Scope } from './expression.ts';
import type { ScopeSource } from './scope-source.ts';
import { findVariable, partAt, valueOfPath } from './source-variables.ts';
import { bitsOf, type Value } from './value.ts';

const SPACES = { global: globalSpace, lds: ldsSpace, scratch: scratchSpace };
export type SpaceName = keyof typeof SPACES;

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
  const where = { global: 'memory', lds: "the workgroup's LDS", scratch: "the lane's scratch" }[space];
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
  return {
    lane,
    register: (text, of) => {
      const w = some(wave, text);
      const { first, count } = slotsFromText(text);
      let bits = 0n;
      for (let slot = first + count - 1; slot >= first; slot--) {
        const word = isVectorSlot(slot) ? vectorWord(w, slot, of) : scalarSlot(w, slot);
        bits = (bits << 32n) | BigInt(word >>> 0);
      }
      return bits;
    },
    path: ([name, ...rest], of) => {
      if (typeof name !== 'string') return undefined;
      const shown = wave === undefined ? undefined : findVariable(wave, of, source, name);
      if (shown !== undefined) return valueOfPath(shown, rest);
      if (rest.length > 0) return undefined;
      const place = placeValue(wave, name, source);
      if (place !== undefined) return place;
      const all = source.arguments();
      const index = /^arg(\d{1,3})$/.exec(name)?.[1];
      const argument = all.find((a) => a.name === name) ?? (index === undefined ? undefined : all[Number(index)]);
      if (argument === undefined) return undefined;
      if (argument.address !== undefined) return BigInt(argument.address);
      return argument.bytes === undefined ? undefined : bitsOf(argument.bytes);
    },
    sizeOf: ([name, ...rest], of) => {
      const shown = wave === undefined || typeof name !== 'string' ? undefined : findVariable(wave, of, source, name);
      return shown === undefined ? undefined : partAt(shown, rest).type.bytes;
    },
    remembered: (name) => source.remembered?.value(name),
    load: (space, address, bytes, of) => {
      const at = addressNumber(address);
      if (space === 'global' && source.memory !== undefined) return globalBytes(source.memory, at, bytes);
      return loadBytes(some(wave, space), space, at, bytes, of);
    },
  };
}

/** An address of at most 53 bits; others are nobody's. */
export function addressNumber(address: bigint): number {
  if (address >= 0n && address < 1n << 53n) return Number(address);
  throw new WavesmithError('run/bad-address', `${address} is no address.`);
}

function placeValue(wave: Wave | undefined, name: string, source: ScopeSource): Value | undefined {
  const axis = /^workgroup\.([xyz])$/.exec(name)?.[1];
  if (axis === undefined && name !== 'wave' && name !== 'pc') return undefined;
  const w = some(wave, name);
  if (axis !== undefined) return BigInt(w.workgroup.id['xyz'.indexOf(axis)] as number);
  return BigInt(name === 'wave' ? w.index : (source.pcOf(w) ?? 0));
}
