// Fuzz target: the files of a decoded thread trace folder, one of them damaged at a time.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyse } from '../../src/profile/analyse.ts';
import { loadProfile } from '../../src/profile/node/load.ts';
import { writeAttFolder } from '../profile-fixtures.ts';
import type { FuzzTarget } from './mutate.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
writeAttFolder(folder, 13);
writeFileSync(join(folder, 'wstates2.json'), '{"name":"EXEC","time":[0,10,20],"state":[1,3,2]}');
writeFileSync(join(folder, 'snapshots.json'), '{"/":{"src":{"app.hip":"source_0_app.hip"}}}');
writeFileSync(join(folder, 'source_0_app.hip'), 'one\ntwo\n');
writeFileSync(join(folder, 'other.json'), '{"type":"OTHER_SIMD_INSTRUCTIONS","instructions":[[1,4,6]]}');
const names = readdirSync(folder).sort();
const originals = new Map(names.map((name) => [name, readFileSync(join(folder, name))]));

/** The first byte of an input says which file the rest replaces. */
const target: FuzzTarget = {
  name: 'profile-att',
  seeds: () => names.map((name, i) => Buffer.concat([Uint8Array.of(i), originals.get(name) ?? new Uint8Array()])),
  run(bytes) {
    const name = names[(bytes[0] ?? 0) % names.length];
    try {
      writeFileSync(join(folder, name), bytes.subarray(1));
      JSON.stringify(analyse(loadProfile([folder]).recording));
    } finally {
      writeFileSync(join(folder, name), originals.get(name) ?? new Uint8Array());
    }
  },
};
export default target;
