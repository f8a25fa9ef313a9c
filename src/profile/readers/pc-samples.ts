// Samples of program counters, summed by instruction.
import type { Recording } from '../recording.ts';
import type { CellsHandler, Header } from './csv.ts';
import { badRow } from './row-problems.ts';
import { count } from './values.ts';

const SHORT_REASON = /^ROCPROFILER_PC_SAMPLING_INSTRUCTION_(?:NOT_ISSUED_REASON|TYPE)_/;

/** One PC sample, whatever file it came from. */
export interface PcSample {
  readonly kernel: string | undefined;
  readonly instruction: string;
  readonly source: string;
  /** EXEC as a decimal or 0x number. */
  readonly execMask: string;
  readonly issued: boolean | undefined;
  readonly stallReason: string | undefined;
  readonly instructionType: string | undefined;
}

/** Adds one PC sample to the instruction it belongs to. */
export function addSample(r: Recording, s: PcSample): void {
  const key = `${s.kernel ?? ''}\0${s.instruction}\0${s.source}`;
  let line = r.samples.get(key);
  if (line === undefined) {
    line = {
      kernel: s.kernel,
      instruction: s.instruction,
      source: s.source,
      samples: 0,
      issued: 0,
      lanes: 0,
      stallReasons: new Map(),
      instructionTypes: new Map(),
    };
    r.samples.set(key, line);
  }
  line.samples++;
  line.lanes += /^(0x[0-9a-fA-F]{1,16}|[0-9]{1,20})$/.test(s.execMask) ? popcount(BigInt(s.execMask)) : 0;
  if (s.issued === true) line.issued++;
  const bump = (map: Map<string, number>, name: string) => map.set(name, (map.get(name) ?? 0) + 1);
  if (s.issued === false && s.stallReason) bump(line.stallReasons, s.stallReason.replace(SHORT_REASON, ''));
  if (s.instructionType) bump(line.instructionTypes, s.instructionType.replace(SHORT_REASON, ''));
}

function popcount(mask: bigint): number {
  let n = 0;
  for (let rest = BigInt.asUintN(64, mask); rest !== 0n; rest &= rest - 1n) n++;
  return n;
}

export function pcSampling(h: Header, file: string, r: Recording): CellsHandler {
  const [exec, dispatch, instruction, comment, issued, type, reason] = [
    'Exec_Mask',
    'Dispatch_Id',
    'Instruction',
    'Instruction_Comment',
    'Wave_Issued_Instruction',
    'Instruction_Type',
    'Stall_Reason',
  ].map((name) => h.at(name));
  let names: Map<number, string> | undefined;
  return (cells) => {
    if (cells.length !== h.names.length) return badRow(r, file, 'the number of cells differs from the header');
    names ??= kernelsByDispatch(r);
    addSample(r, {
      kernel: names.get(count(cells[dispatch])),
      instruction: cells[instruction] ?? '',
      source: comment < 0 ? '' : cells[comment],
      execMask: cells[exec],
      issued: issued < 0 ? undefined : cells[issued] === '1',
      stallReason: reason < 0 ? undefined : cells[reason],
      instructionType: type < 0 ? undefined : cells[type],
    });
  };
}

/** Kernel names by dispatch id, as far as traces read before tell. */
function kernelsByDispatch(r: Recording): Map<number, string> {
  const names = new Map<number, string>();
  const d = r.dispatches;
  for (let row = 0; row < d.length; row++) names.set(d.dispatchId.get(row), r.kernels.get(d.kernel.get(row)));
  return names;
}
