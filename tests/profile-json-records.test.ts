// JSON of rocprofv3 whose members stand in another order, and whose records lack what others refer to.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { SCHEMAS } from '../src/profile/index.ts';
import { rocprofJson } from './profile-fixtures.ts';
import { codes, profileFolders } from './support/profile-folder.ts';

const { read } = profileFolders();

/** The document of six dispatches, or of what `change` makes of them. */
// biome-ignore lint/suspicious/noExplicitAny: members of a parsed file
const changed = (change: (tool: any, whole: any) => unknown = () => undefined) => {
  const whole = JSON.parse(rocprofJson(6));
  change(whole['rocprofiler-sdk-tool'][0], whole);
  return read({ '500_results.json': JSON.stringify(whole) });
};
const sound = changed();

/** The same value with the members of all objects in the order of their names, as `jq -S` writes them. */
function inOrderOfNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrderOfNames);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, of]) => [name, inOrderOfNames(of)]));
}

test('members that a script sorted by name say the same', () => {
  const whole = JSON.parse(rocprofJson(6));
  const document = read({ '500_results.json': JSON.stringify(inOrderOfNames(whole)) });
  expect(document.kernels).toEqual(sound.kernels);
  expect(document.findings).toEqual([]);
});

test('so do those of two processes', () => {
  const later = (text: string, ns: number) =>
    text.replace(/"(start|end)_timestamp":(\d+)/g, (_, name, time) => `"${name}_timestamp":${Number(time) + ns}`);
  const [whole, other] = [0, 50_000].map((ns) => JSON.parse(later(rocprofJson(6), ns)));
  whole['rocprofiler-sdk-tool'].push(other['rocprofiler-sdk-tool'][0]);
  const texts = [whole, inOrderOfNames(whole)].map((value) => JSON.stringify(value));
  const [document, sorted] = texts.map((text) => read({ '500_results.json': text }));
  expect(sorted.kernels).toEqual(document.kernels);
  expect(codes(sorted)).toEqual(codes(document));
});

test.each(['workgroup_size', 'grid_size'])('a %s of 0 is a finding', (name) => {
  const document = changed((tool) => {
    tool.buffer_records.kernel_dispatch[3].dispatch_info[name].x = 0;
  });
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.findings[0].message).toContain('the size 0, which no launch can have');
});

test('a counter without a name has no values, which is said', () => {
  const document = changed((tool) => {
    tool.counters[0].name = '';
  });
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.kernels.flatMap(({ counters }) => Object.keys(counters))).toEqual([]);
});

test('a dispatch that only counters tell of is counted, with a finding', () => {
  const document = changed((tool) => {
    tool.callback_records.counter_collection[0].dispatch_data.dispatch_info.dispatch_id = 99;
  });
  expect(document.dispatches.total).toBe(7);
  expect(codes(document)).toContain('profile/missing-rows');
});

test('numbers that the trace leaves out are a finding', () => {
  const document = changed((tool) => {
    tool.buffer_records.kernel_dispatch.splice(2, 1);
  });
  expect(codes(document)).toEqual(['profile/missing-dispatches']);
  expect(document.findings[0].message).toContain('the numbers 1 to 6, and 1 of these');
});

test('registers of a fraction are unknown, and the document is as its schema says', () => {
  const document = changed((tool) => {
    tool.kernel_symbols[1].arch_vgpr_count = 1.5;
  });
  expect(codes(document)).toEqual(['profile/bad-record']);
  expect(document.kernels.flatMap(({ launches }) => launches.map(({ vgpr }) => vgpr))).toContain(-1);
  const check = new Ajv2020({ allErrors: true, strictTuples: false }).compile(SCHEMAS.profile ?? {});
  expect([check(JSON.parse(JSON.stringify(document))), check.errors ?? null]).toEqual([true, null]);
});
