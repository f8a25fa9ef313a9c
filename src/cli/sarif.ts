// Findings as a SARIF 2.1.0 log, which code review tools and editors show beside the source.
// Source: OASIS "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
import { createHash } from 'node:crypto';
import {
  editsTitle,
  fingerprint,
  type Place,
  type RelatedPlace,
  type RuleId,
  ruleInfo,
  type SourcePlace,
} from '../finding/index.ts';
import { sourceEdits } from '../lsp/index.ts';
import { type CheckedSource, type PlacedFinding, sourceRange } from './check/input.ts';
import { version } from './version.ts';

type Json = Record<string, unknown>;

/** The log of one run. `sources` are those whose findings can be mended in their text, by file; `pages` the text of rules' pages. */
export function sarifLog(
  findings: readonly PlacedFinding[],
  sources: ReadonlyMap<string, CheckedSource>,
  pages: (rule: RuleId) => string | undefined,
): Json {
  const rules = [...new Set(findings.map((f) => f.rule))].sort();
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: { name: 'wavesmith', version: version(), rules: rules.map((rule) => describe(rule, pages(rule))) },
        },
        columnKind: 'utf16CodeUnits',
        results: withOccurrences(findings).map(([finding, occurrence]) => result(finding, occurrence, rules, sources)),
      },
    ],
  };
}

function describe(rule: RuleId, page: string | undefined): Json {
  const { title, severity, source } = ruleInfo(rule);
  const text = `${title}. See ${source.title}.`;
  return {
    id: rule,
    name: rule.replace(/(?:^|[/-])([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    shortDescription: { text: `${title}.` },
    helpUri: source.url,
    help: page === undefined ? { text } : { text, markdown: page },
    defaultConfiguration: { level: severity },
  };
}

/** Each finding with how many of the same fingerprint stand before it: equal mistakes at several places stay apart. */
function withOccurrences(findings: readonly PlacedFinding[]): [PlacedFinding, number][] {
  const seen = new Map<string, number>();
  return findings.map((finding) => {
    const key = fingerprint(finding);
    const count = seen.get(key) ?? 0;
    seen.set(key, count + 1);
    return [finding, count];
  });
}

function result(
  finding: PlacedFinding,
  occurrence: number,
  rules: readonly RuleId[],
  sources: ReadonlyMap<string, CheckedSource>,
): Json {
  const { rule, severity, message, fix, place, kernel, file, related, registers, basis } = finding;
  const text = sources.get(file);
  const fixes = fixesOf(finding, text);
  const digest = createHash('sha256').update(fingerprint(finding)).digest('hex');
  return {
    ruleId: rule,
    ruleIndex: rules.indexOf(rule),
    level: severity,
    message: { text: fix === undefined ? message : `${message} ${fix}` },
    locations: [location(file, place, kernel, text)],
    ...(related.length === 0
      ? {}
      : { relatedLocations: related.map((r, id) => relatedLocation(file, r, kernel, id, text)) }),
    ...(fixes.length === 0 ? {} : { fixes }),
    partialFingerprints: { 'wavesmith/v1': `${digest.slice(0, 32)}:${occurrence}` },
    properties: { registers, basis },
  };
}

const uri = (file: string): string => file.split('/').map(encodeURIComponent).join('/');

function location(file: string, place: Place, kernel: string | undefined, text: CheckedSource | undefined): Json {
  const { source, pc } = place;
  return {
    physicalLocation: {
      artifactLocation: { uri: uri(source?.file ?? file) },
      ...(source === undefined ? {} : { region: { ...region(source), ...snippet(source, file, text) } }),
      ...(pc === undefined ? {} : { address: { absoluteAddress: pc } }),
    },
    ...(kernel === undefined ? {} : { logicalLocations: [{ name: kernel, kind: 'function' }] }),
  };
}

function relatedLocation(
  file: string,
  { role, place }: RelatedPlace,
  kernel: string | undefined,
  id: number,
  source: CheckedSource | undefined,
): Json {
  const text = place.instruction === undefined ? role : `'${place.instruction}' ${role}`;
  return { id, ...location(file, place, kernel, source), message: { text } };
}

function region({ line, column, endLine, endColumn }: SourcePlace): Json {
  return {
    startLine: line,
    ...(column === undefined ? {} : { startColumn: column }),
    ...(endLine === undefined ? {} : { endLine }),
    ...(endColumn === undefined ? {} : { endColumn }),
  };
}

/** The text of a region within one line of the file that was checked. */
function snippet({ file: other, line, column, endLine, endColumn }: SourcePlace, file: string, source?: CheckedSource) {
  if (source === undefined || column === undefined || endColumn === undefined) return {};
  if (other !== file || (endLine ?? line) !== line) return {};
  const text = source.text.split(/\r\n|\r|\n/)[line - 1]?.slice(column - 1, endColumn - 1);
  return text === undefined ? {} : { snippet: { text } };
}

function fixesOf({ edits, fix }: PlacedFinding, source: CheckedSource | undefined): Json[] {
  const made = source === undefined || edits.length === 0 ? undefined : sourceEdits(source.places, edits).edits;
  if (source === undefined || made === undefined) return [];
  const replacements = made.map(({ range, newText }) => ({
    deletedRegion: region(sourceRange(source.file, range)),
    ...(newText === '' ? {} : { insertedContent: { text: newText } }),
  }));
  return [
    {
      description: { text: fix ?? editsTitle(edits) },
      artifactChanges: [{ artifactLocation: { uri: uri(source.file) }, replacements }],
    },
  ];
}
