// What is wrong with rows and cells of tables, as findings.
import { type Recording, TIMING_REASONS, Timing } from '../recording.ts';
import { amount, isEmptyCell } from './values.ts';

/** Reports what is wrong with the text of a file that is read nevertheless. */
export function textProblems(file: string, recording: Recording): (message: string) => void {
  return (message) => recording.report('profile/bad-record', file, message);
}

/** Reports a row that cannot be used. */
export function badRow(recording: Recording, file: string, why: string): void {
  recording.report('profile/bad-row', file, `Rows were skipped: ${why}.`);
}

/** Reports a file without data. */
export function reportEmpty(recording: Recording, file: string): void {
  recording.report('profile/empty-file', file, 'The file holds no rows of data.');
}

/** The value of a counter's cell; one that is neither empty nor a number is reported. */
export function counterCell(r: Recording, file: string, name: string, text: string | undefined): number | undefined {
  const value = amount(text, name);
  if (value === undefined && !isEmptyCell(text)) {
    const example = `as '${(text as string).slice(0, 40)}' of ${name}`;
    r.reportAlike(
      'profile/unreadable-counter',
      file,
      `Some cells of counters, ${example}, are no numbers of a counter; those dispatches have no value of them.`,
    );
  }
  if (value !== undefined && isRounded(text as string)) {
    r.reportAlike(
      'profile/rounded-counter',
      file,
      `Some counters, as ${name} with '${text}', have too few digits for a count: they were rounded.`,
    );
  }
  return value;
}

/** Whether a count was written with an exponent and too few digits to be exact to one part in ten million. */
function isRounded(text: string): boolean {
  const found = /^[0-9](?:\.([0-9]*))?e\+?([0-9]+)$/i.exec(text);
  const digits = found?.[1]?.length ?? 0;
  return found !== null && digits > 0 && digits < 7 && digits < Number(found[2]);
}

/** Reports unusable times of a row, once per file and reason. */
export function reportTiming(recording: Recording, file: string, state: number, what: string): void {
  if (state === Timing.KNOWN) return;
  recording.report('profile/unusable-time', file, `Durations of ${what} are unknown: ${TIMING_REASONS[state]}.`);
}

/** Reports a cell of a launch that has text and no number. */
export function reportNoSize(r: Recording, file: string, column: string, text: string | undefined): void {
  if (isEmptyCell(text)) return;
  r.report(
    'profile/bad-record',
    file,
    `Cells of ${column} are no whole numbers from 0 on; what needs them is unknown.`,
  );
}

/** What is said of dispatches that only counters tell of. */
export const NOT_TRACED =
  'Dispatches with counters are not in the trace of their process; they are counted, with times of the run with counters.';

/** How many of the numbers of a launch are sizes of workgroup and grid: the first ones. */
export const SIZES = 6;
/** The most work-items along an axis that a dispatch packet has room for. */
const MOST_ITEMS = 2 ** 32 - 1;

/** The size of a grid or workgroup, -1 where it is not known; one that no launch can have is reported. */
export function reportSize(r: Recording, file: string, size: number): number {
  if (size !== 0 && size <= MOST_ITEMS) return size;
  const what = `A grid or workgroup has the size ${size}, which no launch can have: what is said of waves and occupancy is wrong`;
  r.reportAlike('profile/bad-record', file, `${what}.`);
  return size;
}

/** Reports allocations whose sizes a file does not tell. */
export function reportNoSizes(r: Recording, file: string): void {
  r.report('profile/no-sizes', file, 'Allocations have no sizes here; they are counted, and their bytes are not.');
}
