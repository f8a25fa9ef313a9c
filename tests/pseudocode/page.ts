// docs/pseudocode.md, made of the list of adjudicated differences.
import { ADJUDICATED, MODIFIERS, NOT_COMPARED } from './adjudicated.ts';

const code = (names: readonly string[]): string => names.map((n) => `\`${n.toLowerCase()}\``).join(', ');

/** The text of the page. */
export function page(): string {
  const rows = ADJUDICATED.map((a) => `| ${code(a.operations)} | ${a.difference} | ${a.reason} |`);
  const left = Object.entries(NOT_COMPARED).map(
    ([reason, patterns]) =>
      `- ${patterns.map((p) => `\`${p.source.replaceAll('|', '\\|').toLowerCase()}\``).join(', ')}: ${reason}`,
  );
  return `# The virtual GPU and AMD's pseudo-code

AMD's ISA documents describe each instruction by a piece of pseudo-code.
\`tests/pseudocode\` reads these texts and evaluates them, with arithmetic of its own.
Every scalar and vector ALU operation is executed by the virtual GPU with edge and random operands, and compared bit for bit.
It is done with MODE.IEEE and without it. So are the atomics, loads and stores of LDS and of global
memory: what they leave, and what they return. Buffer, flat, scratch and scalar memory, whose texts are the same but for the address, are not.

A NaN that an operator makes may have any payload in the comparison, since the texts do not say which. Here it is the default
quiet NaN. A NaN that a text moves keeps its bits, or becomes quiet where the text says so.
\`exp\` and \`log\` may differ by one unit in the last place.

## Differences

Each row is a case where the virtual GPU does not follow the letter. The test then evaluates the text that it does follow.

| Operations | Difference | Reason |
| --- | --- | --- |
${rows.join('\n')}

## MODE and modifiers

\`tests/pseudocode/modifiers.ts\` runs every encoding of the vector operations with random modifiers (neg, abs, op_sel, SDWA, DPP, omod,
clamp), roundings, denormals, IEEE and DX10_CLAMP, and with part of the lanes. The texts say little of these. What is done:

${MODIFIERS.map((m) => `- ${m}`).join('\n')}

## Not compared

${left.join('\n')}

This page is made by \`node scripts/run-ts.mjs tools/gen-pseudocode-page/main.ts\`.
`;
}
