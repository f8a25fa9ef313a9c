// Running on from where execution was held: what ends a step, `until` or `finish`. Breakpoints and watchpoints are beside it.
import type { DebugType } from '../../../codeobject/index.ts';
import type { Wave } from '../state/wave.ts';
import { isWave, keyOf } from './breakpoints.ts';
import { beginningAt, type Frame, lineText } from './frames.ts';
import type { HeldDispatch } from './held.ts';
import { behindPrologue } from './places.ts';
import { isLeft, type Left, lineStepEnds, type StepStart } from './stepping.ts';
import type { Resume, WaveKey, Why } from './stop.ts';

/** Where a wave is held, and the selected function, which `finish` leaves. */
export interface Begun {
  readonly start: StepStart;
  readonly left: Left;
  readonly frame: Frame | undefined;
}

/** Without a wave: nowhere. */
export function begunAt(held: HeldDispatch, w: Wave | undefined): Begun {
  const frames = w === undefined ? [] : held.framesOf(w);
  const depth = w === undefined ? 0 : held.calls.depthOf(w);
  const [inner] = frames;
  const frame = frames[held.frame] ?? inner;
  return {
    start: { pc: inner?.pc ?? 0, depth, key: inner?.key, line: lineText(inner?.line) },
    left: { depth: depth - (frame?.level ?? 0), key: frame?.isInlined === true ? frame.key : undefined },
    frame,
  };
}

/** What ends a forward run beside breakpoints. */
interface Running extends Omit<Begun, 'frame'> {
  readonly resume: Resume;
  readonly wave: WaveKey | undefined;
  /** Where it began: time, and the wave's own count of instructions. */
  readonly time: number;
  readonly executed: number;
  /** Of `finish`: what the function that is left returns. */
  readonly returns: DebugType | undefined;
}

/** The run that goes on, or the last one. */
export class ForwardRun {
  private readonly held: HeldDispatch;
  private running: Running;

  constructor(held: HeldDispatch) {
    this.held = held;
    this.running = this.from({ kind: 'continue' }, undefined, -1);
  }

  get isDetached(): boolean {
    return this.running.resume.kind === 'detach';
  }

  /** Whether it began at the instruction that a wave has come to: a breakpoint there has been seen. */
  beganAt(w: Wave): boolean {
    return this.held.time === this.running.time && this.held.isHeld(w);
  }

  /** Goes on from where the selected wave is held. */
  begin(resume: Resume): void {
    this.running = this.from(resume, this.held.selected, this.held.time);
  }

  /** Goes on from the dispatch's start. */
  beginAnew(): void {
    this.running = this.from({ kind: 'continue' }, undefined, -1);
  }

  private from(resume: Resume, w: Wave | undefined, time: number): Running {
    const { start, left, frame } = begunAt(this.held, w);
    return {
      resume,
      wave: w === undefined ? undefined : keyOf(w),
      time,
      executed: w?.executed ?? 0,
      start,
      left,
      returns: resume.kind === 'finish' && frame?.isInlined === false ? this.returnTypeOf(frame) : undefined,
    };
  }

  private returnTypeOf({ pc, key }: Frame): DebugType | undefined {
    return this.held.info
      ?.frames(pc)
      .find((f) => f.key === key)
      ?.returns();
  }

  /** Whether a step, `until` or `finish` ends before this instruction. */
  ends(w: Wave, pc: number): Why | undefined {
    const { options, info, selected, calls } = this.held;
    const { resume, wave, executed, start, left, returns } = this.running;
    if (resume.kind === 'continue' || resume.kind === 'detach') return undefined;
    // The wave has ended: what runs next is stopped.
    if (selected === undefined) return resume.kind === 'step' ? { reason: 'step' } : undefined;
    if (wave === undefined || !isWave(w, wave)) return undefined;
    if (resume.kind === 'until') return resume.pc === pc && w.executed > executed ? { reason: 'reached' } : undefined;
    const now = calls.depthOf(w);
    if (resume.kind === 'finish') {
      if (!isLeft(options, left, pc, now)) return undefined;
      return { reason: 'step', hidden: beginningAt(info, pc), returns };
    }
    if (resume.kind !== 'step' || w.executed === executed) return undefined;
    if (resume.over && now > start.depth) return undefined;
    if (resume.unit === 'instruction') return this.stepped(w, 0);
    if (resume.isForward === true && now === start.depth && pc <= start.pc) return undefined;
    // A function that was called is shown when its parameters have their values.
    if (now > start.depth && this.isInPrologue(pc)) return undefined;
    const end = lineStepEnds(options, start, pc, now, resume.over);
    return end === undefined ? undefined : this.stepped(w, end.hidden);
  }

  /** Whether the function at an address has not yet its frame and parameters in their places. */
  private isInPrologue(pc: number): boolean {
    const { symbols, lines } = this.held.options;
    const begin = symbols.beginOf(pc);
    return begin !== undefined && pc < behindPrologue(symbols, lines, begin);
  }

  /** One step of several is done. */
  private stepped(w: Wave, hidden: number): Why | undefined {
    const { resume, time } = this.running;
    if (resume.kind !== 'step' || resume.count <= 1) return { reason: 'step', hidden };
    this.held.hold(w, w.pc - this.held.codeBase, hidden);
    this.running = this.from({ ...resume, count: resume.count - 1 }, w, time);
    return undefined;
  }
}
