// `wavesmith rocmlir doctor`: what the integration found and what each part is for.
import { examineRocmlir } from '../../rocmlir/doctor.ts';
import { readEnvironment } from '../../rocmlir/environment.ts';
import { newCommand, parseArguments, printJson } from '../support.ts';

export async function run(argv: string[]): Promise<number> {
  const command = newCommand('rocmlir doctor', 'Show what the rocMLIR integration found and what it is for.').option(
    '--json',
    'print the findings as JSON',
  );
  if (!parseArguments(command, argv)) return 0;
  const report = await examineRocmlir(readEnvironment(process.env));
  if (command.opts<{ json?: boolean }>().json) printJson(report);
  else {
    const width = Math.max(...report.findings.map((f) => f.name.length));
    for (const f of report.findings) {
      const mark = f.ok ? 'ok     ' : f.required ? 'BROKEN ' : 'absent ';
      process.stdout.write(`${mark}${f.name.padEnd(width)}  ${f.found}\n`);
      if (f.path !== null) process.stdout.write(`${' '.repeat(7 + width)}  ${f.path}\n`);
      process.stdout.write(`${' '.repeat(7 + width)}  used for: ${f.usedFor}\n`);
    }
  }
  return report.ok ? 0 : 1;
}
