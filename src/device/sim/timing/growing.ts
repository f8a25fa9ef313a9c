// Lists of whole numbers that grow without boxing them.

/** An Int32Array that grows. */
export class Int32List {
  data: Int32Array;
  length = 0;

  constructor(capacity = 64) {
    this.data = new Int32Array(capacity);
  }
  push(value: number): void {
    if (this.length === this.data.length) this.grow();
    this.data[this.length++] = value;
  }
  private grow(): void {
    const larger = new Int32Array(2 * this.data.length);
    larger.set(this.data);
    this.data = larger;
  }
}

/** A Float64Array that grows. */
export class Float64List {
  data = new Float64Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.data.length) {
      const larger = new Float64Array(2 * this.data.length);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
}
