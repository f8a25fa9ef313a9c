// The debugger led by an editor: it waits at each stop until a request says how to go on.
import type { Debugger, DebugLeader, Resume, Stop } from '../device/sim/debug/index.ts';

/** What the session hears of the debugger. */
export interface LeaderEvents {
  /** The code is loaded and the debugger is there; nothing has run. A program has one for each dispatch. */
  ready(led: Debugger): void;
  stopped(stop: Stop): void;
  logged(text: string): void;
}

/** Where an editor wants to stop without a breakpoint, or that it wants to stop nowhere (`noDebug`). */
export interface WantedStops {
  readonly atEntry: boolean;
  readonly atEnd: boolean;
  readonly never: boolean;
}

export class EditorLeader implements DebugLeader {
  readonly stopsAtEntry = true;
  private readonly wantsEnd: boolean;
  private isDetached: boolean;
  /** Only at the first of a program's dispatches. */
  private stopsForUser: boolean;
  private readonly events: LeaderEvents;
  /** Kept when the editor has set its breakpoints. */
  private readonly configured: Promise<void>;
  private configure: () => void = () => {};
  private go: ((resume: Resume) => void) | undefined;
  private led: Debugger | undefined;
  private isQuitting = false;
  private readonly quitting = new AbortController();
  readonly quits = this.quitting.signal;
  /** The stop that holds everything now. */
  current: Stop | undefined;

  constructor(events: LeaderEvents, { atEntry, atEnd, never }: WantedStops) {
    this.events = events;
    this.stopsForUser = atEntry;
    this.isDetached = never;
    this.wantsEnd = atEnd;
    this.configured = new Promise((resolve) => {
      this.configure = resolve;
    });
  }

  get stopsAtEnd(): boolean {
    return this.wantsEnd && !this.isDetached;
  }

  lead(led: Debugger): void {
    this.led = led;
    this.events.ready(led);
  }

  /** The editor has said all it wants to before anything runs. */
  configurationDone(): void {
    this.configure();
  }

  logged = (text: string): void => this.events.logged(text);

  async stopped(stop: Stop): Promise<Resume> {
    const { led } = this;
    if (led === undefined) throw new Error('nobody is led');
    let shown = stop;
    if (stop.reason === 'entry') {
      await this.configured;
      if (this.isQuitting) return { kind: 'quit' };
      if (this.isDetached) return { kind: 'detach' };
      const arrival = stop.wave && led.breakpoints.arrive(stop.wave, stop.pc, true, this.logged);
      if (arrival !== undefined) {
        led.hold(stop.wave, stop.pc, arrival.hidden);
        shown = { ...stop, reason: 'breakpoint', hit: arrival.hit };
      } else if (!this.stopsForUser) return { kind: 'continue' };
      this.stopsForUser = false;
    }
    if (this.isQuitting) return { kind: 'quit' };
    if (this.isDetached) return { kind: 'detach' };
    this.current = shown;
    const answer = new Promise<Resume>((resolve) => {
      this.go = resolve;
    });
    this.events.stopped(shown);
    return await answer;
  }

  /** Goes on; false when nothing is stopped. */
  resume(how: Resume): boolean {
    const { go } = this;
    if (go === undefined) return false;
    this.go = undefined;
    this.current = undefined;
    go(how);
    return true;
  }

  /** Has the dispatch, and the program, run to the end without stopping. */
  detach(): void {
    this.isDetached = true;
    this.configure();
    if (!this.resume({ kind: 'detach' })) this.led?.interrupt();
  }

  /** Ends the dispatch, whatever it is doing, and the program. */
  quit(): void {
    this.isQuitting = true;
    this.quitting.abort();
    this.configure();
    if (!this.resume({ kind: 'quit' })) this.led?.interrupt();
  }
}
