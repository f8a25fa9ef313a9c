// Counter tracks below the lanes of the timeline: what each dispatch reached, as steps over time.
import type { PageData } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Where tracks are drawn: one below the other, each `height` high. */
export interface TrackPlace {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly height: number;
}

/** Draws the part of the tracks that lies in a window of time. Heights are shares of the track's highest value. */
export function counterTracks(
  ui: Ui,
  root: SVGElement,
  tracks: PageData['dispatches']['tracks'],
  place: TrackPlace,
  [from, to]: readonly [number, number],
): void {
  const { left, right, top, height } = place;
  const px = (t: number) => left + ((t - from) / (to - from)) * (right - left);
  const show = (unit: string, value: number): string => {
    if (unit === 'GB/s') return ui.bandwidth(value);
    if (unit === 'GFLOP/s') return ui.flops(value);
    return unit === 'fraction' ? ui.percent(value) : value.toFixed(1);
  };
  tracks.forEach(({ name, unit, points }, i) => {
    const base = top + (i + 1) * height - 6;
    const most = points.reduce((max, [, , value]) => Math.max(max, value), 0);
    root.append(
      ui.svg('text', { x: left - 8, y: base - height + 24, 'text-anchor': 'end' }, name),
      ui.svg('text', { x: left - 8, y: base, 'text-anchor': 'end', class: 'track-top' }, `to ${show(unit, most)}`),
      ui.svg('line', { x1: left, x2: right, y1: base, y2: base, class: 'grid' }),
    );
    for (const [start, end, value] of points) {
      if (end < from || start > to) continue;
      const x = Math.max(left, px(start));
      const high = Math.max(1, ((height - 14) * value) / most);
      const width = Math.max(0.8, Math.min(right, px(end)) - x);
      const step = ui.svg('rect', { x, y: base - high, width, height: high, class: 'track' });
      ui.tip(step, () => `${name}: ${show(unit, value)}\n${ui.ns(end - start)} at ${ui.ns(start)}`);
      root.append(step);
    }
  });
}
