// What is looked at while a dispatch is held: where it is held, the wave, lane and function that are selected, the functions on stacks.
import { type DebugLine, type DescriptorRegisters, descriptorRegisters } from '../../../codeobject/index.ts';
import type { DispatchInfo } from '../dispatch/monitor.ts';
import type { DeviceMemory } from '../state/memory.ts';
import type { Wave } from '../state/wave.ts';
import { sourceName } from '../tools/symbols.ts';
import { type Frame, framesAt, hiddenAt, lineText } from './frames.ts';
import { Remembered } from './remembered.ts';
import { activeLanes, loadFrom } from './scope.ts';
import type { ScopeSource, SelectedFrame } from './scope-source.ts';
import type { DebuggerOptions } from './stop.ts';
import type { Load } from './typed.ts';
import { type SavedCalls, WaveCalls } from './wave-calls.ts';

/** A dispatch that is held now and then. Addresses of code are those of the file. */
export class HeldDispatch implements ScopeSource {
  readonly options: DebuggerOptions;
  readonly calls = new WaveCalls();
  /** The wave that commands are about; undefined when it has ended, until another one runs. */
  selected: Wave | undefined;
  /** The lane that expressions are about. */
  lane = 0;
  /** Which function's variables are meant: its number among the selected wave's `frames`. */
  frame = 0;
  /** Values that were printed and variables of the session; a program's dispatches share them. */
  remembered = new Remembered();
  /** Instructions of all waves so far. */
  time = 0;
  /** Of the device, and of the kernel: from the dispatch's start on. */
  memory: DeviceMemory | undefined;
  registers: DescriptorRegisters | undefined;
  /** Workgroups of the dispatch, and work-items of a workgroup. */
  shape: ScopeSource['shape'];
  kernelAt: number | undefined;
  shared: ScopeSource['shared'];
  /** Somebody looks at what is held. */
  protected isStopped = false;
  private held: Wave | undefined;
  private heldPc = 0;
  /** Inlined functions that begin where the held wave is and are hidden: execution stands at their call. */
  private hiddenFrames = 0;

  constructor(options: DebuggerOptions) {
    this.options = options;
  }

  get arguments() {
    return this.options.arguments;
  }

  get info() {
    return this.options.info;
  }

  startDispatch({ memory, launch }: DispatchInfo): void {
    this.memory = memory;
    this.registers = descriptorRegisters(launch.descriptor);
    this.shape = { grid: launch.grid, block: launch.block };
    this.kernelAt = launch.entry - this.codeBase;
    this.shared = { fixed: launch.descriptor.groupSegmentFixedSize, all: launch.ldsBytes };
  }

  loadAs(w: Wave | undefined): Load {
    return loadFrom(w, this.memory);
  }

  get codeBase(): number {
    return this.options.code.base;
  }

  /** Waves of the selected wave's workgroup. */
  get waves(): readonly Wave[] {
    return this.selected === undefined ? [] : this.calls.of(this.selected.workgroup);
  }

  /** Waves of all workgroups that have begun and not ended, in the order in which they began. */
  get allWaves(): readonly Wave[] {
    return this.calls.all;
  }

  /** Selects a wave and its first active lane. */
  select(w: Wave): void {
    this.selected = w;
    this.frame = 0;
    this.lane = activeLanes(w)[0] ?? 0;
  }

  /** Whether a wave is the one that is held before its next instruction. */
  isHeld(w: Wave): boolean {
    return w === this.held;
  }

  get hidden(): number {
    return this.hiddenFrames;
  }

  /** Execution is at a wave's instruction, where so many inlined functions begin and are hidden; without a wave, at the end. */
  hold(w: Wave | undefined, pc: number, hidden: number): void {
    this.held = w;
    this.heldPc = pc;
    this.hiddenFrames = hidden;
  }

  /** Execution has gone back to a moment. */
  rewound(time: number, calls: SavedCalls): void {
    this.time = time;
    this.calls.restore(calls);
    this.held = undefined;
  }

  /** The address of a wave's next instruction; of one that has not begun, its first. */
  pcOf(w: Wave): number {
    return w === this.held && this.isStopped ? this.heldPc : w.pc - this.codeBase;
  }

  /** The address of the selected wave's next instruction. */
  get pc(): number {
    return this.selected === undefined ? this.heldPc : this.pcOf(this.selected);
  }

  /** The function that is shown: of the selected wave, the one that is selected; undefined at the end of the dispatch. */
  get shownFrame(): Frame | undefined {
    return this.selected && this.framesOf(this.selected)[this.frame];
  }

  /** The functions on a wave's stack, the innermost first. */
  framesOf(w: Wave): readonly Frame[] {
    const pcs = [this.pcOf(w), ...this.calls.callsOf(w).map((c) => c.site)];
    const hidden = w === this.held ? this.hiddenFrames : 0;
    return pcs.flatMap((pc, level) => framesAt(this.options, pc, level, level === 0 ? hidden : 0));
  }

  selectedFrame(w: Wave): SelectedFrame | undefined {
    // While the wave runs, conditions and watched values mean the innermost function.
    if (w !== this.selected || !this.isStopped) return undefined;
    return this.asSelected(w, this.framesOf(w)[this.frame]);
  }

  frameOfKey(w: Wave, key: number, depth: number): SelectedFrame | undefined {
    const level = this.calls.depthOf(w) - depth;
    if (level < 0) return undefined;
    const pc = level === 0 ? this.pcOf(w) : this.calls.callsOf(w)[level - 1]?.site;
    const frames = pc === undefined ? [] : framesAt(this.options, pc, level, 0);
    return this.asSelected(
      w,
      frames.find((f) => f.key === key),
    );
  }

  frameNamed(w: Wave, name: string): SelectedFrame | undefined {
    return this.asSelected(
      w,
      this.framesOf(w).find((f) => f.name === name || f.name?.replace(/<.*>$/, '') === name),
    );
  }

  private asSelected(w: Wave, frame: Frame | undefined): SelectedFrame | undefined {
    if (frame === undefined) return undefined;
    const depth = this.calls.depthOf(w) - frame.level;
    const call = frame.level === 0 ? undefined : this.calls.callsOf(w)[frame.level - 1];
    return { pc: frame.pc, inlined: frame.inlined, scalars: call?.scalars, depth };
  }

  hiddenAt(pc: number, meant: string | undefined): number {
    return hiddenAt(this.options, pc, meant);
  }

  /** The line of an address as the function sees it that a place means, as it was written. */
  lineOfPlace(pc: number, meant: string | undefined): DebugLine | undefined {
    return framesAt(this.options, pc, 0, this.hiddenAt(pc, meant))[0]?.line;
  }

  codeNamed(name: string): number | undefined {
    const { symbols } = this.options.symbols;
    return (symbols.find((s) => s.name === name) ?? symbols.find((s) => sourceName(s.name) === name))?.address;
  }

  /** `file:line` of an address. */
  lineAt(pc: number): string | undefined {
    return lineText(this.options.lines?.at(pc));
  }

  /** `file:line` where a wave is, as its innermost function that is not hidden sees it. */
  lineOfWave(w: Wave): string | undefined {
    return lineText(this.framesOf(w)[0]?.line);
  }
}
