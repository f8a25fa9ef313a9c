// One self-contained HTML page of what a probe found: its lines, and the kernels' instructions with what it says of each. No script: every
// value is in the page, and a content security policy admits this style alone.
import { createHash } from 'node:crypto';
import { STYLE } from './style.ts';

/** What a probe says of one instruction. */
export interface ProbePageRow {
  readonly pc: number;
  readonly text: string;
  /** `file:line`; empty where no line table knows. */
  readonly source: string;
  /** A value for each column; empty where the probe says nothing. */
  readonly cells: readonly string[];
}

/** A code object with what the probe found in it. */
export interface ProbePageCode {
  readonly title: string;
  readonly lines: readonly string[];
  readonly columns: readonly string[];
  readonly kernels: readonly { readonly name: string; readonly rows: readonly ProbePageRow[] }[];
}

const OWN_STYLE = `${STYLE}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}
td.code{font-family:ui-monospace,monospace;font-size:13px;white-space:pre}
tr.never td{color:var(--dim)}
meter{width:90px}
`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** The page. */
export function probePage(title: string, summary: string, codes: readonly ProbePageCode[]): string {
  const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(OWN_STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${OWN_STYLE}</style>
</head>
<body>
<header><h1>${escaped(title)}</h1><p>${escaped(summary)}</p></header>
<main>
${codes.map(codeSection).join('\n')}
</main>
</body>
</html>
`;
}

function codeSection({ title, lines, columns, kernels }: ProbePageCode): string {
  const tables = kernels.map(({ name, rows }) => kernelTable(name, columns, rows));
  return `<section><h2>${escaped(title)}</h2>
<pre class="scroll">${escaped(lines.join('\n'))}</pre>
${tables.join('\n')}
</section>`;
}

function kernelTable(name: string, columns: readonly string[], rows: readonly ProbePageRow[]): string {
  // The first column is how often; its share of the largest is shown beside it.
  const values = rows.map(({ cells: [first = ''] }) => (/^\d+$/.test(first) ? Number(first) : 0));
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const hasSource = rows.some(({ source }) => source !== '');
  const head = columns.map((column) => `<th class="number" scope="col">${escaped(column)}</th>`).join('');
  const body = rows.map(({ pc, text, source, cells }, i) => {
    const numbers = cells.map((cell) => `<td class="number">${escaped(cell)}</td>`).join('');
    const value = values[i] ?? 0;
    const meter = value > 0 ? `<meter min="0" max="${most}" value="${value}">${value}</meter>` : '';
    const place = hasSource ? `<td>${escaped(source)}</td>` : '';
    return `<tr${value === 0 ? ' class="never"' : ''}><td>${meter}</td>${numbers}<td class="number">${pc.toString(16)}</td><td class="code">${escaped(text)}</td>${place}</tr>`;
  });
  return `<div class="scroll"><table><caption>${escaped(name)}</caption>
<thead><tr><th scope="col">share of the most</th>${head}<th class="number" scope="col">address</th><th scope="col">instruction</th>${hasSource ? '<th scope="col">source</th>' : ''}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table></div>`;
}
