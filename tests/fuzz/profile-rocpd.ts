// Fuzz target: rocpd databases with damaged pages.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { analyse } from '../../src/profile/analyse.ts';
import { findFiles } from '../../src/profile/node/files.ts';
import { withDatabase } from '../../src/profile/node/sqlite.ts';
import { readRocpd } from '../../src/profile/readers/rocpd.ts';
import { Recording } from '../../src/profile/recording.ts';
import { writeRocpd } from '../profile-fixtures.ts';
import type { FuzzTarget } from './mutate.ts';

const folder = mkdtempSync(join(tmpdir(), 'wavesmith-fuzz-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'x.db');

const target: FuzzTarget = {
  name: 'profile-rocpd',
  seeds() {
    const seed = join(folder, 'seed.db');
    rmSync(seed, { force: true });
    writeRocpd(seed, 20);
    return [readFileSync(seed)];
  },
  run(bytes) {
    writeFileSync(path, bytes);
    const recording = new Recording();
    withDatabase(findFiles([path])[0], (db) => readRocpd(db, 'x.db', recording));
    JSON.stringify(analyse(recording, { arch: 'gfx950' }));
  },
};
export default target;
