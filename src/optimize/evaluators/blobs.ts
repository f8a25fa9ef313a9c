// What tasks name by the hash of its content: candidates, and the files of a capture. They lie in a folder, one file each; a worker that cannot see
// the submitter's folder gets them by HTTP and keeps them in one of its own. Nothing is believed that has not the hash of its name.
import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { WavesmithError } from '../../base/index.ts';
import { pageIds } from '../../snapshot/capture.ts';
import { codeName, MANIFEST, openFiles, PACK, pageName, TRAILER } from '../../snapshot/files.ts';
import { makeFolders } from '../../snapshot/folders.ts';
import { type Capture, openCapture } from '../../snapshot/index.ts';
import { sha256 } from '../hash.ts';

/** Where a worker finds the blobs of a task: in the folder that it shares with the submitter, or at the submitter. */
export type BlobPlace = { readonly isShared: true } | { readonly url: string };

/** Names of files of a capture with the hashes of their content. */
type FileList = readonly (readonly [name: string, blob: string])[];

const CAPTURE_FILE =
  /^(?:manifest\.json|trailer\.json|pages\.pack|code\/[0-9a-f]{64}|pages\/[0-9a-f]{2}\/[0-9a-f]{64})$/;
const STEP = 1 << 24;
const HASH = /^[0-9a-f]{64}$/;

export class Blobs {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
    makeFolders(folder);
  }

  private path(blob: string): string {
    return join(this.folder, blob.slice(0, 2), blob);
  }

  has(blob: string): boolean {
    return existsSync(this.path(blob));
  }

  /** Keeps bytes; gives their name. */
  put(bytes: Uint8Array | string): string {
    const blob = sha256(bytes);
    if (!this.has(blob)) this.place(blob, (partial) => writeFileSync(partial, bytes));
    return blob;
  }

  /** The content of a blob, checked. One that is not there, or is not what its name says, is `queue/no-blob`. */
  get(blob: string): Uint8Array {
    let bytes: Uint8Array;
    try {
      bytes = readFileSync(this.path(blob));
    } catch (cause) {
      throw noBlob(blob, (cause as Error).message);
    }
    if (sha256(bytes) === blob) return bytes;
    rmSync(this.path(blob), { force: true });
    throw noBlob(blob, 'its content is not what its name says');
  }

  /** Writes beside its name first: a blob is whole or not there. */
  private place(blob: string, write: (partial: string) => void): void {
    const path = this.path(blob);
    const partial = `${path}.${process.pid}.${randomUUID()}`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      write(partial);
      renameSync(partial, path);
    } catch (cause) {
      rmSync(partial, { force: true });
      throw new WavesmithError('io/write', `Cannot write '${path}': ${(cause as Error).message}.`, {
        file: path,
        cause,
      });
    }
  }

  /** Keeps all files of a capture; gives the name of their list. */
  putCapture({ path, manifest }: Capture): string {
    const files = openFiles(path);
    const pages = [...pageIds(manifest)].map(pageName);
    const names = [MANIFEST, TRAILER, codeName(manifest.code.sha256), PACK, ...pages];
    const list: FileList = names.flatMap((name) => {
      const size = files.size(name);
      return size === undefined
        ? []
        : [[name, this.putParts(size, (at, n) => files.readPart(name, at, n) as Uint8Array)]];
    });
    return this.put(JSON.stringify(list));
  }

  private putParts(size: number, read: (at: number, length: number) => Uint8Array): string {
    if (size <= STEP) return this.put(read(0, size));
    const parts = function* (): Generator<Uint8Array> {
      for (let at = 0; at < size; at += STEP) yield read(at, Math.min(STEP, size - at));
    };
    const hash = createHash('sha256');
    for (const part of parts()) hash.update(part);
    const blob = hash.digest('hex');
    if (this.has(blob)) return blob;
    this.place(blob, (partial) => {
      const file = openSync(partial, 'wx');
      try {
        for (const part of parts()) writeSync(file, part);
      } finally {
        closeSync(file);
      }
    });
    return blob;
  }

  private list(capture: string): FileList {
    const list = JSON.parse(Buffer.from(this.get(capture)).toString()) as FileList;
    if (list.every(([name, blob]) => CAPTURE_FILE.test(name) && HASH.test(blob))) return list;
    throw noBlob(capture, 'it is no list of the files of a capture');
  }

  /** Blobs that a capture needs beside its list. */
  filesOf(capture: string): string[] {
    return this.list(capture).map(([, blob]) => blob);
  }

  /** Opens a capture whose files are all here, laid out as a folder beside the blobs. */
  openCapture(capture: string): Capture {
    const folder = join(this.folder, 'captures', `${capture}.wscap`);
    if (!existsSync(folder)) {
      const partial = `${folder}.${process.pid}.${randomUUID()}`;
      for (const [name, blob] of this.list(capture)) {
        mkdirSync(dirname(join(partial, name)), { recursive: true });
        writeFileSync(join(partial, name), this.get(blob));
      }
      try {
        renameSync(partial, folder);
      } catch (error) {
        rmSync(partial, { recursive: true, force: true });
        if (!existsSync(folder)) throw error;
      }
    }
    return openCapture(folder);
  }

  /** Gets blobs from a submitter. */
  async fetch(url: string, blobs: readonly string[], signal: AbortSignal): Promise<void> {
    for (const blob of blobs) {
      if (this.has(blob)) continue;
      let bytes: Uint8Array;
      try {
        const answer = await fetch(`${url}/${blob}`, { signal, redirect: 'error' });
        if (!answer.ok) throw new Error(`the submitter answers ${answer.status}`);
        bytes = new Uint8Array(await answer.arrayBuffer());
      } catch (cause) {
        throw noBlob(blob, (cause as Error).message);
      }
      if (this.put(bytes) !== blob) throw noBlob(blob, "the submitter's answer is not what its name says");
    }
  }
}

function noBlob(blob: string, why: string): WavesmithError {
  return new WavesmithError('queue/no-blob', `There is no blob ${blob.slice(0, 12)}: ${why}.`, {
    hint: 'Workers need the folder of --blobs, or a submitter that they can reach.',
  });
}

/** A server of blobs. Its address holds a secret, so that only who was given a task finds them. */
export interface BlobServer {
  readonly url: string;
  close(): void;
}

/** Serves a folder of blobs. */
export async function serveBlobs(blobs: Blobs, host: string, port = 0): Promise<BlobServer> {
  const secret = randomUUID();
  const server: Server = createServer((request, response) => {
    const [, given, blob = ''] = (request.url ?? '').split('/');
    if (request.method !== 'GET' || given !== secret || !HASH.test(blob) || !blobs.has(blob)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200).end(blobs.get(blob));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new WavesmithError('queue/no-server', `Blobs cannot be served at ${host}:${port}: ${cause.message}.`, {
          cause,
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  server.unref();
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/${secret}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
