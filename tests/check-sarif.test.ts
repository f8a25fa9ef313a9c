// `check --sarif` against the schema of SARIF 2.1.0, and what a log says that a review tool needs.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, expect, it, vi } from 'vitest';
import { assembleAndLink } from '../src/asm/index.ts';
import { main } from '../src/cli/main.ts';
import { kernelSource } from './support/kernel-source.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const schemaFile = createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json');
// The schema is of draft 4, whose `id` later drafts call `$id`; it uses nothing else that differs.
const { $schema: _draft, id: _id, ...schema } = JSON.parse(readFileSync(schemaFile, 'utf8'));
const validate = new Ajv({ strict: false, unicodeRegExp: false, validateFormats: false, allErrors: true }).compile(
  schema,
);

interface Region {
  readonly startLine: number;
  readonly startColumn: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly snippet?: { readonly text: string };
}
interface Log {
  readonly runs: {
    readonly tool: { readonly driver: { readonly rules: { readonly helpUri: string; readonly help: object }[] } };
    readonly results: {
      readonly ruleId: string;
      readonly locations: { readonly physicalLocation: { readonly region?: Region; readonly address?: object } }[];
      readonly relatedLocations?: { readonly physicalLocation: { readonly region?: Region } }[];
      readonly fixes?: {
        readonly artifactChanges: {
          readonly replacements: {
            readonly deletedRegion: Region;
            readonly insertedContent?: { readonly text: string };
          }[];
        }[];
      }[];
      readonly partialFingerprints: Record<string, string>;
    }[];
  }[];
}

async function sarif(...argv: string[]): Promise<Log> {
  let out = '';
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    out += chunk.toString();
    return true;
  });
  try {
    await main(['check', '--sarif', ...argv]);
  } finally {
    spy.mockRestore();
  }
  const log: Log = JSON.parse(out);
  validate(log);
  expect(validate.errors ?? []).toEqual([]);
  return log;
}

const TEXT = kernelSource({
  code: 'global_load_dword v2, v0, s[0:1]\n/* ü😀 */ v_mov_b32 v3, v2\nglobal_load_dword v2, v0, s[0:1]\nv_mov_b32 v3, v2\nv_mov_b32 v20, 0',
  metadata: { '.wavefront_size': 32 },
});

it('a log of a source has regions, related places, fixes, pages and fingerprints', async () => {
  const file = join(folder, 'k.s');
  writeFileSync(file, TEXT);
  const [run] = (await sarif(file)).runs;
  const results = run?.results ?? [];
  const lines = TEXT.split('\n');
  const first = results.find((r) => r.ruleId === 'waits/read-before-return');
  const region = first?.locations[0]?.physicalLocation.region as Region;
  expect(lines[region.startLine - 1]?.slice(region.startColumn - 1, region.endColumn - 1)).toBe('v_mov_b32 v3, v2');
  expect(region.snippet?.text).toBe('v_mov_b32 v3, v2');
  const related = first?.relatedLocations?.[0]?.physicalLocation.region as Region;
  expect(lines[related.startLine - 1]).toContain('global_load_dword v2');
  const [replacement] = first?.fixes?.[0]?.artifactChanges[0]?.replacements ?? [];
  expect(replacement?.insertedContent?.text).toMatch(/^s_waitcnt vmcnt\(0\)\n/);
  expect(replacement?.deletedRegion).toMatchObject({ startLine: region.startLine, startColumn: region.startColumn });
  for (const rule of run?.tool.driver.rules ?? []) {
    expect(rule.helpUri).toMatch(/^https:\/\//);
    expect(rule.help).toHaveProperty('markdown');
  }
  // The same mistake twice is two results.
  const prints = results.map((r) => r.partialFingerprints['wavesmith/v1']);
  expect(new Set(prints).size).toBe(results.length);
  expect(results.some((r) => r.ruleId === 'resources/metadata' && r.fixes !== undefined)).toBe(true);
});

it('a log of a code object has addresses', async () => {
  const file = join(folder, 'k.co');
  writeFileSync(file, assembleAndLink(TEXT));
  const [run] = (await sarif(file)).runs;
  const wait = run?.results.find((r) => r.ruleId.startsWith('waits/'));
  expect(wait?.locations[0]?.physicalLocation.address).toEqual({ absoluteAddress: expect.any(Number) });
});

it('fingerprints stay when code before the finding moves', async () => {
  const prints = async (text: string): Promise<(string | undefined)[]> => {
    const file = join(folder, 'moved.s');
    writeFileSync(file, text);
    return (await sarif(file)).runs.flatMap((run) => run.results.map((r) => r.partialFingerprints['wavesmith/v1']));
  };
  expect(await prints(TEXT.replace('k:\n', 'k:\n\n\ts_nop 0\n'))).toEqual(await prints(TEXT));
});

it('a log without findings is one', async () => {
  const file = join(folder, 'right.s');
  writeFileSync(file, kernelSource());
  expect((await sarif(file)).runs[0]?.results).toEqual([]);
});
