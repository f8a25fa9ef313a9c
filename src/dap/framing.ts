// The frames of the protocol's messages, looked at before the library does: behind a header that does not say how long its message is,
// it would wait for ever.
// Source: https://microsoft.github.io/debug-adapter-protocol/overview, "Base protocol".
import { Transform } from 'node:stream';
import { WavesmithError } from '../base/index.ts';

const HEAD_END = '\r\n\r\n';
/** Bytes of a header; editors send about 20. */
const MOST_HEAD = 4096;
/** Bytes of a message: 2^30 at most. */
const LENGTH = /(?:^|\r\n)Content-Length: +(\d{1,9})(?:$|\r\n)/;

/** Passes messages on as they are, and fails at a header without their length: nothing behind it can be told apart. */
export function checkedFrames(): Transform {
  let head = Buffer.alloc(0);
  let left = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let rest = Buffer.from(chunk);
      while (rest.length > 0) {
        if (left > 0) {
          const part = rest.subarray(0, left);
          left -= part.length;
          rest = rest.subarray(part.length);
          this.push(part);
          continue;
        }
        head = Buffer.concat([head, rest]);
        const end = head.indexOf(HEAD_END);
        if (end < 0 && head.length <= MOST_HEAD) break;
        const length = end < 0 ? undefined : LENGTH.exec(head.toString('latin1', 0, end))?.[1];
        if (length === undefined) {
          done(badFrame(head));
          return;
        }
        left = Number(length);
        rest = head.subarray(end + HEAD_END.length);
        this.push(head.subarray(0, end + HEAD_END.length));
        head = Buffer.alloc(0);
      }
      done();
    },
  });
}

function badFrame(head: Buffer): WavesmithError {
  const shown = JSON.stringify(head.toString('latin1', 0, 40));
  return new WavesmithError('dap/bad-frame', `${shown} is no header of a message.`, {
    hint: "A message begins with 'Content-Length: BYTES' and an empty line, each ended by CR and LF.",
  });
}
