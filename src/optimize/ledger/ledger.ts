// Room `optimize/ledger`: the record of what was tried: SQLite, everything named by the hash of its content, nothing that depends on the time
// or the machine, so the same work gives the same ledger. Begin with this file.
//
// A process that was killed leaves the lock folder of node-sqlite3-wasm behind. The ledger names its owner in a file beside it; when that
// process is gone the lock is taken away, and SQLite rolls back what was half-written.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { makeFolders } from '../../snapshot/folders.ts';
import type { Evaluation } from '../evaluate/types.ts';
import { sha256 } from '../hash.ts';

type Sqlite = typeof import('node-sqlite3-wasm');
type Database = InstanceType<Sqlite['Database']>;

/** Where a candidate came from. */
export interface Origin {
  /** Hash of the candidate that it was made from; undefined for one that was given. */
  readonly parent?: string | undefined;
  /** What was changed, in words or as a diff. */
  readonly change: string;
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS ledger (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS candidate (
  n INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, parent TEXT, change TEXT NOT NULL, code BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS look (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, candidate TEXT NOT NULL, nanoseconds REAL, problem TEXT
);
CREATE TABLE IF NOT EXISTS evaluation (
  n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, candidate TEXT NOT NULL, verdict TEXT NOT NULL, rung TEXT, record TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS message (n INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS fault (n INTEGER PRIMARY KEY, code TEXT NOT NULL, message TEXT NOT NULL);`;
const VERSION = 1;
/** What SQLite says on a full disk. */
const NO_ROOM = /disk is full|disk I\/O error/;

/** The name of an evaluation: of what it depends on that is known before it is made. */
export function evaluationKey({ baseline, candidate, options }: Omit<Evaluation['key'], 'oracle'>): string {
  return sha256(`${baseline}\n${candidate}\n${options}\n`);
}

/** A candidate's modelled time on the captured launch, or what speaks against it. */
export interface LookRecord {
  readonly nanoseconds: number | undefined;
  readonly problem: string | undefined;
}

export class Ledger {
  private readonly db: Database;
  private readonly path: string;

  private constructor(db: Database, path: string) {
    this.db = db;
    this.path = path;
  }

  /** Opens or makes a ledger. One that another process has open is `ledger/busy`; a file that is none is `ledger/damaged`. */
  static open(path: string): Ledger {
    try {
      makeFolders(dirname(path));
    } catch (cause) {
      throw new WavesmithError('io/write', `Cannot write '${path}': ${(cause as Error).message}.`, {
        file: path,
        cause,
      });
    }
    own(path);
    const { Database } = createRequire(import.meta.url)('node-sqlite3-wasm') as Sqlite;
    let db: Database | undefined;
    try {
      db = new Database(path);
      db.exec(SCHEMA);
      const row = db.get('SELECT version FROM ledger') as { version: number } | null | undefined;
      if (row === null || row === undefined) db.run('INSERT INTO ledger VALUES (?)', [VERSION]);
      else if (row.version !== VERSION) throw new Error(`it has version ${row.version}`);
      return new Ledger(db, path);
    } catch (cause) {
      db?.close();
      disown(path);
      if (NO_ROOM.test((cause as Error).message)) {
        throw new WavesmithError('io/write', `Cannot write '${path}': ${(cause as Error).message}.`, {
          file: path,
          hint: 'Make room, or choose a ledger on another disk, and run the command again.',
          cause,
        });
      }
      throw new WavesmithError('ledger/damaged', `'${path}' is no ledger: ${(cause as Error).message}.`, {
        file: path,
        hint: 'Choose another file; a ledger is a SQLite database that Wavesmith makes.',
        cause,
      });
    }
  }

  close(): void {
    this.db.close();
    disown(this.path);
  }

  /** An evaluation that was made before. */
  find(key: string): Evaluation | undefined {
    const row = this.db.get('SELECT record FROM evaluation WHERE key = ?', [key]) as
      | { record: string }
      | null
      | undefined;
    return row === null || row === undefined ? undefined : (JSON.parse(row.record) as Evaluation);
  }

  /** Keeps a candidate and its evaluation; what is there already stays as it is. Both or none are in the file. */
  add(code: Uint8Array, origin: Origin, evaluation: Evaluation): void {
    const { key, verdict, rung } = evaluation;
    this.writing(() => {
      this.db.exec('BEGIN IMMEDIATE');
      try {
        this.db.run('INSERT OR IGNORE INTO candidate (hash, parent, change, code) VALUES (?, ?, ?, ?)', [
          key.candidate,
          origin.parent ?? null,
          origin.change,
          code,
        ]);
        this.db.run('INSERT OR IGNORE INTO evaluation (key, candidate, verdict, rung, record) VALUES (?, ?, ?, ?, ?)', [
          evaluationKey(key),
          key.candidate,
          verdict,
          rung ?? null,
          JSON.stringify(evaluation),
        ]);
        this.db.exec('COMMIT');
      } catch (error) {
        if (this.db.inTransaction) this.db.exec('ROLLBACK');
        throw error;
      }
    });
  }

  /** What a first look at a candidate showed. */
  look(key: string): LookRecord | undefined {
    const row = this.db.get('SELECT nanoseconds, problem FROM look WHERE key = ?', [key]) as
      | { nanoseconds: number | null; problem: string | null }
      | null
      | undefined;
    if (row === null || row === undefined) return undefined;
    return { nanoseconds: row.nanoseconds ?? undefined, problem: row.problem ?? undefined };
  }

  /** Keeps a first look. */
  addLook(key: string, candidate: string, { nanoseconds, problem }: LookRecord): void {
    this.writing(() => {
      this.db.run('INSERT OR IGNORE INTO look (key, candidate, nanoseconds, problem) VALUES (?, ?, ?, ?)', [
        key,
        candidate,
        nanoseconds ?? null,
        problem ?? null,
      ]);
    });
  }

  /** What was said to or by a language model under a name: a search that goes on says and hears the same again. */
  message(key: string): string | undefined {
    const row = this.db.get('SELECT text FROM message WHERE key = ?', [key]) as { text: string } | null | undefined;
    return row?.text;
  }

  /** Keeps what was said. */
  addMessage(key: string, text: string): void {
    this.writing(() => {
      this.db.run('INSERT OR IGNORE INTO message (key, text) VALUES (?, ?)', [key, text]);
    });
  }

  /** The last evaluations of candidates for a baseline, with what was changed; the newest first. */
  past(baseline: string, count: number): { readonly change: string; readonly evaluation: Evaluation }[] {
    const rows = this.db.all(
      'SELECT change, record FROM evaluation JOIN candidate ON candidate.hash = evaluation.candidate ORDER BY evaluation.n DESC',
    ) as { change: string; record: string }[];
    return rows
      .map(({ change, record }) => ({ change, evaluation: JSON.parse(record) as Evaluation }))
      .filter(({ evaluation }) => evaluation.key.baseline === baseline)
      .slice(0, count);
  }

  /** The code of a candidate. */
  code(hash: string): Uint8Array | undefined {
    const row = this.db.get('SELECT code FROM candidate WHERE hash = ?', [hash]) as
      | { code: Uint8Array }
      | null
      | undefined;
    return row?.code;
  }

  /**
   * What ended a run, or went wrong in it, for who reads the ledger. No part of the digest: a run that is gone on with is the same work. A ledger that
   * cannot be written says nothing more.
   */
  addFault(code: string, message: string): void {
    try {
      this.db.run('INSERT INTO fault (code, message) VALUES (?, ?)', [code, message]);
    } catch (error) {
      if (!NO_ROOM.test((error as Error).message)) throw error;
    }
  }

  /** What ended runs, the oldest first. */
  get faults(): readonly { readonly code: string; readonly message: string }[] {
    return this.db.all('SELECT code, message FROM fault ORDER BY n') as { code: string; message: string }[];
  }

  /** Does work with a ledger and closes it; what ends the work early is kept. */
  static async during<T>(path: string | undefined, work: (ledger: Ledger | undefined) => Promise<T>): Promise<T> {
    const ledger = path === undefined ? undefined : Ledger.open(path);
    try {
      return await work(ledger);
    } catch (error) {
      if (error instanceof WavesmithError) ledger?.addFault(error.code, error.message);
      throw error;
    } finally {
      ledger?.close();
    }
  }

  /** Candidates and evaluations that it holds. */
  get counts(): { readonly candidates: number; readonly evaluations: number } {
    const count = (table: string): number =>
      Number((this.db.get(`SELECT COUNT(*) AS n FROM ${table}`) as { n: number }).n);
    return { candidates: count('candidate'), evaluations: count('evaluation') };
  }

  /** A hash of everything in it, in the order in which it came. */
  digest(): string {
    const hash = createHash('sha256');
    for (const row of this.db.all('SELECT hash, parent, change FROM candidate ORDER BY n'))
      hash.update(JSON.stringify(row));
    for (const row of this.db.all('SELECT key, candidate, nanoseconds, problem FROM look ORDER BY n')) {
      hash.update(JSON.stringify(row));
    }
    for (const row of this.db.all('SELECT key, record FROM evaluation ORDER BY n')) hash.update(JSON.stringify(row));
    for (const row of this.db.all('SELECT key, text FROM message ORDER BY n')) hash.update(JSON.stringify(row));
    return hash.digest('hex');
  }

  private writing(step: () => void): void {
    try {
      step();
    } catch (cause) {
      throw new WavesmithError('io/write', `Cannot write '${this.path}': ${(cause as Error).message}.`, {
        file: this.path,
        hint: 'What was written before is kept; run the command again with the same ledger to go on.',
        cause,
      });
    }
  }
}

const ownerFile = (path: string): string => `${path}.owner`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Takes the ledger for this process. */
function own(path: string): void {
  const file = ownerFile(path);
  for (let attempt = 0; ; attempt++) {
    try {
      const opened = openSync(file, 'wx');
      writeSync(opened, String(process.pid));
      closeSync(opened);
      return;
    } catch (cause) {
      const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST';
      if (!isThere) {
        throw new WavesmithError('io/write', `Cannot write '${file}': ${(cause as Error).message}.`, { file, cause });
      }
      const owner = Number(readFileSync(file, 'utf8'));
      if (attempt > 0 || (owner > 0 && isAlive(owner))) {
        throw new WavesmithError('ledger/busy', `Process ${owner} has the ledger '${path}' open.`, {
          file: path,
          hint: 'Wait until it ends, or choose another ledger.',
        });
      }
      rmSync(`${path}.lock`, { recursive: true, force: true });
      rmSync(file, { force: true });
    }
  }
}

function disown(path: string): void {
  rmSync(ownerFile(path), { force: true });
}
