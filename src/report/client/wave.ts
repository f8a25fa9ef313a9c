// The instructions of one traced wave over time, linked with the listing: choosing one shows its line there, and the other way round.
import type { PageTrace } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Draws the section; `listing` has a row with `data-line` for each line. Undefined where no wave has instructions. */
export function waveInstructions(ui: Ui, trace: PageTrace, listing: HTMLElement): HTMLElement | undefined {
  const waves = trace.waves.filter((wave) => (wave.executed ?? []).length > 0);
  if (waves.length === 0) return undefined;
  const [W, L, H] = [1000, 8, 64];
  const choice = ui.el('select', { 'aria-label': 'Wave' }) as HTMLSelectElement;
  waves.forEach((wave, i) => {
    const name = `SE${wave.shaderEngine} CU${wave.cu} SIMD${wave.simd} slot ${wave.slot}`;
    choice.append(ui.el('option', { value: String(i) }, `${name}, ${wave.instructions} instructions`));
  });
  const root = ui.svg('svg', {
    viewBox: `0 0 ${W} ${H}`,
    tabindex: 0,
    role: 'group',
    class: 'wave-instructions',
    'aria-label': 'Instructions of a wave; arrow keys go from one to the next, plus and minus zoom',
  });
  const said = ui.el('p', { 'aria-live': 'polite', class: 'note' });
  let wave = waves[0];
  let at = 0;
  let from = wave.begin;
  let width = 1;
  const textOf = (line: number) => trace.lines[line]?.text ?? 'an instruction that is not in the listing';
  const rowOf = (line: number) => listing.querySelector(`tr[data-line="${line}"]`);
  const select = (index: number, isShown: boolean) => {
    const executed = wave.executed ?? [];
    at = Math.max(0, Math.min(executed.length - 1, index));
    const [time, stall, duration, line] = executed[at];
    if (time < from || time + duration > from + width) from = time - width / 4;
    listing.querySelector('tr.selected')?.classList.remove('selected');
    const row = rowOf(line);
    row?.classList.add('selected');
    if (isShown) row?.scrollIntoView({ block: 'nearest' });
    said.textContent = `${at + 1} of ${executed.length}: ${textOf(line)}, from cycle ${time - wave.begin}, stalled ${stall}, executing ${duration - stall}`;
    draw();
  };
  const draw = () => {
    root.replaceChildren();
    const executed = wave.executed ?? [];
    const px = (t: number) => L + ((t - from) / width) * (W - 2 * L);
    executed.forEach(([time, stall, duration, line], i) => {
      if (time + duration < from || time > from + width) return;
      const bar = (begin: number, end: number, kind: string) => {
        if (end <= begin) return;
        const left = Math.max(L, px(begin));
        const rect = ui.svg('rect', {
          x: left,
          y: 12,
          width: Math.max(0.6, Math.min(W - L, px(end)) - left),
          height: 26,
          class: `${kind}${i === at ? ' critical' : ''}`,
        });
        ui.tip(rect, () => `${textOf(line)}\nstalled ${stall} cycles, executing ${duration - stall}`);
        rect.addEventListener('click', () => select(i, true));
        root.append(rect);
      };
      bar(time, time + stall, 'state-stall');
      bar(time + stall, time + duration, 'state-exec');
    });
    root.append(
      ui.svg('text', { x: L, y: H - 6 }, `cycle ${Math.round(from - wave.begin)}`),
      ui.svg('text', { x: W - L, y: H - 6, 'text-anchor': 'end' }, `${Math.round(from + width - wave.begin)}`),
    );
  };
  const whole = () => {
    const executed = wave.executed ?? [];
    const [time, , duration] = executed[executed.length - 1];
    from = executed[0][0];
    width = Math.max(1, time + duration - from);
  };
  const zoom = (factor: number) => {
    const [time, , duration] = (wave.executed ?? [])[at];
    width = Math.max(8, width * factor);
    from = time + duration / 2 - width / 2;
    draw();
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => select(at - 1, true),
    ArrowRight: () => select(at + 1, true),
    Home: () => select(0, true),
    End: () => select(Number.MAX_SAFE_INTEGER, true),
    '+': () => zoom(0.5),
    '=': () => zoom(0.5),
    '-': () => zoom(2),
    '0': () => {
      whole();
      draw();
    },
  };
  root.addEventListener('keydown', (event) => {
    const act = keys[(event as KeyboardEvent).key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  choice.addEventListener('change', () => {
    wave = waves[Number(choice.value)];
    whole();
    select(0, false);
  });
  // A line of the listing shows where the wave executes it next.
  listing.addEventListener('click', (event) => {
    const line = Number((event.target as Element).closest('tr[data-line]')?.getAttribute('data-line') ?? -1);
    const executed = wave.executed ?? [];
    const next = executed.findIndex((one, i) => i > at && one[3] === line);
    const found = next >= 0 ? next : executed.findIndex((one) => one[3] === line);
    if (found >= 0) select(found, false);
  });
  whole();
  select(0, false);
  const shown = Math.max(...waves.map((one) => (one.executed ?? []).length));
  return ui.el(
    'div',
    { class: 'chart', tabindex: '0', role: 'group', 'aria-label': 'Instructions of a wave' },
    ui.el('h3', {}, 'Instructions of a wave'),
    ui.el(
      'div',
      { class: 'toolbar' },
      choice,
      ui.el('span', { class: 'key state-stall' }, 'stalled'),
      ui.el('span', { class: 'key state-exec' }, 'executing'),
    ),
    root,
    said,
    ...(waves.some((one) => one.instructions > shown)
      ? [
          ui.el(
            'p',
            { class: 'note' },
            `The first ${shown} instructions of a wave are here; a click on a line of the listing goes to its execution.`,
          ),
        ]
      : []),
  );
}
