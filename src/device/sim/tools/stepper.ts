// The interactive stepper: stops wavefronts at breakpoints and after steps, and asks a terminal for commands. What stops and resumes is
// here; the commands are in stepper-commands.ts.
import type { BoundInstruction } from '../interpreter/loaded-code.ts';
import type { Wave } from '../state/wave.ts';
import type { Workgroup } from '../state/workgroup.ts';
import { runCommand } from './stepper-commands.ts';
import type { Resume, StepperOptions, StepperState } from './stepper-state.ts';

/** Thrown out of the dispatch when the user ends it. */
export class StepperQuit extends Error {}

/** A monitor that stops. */
export class Stepper implements StepperState {
  readonly options: StepperOptions;
  readonly breakpoints = new Set<number>();
  /** The wave that commands are about; undefined when it has ended, until another one runs. */
  selected: Wave | undefined;
  private heldPc = 0;
  private resume: Resume = { kind: 'continue' };
  private stepsLeft = 0;
  private interrupted = false;
  /** The terminal has no more commands: nothing stops any more. */
  isOver = false;
  /** The wave that is held, before its next instruction. */
  private held: Wave | undefined;
  private readonly started = new Set<Wave>();
  private readonly groups = new Map<Workgroup, readonly Wave[]>();
  private last = '';

  constructor(options: StepperOptions) {
    this.options = options;
    for (const pc of options.breakpoints) this.breakpoints.add(pc);
  }

  /** Stops at the next instruction, as Ctrl-C does while the kernel runs. */
  interrupt(): void {
    this.interrupted = true;
  }

  /** An interrupt waits for the next instruction. */
  get isInterrupted(): boolean {
    return this.interrupted;
  }

  /** Waves of the selected wave's workgroup. */
  get waves(): readonly Wave[] {
    return (this.selected && this.groups.get(this.selected.workgroup)) ?? [];
  }

  startWorkgroup(group: Workgroup, waves: readonly Wave[]): void {
    this.groups.set(group, waves);
    for (const w of waves) this.started.delete(w);
  }

  endWorkgroup(group: Workgroup): void {
    // Steps go on with the wave that runs next.
    if (this.selected?.workgroup === group) this.selected = undefined;
    this.groups.delete(group);
  }

  before(w: Wave, pc: number, bound: BoundInstruction): void | Promise<void> {
    this.started.add(w);
    this.selected ??= w;
    if (this.isOver || (this.resume.kind === 'detach' && !this.interrupted)) return;
    const at = pc - this.options.code.base;
    const reason = this.stopReason(w, at);
    if (reason !== undefined) return this.stop(w, at, bound, reason);
  }

  /** The address of a wave's next instruction, or undefined when it has not begun. */
  pcOf(w: Wave): number | undefined {
    if (w === this.held) return this.heldPc;
    return this.started.has(w) ? w.pc - this.options.code.base : undefined;
  }

  private stopReason(w: Wave, pc: number): string | undefined {
    if (this.interrupted) {
      this.interrupted = false;
      return 'interrupted';
    }
    const { resume } = this;
    if (this.breakpoints.has(pc)) return 'breakpoint';
    if (w !== this.selected) return undefined;
    if (resume.kind === 'step' && --this.stepsLeft <= 0) return 'step';
    if (resume.kind === 'until' && resume.wave === w && resume.pc === pc) return 'reached';
    return undefined;
  }

  /** Whether a wave is the one that is held. */
  isHeld(w: Wave): boolean {
    return w === this.held;
  }

  /** The address of the selected wave's next instruction. */
  get pc(): number {
    return (this.selected === undefined ? undefined : this.pcOf(this.selected)) ?? this.heldPc;
  }

  private async stop(w: Wave, pc: number, bound: BoundInstruction, reason: string): Promise<void> {
    const { terminal } = this.options;
    this.selected = w;
    this.held = w;
    this.heldPc = pc;
    terminal.print(this.headline(w, pc, reason));
    for (;;) {
      const line = await terminal.ask('(wavesmith) ');
      if (line === undefined) {
        terminal.print('end of the commands: running on to the end');
        this.isOver = true;
        return;
      }
      // An empty line repeats the last command, as debuggers do.
      const command = line.trim() === '' ? this.last : line.trim();
      if (command === '') continue;
      this.last = command;
      const next = runCommand(this, command, bound);
      if (next === undefined) continue;
      if (next.kind === 'quit') throw new StepperQuit();
      this.resume = next;
      // The held instruction is still to come; another wave's first stop would be before its next one.
      if (next.kind === 'step') this.stepsLeft = next.count + (this.selected === w ? 0 : 1);
      return;
    }
  }

  private headline(w: Wave, pc: number, reason: string): string {
    const { symbols, sourceOf } = this.options;
    const name = symbols.nameOf(pc);
    const source = sourceOf?.(pc);
    const place = `0x${pc.toString(16)}${name === undefined ? '' : ` <${name}>`}`;
    const at = source === undefined ? '' : ` at ${source.file}:${source.line}`;
    return `${reason}: workgroup ${w.workgroup.id.join(',')} wave ${w.index}, ${place}${at}`;
  }
}
