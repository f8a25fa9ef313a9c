// The last questions that somebody has asked, of some numbers each, and what was said: lanes of an instruction mostly ask the same one after the other.

/** Numbers of a question, and questions that are kept. */
const WORDS = 8;
const KEPT = 4;

/** Eight numbers. */
type Question = readonly [number, number, number, number, number, number, number, number];

/** Nothing is made for a question: they are asked thousands of times in a dispatch. */
export class Answers<T> {
  private readonly words = new Float64Array(WORDS * KEPT).fill(NaN);
  private readonly said: (T | undefined)[] = [];
  private last = 0;
  private next = 0;

  /** What was said; undefined where it is not kept. */
  find(...question: Question): T | undefined {
    if (this.isAt(this.last, ...question)) return this.said[this.last];
    for (let n = 0; n < KEPT; n++) {
      if (!this.isAt(n, ...question)) continue;
      this.last = n;
      return this.said[n];
    }
    return undefined;
  }

  private isAt(
    n: number,
    a: number,
    b: number,
    c: number,
    d: number,
    e: number,
    f: number,
    g: number,
    h: number,
  ): boolean {
    const { words } = this;
    const at = WORDS * n;
    return (
      words[at] === a &&
      words[at + 1] === b &&
      words[at + 2] === c &&
      words[at + 3] === d &&
      words[at + 4] === e &&
      words[at + 5] === f &&
      words[at + 6] === g &&
      words[at + 7] === h
    );
  }

  /** Keeps the answer to a question in place of the oldest one. */
  add(answer: T, ...question: Question): T {
    const { words, next } = this;
    for (let n = 0; n < WORDS; n++) words[WORDS * next + n] = question[n] as number;
    this.said[next] = answer;
    this.last = next;
    this.next = (next + 1) % KEPT;
    return answer;
  }
}
