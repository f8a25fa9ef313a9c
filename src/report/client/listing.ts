// Annotated instructions with heat: cycles where there are any, else samples, else executions; and their sums by source line.
import type { PageTrace } from '../page-data.ts';
import type { Ui } from './ui.ts';

export type Listing = (ui: Ui, lines: PageTrace['lines'], label: string) => HTMLElement;

/** Draws instructions in order. */
export function instructionListing(ui: Ui, lines: PageTrace['lines'], label: string): HTMLElement {
  const MAX_LINES = 3000;
  const timed = lines.some((line) => line.latency > 0 || line.idle > 0);
  const counted = lines.some((line) => (line.meanLanes ?? null) !== null);
  const sampled = lines.some((line) => (line.samples ?? 0) > 0);
  const cost = (line: PageTrace['lines'][number]) => (timed ? line.latency : sampled ? (line.samples ?? 0) : line.hits);
  const most = lines.reduce((max, line) => Math.max(max, cost(line)), 1);
  // Where all cost the same, none is hotter than another.
  const isHot = lines.some((line) => cost(line) > 0 && cost(line) < most);
  const head = [
    'Address',
    'Instruction',
    'Class',
    'Hits',
    ...(counted ? ['Lanes'] : []),
    ...(timed ? ['Latency', 'Stall', 'Idle'] : []),
    ...(sampled ? ['Samples'] : []),
    'Source',
  ];
  const body = ui.el('tbody');
  let kernel: string | null = null;
  for (const [index, line] of lines.slice(0, MAX_LINES).entries()) {
    if (line.kernel !== kernel) {
      kernel = line.kernel;
      const title = ui.el('th', { colspan: String(head.length), scope: 'rowgroup' }, kernel ?? '');
      body.append(ui.el('tr', { class: 'title' }, title));
    }
    const heat = ui.el('td', { class: 'isa' }, ui.el('code', {}, line.text));
    const share = cost(line) / most;
    if (share > 0 && isHot) heat.style.setProperty('--heat', `${(100 * share).toFixed(1)}%`);
    const numbers = [
      line.hits,
      ...(counted ? [line.meanLanes ?? 0] : []),
      ...(timed ? [line.latency, line.stall, line.idle] : []),
    ];
    if (sampled) numbers.push(line.samples ?? 0);
    body.append(
      ui.el(
        'tr',
        { 'data-line': String(index) },
        ui.el('td', { class: 'n' }, line.address.toString(16)),
        heat,
        ui.el('td', {}, line.class),
        ...numbers.map((n) => ui.el('td', { class: 'n' }, ui.num(n))),
        ui.el(
          'td',
          {},
          ui.sourceLink(line.source),
          ...(line.sourceText === null ? [] : [' ', ui.el('code', { class: 'note' }, line.sourceText)]),
        ),
      ),
    );
  }
  const isText = (name: string) => name === 'Instruction' || name === 'Class' || name === 'Source';
  return ui.el(
    'div',
    { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': label },
    ui.el(
      'table',
      { class: 'listing' },
      ui.el(
        'thead',
        {},
        ui.el('tr', {}, ...head.map((h) => ui.el('th', { scope: 'col', ...(isText(h) ? {} : { class: 'n' }) }, h))),
      ),
      body,
    ),
    ...(lines.length > MAX_LINES
      ? [ui.el('p', { class: 'note' }, `${MAX_LINES} of ${lines.length} lines; profile.json has all.`)]
      : []),
  );
}

/** Sums by source line, the most expensive first; undefined without source lines. */
export function sourceLines(ui: Ui, lines: PageTrace['lines']): HTMLElement | undefined {
  const sums = new Map<string, { hits: number; latency: number; stall: number; text: string | null }>();
  for (const line of lines) {
    if (line.source === '') continue;
    const sum = sums.get(line.source) ?? { hits: 0, latency: 0, stall: 0, text: line.sourceText };
    sum.hits += line.hits;
    sum.latency += line.latency;
    sum.stall += line.stall;
    sums.set(line.source, sum);
  }
  if (sums.size === 0) return undefined;
  const timed = [...sums.values()].some((sum) => sum.latency > 0);
  const rows = [...sums].sort((a, b) => b[1].latency - a[1].latency || b[1].hits - a[1].hits).slice(0, 50);
  return ui.table(
    'Source lines',
    ['Source', 'Text', 'Executions', ...(timed ? ['Latency', 'of it stall'] : [])],
    rows.map(([source, sum]) => [
      ui.sourceLink(source),
      ui.el('code', {}, sum.text ?? ''),
      ui.num(sum.hits),
      ...(timed ? [ui.num(sum.latency), ui.num(sum.stall)] : []),
    ]),
    [2, 3, 4],
  );
}
