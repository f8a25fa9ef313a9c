// Findings as a SARIF 2.1.0 log, which code review tools and editors show beside the source.
// Source: OASIS "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
import type { Finding } from '../check/index.ts';
import { version } from './version.ts';

/** A finding with its place in the source, when there is a source. */
export type PlacedFinding = Finding & { readonly file: string; readonly line: number | undefined };

/** The log of one run. */
export function sarifLog(findings: readonly PlacedFinding[]): Record<string, unknown> {
  const rules = [...new Set(findings.map((f) => f.rule))].sort();
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'wavesmith', version: version(), rules: rules.map((id) => ({ id })) } },
        results: findings.map((finding) => ({
          ruleId: finding.rule,
          level: finding.severity,
          message: { text: [finding.message, finding.fix].filter((part) => part !== undefined).join(' ') },
          locations: [locationOf(finding)],
        })),
      },
    ],
  };
}

function locationOf({ file, line, pc, kernel }: PlacedFinding): Record<string, unknown> {
  return {
    physicalLocation: {
      artifactLocation: { uri: file.split('/').map(encodeURIComponent).join('/') },
      ...(line === undefined ? {} : { region: { startLine: line } }),
      ...(pc === undefined ? {} : { address: { absoluteAddress: pc } }),
    },
    ...(kernel === undefined ? {} : { logicalLocations: [{ name: kernel, kind: 'function' }] }),
  };
}
