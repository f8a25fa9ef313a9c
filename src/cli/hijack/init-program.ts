// `wavesmith hijack init` for programs (`-- PROGRAM …`) and files that hold code objects.
import type { ProgramInitResult } from '../../hijack/init.ts';

/** The report as text. */
export function describeProgramInit({ folder, manifest, remarks, run }: ProgramInitResult): string {
  const lines: string[] = [];
  if (run !== null && manifest.source.kind === 'program') {
    lines.push(`${manifest.source.command.join(' ')}: status ${run.status} after ${run.seconds.toFixed(2)} s`);
  }
  for (const code of manifest.executables.slice(0, 20)) {
    const files = code.parts?.length ? ` and ${code.parts.length} files beside it, one per kernel` : '';
    lines.push(`${folder}/${code.asm}${files}  ${code.target}, ${code.codeBytes} bytes of code object`);
    for (const { name, launches, ldsBytes } of code.kernels.slice(0, 12)) {
      const [first] = launches;
      const more = launches.length > 1 ? ` and ${launches.length - 1} other shape(s)` : '';
      const how =
        first === undefined
          ? 'not launched'
          : `grid ${first.grid.join('×')} work-items, workgroup ${first.block.join('×')}${more}, ${first.ldsBytes} bytes of LDS`;
      lines.push(`  kernel ${name}`, `    ${run === null ? `${ldsBytes} bytes of LDS` : how}`);
    }
    if (code.kernels.length > 12) lines.push(`  … and ${code.kernels.length - 12} more kernels`);
  }
  if (manifest.executables.length > 20) {
    lines.push(`… and ${manifest.executables.length - 20} more code objects (see manifest.json)`);
  }
  lines.push(...remarks.map((remark) => `remark: ${remark}`));
  lines.push(`next: edit asm/*.s, then 'wavesmith hijack build ${folder}'`, '');
  return lines.join('\n');
}
