// The first section: what was profiled, where the time went, and what to change.
import type { PageData } from '../page-data.ts';
import type { Ui } from './ui.ts';

/** Draws the answer. */
export function answerView(ui: Ui, data: PageData, open: (kernel: number) => void): HTMLElement {
  const { answer } = data;
  const link = (id: number, name: string) =>
    ui.el(
      'a',
      {
        href: `#kernel-${id}`,
        class: 'kernel-name',
        title: name,
        click: (event) => {
          event.preventDefault();
          open(id);
        },
      },
      name,
    );
  const section = ui.el(
    'section',
    { id: 'answer', 'aria-labelledby': 'h-answer' },
    ui.el('h2', { id: 'h-answer' }, 'What to change'),
  );
  const facts = ui.el('dl', { class: 'facts' });
  const machines = answer.machines.length === 0 ? null : answer.machines.join(', ');
  const recorded = [
    ['Command', answer.command],
    ['GPU', machines],
    ['Machine', answer.host],
    ['Date', answer.date],
  ] as const;
  for (const [name, value] of recorded) {
    if (value !== null) facts.append(ui.el('dt', {}, name), ui.el('dd', {}, value));
  }
  const absent = recorded.flatMap(([name, value]) => (value === null ? [name] : []));
  if (absent.length > 0) facts.append(ui.el('dt', {}, 'Not recorded'), ui.el('dd', {}, absent.join(', ')));
  section.append(facts);
  const isOneGpu = new Set(data.kernels.map((kernel) => kernel.agent)).size === 1;
  const shares = answer.kernels.filter((kernel) => kernel.share.value !== undefined);
  if (shares.length > 0) {
    section.append(
      ui.table(
        'Where the time went, as shares of the time of all kernels',
        ['Kernel', 'Time', 'Share', 'Limited by', ...(isOneGpu ? [] : ['GPU'])],
        shares.map((kernel) => [
          link(kernel.id, kernel.name),
          ui.measure(kernel.totalNs, ui.ns),
          ui.measure(kernel.share, ui.percent),
          data.kernels.find(({ id }) => id === kernel.id)?.bottleneck.classes[0]?.class ?? 'no class has evidence',
          ...(isOneGpu ? [] : [kernel.agent]),
        ]),
        [1, 2],
      ),
    );
    const others = data.kernels.length + data.omitted.kernels - answer.kernels.length;
    const rest = 1 - answer.kernels.reduce((sum, kernel) => sum + (kernel.share.value ?? 0), 0);
    if (others > 0 && shares.length === answer.kernels.length) {
      section.append(
        ui.el('p', {}, `All other kernels, ${ui.count(others)} of them: ${ui.percent(Math.max(0, rest))}.`),
      );
    }
    if (answer.idleNs.value !== undefined && answer.spanNs.value !== undefined) {
      section.append(
        ui.el(
          'p',
          {},
          `Nothing ran for ${ui.ns(answer.idleNs.value)} of ${ui.ns(answer.spanNs.value)}${answer.copyNs.value === 0 ? '' : `; copies are ${ui.show(answer.copyNs, ui.ns)} of the critical path`}.`,
        ),
      );
    }
  }
  // Changes of small kernels must not look like all that can be done where the large ones could not be judged.
  const LARGE = 0.1;
  const unjudged = shares.filter(({ id, share }) => {
    const { classes, undecided } = data.kernels.find((kernel) => kernel.id === id)?.bottleneck ?? {};
    return (share.value ?? 0) >= LARGE && classes?.length === 0 && (undecided?.length ?? 0) > 0;
  });
  if (unjudged.length > 0) {
    const part = ui.percent(unjudged.reduce((sum, { share }) => sum + (share.value ?? 0), 0));
    const which = unjudged.length === 1 ? 'the kernel' : `the ${unjudged.length} kernels`;
    const text = `What limits ${which} with ${part} of the time is not known: `;
    section.append(
      ui.el(
        'p',
        { class: 'simulated' },
        `${text}counters that tell were not collected. The page of a kernel says which.`,
      ),
    );
  }
  const bounds = data.kernels
    .filter((kernel) => (kernel.roofline.leastNs.value ?? 0) > 0)
    .sort((a, b) => (b.roofline.leastNs.value ?? 0) - (a.roofline.leastNs.value ?? 0));
  const why = data.kernels.find((kernel) => kernel.totalNs.unknown !== undefined)?.totalNs.unknown;
  if (shares.length === 0 && why !== undefined && !data.simulated) {
    section.append(ui.el('p', {}, `How long the kernels took is unknown: ${why}.`));
  }
  if (shares.length === 0 && bounds.length > 0) {
    section.append(
      ui.table(
        'Where time must go: lower bounds from the roofs, no times',
        ['Kernel', 'At least', 'Roof', ...(isOneGpu ? [] : ['GPU'])],
        bounds
          .slice(0, 5)
          .map((kernel) => [
            link(kernel.id, kernel.name),
            ui.measure(kernel.roofline.leastNs, ui.ns),
            kernel.roofline.leastBy ?? '',
            ...(isOneGpu ? [] : [kernel.agent]),
          ]),
        [1],
      ),
    );
  }
  if (answer.whyNoChange !== null) {
    section.append(ui.el('p', { class: 'empty' }, `What to change: ${answer.whyNoChange}.`));
    return section;
  }
  const list = ui.el('ol', { class: 'changes' });
  for (const change of answer.changes) {
    const worth =
      change.worthNs.value === undefined
        ? `Worth unknown: ${change.worthNs.unknown ?? ''}.`
        : `Worth at most ${ui.ns(change.worthNs.value)}, ${ui.show(change.worthShare, ui.percent)} of the span.`;
    list.append(
      ui.el(
        'li',
        {},
        ui.el('strong', {}, change.kernel === null ? change.title : link(change.kernel, change.title)),
        ui.el('p', {}, worth),
        ui.el(
          'p',
          { class: 'note' },
          `Evidence: ${change.evidence.join('; ')}. Confidence ${change.confidence.toFixed(2)}.`,
        ),
      ),
    );
  }
  section.append(ui.el('h3', {}, 'Changes worth most'), list);
  return section;
}
