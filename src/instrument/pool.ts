// Registers handed out at a point, best first, and taken back when a statement is done.

/** No register of a kind is left; the point is reported with it. */
export class OutOfRegisters extends Error {
  readonly kind: 's' | 'v';

  constructor(kind: 's' | 'v') {
    super(kind === 's' ? 'no scalar register is free' : 'no vector register is free');
    this.kind = kind;
  }
}

/** Free registers of one kind. */
export class RegisterPool {
  private free: number[];
  private readonly kind: 's' | 'v';
  /** The highest number that was handed out, or -1. */
  highest = -1;

  constructor(kind: 's' | 'v', free: readonly number[]) {
    this.kind = kind;
    this.free = [...free];
  }

  /** One register. */
  one(): number {
    // Registers whose neighbour is gone first: pairs stay for those who need pairs.
    let index = this.free.findIndex((n) => !this.free.includes(n ^ 1));
    if (index < 0) index = this.free.length > 0 ? 0 : -1;
    if (index < 0) throw new OutOfRegisters(this.kind);
    const [found] = this.free.splice(index, 1) as [number];
    this.highest = Math.max(this.highest, found);
    return found;
  }

  /** The first of two registers, an even one. */
  pair(): number {
    const first = this.free.find((n) => n % 2 === 0 && this.free.includes(n + 1));
    if (first === undefined) throw new OutOfRegisters(this.kind);
    this.free.splice(this.free.indexOf(first), 1);
    this.free.splice(this.free.indexOf(first + 1), 1);
    this.highest = Math.max(this.highest, first + 1);
    return first;
  }

  /** The first of so many neighbours, a multiple of `align`. */
  span(count: number, align: number): number {
    const first = this.free.find(
      (n) => n % align === 0 && Array.from({ length: count }, (_, i) => n + i).every((m) => this.free.includes(m)),
    );
    if (first === undefined) throw new OutOfRegisters(this.kind);
    this.free = this.free.filter((n) => n < first || n >= first + count);
    this.highest = Math.max(this.highest, first + count - 1);
    return first;
  }

  /** Takes registers back. */
  release(...numbers: readonly number[]): void {
    this.free.push(...numbers);
    this.free.sort((a, b) => a - b);
  }
}
