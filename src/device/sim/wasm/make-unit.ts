// From a place to a unit: compiles what is reachable from there, and notes what the engine has to know of it. The engine needs nothing else of the compiler.
import type { Instruction, Operand } from '../../../isa/types.ts';
import { ENCODINGS, familyOf } from '../interpreter/loaded-code.ts';
import { AGPR_BASE } from '../state/layout.ts';
import type { Wave } from '../state/wave.ts';
import { type CompiledCode, type CompileOptions, compile } from './compile.ts';
import { compileOnHost } from './host-compiler.ts';
import { INDEXES_REGISTERS, keyOf, type Place } from './place.ts';
import { ScalarValues } from './scalar-values.ts';
import type { CompiledUnit, UnitBlock, UnitOrigin } from './unit.ts';
import { type Block, type Item, itemsOf, leavesInRow } from './walk.ts';

/** What a unit is made from. */
export interface UnitJob extends Omit<CompileOptions, 'start'> {
  readonly image: Uint8Array;
  readonly place: Place;
  readonly origin: UnitOrigin;
  readonly root: Place;
  /** A wave at the place: what its registers say it does not reach is left out. */
  readonly start: Wave | undefined;
}

/** A unit, and what it took. */
export interface MadeUnit {
  readonly unit: CompiledUnit;
  readonly wasmBytes: number;
  /** Milliseconds of writing the module, and of the host's compiler. */
  readonly writeTime: number;
  readonly hostTime: number;
}

/** Compiles what is reachable from a place. */
export function makeUnit(job: UnitJob): MadeUnit {
  return compileOnHost(() => makeUnitNow(job));
}

function makeUnitNow(job: UnitJob): MadeUnit {
  const { image, place, origin, root, start } = job;
  const started = performance.now();
  const code = compile(image, place, { ...job, start: start === undefined ? undefined : ScalarValues.of(start) });
  const written = performance.now();
  const module = new WebAssembly.Module(code.bytes);
  const hostTime = performance.now() - written;
  const unit = { module, ...blocksOf(code), origin, root, leftOut: code.leftOut, registers: namedRegisters(code) };
  return { unit, wasmBytes: code.bytes.length, writeTime: written - started, hostTime };
}

function blocksOf(code: CompiledCode): Pick<CompiledUnit, 'blocks' | 'families'> {
  const families: string[] = [];
  const placeOf = new Map<number, number>();
  const familyIn = (instruction: Instruction): number => {
    const family = familyOf(instruction);
    let at = placeOf.get(family);
    if (at === undefined) {
      at = families.push(ENCODINGS[family] as string) - 1;
      placeOf.set(family, at);
    }
    return at;
  };
  const byKey = new Map(code.blocks.map((b) => [keyOf(b), b]));
  const leaving = new Map<Block, boolean>();
  const blocks = code.blocks.map((block, n): UnitBlock => {
    const items = itemsOf(block);
    return {
      pc: block.pc,
      mode: block.mode,
      late: block.late,
      endsRow: !code.loadsIntoLds && !leavesInRow(block, byKey, leaving),
      pcs: items.map(({ pc }) => pc),
      families: items.map(({ instruction }) => familyIn(instruction)),
      interpreted: code.interpreted[n] ?? [],
    };
  });
  return { blocks, families };
}

/** Vector registers of each file that compiled code names, at least one. */
function namedRegisters({ blocks }: CompiledCode): readonly [number, number] {
  let vgprs = 1;
  let agprs = 1;
  for (const { items, mode } of blocks) {
    // Any register, by M0.
    if ((mode & INDEXES_REGISTERS) !== 0) return [AGPR_BASE, AGPR_BASE];
    for (let n = 0; n < items.length; n++) {
      const { operands } = (items[n] as Item).instruction;
      for (let k = 0; k < operands.length; k++) {
        const operand = operands[k] as Operand;
        if (operand.kind !== 'reg') continue;
        const end = operand.index + operand.dwords;
        if (operand.file === 'v') vgprs = Math.max(vgprs, end);
        else if (operand.file === 'a') agprs = Math.max(agprs, end);
      }
    }
  }
  return [Math.min(vgprs, AGPR_BASE), Math.min(agprs, AGPR_BASE)];
}
