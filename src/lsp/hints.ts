// What the code of a source costs, beside its text: live registers behind each line as inlay hints, occupancy above each kernel as a lens.
import type { CodeLens, InlayHint, Range } from 'vscode-languageserver';
import { kernelOccupancy, kernelResources } from '../codeobject/index.ts';
import { type CodeInstruction, hasSlot, livenessOf, type ProgramFunction, Slot, slotNames } from '../program/index.ts';
import { codeOf, type SourceCode } from './code.ts';
import type { SourceDocument } from './document.ts';

const VECTORS = 256;

/** Live registers by file. */
interface Pressure {
  readonly vgprs: number;
  readonly agprs: number;
  readonly sgprs: number;
}

function count(set: Uint32Array, first: number, end: number): number {
  let n = 0;
  for (let slot = first; slot < end; slot++) if (hasSlot(set, slot)) n++;
  return n;
}

function pressureOf(set: Uint32Array): Pressure {
  return {
    sgprs: count(set, 0, Slot.VCC),
    vgprs: count(set, Slot.VGPR0, Slot.VGPR0 + VECTORS),
    agprs: count(set, Slot.AGPR0, Slot.AGPR0 + VECTORS),
  };
}

/** What a line's last instruction leaves live, and what it reads for the last time. */
interface LineLife {
  readonly pressure: Pressure;
  readonly lastReads: readonly string[];
}

function livesOf(
  code: SourceCode,
  subject: ProgramFunction,
  from: number,
  to: number,
  out: Map<number, LineLife>,
): void {
  const { program } = code;
  const lineOf = (one: CodeInstruction | undefined): number => (one && code.lineOf(one)) ?? -1;
  const wanted = subject.blocks.flatMap((index) => {
    const block = program.blocks[index];
    if (block === undefined) return [];
    const last = lineOf(program.instructions[block.end - 1]);
    return last < from || lineOf(program.instructions[block.first]) > to ? [] : [block];
  });
  if (wanted.length === 0) return;
  const liveness = livenessOf(program, subject);
  for (const block of wanted) {
    liveness.walk(block, (one, before, after) => {
      const line = lineOf(one);
      if (line < from || line > to || out.has(line)) return;
      const dead: number[] = [];
      for (const { first, count: dwords } of one.effects.uses) {
        for (let slot = first; slot < first + dwords; slot++) {
          if (hasSlot(before, slot) && !hasSlot(after, slot)) dead.push(slot);
        }
      }
      out.set(line, { pressure: pressureOf(after), lastReads: slotNames(dead) });
    });
  }
}

const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

/** The number of live registers behind each line of a range: `v23 a16 s12`; nothing when the source does not assemble. */
export function inlayHints(document: SourceDocument, range: Range): InlayHint[] {
  const code = codeOf(document);
  if (code === undefined) return [];
  const lives = new Map<number, LineLife>();
  for (const subject of code.program.functions) livesOf(code, subject, range.start.line, range.end.line, lives);
  return [...lives]
    .sort(([a], [b]) => a - b)
    .map(([line, { pressure, lastReads }]) => {
      const { vgprs, agprs, sgprs } = pressure;
      const start = document.assemblerLine(line + 1);
      const end = start + document.text.slice(start).search(/[\r\n]|$/);
      const live = [plural(vgprs, 'VGPR'), ...(agprs > 0 ? [plural(agprs, 'AGPR')] : []), plural(sgprs, 'SGPR')];
      const ends = lastReads.length === 0 ? '' : ` Read for the last time: ${lastReads.join(', ')}.`;
      return {
        position: document.position(end),
        label: `v${vgprs}${agprs > 0 ? ` a${agprs}` : ''} s${sgprs}`,
        tooltip: `Live behind this line: ${live.join(', ')}.${ends}`,
        paddingLeft: true,
      };
    });
}

const LIMITS = { vgprs: 'VGPRs', sgprs: 'SGPRs', lds: 'LDS', 'workgroup-slots': 'workgroup slots' };

/** Occupancy and resources above the label of each kernel. */
export function codeLenses(document: SourceDocument): CodeLens[] {
  const code = codeOf(document);
  if (code === undefined) return [];
  const { codeObject, target } = code.program;
  return codeObject.kernels.flatMap((kernel): CodeLens[] => {
    const found = kernelOccupancy(kernel, target);
    const label = document.names.symbol(kernel.name)?.occurrences.find((o) => o.isDefinition);
    if (found === undefined || label === undefined) return [];
    const { vgprs, sgprs, ldsBytes } = kernelResources(kernel);
    const { wavesPerSimd, maxWavesPerSimd, limiters } = found;
    const by = limiters.length === 0 ? '' : `, limited by ${limiters.map((one) => LIMITS[one]).join(' and ')}`;
    const title = `${wavesPerSimd} of ${maxWavesPerSimd} waves per SIMD${by} · ${vgprs} VGPRs · ${sgprs} SGPRs · ${ldsBytes} bytes of LDS`;
    return [{ range: document.range(label.start, label.end), command: { title, command: '' } }];
  });
}
