// Sections and their content while assembling: fragments of bytes with fixups, and fragments whose size is known late.
// Sources: llvm/lib/MC/MCFragment.cpp, MCSection.cpp, MCObjectStreamer.cpp.

import { ByteWriter } from '../../base/index.ts';
import type { Location } from '../assemble/source.ts';
import {
  type AlignFragment,
  AsmSection,
  type AsmSymbol,
  type ComputedFragment,
  type DataFragment,
  type FillFragment,
  type Fragment,
  type FragmentBase,
  type LebFragment,
  type OrgFragment,
  type SectionDescription,
} from './model.ts';

/** The section and subsection that statements go to. */
export interface SectionPosition {
  readonly section: AsmSection;
  readonly subsection: number;
}

/** All sections, the current one, and the stacks of `.pushsection` and `.previous`. */
export class SectionTable {
  private readonly byIdentity = new Map<string, AsmSection>();
  /** In order of first use. */
  readonly list: AsmSection[] = [];
  position: SectionPosition | undefined;
  private fragments: Fragment[] = [];
  private readonly stack: { current: SectionPosition | undefined; previous: SectionPosition | undefined }[] = [];
  private previousPosition: SectionPosition | undefined;

  private readonly locate: () => Location;

  /** `locate` gives the place in the source that is being read. */
  constructor(locate: () => Location) {
    this.locate = locate;
  }

  /** The section with that identity; the description of the first use wins. */
  section(description: SectionDescription, createSymbol: (name: string) => AsmSymbol): AsmSection {
    const { name, group, linkedTo, uniqueId } = description;
    const identity = `${name}\0${group?.signature ?? ''}\0${linkedTo?.key ?? ''}\0${uniqueId ?? ''}`;
    let section = this.byIdentity.get(identity);
    if (section === undefined) {
      const symbol = createSymbol(name);
      section = new AsmSection(description, symbol);
      this.byIdentity.set(identity, section);
      symbol.fragment = this.newData(section, section.subsection(0));
    }
    return section;
  }

  /** Makes a section current. */
  switchTo(section: AsmSection, subsection = 0): void {
    this.previousPosition = this.position;
    this.enter({ section, subsection });
  }

  private enter(position: SectionPosition): void {
    this.position = position;
    if (!position.section.isRegistered) {
      position.section.isRegistered = true;
      this.list.push(position.section);
    }
    this.fragments = position.section.subsection(position.subsection);
  }

  get previous(): SectionPosition | undefined {
    return this.previousPosition;
  }

  push(): void {
    this.stack.push({ current: this.position, previous: this.previousPosition });
  }

  /** False when there is nothing to pop. */
  pop(): boolean {
    const entry = this.stack.pop();
    if (entry === undefined) return false;
    this.previousPosition = entry.previous;
    if (entry.current !== undefined) this.enter(entry.current);
    return true;
  }

  get stackDepth(): number {
    return this.stack.length;
  }

  private base(): FragmentBase {
    const { section } = this.position as SectionPosition;
    return { section, index: this.fragments.length, subsection: this.fragments, start: 0, size: 0 };
  }

  /** The data fragment at the end of the current section. */
  data(): DataFragment {
    const last = this.fragments[this.fragments.length - 1];
    if (last !== undefined && last.kind === 'data') return last;
    return this.newData((this.position as SectionPosition).section, this.fragments);
  }

  private newData(section: AsmSection, fragments: Fragment[]): DataFragment {
    const fragment: DataFragment = {
      kind: 'data',
      section,
      index: fragments.length,
      subsection: fragments,
      start: 0,
      size: 0,
      data: new ByteWriter(),
      fixups: [],
      location: this.locate(),
    };
    fragments.push(fragment);
    return fragment;
  }

  align(options: Pick<AlignFragment, 'alignment' | 'fill' | 'fillSize' | 'maxBytes' | 'code' | 'location'>): void {
    const base = this.base();
    this.fragments.push({ ...base, kind: 'align', ...options });
    if (options.alignment > base.section.alignment) base.section.alignment = options.alignment;
  }

  fill(options: Pick<FillFragment, 'count' | 'value' | 'valueSize' | 'location'>): void {
    this.fragments.push({ ...this.base(), kind: 'fill', ...options });
  }

  org(options: Pick<OrgFragment, 'target' | 'value' | 'location'>): void {
    this.fragments.push({ ...this.base(), kind: 'org', ...options });
  }

  leb(options: Pick<LebFragment, 'value' | 'signed' | 'location'>): void {
    this.fragments.push({ ...this.base(), kind: 'leb', bytes: new Uint8Array(0), ...options });
  }

  computed(options: Pick<ComputedFragment, 'distance' | 'encode'>): void {
    this.fragments.push({ ...this.base(), kind: 'computed', bytes: new Uint8Array(0), ...options });
  }
}
