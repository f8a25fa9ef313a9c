// Registers handed out at a point, best first, and taken back when a statement is done.

/** No register of a kind is left; the point is reported with it. */
export class OutOfRegisters extends Error {
  readonly kind: 's' | 'v';

  constructor(kind: 's' | 'v') {
    super(kind === 's' ? 'no scalar register is free' : 'no vector register is free');
    this.kind = kind;
  }
}

/** Thrown for most points at some attempt: made once each, for a stack trace takes longer than the attempt. */
const NONE_LEFT = { s: new OutOfRegisters('s'), v: new OutOfRegisters('v') } as const;

/** More than the number of the last register. */
const REGISTERS = 512;

/** Free registers of one kind. */
export class RegisterPool {
  private readonly free: number[];
  /** By number. */
  private readonly isFree = new Uint8Array(REGISTERS + 1);
  private readonly kind: 's' | 'v';
  /** The highest number that was handed out, or -1. */
  highest = -1;

  constructor(kind: 's' | 'v', free: readonly number[]) {
    this.kind = kind;
    this.free = [...free];
    for (const n of free) this.isFree[n] = 1;
  }

  private take(first: number, count: number): void {
    for (let n = first; n < first + count; n++) {
      this.free.splice(this.free.indexOf(n), 1);
      this.isFree[n] = 0;
    }
    this.highest = Math.max(this.highest, first + count - 1);
  }

  /** One register. */
  one(): number {
    // Registers whose neighbour is gone first: pairs stay for those who need pairs.
    const found = this.free.find((n) => this.isFree[n ^ 1] === 0) ?? this.free[0];
    if (found === undefined) throw NONE_LEFT[this.kind];
    this.take(found, 1);
    return found;
  }

  /** The first of two registers, an even one. */
  pair(): number {
    return this.span(2, 2);
  }

  /** The first of so many neighbours, a multiple of `align`. */
  span(count: number, align: number): number {
    const hasAll = (first: number): boolean => {
      for (let n = first; n < first + count; n++) if (this.isFree[n] !== 1) return false;
      return true;
    };
    const first = this.free.find((n) => n % align === 0 && hasAll(n));
    if (first === undefined) throw NONE_LEFT[this.kind];
    this.take(first, count);
    return first;
  }

  /** Takes registers back. */
  release(...numbers: readonly number[]): void {
    for (const n of numbers) this.isFree[n] = 1;
    this.free.push(...numbers);
    this.free.sort((a, b) => a - b);
  }
}
