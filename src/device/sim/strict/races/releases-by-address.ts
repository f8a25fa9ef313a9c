// Releases of a dispatch, found by the address at which they tell something. Most addresses that atomics change are never asked about: what is told is put down in
// its order, and looked through for an address when somebody asks for it first, and from there on. Where that takes long there is an index (key-index.ts), and of very
// many addresses all are kept.
import { gpuWindow } from '../../state/layout.ts';
import { KeyIndex } from './key-index.ts';
import { type Message, Releases, type SharedAddress } from './releases.ts';

/** Addresses whose releases are kept, where all are. */
const MAX_ADDRESSES = 65536;
/** Addresses that are put down before all are kept: 1 MB. */
const MOST_KEYS = 2 ** 18;
/** Taking an address into the index takes about so many times as long as looking past it: 10 ns and 2 ns. */
const INDEXING = 5;
/** Looking through less than this is never too much. */
const LEAST = 2 ** 14;

/** An address of which has been asked: its releases up to the key with this number, and the telling that this one is of. */
interface Followed {
  readonly at: SharedAddress;
  key: number;
  telling: number;
}

export class ReleasesByAddress {
  private readonly followed = new Map<number, Followed>();
  /** Keys of addresses, in the order in which something was told there; how many there are. */
  private keys = new Int32Array(1024);
  private count = 0;
  /** What was told, by whom, and the number of the first key behind its own. */
  private readonly tellings: Message[] = [];
  private readonly groups: number[] = [];
  private readonly ends: number[] = [];
  private looked = 0;
  private index: KeyIndex | undefined;
  private keepsAll = false;

  /** Whether anybody has told anything. */
  get isTold(): boolean {
    return this.count > 0 || this.keepsAll;
  }

  /** A workgroup tells something at an address. */
  add(group: number, address: number, told: Message): void {
    const offset = address - gpuWindow.base;
    if (offset < 0 || offset >= 2 ** 32) this.keepAll();
    if (this.keepsAll) this.keep(group, keyOf(address), told);
    else {
      this.begin(group, told, 1);
      this.keys[this.count++] = offset;
      this.end();
    }
  }

  /** A workgroup tells something at addresses of the window, which are offsets there. */
  addAll(group: number, offsets: Uint32Array, length: number, told: Message): void {
    if (this.keepsAll) {
      for (let n = 0; n < length; n++) this.keep(group, (offsets[n] as number) | 0, told);
      return;
    }
    this.begin(group, told, length);
    const { keys, count } = this;
    for (let n = 0; n < length; n++) keys[count + n] = offsets[n] as number;
    this.count += length;
    this.end();
  }

  /** There is room for more addresses, at which this is told. */
  private begin(group: number, told: Message, more: number): void {
    const { tellings, groups, ends } = this;
    const last = tellings.length - 1;
    if (tellings[last] !== told || groups[last] !== group) {
      tellings.push(told);
      groups.push(group);
      ends.push(this.count);
    }
    if (this.count + more <= this.keys.length) return;
    const larger = new Int32Array(2 * this.keys.length + more);
    larger.set(this.keys);
    this.keys = larger;
  }

  private end(): void {
    const { ends } = this;
    ends[ends.length - 1] = this.count;
    if (this.count >= MOST_KEYS) this.keepAll();
  }

  private keep(group: number, key: number, told: Message): void {
    const one = this.kept(key);
    if (one !== undefined) tell(one.at, group, told);
  }

  /** The address with all that has been told there; undefined where nothing has been. */
  find(address: number): SharedAddress | undefined {
    const key = keyOf(address);
    let one = this.followed.get(key);
    if (!this.keepsAll) {
      if (this.index !== undefined) one = this.findIndexed(this.index, key, one);
      else {
        if (one === undefined) {
          one = follow();
          this.followed.set(key, one);
        }
        this.looked += this.count - one.key;
        this.bring(one, key);
        if (this.looked > LEAST + INDEXING * this.count) this.index = new KeyIndex();
      }
    }
    return one === undefined || one.at.count === 0 ? undefined : one.at;
  }

  /** The same by the index: an address at which nothing has been told is not kept. */
  private findIndexed(index: KeyIndex, key: number, known: Followed | undefined): Followed | undefined {
    const { keys, count } = this;
    index.follow(keys, count);
    const places = index.placesOf(keys, key, known?.key ?? 0);
    let one = known;
    if (one === undefined && places.length > 0) {
      one = follow();
      this.followed.set(key, one);
    }
    if (one === undefined) return undefined;
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      const telling = this.tellingOf(place);
      tell(one.at, this.groups[telling] as number, this.tellings[telling] as Message);
    }
    one.key = count;
    return one;
  }

  /** The telling that a key is of. */
  private tellingOf(place: number): number {
    const { ends } = this;
    let [first, last] = [0, ends.length - 1];
    while (first < last) {
      const middle = (first + last) >> 1;
      if ((ends[middle] as number) > place) last = middle;
      else first = middle + 1;
    }
    return first;
  }

  /** The address if somebody has asked for it before, or all are kept: what has been told there may not be there. */
  known(address: number): SharedAddress | undefined {
    return this.followed.get(keyOf(address))?.at;
  }

  /** What has been told at an address since it was last asked for. */
  private bring(one: Followed, key: number): void {
    const { keys, count, ends } = this;
    for (let n = one.key; n < count; n++) {
      if (keys[n] !== key) continue;
      while ((ends[one.telling] as number) <= n) one.telling++;
      tell(one.at, this.groups[one.telling] as number, this.tellings[one.telling] as Message);
    }
    one.key = count;
  }

  private keepAll(): void {
    if (this.keepsAll) return;
    this.keepsAll = true;
    const { keys, ends, groups, tellings } = this;
    let n = 0;
    for (let telling = 0; telling < tellings.length; telling++) {
      for (; n < (ends[telling] as number); n++) {
        const one = this.kept(keys[n] as number);
        if (one !== undefined && one.key <= n) tell(one.at, groups[telling] as number, tellings[telling] as Message);
      }
    }
    this.keys = new Int32Array(0);
    this.index = undefined;
    for (const all of [tellings, groups, ends]) all.length = 0;
  }

  private kept(key: number): Followed | undefined {
    let one = this.followed.get(key);
    if (one === undefined) {
      if (this.followed.size > MAX_ADDRESSES) return undefined;
      one = follow();
      this.followed.set(key, one);
    }
    return one;
  }
}

const follow = (): Followed => ({
  at: { count: 0, releases: new Map(), last: undefined, seen: undefined, lasts: undefined },
  key: 0,
  telling: 0,
});

/** Something is told at an address, if that is news. */
function tell(at: SharedAddress, group: number, told: Message): void {
  // Mostly lanes of one instruction follow each other.
  if (at.last === told) return;
  let mine = at.releases.get(group);
  if (mine === undefined) {
    mine = new Releases();
    at.releases.set(group, mine);
  }
  const { last } = mine;
  if (last !== undefined && isSame(last, told)) return;
  at.last = told;
  mine.add(at.count++, told);
}

/** Whether two things that a workgroup tells are the same to who acquires them. */
function isSame(a: Message, b: Message): boolean {
  const [one, other] = [a.by, b.by];
  if (a.acquiredCount !== b.acquiredCount) return false;
  return (
    one === other || (one.issued === other.issued && one.complete === other.complete && one.written === other.written)
  );
}

/** An address as a key of a map, which small integers are fast for. */
function keyOf(address: number): number {
  const offset = address - gpuWindow.base;
  return offset >= 0 && offset < 2 ** 32 ? offset | 0 : address;
}
