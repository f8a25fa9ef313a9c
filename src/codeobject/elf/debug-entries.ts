// The entries of .debug_info with the values of their attributes, DWARF 4 and 5: what debug-info.ts makes names, types and places of.
// Source: DWARF Debugging Information Format 5, chapter 7. Damaged units give what was read up to the damage.
import { Damaged, DwarfCursor } from './dwarf-cursor.ts';
import { ADDRESS_FORM, AT } from './dwarf-numbers.ts';

/** Entries that are kept of one code object. */
const MAX_ENTRIES = 2_000_000;

export type AttributeValue =
  | number
  | bigint
  | string
  | Uint8Array
  | { readonly index: number; readonly of: 'address' | 'loclist' | 'rnglist' };

/** A debugging information entry. */
export interface Entry {
  /** Offset in .debug_info. */
  readonly at: number;
  readonly tag: number;
  readonly unit: Unit;
  readonly values: ReadonlyMap<number, AttributeValue>;
  readonly children: Entry[];
}

/** A unit, and its first entry. */
export interface Unit {
  readonly start: number;
  readonly version: number;
  readonly is64: boolean;
  root: Entry | undefined;
}

interface Abbreviation {
  readonly tag: number;
  readonly hasChildren: boolean;
  readonly attributes: readonly (readonly [name: number, form: number, implicit: number])[];
}

export type SectionName =
  | 'info'
  | 'abbrev'
  | 'str'
  | 'line_str'
  | 'str_offsets'
  | 'addr'
  | 'loclists'
  | 'loc'
  | 'rnglists'
  | 'ranges';
export type Sections = Readonly<Record<SectionName, Uint8Array>>;

/** A number, as a bigint where a double would not hold it. */
function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Reads all entries when it is made. */
export class DebugEntries {
  protected readonly sections: Sections;
  protected readonly units: Unit[] = [];
  protected readonly byOffset = new Map<number, Entry>();

  constructor(sections: Sections) {
    this.sections = sections;
    let at = 0;
    while (at + 4 <= sections.info.length && this.byOffset.size < MAX_ENTRIES) {
      const c = new DwarfCursor(sections.info, at, sections.info.length);
      try {
        const next = this.readUnit(c);
        if (next <= at) return;
        at = next;
      } catch (error) {
        if (!(error instanceof Damaged)) throw error;
        return;
      }
    }
  }

  /** Reads one unit; gives where the next one begins. */
  private readUnit(c: DwarfCursor): number {
    const start = c.at;
    let length = c.u32();
    const is64 = length === 0xffffffff;
    if (is64) length = c.u64();
    const end = c.at + length;
    if (length === 0 || end > this.sections.info.length) throw new Damaged();
    const version = c.u16();
    const unit: Unit = { start, version, is64, root: undefined };
    try {
      let abbreviations = 0;
      if (version === 5) {
        const kind = c.u8();
        c.skip(1);
        abbreviations = is64 ? c.u64() : c.u32();
        // Type units and skeletons have an identifier before their entries.
        if (kind === 4 || kind === 5) c.skip(8);
        if (kind !== 1 && kind !== 3 && kind !== 4 && kind !== 5) return end;
      } else if (version === 4) {
        abbreviations = is64 ? c.u64() : c.u32();
        c.skip(1);
      } else return end;
      this.units.push(unit);
      this.readEntries(new DwarfCursor(this.sections.info, c.at, end), unit, this.readAbbreviations(abbreviations));
    } catch (error) {
      if (!(error instanceof Damaged)) throw error;
    }
    return end;
  }

  private readAbbreviations(at: number): Map<number, Abbreviation> {
    const c = new DwarfCursor(this.sections.abbrev, at, this.sections.abbrev.length);
    const out = new Map<number, Abbreviation>();
    for (;;) {
      const code = c.uleb();
      if (code === 0) return out;
      const tag = c.uleb();
      const hasChildren = c.u8() !== 0;
      const attributes: [number, number, number][] = [];
      for (;;) {
        const name = c.uleb();
        const form = c.uleb();
        if (name === 0 && form === 0) break;
        attributes.push([name, form, form === 0x21 ? c.sleb() : 0]);
      }
      out.set(code, { tag, hasChildren, attributes });
    }
  }

  private readEntries(c: DwarfCursor, unit: Unit, abbreviations: ReadonlyMap<number, Abbreviation>): void {
    const open: Entry[] = [];
    while (!c.isDone && this.byOffset.size < MAX_ENTRIES) {
      const at = c.at;
      const code = c.uleb();
      if (code === 0) {
        open.pop();
        if (open.length === 0) return;
        continue;
      }
      const abbreviation = abbreviations.get(code);
      if (abbreviation === undefined) throw new Damaged();
      const values = new Map<number, AttributeValue>();
      for (const [name, form, implicit] of abbreviation.attributes) {
        const value = this.readForm(c, form, implicit, unit);
        // What is no address is the length of the code.
        const isLength = name === AT.highPc && form !== ADDRESS_FORM && typeof value === 'number';
        if (value !== undefined) values.set(name, isLength ? BigInt(value) : value);
      }
      const entry: Entry = { at, tag: abbreviation.tag, unit, values, children: [] };
      this.byOffset.set(at, entry);
      if (unit.root === undefined) unit.root = entry;
      else open.at(-1)?.children.push(entry);
      if (abbreviation.hasChildren) open.push(entry);
      else if (open.length === 0) return;
    }
  }

  private readForm(c: DwarfCursor, form: number, implicit: number, unit: Unit): AttributeValue | undefined {
    const offset = (): number => (unit.is64 ? c.u64() : c.u32());
    const block = (size: number): Uint8Array => {
      const from = c.at;
      c.skip(size);
      if (c.at > c.end) throw new Damaged();
      return c.bytes.subarray(from, c.at);
    };
    switch (form) {
      case 0x01:
        return c.u64();
      case 0x03:
        return block(c.u16());
      case 0x04:
        return block(c.u32());
      case 0x05:
        return c.u16();
      case 0x06:
        return c.u32();
      case 0x07:
        return exact(c.bits(8));
      case 0x20:
        return c.u64();
      case 0x08:
        return c.text();
      case 0x09:
      case 0x18:
        return block(c.uleb());
      case 0x0a:
        return block(c.u8());
      case 0x0b:
      case 0x0c:
        return c.u8();
      case 0x0d:
        return exact(c.leb(true));
      case 0x0e:
        return this.textAt('str', offset());
      case 0x0f:
        return exact(c.leb(false));
      case 0x10:
      case 0x17:
        return offset();
      case 0x11:
        return unit.start + c.u8();
      case 0x12:
        return unit.start + c.u16();
      case 0x13:
        return unit.start + c.u32();
      case 0x14:
        return unit.start + c.u64();
      case 0x15:
        return unit.start + c.uleb();
      case 0x19:
        return 1;
      case 0x1a:
        return this.indexedText(c.uleb(), unit);
      case 0x1b:
        return { index: c.uleb(), of: 'address' };
      case 0x1e:
        return block(16);
      case 0x1f:
        return this.textAt('line_str', offset());
      case 0x21:
        return implicit;
      case 0x22:
        return { index: c.uleb(), of: 'loclist' };
      case 0x23:
        return { index: c.uleb(), of: 'rnglist' };
      case 0x25:
      case 0x26:
      case 0x27:
      case 0x28:
        return this.indexedText(this.small(c, form - 0x24), unit);
      case 0x29:
      case 0x2a:
      case 0x2b:
      case 0x2c:
        return { index: this.small(c, form - 0x28), of: 'address' };
      default:
        throw new Damaged();
    }
  }

  private small(c: DwarfCursor, bytes: number): number {
    let value = 0;
    for (let n = 0; n < bytes; n++) value += c.u8() * 2 ** (8 * n);
    return value;
  }

  private textAt(section: 'str' | 'line_str', at: number): string {
    const bytes = this.sections[section];
    return at < bytes.length ? new DwarfCursor(bytes, at, bytes.length).text() : '';
  }

  private indexedText(index: number, unit: Unit): string {
    const size = unit.is64 ? 8 : 4;
    // The root's own texts come before its base is known; clang's table begins behind one header.
    const base = this.number(unit.root, AT.strOffsetsBase) ?? (unit.is64 ? 16 : 8);
    const bytes = this.sections.str_offsets;
    const c = new DwarfCursor(bytes, base + index * size, bytes.length);
    return this.textAt('str', unit.is64 ? c.u64() : c.u32());
  }

  protected number(entry: Entry | undefined, attribute: number): number | undefined {
    const value = entry?.values.get(attribute);
    return typeof value === 'number' ? value : undefined;
  }

  /** An address, given or by its index in .debug_addr. */
  protected address(entry: Entry, attribute: number): number | undefined {
    const value = entry.values.get(attribute);
    if (typeof value === 'number') return value;
    if (typeof value !== 'object' || value instanceof Uint8Array || value.of !== 'address') return undefined;
    return this.indexedAddress(value.index, entry.unit);
  }

  protected indexedAddress(index: number, unit: Unit): number {
    const base = this.number(unit.root, AT.addrBase) ?? 8;
    return new DwarfCursor(this.sections.addr, base + 8 * index, this.sections.addr.length).u64();
  }

  /** An attribute of an entry, or of the one it was made from. */
  protected inherited(entry: Entry, attribute: number): { value: AttributeValue; entry: Entry } | undefined {
    let from: Entry | undefined = entry;
    for (let n = 0; from !== undefined && n < 8; n++) {
      const value = from.values.get(attribute);
      if (value !== undefined) return { value, entry: from };
      const origin: number | undefined = this.number(from, AT.abstractOrigin) ?? this.number(from, AT.specification);
      from = origin === undefined ? undefined : this.byOffset.get(origin);
    }
    return undefined;
  }
}
