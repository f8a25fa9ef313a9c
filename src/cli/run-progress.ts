// Progress of a long dispatch on a terminal or in a log: silent in the first second, then workgroups done and the time left.

/** Where progress is written: a terminal line is rewritten, a log gets a line now and then. */
export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

const FIRST_MS = 1000;
const TERMINAL_MS = 200;
const LOG_MS = 10_000;

/** `1:05:07`, `5:07`, `7 s`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const two = (n: number): string => String(n).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** One line that says how far something is. */
class ProgressLine {
  private readonly stream: ProgressStream;
  private readonly now: () => number;
  private readonly started: number;
  private shown = 0;
  private line = '';

  constructor(stream: ProgressStream, now: () => number) {
    this.stream = stream;
    this.now = now;
    this.started = now();
  }

  /** Shows a text, made of the milliseconds since the start, unless it is too early or the last one is too fresh. */
  show(textOf: (elapsed: number) => string): void {
    const now = this.now();
    const elapsed = now - this.started;
    if (elapsed < FIRST_MS) return;
    const interval = this.stream.isTTY === true ? TERMINAL_MS : LOG_MS;
    if (this.shown !== 0 && now - this.shown < interval) return;
    this.shown = now;
    const text = textOf(elapsed);
    if (this.stream.isTTY === true) this.stream.write(`\r${text.padEnd(this.line.length)}`);
    else this.stream.write(`${text}\n`);
    this.line = text;
  }

  clear(): void {
    if (this.stream.isTTY === true && this.line !== '') this.stream.write(`\r${' '.repeat(this.line.length)}\r`);
    this.line = '';
  }
}

/** Shows progress of a dispatch. */
export class Progress {
  /** Workgroups that have ended, and all of them; the last values reported. */
  done = 0;
  total = 0;
  private readonly line: ProgressLine;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.line = new ProgressLine(stream, now);
  }

  /** Takes a report of the device. */
  update(done: number, total: number): void {
    this.done = done;
    this.total = total;
    this.line.show((elapsed) => this.text(elapsed));
  }

  private text(elapsed: number): string {
    const { done, total } = this;
    const percent = total === 0 ? 0 : Math.floor((100 * done) / total);
    // The first workgroups, which a timed run looks at closely, tell nothing of the others.
    const left = percent === 0 ? '' : `, about ${duration((elapsed * (total - done)) / done)} left`;
    return `${done} of ${total} workgroups (${percent} %) in ${duration(elapsed)}${left}`;
  }

  /** Removes the terminal line before other output. */
  clear(): void {
    this.line.clear();
  }
}

/** Shows progress of a program whose number of dispatches is not known. */
export class DispatchProgress {
  private readonly line: ProgressLine;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.line = new ProgressLine(stream, now);
  }

  /** Takes the number of dispatches that have ended and the last one's kernel. */
  update(done: number, kernel: string): void {
    this.line.show((elapsed) => `${done} dispatches in ${duration(elapsed)}, last ${kernel.slice(0, 60)}`);
  }

  clear(): void {
    this.line.clear();
  }
}

/** Shows progress of launches one after the other: each is timed from its own start. */
export class LaunchesProgress {
  private readonly stream: ProgressStream;
  private readonly now: () => number;
  private current: Progress;

  constructor(stream: ProgressStream, now: () => number = () => performance.now()) {
    this.stream = stream;
    this.now = now;
    this.current = new Progress(stream, now);
  }

  /** Takes a report of the device; its last one takes the line away. */
  update(done: number, total: number): void {
    if (done < this.current.done || total !== this.current.total) {
      this.current.clear();
      this.current = new Progress(this.stream, this.now);
    }
    this.current.update(done, total);
    if (done === total) this.current.clear();
  }
}
