// Room `optimize/moves`: typed changes of a kernel's machine code that should leave its function as it is. A move says where it may be made; the
// ladder says whether it was right. Begin with this file (a kernel to be changed), then moves.ts (all moves).
import { type CheckContext, outstandingAtBlocks, stepThrough } from '../../check/index.ts';
import { type CodeObject, descriptorRegisters, type Kernel } from '../../codeobject/index.ts';
import { waitText } from '../../finding/index.ts';
import { assembleLine } from '../../instrument/assemble.ts';
import { branchTarget, encode, isTargetName, type TargetName } from '../../isa/index.ts';
import {
  type BasicBlock,
  type CodeInstruction,
  type Effects,
  LGKM_FULL,
  type Liveness,
  liftCodeObject,
  livenessOf,
  type MemoryKind,
  overlaps,
  PRELOAD_STUB,
  type Program,
  type ProgramFunction,
  VM_FULL,
  waitRole,
} from '../../program/index.ts';
import { type KernelChange, rewriteProgram } from '../../rewrite/index.ts';
import { codeReferences } from '../../rewrite/references.ts';

/** A change: code that stands in the place of instructions, by their address. */
export interface Move {
  readonly kind: MoveKind;
  /** What it does, in a few words with the instruction. */
  readonly text: string;
  /** The instruction that it is about. */
  readonly pc: number;
  readonly replace: ReadonlyMap<number, Uint8Array>;
  /** Code that runs before an instruction; behind one that is not a taken branch; on the way of a taken branch. */
  readonly before?: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly after?: ReadonlyMap<number, readonly Uint8Array[]>;
  readonly taken?: ReadonlyMap<number, readonly Uint8Array[]>;
  /** What changes in the kernel's descriptor and metadata. */
  readonly kernel?: KernelChange | undefined;
}

/** The code object with moves made that change different instructions. */
export function withMoves(view: KernelView, moves: readonly Move[]): Uint8Array {
  const replace = new Map(moves.flatMap((m) => [...m.replace]));
  const [before, after, taken] = (['before', 'after', 'taken'] as const).map(
    (where) => new Map(moves.flatMap((m) => [...(m[where] ?? [])])),
  );
  const changes = moves.flatMap(({ kernel }) => (kernel === undefined ? [] : [kernel]));
  const change: KernelChange = {
    descriptor: (d) => {
      for (const { descriptor } of changes) descriptor?.(d);
    },
    metadata: new Map(changes.flatMap(({ metadata }) => [...(metadata ?? [])])),
  };
  const kernels = changes.length === 0 ? undefined : new Map([[view.kernel.name, change]]);
  return rewriteProgram(view.program, { edits: { replace, before, after, taken }, kernels }).codeObject.bytes;
}

/** Whether two moves change different instructions. */
export function isApart(a: Move, b: Move): boolean {
  const places = ({ replace, before, after, taken, kernel }: Move): unknown[] => [
    ...replace.keys(),
    ...[before, after, taken].flatMap((where) => [...(where?.keys() ?? [])]),
    ...(kernel === undefined ? [] : ['kernel']),
  ];
  const taken = new Set(places(b));
  return places(a).every((place) => !taken.has(place));
}

export const MOVE_KINDS = [
  'relax-wait',
  'sink-wait',
  'fill-wait',
  'hoist-load',
  'merge-loads',
  'merge-stores',
  'pipeline-loop',
  'hoist-invariant',
  'scalar-operand',
  'drop-skip',
  'hoist-across',
  'fill-nop',
  'schedule',
  'rename',
  'swizzle-lds',
  'pad-lds',
  'trim-registers',
  'pack-registers',
  'remap-groups',
  'raise-priority',
  'stream',
  'trim-nop',
  'drop-barrier',
  'drop-fence',
  'drop-priority',
  'drop-dead',
] as const;
export type MoveKind = (typeof MOVE_KINDS)[number];

/** Operations of a counter that may be outstanding at a place. */
export type Outstanding = Readonly<Record<'vm' | 'lgkm', readonly CodeInstruction[]>>;

/** Instructions that end a region: they do something that no list of registers says. */
const FENCE =
  /^(?:s_barrier|s_endpgm|s_setpc|s_swappc|s_call|s_getpc|s_setreg|s_getreg|s_trap|s_sendmsg|s_sethalt|s_icache|s_dcache|s_sleep|s_memtime|s_memrealtime|buffer_(?:wbl2|inv|wbinvl1)|s_set_gpr_idx|s_nop|s_cbranch|s_branch|v_readfirstlane|s_ttracedata)/;

/** A kernel to be changed, with what its moves need to know. */
export class KernelView {
  readonly codeObject: CodeObject;
  readonly program: Program;
  readonly subject: ProgramFunction;
  readonly target: TargetName;
  readonly context: CheckContext;
  /** Stretches of instructions that may change places, waits included. */
  readonly regions: readonly (readonly CodeInstruction[])[];
  private readonly fixed: ReadonlySet<number>;
  private readonly outstanding = new Map<number, Outstanding>();
  private live: Liveness | undefined;

  constructor(codeObject: CodeObject, kernelName: string) {
    this.codeObject = codeObject;
    this.program = liftCodeObject(codeObject);
    const { processor } = codeObject.target;
    const subject = this.program.functions.find((f) => f.kernel?.name === kernelName);
    if (subject === undefined || !isTargetName(processor))
      throw new Error(`'${kernelName}' is no kernel that was judged`);
    this.subject = subject;
    this.target = processor;
    this.context = {
      target: processor,
      codeObject,
      program: this.program,
      subject,
      kernel: subject.kernel,
      baseline: undefined,
    };
    const { branches, addresses } = codeReferences(this.program);
    this.fixed = new Set([
      ...branches.map((b) => b.pc),
      ...addresses.flatMap(({ getPc, low, high }) => [getPc, low, ...(high === undefined ? [] : [high.pc])]),
    ]);
    this.regions = subject.blocks.flatMap((index) => this.regionsOf(this.program.blocks[index] as BasicBlock));
  }

  get liveness(): Liveness {
    this.live ??= livenessOf(this.program, this.subject);
    return this.live;
  }

  get kernel(): Kernel {
    return this.subject.kernel as Kernel;
  }

  /** Vector registers below the accumulators that a wave has. */
  get vectors(): number {
    const { descriptor } = this.kernel;
    return descriptor === undefined ? 0 : descriptorRegisters(descriptor).vgprs;
  }

  text(code: CodeInstruction): string {
    return this.program.text(code.pc);
  }
  bytes(code: CodeInstruction): Uint8Array {
    return encode(code.instruction);
  }
  line(text: string): Uint8Array {
    return assembleLine(this.target, text);
  }

  /** Whether an instruction may be replaced at all. */
  isFree({ pc, instruction }: CodeInstruction): boolean {
    const { entry, entryBlocks } = this.subject;
    const isStub = entryBlocks.length > 1 && pc < entry + PRELOAD_STUB;
    return !isStub && !this.fixed.has(pc) && branchTarget(instruction, pc) === undefined;
  }

  /** All instructions of the kernel, in address order. */
  *instructions(): Generator<CodeInstruction> {
    for (const index of this.subject.blocks) {
      const block = this.program.blocks[index] as BasicBlock;
      for (let i = block.first; i < block.end; i++) yield this.program.instructions[i] as CodeInstruction;
    }
  }

  private regionsOf({ first, end }: BasicBlock): CodeInstruction[][] {
    const regions: CodeInstruction[][] = [[]];
    for (let i = first; i < end; i++) {
      const code = this.program.instructions[i] as CodeInstruction;
      if (this.isFree(code) && !FENCE.test(code.instruction.row.operation)) regions.at(-1)?.push(code);
      else regions.push([]);
    }
    return regions.filter((r) => r.length > 1);
  }

  /** What may be outstanding before an instruction. */
  outstandingBefore(code: CodeInstruction): Outstanding {
    if (this.outstanding.size === 0) this.follow();
    return this.outstanding.get(code.index) ?? { vm: [], lgkm: [] };
  }

  private follow(): void {
    const inputs = outstandingAtBlocks(this.context);
    for (const index of this.subject.blocks) {
      const input = inputs.get(index);
      if (input === undefined) continue;
      stepThrough(this.context, this.program.blocks[index] as BasicBlock, input, (code, state) => {
        if (!waitRole(code.instruction.row).isWait) return;
        const of = (...kinds: MemoryKind[]): CodeInstruction[] =>
          kinds.flatMap((kind) => [...state.ages(kind)].map((age) => age.operation));
        this.outstanding.set(code.index, { vm: of('vm', 'flat'), lgkm: of('lds', 'scalar', 'flat') });
      });
    }
  }
}

/** Whether one of two instructions touches a register that the other writes. */
export function dependsOn({ effects: a }: CodeInstruction, { effects: b }: CodeInstruction): boolean {
  return writesInto(a, b) || writesInto(b, a);
}

function writesInto({ defs }: Effects, { uses, keeps, defs: other }: Effects): boolean {
  return overlaps(defs, uses) || overlaps(defs, keeps) || overlaps(defs, other);
}

/** Whether an instruction does something with memory, messages or counters. */
export function isMemory({ instruction: { row } }: CodeInstruction): boolean {
  return waitRole(row).kind !== undefined || row.flags.has('mayLoad') || row.flags.has('mayStore');
}

/** The code of several instructions, one behind the other. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

/** `s_waitcnt` for these counts; undefined when it waits for nothing. */
export function waitLine(vm: number, lgkm: number): string | undefined {
  return waitText({ vmcnt: vm >= VM_FULL ? undefined : vm, lgkmcnt: lgkm >= LGKM_FULL ? undefined : lgkm });
}
