// A capture folder of rocm-perf-lab's isolation tool, as it writes it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCodeObject } from '../../src/codeobject/index.ts';
import { captureObject } from './captures.ts';

export const IN = 0x7f4500000000;
export const OUT = 0x7f4500200000;
export const CODE = 0x7f4600000000;

/** A folder as isolate_tool.cpp leaves it: regions before the dispatch, decimal addresses, a comma behind the last region. */
export function isolatedFolder(root: string, files: Readonly<Record<string, string>> = {}): string {
  mkdirSync(join(root, 'memory'), { recursive: true });
  const code = captureObject();
  const descriptor = Number(readCodeObject(code).kernels[0]?.descriptorSymbol?.value ?? 0n);
  const kernarg = new Uint8Array(24);
  const view = new DataView(kernarg.buffer);
  view.setBigUint64(0, BigInt(OUT), true);
  view.setBigUint64(8, BigInt(IN), true);
  view.setUint32(16, 1000, true);
  writeFileSync(join(root, 'kernel.hsaco'), code);
  writeFileSync(join(root, 'kernarg.bin'), kernarg);
  writeFileSync(
    join(root, 'dispatch.json'),
    JSON.stringify({
      mangled_name: 'k',
      demangled_name: 'k',
      agent_name: 'gfx942',
      isa_name: 'amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-',
      wavefront_size: 64,
      kernel_object: CODE + descriptor,
      grid: [1024, 1, 1],
      block: [64, 1, 1],
      group_segment_size: 0,
      private_segment_size: 0,
      kernarg_size: 24,
      dispatch_index: 3,
    }),
  );
  const input = Uint8Array.from({ length: 200_000 }, (_, i) => i * 7);
  writeFileSync(join(root, 'memory', `region_${IN.toString(16)}.bin`), input);
  writeFileSync(join(root, 'memory', `region_${OUT.toString(16)}.bin`), new Uint8Array(100_000).fill(9));
  const region = (base: number, size: number): string =>
    `{"base": ${base}, "size": ${size}, "is_pool": true, "is_vmem": false, "contains_kernarg": false, "handle": 0, "access": 0}`;
  writeFileSync(join(root, 'memory_regions.json'), `{"regions": [${region(IN, 200_000)}, ${region(OUT, 100_000)},]}`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(root, file), text);
  return root;
}
