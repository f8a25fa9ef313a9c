// The frames of the protocol's messages, looked at before the library does: behind a header that does not say how long its message is,
// it would wait for ever, and what is no JSON it would leave without an answer.
// Source: https://microsoft.github.io/debug-adapter-protocol/overview, "Base protocol".
import { Transform } from 'node:stream';
import { WavesmithError } from '../base/index.ts';

const HEAD_END = '\r\n\r\n';
/** Bytes of a header; editors send about 20. */
const MOST_HEAD = 4096;
/** Bytes of a message: 2^30 at most. */
const LENGTH = /(?:^|\r\n)Content-Length: +(\d{1,9})(?:$|\r\n)/;

/** Passes messages on as they are; fails at a header without their length, behind which nothing can be told apart, and at what is no JSON object. */
export function checkedFrames(): Transform {
  let waiting = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let left: number | undefined;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting = Buffer.concat([waiting, chunk]);
      for (;;) {
        if (left === undefined) {
          const end = waiting.indexOf(HEAD_END);
          if (end < 0 && waiting.length <= MOST_HEAD) break;
          const length = end < 0 ? undefined : LENGTH.exec(waiting.toString('latin1', 0, end))?.[1];
          if (length === undefined) return done(badFrame(waiting));
          left = Number(length);
          this.push(waiting.subarray(0, end + HEAD_END.length));
          waiting = waiting.subarray(end + HEAD_END.length);
        }
        const part = waiting.subarray(0, left);
        parts.push(part);
        left -= part.length;
        waiting = waiting.subarray(part.length);
        if (left > 0) break;
        const message = Buffer.concat(parts);
        if (!isObject(message)) return done(badMessage(message));
        this.push(message);
        [parts, left] = [[], undefined];
      }
      done();
    },
  });
}

function isObject(message: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(message.toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function badMessage(message: Buffer): WavesmithError {
  const shown = JSON.stringify(message.toString('utf8', 0, 40));
  return new WavesmithError('dap/bad-frame', `A message of ${message.length} bytes, ${shown}, is no JSON object.`, {
    hint: 'Say in Content-Length how many bytes of UTF-8 the message has, and send a request as a JSON object.',
  });
}

function badFrame(head: Buffer): WavesmithError {
  const shown = JSON.stringify(head.toString('latin1', 0, 40));
  return new WavesmithError('dap/bad-frame', `${shown} is no header of a message.`, {
    hint: "A message begins with 'Content-Length: BYTES' and an empty line, each ended by CR and LF.",
  });
}
