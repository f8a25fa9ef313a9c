// The findings that are known already (`--baseline FILE`): what an earlier `check --json` printed.
import { WavesmithError } from '../../base/index.ts';
import { type Finding, fingerprint, isRuleId } from '../../finding/index.ts';
import { parseJson } from './settings.ts';

/** The fingerprints of the findings in a file that `wavesmith check --json` has written. */
export function readKnown(path: string): string[] {
  const parsed = parseJson(path);
  const findings: unknown =
    typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>).findings : undefined;
  if (!Array.isArray(findings) || !findings.every(isFinding)) {
    throw new WavesmithError('check/baseline', `'${path}' holds no findings.`, {
      file: path,
      hint: `Write it with 'wavesmith check FILE --json > ${path}'.`,
    });
  }
  return findings.map(fingerprint);
}

function isFinding(value: unknown): value is Finding {
  if (typeof value !== 'object' || value === null) return false;
  const { rule, place, related, registers, message } = value as Record<string, unknown>;
  const isPlaced = typeof place === 'object' && place !== null && Array.isArray(related) && Array.isArray(registers);
  const hasPlaces = isPlaced && related.every((r) => typeof r?.place === 'object' && r.place !== null);
  return hasPlaces && typeof message === 'string' && typeof rule === 'string' && isRuleId(rule);
}
