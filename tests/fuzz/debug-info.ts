// Fuzz target: debug information of variables: entries, abbreviations, location and range lists, addresses.
import { WavesmithError } from '../../src/base/index.ts';
import { debugInfo } from '../../src/codeobject/index.ts';

/** Sizes of the sections as u16, then their bytes. */
const SECTIONS = ['info', 'abbrev', 'str_offsets', 'addr', 'loclists', 'rnglists'];
/** A kernel with a function, a loop and six variables, by clang 22 at -O0 and -O1. */
const SEEDS = [
  [
    '4QCMAEQAIAAAAAAA3QAAAAUAAQgAAAAAAQAdAAEIAAAAAAAAAAIACAgAAAgAAAACAwQEAwDoAAAAApBBBAACIwAAAAQFkQQxFhgGAAIjAAAABA',
    'WRCDEWGAcAAiMAAAAFBZEMMRYYCAADIwAAAAAGAQgHAAACkEEFAAbHBAWRADEWGAYABssAAAAEBZEIMRYYCQAG1AAAAAQFkQwxFhgMAAbUAAAA',
    'BQWREDEWGA0AB9QAAAAFBZEUMRYYDgAIIwAAAAcCdAMAAAUFkRgxFhgIAAnUAAAAAAAIIwAAAAEAAAAJ3AAAAAsAAQIKBwQAAREBJSUTBQMlch',
    'cQFxslERsSBnMXAAACJAADJT4LCwsAAAMuAREbEgZAGAMlOgs7CycZSRMAAAQFAAIYAyU6CzsLSRMAAAU0AAIYAyU6CzsLSRMAAAYuAREbEgZA',
    'GAMlOgs7CycZNgs/GQAABwsBERsSBgAACA8ASRMzBgAACRYASRMDJToLOwsAAABAAAAABQAAADkAAAAEAAAACAAAAHAAAAAkAAAAIgAAACoAAA',
    'AsAAAAYQAAAAIAAABjAAAAHgAAADIAAAAAAAAALgAAABwAAAAFAAgAABkAAAAAAAAAGgAAAAAAADQcAAAAAAAA',
  ].join(''),
  [
    'wgC5AEQAIABrABsAvgAAAAUAAQgAAAAAAQAdAAEIAAAAAAAAAAIAkAEAAAgAAAAMAAAADAAAAAIDBAQDABAAAAACkEAEAAIDKwAAAAQABgACKw',
    'AAAAWAgID4AwcAAisAAAAGAQgAAysAAAAABwGQAAAABQAGxwgGAAa4AAAACA0ABqwAAAAIDgAGrAAAAAYCCQAHrAAAAAYDDAAIKwAAAAkABgQI',
    'AAmsAAAAAAoIkCSTBJAlkwQCAAu0AAAACwABAgoHBAwrAAAAAQAAAAABEQElJRMFAyVyFxAXGyURGxIGcxd0F4wBFwAAAiQAAyU+CwsLAAADLg',
    'ERGxIGQBh6GQMlOgs7CycZNgtJEwAABAUAAiIDJToLOwtJEwAABQUAHA8DJToLOwtJEwAABjQAAiIDJToLOwtJEwAABy4BERsSBnoZAyU6CzsL',
    'Jxk2Cz8ZAAAIBQADJToLOwtJEwAACQsBVSMAAApIAIQBGH0bAAALFgBJEwMlOgs7CwAADA8ASRMzBgAAAEAAAAAFAAAAOQAAAAQAAAAIAAAAcA',
    'AAACQAAAAiAAAAKgAAACwAAABhAAAAAAAAAGMAAAAeAAAALgAAAAIAAAAyAAAAHAAAAAUACAAAFQAAAAAAAAAWAAAAAAAAQBYAAAAAAABnAAAA',
    'BQAIAAUAAAAUAAAAIAAAACwAAAA6AAAAUwAAAAQACAeSgBQAMRYYAAQIDAeSgBQAMRYYAASQAoQDB5KCFAAxFhgABJACxAIFMDEWGJ8ExALUAg',
    'eSgRQAMRYYAASQAqQCBTAxFhifABcAAAAFAAgAAQAAAAQAAAAEmAKkAgTEAtQCAA==',
  ].join(''),
];

export default {
  name: 'debug-info',
  seeds: () => SEEDS.map((text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))),
  run(bytes: Uint8Array): void {
    let at = 2 * SECTIONS.length;
    const sections = SECTIONS.map((name, i) => {
      const size = (bytes[2 * i] ?? 0) | ((bytes[2 * i + 1] ?? 0) << 8);
      const part = bytes.subarray(at, at + size);
      at += size;
      return { name: `.debug_${name}`, flags: 0n, bytes: part };
    });
    const info = debugInfo({ sections } as never);
    let found = 0;
    for (const pc of [0x1518, 0x1620, 0x1908, 0x1c40]) {
      info?.functions(pc);
      for (const variable of info?.variables(pc) ?? []) {
        variable.place(pc);
        found++;
      }
    }
    // The reader gives what it read up to the damage: nothing is its refusal.
    if (found === 0) throw new WavesmithError('run/no-such-place', 'No variable was read.');
  },
};
