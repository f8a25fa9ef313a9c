// What a kernel was launched with, read from inside the kernel by its first wave: grid, workgroup and arguments.
import { records } from '../state.ts';
import { defineProbe } from '../types.ts';

const AXES = ['x', 'y', 'z'] as const;
/** Arguments whose first 8 bytes are shown. */
const MOST = 16;

export default defineProbe({
  name: 'kernel-args',
  summary: 'grid, workgroup and arguments of a kernel, read from inside it',
  state: {
    launches: records(
      { gridX: 'u32', gridY: 'u32', gridZ: 'u32', blockX: 'u32', blockY: 'u32', blockZ: 'u32' },
      { capacity: 4096 },
    ),
    values: records({ argument: 'u32', value: 'u64' }, { capacity: 4096 }),
  },
  instrument({ program, at }) {
    for (const kernel of program.kernels) {
      at.kernelEntry(kernel, (p) => {
        const { x, y, z } = p.workgroupId;
        // The wave with work-item 0 of workgroup 0: work-item numbers are packed into v0.
        p.if(p.isZero(p.or(p.or(x, y), z)), () => {
          p.append('launches', {
            gridX: p.gridSize.x,
            gridY: p.gridSize.y,
            gridZ: p.gridSize.z,
            blockX: p.workgroupSize.x,
            blockY: p.workgroupSize.y,
            blockZ: p.workgroupSize.z,
          });
          const args = kernel.subject.kernel?.metadata?.args ?? [];
          args.slice(0, MOST).forEach((argument, i) => {
            if (argument.offset % 4 === 0 && argument.size >= 4)
              p.append('values', { argument: i, value: p.argument(i) });
          });
        });
      });
    }
  },
  report({ program, state }) {
    const kernels = program.kernels.flatMap((kernel) => {
      const launch = state.launches.records.find((one) => one.site.kernel === kernel.name);
      if (launch === undefined) return [];
      const grid = [launch.gridX, launch.gridY, launch.gridZ];
      const block = [launch.blockX, launch.blockY, launch.blockZ];
      const args = kernel.subject.kernel?.metadata?.args ?? [];
      const values = new Map<number, bigint>();
      for (const { site, argument, value } of state.values.records)
        if (site.kernel === kernel.name) values.set(argument, value);
      return [
        {
          kernel: kernel.name,
          workItems: grid,
          blockDim: block,
          gridDim: AXES.map((_, i) => Math.ceil((grid[i] ?? 0) / Math.max(1, block[i] ?? 1))),
          arguments: args.flatMap(({ name, valueKind, size }, i) => {
            const value = values.get(i);
            return value === undefined
              ? []
              : [{ name: name ?? String(i), kind: valueKind, size, value: `0x${value.toString(16)}` }];
          }),
        },
      ];
    });
    return { kernels };
  },
});
