// Image instructions: the records name only the one-dword forms; the width of data follows from dmask and d16, that of the address
// from the assembler's operand. This adds the other widths as rows for the assembler, which the decoder selects by dmask.
import type { RawRow } from './rows.ts';

const DATA: readonly string[] = ['', 'AVLdSt_32', 'AVLdSt_64', 'AVLdSt_96', 'AVLdSt_128'];
const ADDRESS: readonly string[] = ['', 'VGPROp_32', 'VGPROp_64', 'VGPROp_96', 'VGPROp_128'];

/** The rows with every image row followed by its forms of 1–4 data and 1–4 address dwords. */
export function withImageForms(rows: readonly RawRow[]): RawRow[] {
  const out: RawRow[] = [];
  for (const row of rows) {
    out.push(row);
    const match = /^(IMAGE_\w+)_V(\d)_V1_gfx90a$/.exec(row.name);
    if (match === null || row.codeGenOnly) continue;
    const smallest = Number(match[2]);
    const atomic = row.flags.includes('IsAtomicRet');
    for (let data = smallest; data <= Math.min(4, atomic ? smallest + 2 : 4); data++) {
      for (let address = 1; address <= 4; address++) {
        if (data === smallest && address === 1) continue;
        const widen = ([cls, name]: [string, string]): [string, string] => {
          if (name === 'vdata' || name === 'vdst') return [DATA[data] as string, name];
          return [name === 'vaddr' ? (ADDRESS[address] as string) : cls, name];
        };
        out.push({
          ...row,
          name: `${match[1]}_V${data}_V${address}_gfx90a`,
          outs: row.outs.map(widen),
          ins: row.ins.map(widen),
          asmOnly: 1,
        });
      }
    }
  }
  return out;
}
