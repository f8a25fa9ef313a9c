// Where an address is among those put down in the order in which something was told there (releases-by-address.ts): by a hash of its key, the last place of one with
// that hash, and by place the one before with the same hash. Addresses of which nobody asks cost two words.

/** Places of the first tables. */
const FIRST_PLACES = 2 ** 12;
/** Multiplied with a key, its upper bits are as good as random: 2³² by the golden ratio. */
const GOLDEN = 0x9e3779b1;

export class KeyIndex {
  /** By hash, the last place and one; 0 for none. */
  private heads = new Int32Array(FIRST_PLACES);
  /** By place, the one before with the same hash, and one; 0 for none. */
  private before = new Int32Array(FIRST_PLACES);
  private count = 0;

  /** Takes in the keys since it was last asked, of `count`. */
  follow(keys: Int32Array, count: number): void {
    if (count > this.heads.length) {
      let places = this.heads.length;
      while (places < count) places *= 2;
      this.heads = new Int32Array(places);
      this.before = new Int32Array(places);
      this.count = 0;
    }
    const { heads, before } = this;
    for (let n = this.count; n < count; n++) {
      const hash = this.hashOf(keys[n] as number);
      before[n] = heads[hash] as number;
      heads[hash] = n + 1;
    }
    this.count = count;
  }

  /** The places of a key among those that have been taken in, from `first` on; the last one first. */
  placesOf(keys: Int32Array, key: number, first: number): number[] {
    const places: number[] = [];
    for (let n = (this.heads[this.hashOf(key)] as number) - 1; n >= first; n = (this.before[n] as number) - 1) {
      if (keys[n] === key) places.push(n);
    }
    return places;
  }

  private hashOf(key: number): number {
    return Math.imul(key, GOLDEN) >>> (1 + Math.clz32(this.heads.length));
  }
}
