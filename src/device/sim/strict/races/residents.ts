// What is kept of the workgroups that are resident. Most dispatches have one or a few at a time, and thousands one after another: a Map makes a new
// table each time that it becomes empty, and old tables keep what later ones have held alive until the next large garbage collection.

export class Residents<K extends object, V> {
  private readonly keys: K[] = [];
  private readonly kept: V[] = [];

  /** In the order in which they were added. */
  get values(): readonly V[] {
    return this.kept;
  }

  get(key: K): V | undefined {
    return this.kept[this.keys.lastIndexOf(key)];
  }

  /** A key that is not there yet. */
  add(key: K, value: V): void {
    this.keys.push(key);
    this.kept.push(value);
  }

  /** All of them; none is left. */
  takeAll(): V[] {
    this.keys.length = 0;
    return this.kept.splice(0);
  }

  delete(key: K): void {
    const { keys, kept } = this;
    const at = keys.lastIndexOf(key);
    if (at < 0) return;
    // Array.prototype.copyWithin takes five times as long (16 of them, 0.5 µs).
    for (let n = at + 1; n < keys.length; n++) {
      keys[n - 1] = keys[n] as K;
      kept[n - 1] = kept[n] as V;
    }
    keys.pop();
    kept.pop();
  }
}
