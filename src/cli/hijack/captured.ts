// Reports of `hijack build` and `hijack run` in a folder of a capture.
import { join } from 'node:path';
import type { CapturedBuild } from '../../iree/captured.ts';
import { describeFinding } from '../../iree/check-edit.ts';
import { formatChange } from '../../iree/report.ts';
import { openCapture, placeText, type ReplayResult } from '../../snapshot/index.ts';
import { replayText } from '../replay/full-vm.ts';

/** A build as text. */
export function describeCapturedBuild(result: CapturedBuild): string {
  const state = {
    unchanged: 'not edited',
    'same-code': 'edited, but it assembles to the same code',
    changed: 'changed',
  }[result.state];
  const lines = [`${result.kernel}: ${state}`];
  if (result.change !== null) lines.push(...formatChange(result.change).map((line) => `  ${line}`));
  lines.push(...result.findings.map((finding) => `  ${describeFinding(finding)}`));
  for (const { kernel, verdict, reason } of result.proofs) {
    lines.push(`  same function: ${kernel}: ${verdict === 'proved' ? 'proved' : `not proved. ${reason}`}`);
  }
  lines.push(...result.remarks.map((remark) => `  remark: ${remark}`), `${result.output}: ${result.bytes} bytes`, '');
  return lines.join('\n');
}

/** A replay of the modified code as text. */
export function describeCapturedRun(result: ReplayResult, folder: string, listing = false): string {
  const capture = openCapture(join(folder, 'capture.wscap'));
  return replayText(result, (address) => placeText(capture, address), listing);
}
