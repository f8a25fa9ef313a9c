// Lists of address ranges and of locations in debug information: .debug_ranges and .debug_loc of DWARF 4, .debug_rnglists and
// .debug_loclists of DWARF 5. Source: DWARF Debugging Information Format 4, sections 2.6.2 and 2.17.3; 5, sections 7.25 and 7.29.
import { Damaged, DwarfCursor } from './dwarf-cursor.ts';

/** What a unit's lists are relative to. */
export interface ListContext {
  /** The unit's own address. */
  readonly base: number;
  /** An address of .debug_addr. */
  address(index: number): number;
}

/** A range of addresses, the end not included, with a location for it. */
export interface ListEntry {
  readonly from: number;
  readonly to: number;
  /** Empty in lists of ranges. */
  readonly expression: Uint8Array;
}

function expressionAt(c: DwarfCursor, size: number): Uint8Array {
  const from = c.at;
  c.skip(size);
  if (c.at > c.end) throw new Damaged();
  return c.bytes.subarray(from, c.at);
}

/** A list of DWARF 4. */
export function* pairs(
  bytes: Uint8Array,
  at: number,
  context: ListContext,
  hasExpression: boolean,
): Generator<ListEntry> {
  const c = new DwarfCursor(bytes, at, bytes.length);
  let { base } = context;
  while (!c.isDone) {
    const from = c.u64();
    const to = c.u64();
    if (from === 0 && to === 0) return;
    // The greatest address says that a new base follows.
    if (from >= 2 ** 63) base = to;
    else {
      const expression = hasExpression ? expressionAt(c, c.u16()) : new Uint8Array();
      yield { from: base + from, to: base + to, expression };
    }
  }
}

/** A list of DWARF 5. */
export function* lists5(
  bytes: Uint8Array,
  at: number,
  context: ListContext,
  hasExpression: boolean,
): Generator<ListEntry> {
  const c = new DwarfCursor(bytes, at, bytes.length);
  let { base } = context;
  const expression = (): Uint8Array => (hasExpression ? expressionAt(c, c.uleb()) : new Uint8Array());
  while (!c.isDone) {
    // Range lists lack the default location (5) of location lists.
    const code = c.u8();
    const kind = !hasExpression && code >= 5 ? code + 1 : code;
    if (kind === 0) return;
    if (kind === 1) base = context.address(c.uleb());
    else if (kind === 6) base = c.u64();
    else if (kind === 5) yield { from: 0, to: Number.POSITIVE_INFINITY, expression: expression() };
    else {
      let from = 0;
      let to = 0;
      if (kind === 2) [from, to] = [context.address(c.uleb()), context.address(c.uleb())];
      else if (kind === 3) {
        from = context.address(c.uleb());
        to = from + c.uleb();
      } else if (kind === 4) [from, to] = [base + c.uleb(), base + c.uleb()];
      else if (kind === 7) [from, to] = [c.u64(), c.u64()];
      else if (kind === 8) {
        from = c.u64();
        to = from + c.uleb();
      } else throw new Damaged();
      yield { from, to, expression: expression() };
    }
  }
}
