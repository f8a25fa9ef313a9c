// Sorts input sections into output sections, merging mergeable ones. Source: lld/ELF/{LinkerScript,OutputSections}.cpp.
import { WavesmithError } from '../../base/index.ts';
import { type ObjectSection, SectionFlag, SectionType } from '../elf/object-model.ts';
import { checkAlignment } from '../elf/write.ts';
import {
  type InputSection,
  isMergeable,
  type MergeSource,
  mergePieces,
  mergeSections,
  type OutputSection,
} from './input.ts';
import { addInput, newOutputSection, outputSectionName } from './layout.ts';

/** Where every input section went. */
export interface CollectedInputs {
  readonly outputs: OutputSection[];
  readonly inputOf: ReadonlyMap<ObjectSection, InputSection>;
  readonly mergeOf: ReadonlyMap<ObjectSection, MergeSource>;
}

/** Puts common symbols, the objects' sections and the linker's own .comment line into output sections, in that order. */
export function collectInputs(
  selected: ReadonlyMap<ObjectSection, number>,
  common: readonly InputSection[],
  commentLine: string,
): CollectedInputs {
  const outputs: OutputSection[] = [];
  const inputOf = new Map<ObjectSection, InputSection>();
  const mergeOf = new Map<ObjectSection, MergeSource>();
  const byName = new Map<string, OutputSection>();
  const outputFor = (name: string): OutputSection => {
    const outName = outputSectionName(name);
    let output = byName.get(outName);
    if (output === undefined) {
      output = newOutputSection(outName, 0, 0);
      byName.set(outName, output);
      outputs.push(output);
    }
    return output;
  };
  interface MergeGroup {
    readonly input: InputSection;
    readonly sources: MergeSource[];
  }
  const merges = new Map<OutputSection, MergeGroup[]>();
  const add = (section: ObjectSection, object: number | undefined) => {
    const output = outputFor(section.name);
    const input = inputOfSection(section, object);
    checkAlignment(section.name, section.alignment);
    if (!isMergeable(section)) {
      inputOf.set(section, input);
      addInput(output, input);
      return;
    }
    if ((section.flags & SectionFlag.WRITE) !== 0) {
      throw new WavesmithError('link/writable-merge', `Section ${section.name} is both writable and mergeable.`);
    }
    const groups = merges.get(output) ?? [];
    merges.set(output, groups);
    const isString = (section.flags & SectionFlag.STRINGS) !== 0;
    let group = groups.find(
      (g) =>
        g.input.flags === section.flags &&
        g.input.entrySize === section.entrySize &&
        (g.input.alignment === section.alignment || !isString),
    );
    if (group === undefined) {
      group = { input, sources: [] };
      groups.push(group);
      addInput(output, input);
    }
    group.input.alignment = Math.max(group.input.alignment, section.alignment);
    output.alignment = Math.max(output.alignment, section.alignment);
    const source: MergeSource = {
      section,
      offsets: mergePieces(section),
      target: { section: group.input, offsets: [] },
    };
    group.sources.push(source);
    mergeOf.set(section, source);
  };
  for (const input of common) addInput(outputFor(input.name), input);
  for (const [section, object] of selected) add(section, object);
  const comment = new TextEncoder().encode(`${commentLine}\0`);
  add(commentSection(comment), undefined);
  for (const groups of merges.values()) {
    for (const { input, sources } of groups) {
      input.bytes = mergeSections(sources, input.alignment);
      input.size = input.bytes.length;
    }
  }
  return { outputs, inputOf, mergeOf };
}

function inputOfSection(s: ObjectSection, object: number | undefined): InputSection {
  const { name, type, flags, alignment, entrySize, size, bytes, relocations } = s;
  return { name, type, flags, alignment, entrySize, size, bytes, relocations, object, offset: 0, output: undefined };
}

function commentSection(bytes: Uint8Array): ObjectSection {
  return {
    name: '.comment',
    type: SectionType.PROGBITS,
    flags: SectionFlag.MERGE | SectionFlag.STRINGS,
    alignment: 1,
    entrySize: 1,
    size: bytes.length,
    bytes,
    relocations: [],
  };
}
