// What scalar stores have left in scalar caches: nobody else sees it before s_dcache_wb has written it back, nor does anything write it back when a wavefront ends. Stores
// with glc are taken to go past their cache. Source: LLVM's SIInsertWaitcnts.cpp, which puts s_dcache_wb in front of s_endpgm where scalar stores come last.
import { immediateOf } from '../../../../isa/operand.ts';
import { semanticsOf } from '../../../../isa/semantics/index.ts';
import type { Instruction } from '../../../../isa/types.ts';
import { reachable } from '../../dispatch/reachable.ts';
import type { LoadedCode } from '../../interpreter/loaded-code.ts';
import type { Wave } from '../../state/wave.ts';
import type { Actor } from '../access-reports.ts';
import type { Reporter } from '../reporter.ts';
import { remembered } from './polls.ts';

const knownKernels = new WeakMap<LoadedCode, Map<number, boolean>>();

/** Whether an instruction is a scalar store. */
export function isScalarStore({ row }: Instruction): boolean {
  const op = semanticsOf(row.operation);
  return op?.kind === 'store' && op.space.startsWith('scalar');
}

/** Cache policy bit of scalar accesses that go past their cache (glc). */
export const SCALAR_GLC = 1;

/** Whether the kernel that begins at `entry` has scalar stores that stay in their cache. */
export function storesScalars(loaded: LoadedCode, entry: number): boolean {
  return remembered(knownKernels, loaded, entry, () =>
    [...reachable(loaded, entry)].some(
      ({ instruction }) => isScalarStore(instruction) && (immediateOf(instruction, 'cpol') & SCALAR_GLC) === 0,
    ),
  );
}

/** The store of a dword that is in a scalar cache. */
interface ScalarStore {
  readonly group: number;
  readonly w: Wave;
  readonly pc: number;
  readonly address: number;
}

export class ScalarStores {
  private readonly reporter: Reporter;
  /** By dword, the address divided by 4. */
  private readonly kept = new Map<number, ScalarStore>();

  constructor(reporter: Reporter) {
    this.reporter = reporter;
  }

  /** Whether there is anything that has not been written back. */
  get areAny(): boolean {
    return this.kept.size > 0;
  }

  /** A wavefront stores bytes. */
  store({ w, pc, state }: Actor, address: number, bytes: number): void {
    for (let at = address; at < address + bytes; at += 4) {
      this.kept.set(Math.floor(at / 4), { group: state.number, w, pc, address: at });
    }
  }

  /** A wavefront of a workgroup writes its scalar cache back. */
  writeBack(group: number): void {
    for (const [dword, { group: one }] of this.kept) if (one === group) this.kept.delete(dword);
  }

  /** An access of bytes past the scalar cache, or by another workgroup, which may have another one. */
  access({ w, pc, state, access }: Actor, lane: number | undefined, address: number, bytes: number): void {
    for (let at = address - (address % 4); at < address + bytes; at += 4) {
      const found = this.kept.get(Math.floor(at / 4));
      if (found === undefined || (access.isScalar && found.group === state.number)) continue;
      const { reporter } = this;
      reporter.report('races/unreleased', w, pc, () => {
        const id = reporter.workgroupId(found.group);
        const store = reporter.other('stores the data', found.pc, found.w.index, id);
        return {
          lane,
          space: 'global',
          address: at,
          allocation: reporter.near(at),
          related: [store],
          message: `0x${at.toString(16)} is ${access.kind === 'load' ? 'read' : 'written'} here while what '${store?.place.instruction}' of workgroup ${id.join(',')} has stored there is in a scalar cache: nothing has written that back.`,
          advice: `Execute 's_dcache_wb' and s_waitcnt lgkmcnt(0) behind '${store?.place.instruction}'.`,
        };
      });
      return;
    }
  }

  /** All wavefronts of a workgroup have ended. */
  end(group: number): void {
    const { reporter } = this;
    for (const [dword, { group: one, w, pc, address }] of this.kept) {
      if (one !== group) continue;
      this.kept.delete(dword);
      reporter.report('races/unreleased', w, pc, () => ({
        space: 'global',
        address,
        allocation: reporter.near(address),
        message: `0x${address.toString(16)} is stored here in the scalar cache, which nothing has written back when the workgroup has ended: others may find older bytes.`,
        advice: `Execute 's_dcache_wb' behind the store, before s_endpgm.`,
      }));
    }
  }
}
