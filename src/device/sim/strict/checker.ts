// Strict mode: a monitor that looks at every instruction before the interpreter executes it and reports what is wrong with it.
// It keeps shadows of registers, LDS, scratch and global memory and a model of the wait counters (see the files beside this one).
import { descriptorRegisters, type KernelDescriptor } from '../../../codeobject/index.ts';
import type { TargetName } from '../../../isa/types.ts';
import type { Region } from '../memory.ts';
import type { BoundInstruction } from '../program.ts';
import { EXEC, M0, type Wave } from '../wave.ts';
import type { Workgroup } from '../workgroup.ts';
import { AccessChecks } from './access-checks.ts';
import { DeadlockFinder } from './deadlock.ts';
import { type Diagnostic, DiagnosticLog, type StrictOptions } from './diagnostics.ts';
import { GlobalShadow } from './global.ts';
import type { MemoryHistory } from './history.ts';
import { LdsShadow } from './lds.ts';
import { BOTH, type StrictPlan, strictPlan } from './plan.ts';
import { RegisterChecks } from './register-checks.ts';
import { initialScalars } from './registers.ts';
import { Reporter, type StrictDispatch } from './reporter.ts';
import { WaveShadow } from './wave-shadow.ts';

/** What a strict run has to know of its dispatch. */
export interface StrictContext extends StrictDispatch {
  readonly target: TargetName;
  readonly descriptor: KernelDescriptor;
  readonly isScratchArchitected: boolean;
  readonly kernarg: Region;
  readonly kernargSize: number;
  readonly scratch: Region | undefined;
}

export class StrictChecker {
  readonly log: DiagnosticLog;
  private readonly context: StrictContext;
  private readonly reporter: Reporter;
  private readonly registers: RegisterChecks;
  private readonly accesses: AccessChecks;
  private readonly global: GlobalShadow;
  private readonly deadlocks: DeadlockFinder;
  private readonly plans: (StrictPlan | undefined)[] = [];
  private readonly pool: WaveShadow[] = [];
  private readonly initialScalars: readonly number[];
  private lds = new LdsShadow(0, 1);
  private shadows: WaveShadow[] = [];
  private group = 0;

  constructor(context: StrictContext, history: MemoryHistory, options: StrictOptions) {
    this.context = context;
    this.log = new DiagnosticLog(options);
    this.reporter = new Reporter(this.log, context);
    this.registers = new RegisterChecks(this.reporter);
    this.global = new GlobalShadow(history);
    const [x, y, z] = context.grid;
    this.accesses = new AccessChecks(this.reporter, this.registers, { ...context, workgroups: x * y * z }, this.global);
    this.deadlocks = new DeadlockFinder(this.reporter);
    this.initialScalars = initialScalars(context.descriptor, context.isScratchArchitected);
  }

  /** A workgroup begins; its waves are in their initial state. */
  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    const { grid, scratch } = this.context;
    this.group = group.id[0] + grid[0] * (group.id[1] + grid[1] * group.id[2]);
    this.lds = new LdsShadow(group.lds.byteLength, waves.length);
    if (scratch !== undefined) this.global.resetScratch(scratch);
    this.shadows = waves.map((wave, i) => {
      let shadow = this.pool[i];
      if (shadow === undefined) {
        shadow = new WaveShadow(wave, (operation) => this.lds.complete(operation));
        this.pool[i] = shadow;
      }
      shadow.reset(wave, this.initialScalars, wave.sgprs[EXEC] as number, wave.sgprs[EXEC + 1] as number);
      return shadow;
    });
    this.deadlocks.startWorkgroup(waves);
  }

  private planAt(w: Wave, pc: number, bound: BoundInstruction): StrictPlan {
    let plan = this.plans[pc >>> 2];
    if (plan === undefined) {
      plan = strictPlan(bound.instruction);
      this.plans[pc >>> 2] = plan;
      this.checkAllocation(w, pc, plan);
    }
    return plan;
  }

  /** Registers that the descriptor does not allocate; a property of the instruction, so looked at once. */
  private checkAllocation(w: Wave, pc: number, plan: StrictPlan): void {
    const { vgprs, totalVgprs, agprs, sgprs } = descriptorRegisters(this.context.descriptor);
    for (const operand of plan.instruction.operands) {
      if (operand.kind !== 'reg') continue;
      const { file, index, dwords, text } = operand;
      const limit = file === 'v' ? vgprs : file === 'a' ? agprs : file === 's' ? sgprs : Number.POSITIVE_INFINITY;
      if (index + dwords <= limit) continue;
      this.reporter.report('registers/beyond-allocation', w, pc, () => ({
        registers: [text],
        message:
          file === 'v' && index + dwords <= totalVgprs
            ? `${text} is where the AGPRs begin: the descriptor's accum offset is ${vgprs}.`
            : `${text} is beyond the ${limit} ${file === 's' ? 'SGPRs' : file === 'a' ? 'AGPRs' : 'VGPRs'} that the descriptor allocates.`,
        fix:
          file === 's'
            ? `Raise .amdhsa_next_free_sgpr to at least ${index + dwords}.`
            : `Raise .amdhsa_next_free_vgpr and .amdhsa_accum_offset so that ${text} exists.`,
      }));
    }
  }

  /** An instruction is about to execute; `at` is its loaded address. */
  before(w: Wave, at: number, bound: BoundInstruction): void {
    const pc = at - this.context.program.region.base;
    const plan = this.planAt(w, pc, bound);
    const shadow = this.shadows[w.index] as WaveShadow;
    const { queue, registers } = shadow;
    if (plan.wait !== undefined) {
      queue.wait(plan.wait, this.lds.epoch);
      return;
    }
    if (w.vskip && (plan.isVector || (plan.access !== undefined && !plan.access.isScalar))) return;
    if (queue.total !== 0) this.registers.checkWaits(w, shadow, pc, plan);
    if (w.gprIndexing && plan.isVector) {
      this.defineIndexed(w, shadow, plan);
      return;
    }
    this.registers.checkReads(w, shadow, pc, plan);
    if (plan.role.isBarrier) {
      shadow.barriers++;
      shadow.lastBarrier = pc;
    }
    const { access } = plan;
    if (access === undefined) {
      this.registers.define(w, shadow, plan);
      if (plan.role.kind !== undefined) queue.issue(plan.role.kind, pc, plan, w.index, this.lds.epoch);
      return;
    }
    const isLoad = access.kind !== 'store' && !access.toLds;
    const definesHere = isLoad && (access.isScalar || access.pieces(w)[0]?.register !== -1);
    const written = this.accesses.check(w, shadow, this.lds, this.group, pc, plan);
    if (!definesHere || plan.operation?.kind === 'format') this.registers.define(w, shadow, plan);
    else for (const slot of plan.scalarWrites) if (!access.isScalar) registers.setScalar(slot, true);
    if (plan.role.kind === undefined) return;
    const operation = queue.issue(plan.role.kind, pc, plan, w.index, this.lds.epoch);
    operation.lds = written;
    if (access.toLds) this.lds.setInFlight(operation);
  }

  /** GPR indexing moves operands by M0: reads are not checked, and what is written is where M0 says. */
  private defineIndexed(w: Wave, { registers }: WaveShadow, plan: StrictPlan): void {
    const m0 = w.sgprs[M0] as number;
    const offset = ((m0 >> 12) & 8) !== 0 ? m0 & 0xff : 0;
    const low = w.sgprs[EXEC] as number;
    const high = w.sgprs[EXEC + 1] as number;
    for (const { register } of plan.writes)
      if (register + offset < 512) registers.define(register + offset, BOTH, low, high);
    for (const slot of plan.scalarWrites) registers.setScalar(slot, true);
  }

  /** An instruction has executed. */
  after(w: Wave, at: number, bound: BoundInstruction): void {
    this.deadlocks.after(w, at - this.context.program.region.base, bound);
  }

  /** All live waves have reached a barrier, which is released. */
  barrier(): void {
    const { lds } = this;
    const { epoch } = lds;
    const outstanding = this.shadows.flatMap(({ queue }) => (queue.total === 0 ? [] : [...queue.writingLds(epoch)]));
    lds.barrier(outstanding);
    this.deadlocks.barrier();
  }

  /** All waves of the workgroup have ended. */
  endWorkgroup(): void {
    const most = this.shadows.reduce((a, b) => (b.barriers > a.barriers ? b : a));
    const least = this.shadows.reduce((a, b) => (b.barriers < a.barriers ? b : a));
    if (most.barriers === least.barriers) return;
    const count = (n: number): string => `${n} barrier${n === 1 ? '' : 's'}`;
    this.reporter.report('barriers/divergence', most.wave, most.lastBarrier, () => ({
      message:
        `Wavefront ${most.wave.index} passed ${count(most.barriers)}, wavefront ${least.wave.index} only ${least.barriers}: ` +
        'one that has ended no longer takes part, so the barriers did not wait for it.',
      fix: 'Let every wavefront of the workgroup execute the same barriers before it ends.',
    }));
  }

  /** A run was stopped by something that is no finding of its own (an instruction that is not simulated, a budget). */
  stopped(
    code: 'schedule/budget' | 'run/stopped',
    message: string,
    pc: number | undefined,
    fix: string,
    w?: Wave,
  ): Diagnostic {
    return this.log.record({
      code,
      kernel: this.context.kernelName,
      message,
      fix,
      pc,
      instruction: pc === undefined ? undefined : this.reporter.text(pc),
      workgroup: w?.workgroup.id,
      wavefront: w?.index,
      source: pc === undefined ? undefined : this.context.lines?.at(pc),
    });
  }

  /** The dispatch is over: what was not looked at. */
  finish(): void {
    if (!this.global.isTruncated) return;
    this.reporter.report('races/untracked', undefined, undefined, () => ({
      message: 'The dispatch touches more memory than strict mode follows; races in the rest of it are not found.',
      fix: 'Run a smaller grid or smaller buffers.',
    }));
  }
}
