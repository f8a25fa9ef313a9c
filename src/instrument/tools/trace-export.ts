// A time line of waves for Perfetto and chrome://tracing: each wave from its start to its end, on a track of its own.
// Source: "Trace Event Format" (complete events), which Perfetto's trace processor reads.
import { records } from '../state.ts';
import { defineProbe } from '../types.ts';

interface Wave {
  readonly kernel: string;
  readonly workgroup: readonly number[];
  readonly start: bigint;
  readonly end: bigint;
  readonly hardware: number;
}

export default defineProbe({
  name: 'trace-export',
  summary: 'start and end of every wave, for Perfetto (--export FILE)',
  state: {
    waves: records({ start: 'u64', end: 'u64', x: 'u32', y: 'u32', z: 'u32', hardware: 'u32' }, { capacity: 1 << 18 }),
  },
  instrument({ program, at }) {
    for (const kernel of program.kernels) {
      if (!kernel.isKernel) continue;
      at.kernelExit(kernel, (p) => {
        const { x, y, z } = p.workgroupId;
        p.append('waves', { start: p.startTime, end: p.time, x, y, z, hardware: p.hardware('HW_REG_HW_ID') });
      });
    }
  },
  report({ state }) {
    const { records: list, appended, dropped } = state.waves;
    const waves = list.map(
      ({ site, start, end, x, y, z, hardware }): Wave => ({
        kernel: site.kernel,
        workgroup: [x, y, z],
        start,
        end,
        hardware,
      }),
    );
    waves.sort((a, b) => Number(a.start - b.start));
    return { appended, dropped, waves };
  },
  // Cycles are written as microseconds: Perfetto has no unit of its own for them.
  export: (report) => {
    const list = report.waves as readonly Wave[];
    const first = list[0]?.start ?? 0n;
    const waves = new Map<string, number>();
    const traceEvents: unknown[] = [];
    list.forEach(({ kernel, workgroup, start, end, hardware }, i) => {
      const key = `${kernel} ${workgroup.join(', ')}`;
      const wave = waves.get(key) ?? 0;
      waves.set(key, wave + 1);
      const name = `workgroup ${workgroup.join(', ')} wave ${wave}`;
      const common = { pid: 1, tid: i + 1 };
      const times = { ts: Number(start - first), dur: Number(end - start) };
      traceEvents.push({ ph: 'M', name: 'thread_name', ...common, args: { name } });
      traceEvents.push({ ph: 'X', name: kernel, cat: 'wave', ...common, ...times, args: { workgroup, hardware } });
    });
    return `${JSON.stringify({ traceEvents, otherData: { unit: 'cycles' } })}\n`;
  },
  text: ({ appended, dropped, waves }) => {
    const list = waves as readonly Wave[];
    const lengths = list.map(({ start, end }) => Number(end - start)).sort((a, b) => a - b);
    return [
      `${appended} waves, ${dropped} dropped; --export FILE writes them for Perfetto`,
      `cycles of a wave: shortest ${lengths[0] ?? 0}, median ${lengths[lengths.length >> 1] ?? 0}, longest ${lengths.at(-1) ?? 0}`,
    ];
  },
});
