// Every vector instruction of a target that can be written with plain operands, from the instruction table: what a list made by hand leaves out.
import { allRows } from '../../src/isa/index.ts';
import type { TargetName } from '../../src/isa/types.ts';
import { parse } from '../../tests/support/one-instruction.ts';

/** Results and first sources, `@` an even register of one's own; further sources are constants of the loops (sim-operations.bench.ts). */
const RESULTS = ['v@', 'v[@:@@]', 'vcc', 'v@, vcc', 'v[@:@@], vcc', 's[10:11]', 'v@, s[10:11]'];
const SOURCES = ['v4', 'v[10:11]', 'vcc', 'v[4:7]', 's[10:11]', '0x1234'];
const OWN: ReadonlyMap<string, string> = new Map([
  ['v4', 'v@'],
  ['v[10:11]', 'v[@:@@]'],
]);
const MOST_SOURCES = 4;

/** Moves between lanes and registers have rows of their own; matrix instructions and those that change EXEC are no loop of lanes; one is for graphics. */
const OTHERS = /cmpx|mfma|smfmac|nop|readlane|writelane|readfirst|swap|clrexc|accvgpr|sdwa|dpp|screen_partition/;

/** The mnemonics, and by register of one's own the text. */
export function vectorOperations(target: TargetName): [name: string, line: (register: number) => string][] {
  const mnemonics = new Set(allRows().flatMap((row) => (/^VOP/.test(row.encoding) ? [row.mnemonic] : [])));
  const wanted = [...mnemonics].filter((name) => {
    const isTwice = name.endsWith('_e64') && mnemonics.has(name.replace('_e64', '_e32'));
    return name.startsWith('v_') && !OTHERS.test(name) && !isTwice;
  });
  return wanted.flatMap((name) => {
    const text = textOf(target, name);
    return text === undefined ? [] : [[name, (register: number) => atRegister(text, register)]];
  });
}

const atRegister = (text: string, register: number): string =>
  text.replaceAll('@@', String(register + 1)).replaceAll('@', String(register));

/** The first combination of operands that the instruction has. */
function textOf(target: TargetName, mnemonic: string): string | undefined {
  let sources: readonly (readonly string[])[] = [[]];
  for (let count = 1; count <= MOST_SOURCES; count++) {
    sources = sources.flatMap((before) => SOURCES.map((source) => [...before, source]));
    for (const all of sources) {
      const operands = all.map((source, n) => (n === 0 ? (OWN.get(source) ?? source) : source)).join(', ');
      for (const result of RESULTS) {
        const text = `${mnemonic} ${result}, ${operands}`;
        if (parses(target, atRegister(text, 16))) return text;
      }
    }
  }
  return undefined;
}

function parses(target: TargetName, text: string): boolean {
  try {
    parse(target, text);
    return true;
  } catch {
    return false;
  }
}
