// Rows that another thread has made numbers of, as the handlers of tables see them.
import type { ByteSource } from '../source.ts';
import { type CellIds, type CellTexts, MOST_DIGITS, type TableRow } from './csv-row.ts';
import type { RowBlock, RowBlocks, RowPlan } from './row-blocks.ts';
import { count } from './values.ts';

/** The texts of one column as one thread has numbered them. Those of blocks before are read from the file when they are asked for again. */
class ThreadTexts implements CellTexts {
  private readonly source: ByteSource;
  private readonly places: number[] = [];
  private readonly sizes: number[] = [];
  /** The bytes of the block's texts, and where those of this column are in them; they are numbered from `firstNew` on. */
  private bytes: Uint8Array = new Uint8Array(0);
  private readonly inBlock: number[] = [];
  private firstNew = 0;
  private readonly decoder = new TextDecoder();

  constructor(source: ByteSource) {
    this.source = source;
  }

  /** Begins a block. */
  begin(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.firstNew = this.places.length;
    this.inBlock.length = 0;
  }

  add(place: number, start: number, size: number): void {
    this.places.push(place);
    this.sizes.push(size);
    this.inBlock.push(start);
  }

  size(entry: number): number {
    return this.sizes[entry];
  }

  text(entry: number): string {
    const [at, size] = [this.inBlock[entry - this.firstNew], this.sizes[entry]];
    if (size === 0) return '';
    // The decoder takes no shared memory.
    const bytes = entry < this.firstNew ? this.source.read(this.places[entry], size) : this.bytes.slice(at, at + size);
    return this.decoder.decode(bytes);
  }
}

/** One row of a block. */
class EncodedRow implements TableRow {
  readonly length: number;
  readonly part: number;
  private cells: Float64Array = new Float64Array(0);
  private columns: readonly ThreadTexts[] = [];
  private first = 0;

  constructor(length: number, part: number) {
    this.length = length;
    this.part = part;
  }

  use(cells: Float64Array, texts: readonly ThreadTexts[]): void {
    this.cells = cells;
    this.columns = texts;
  }

  go(row: number): void {
    this.first = row * this.length;
  }

  private has(index: number): boolean {
    return index >= 0 && index < this.length;
  }

  isEmptyAt(index: number): boolean {
    if (!this.has(index)) return false;
    const cell = this.cells[this.first + index];
    return cell < 0 && this.columns[index].size(-1 - cell) === 0;
  }

  text(index: number): string | undefined {
    if (!this.has(index)) return undefined;
    const cell = this.cells[this.first + index];
    return cell < 0 ? this.columns[index].text(-1 - cell) : String(cell);
  }

  texts(): string[] {
    return Array.from({ length: this.length }, (_, index) => this.text(index) as string);
  }

  count(index: number): number {
    if (!this.has(index)) return -1;
    const cell = this.cells[this.first + index];
    return cell >= 0 ? cell : count(this.text(index));
  }

  value(index: number): number | string | undefined {
    const digits = this.digits(index);
    return digits >= 0 ? digits : this.text(index);
  }

  digits(index: number): number {
    if (!this.has(index)) return -1;
    const cell = this.cells[this.first + index];
    if (cell >= 0) return cell;
    const text = this.text(index) as string;
    const value = text.length <= MOST_DIGITS && /^[0-9]+$/.test(text) ? Number(text) : -1;
    return value <= Number.MAX_SAFE_INTEGER ? value : -1;
  }

  id(ids: CellIds, index: number): number {
    if (!this.has(index)) return ids.absent();
    const cell = this.cells[this.first + index];
    return cell >= 0 ? ids.ofNumber(cell) : ids.ofText(this.columns[index], -1 - cell);
  }
}

/** Hands the rows over that other threads have read. Returns where in the file they end: at its end, or at a row that is not as the others are. */
export function takeBlocks(
  source: ByteSource,
  blocks: RowBlocks,
  plan: RowPlan,
  part: number,
  handler: (row: TableRow) => void,
): number {
  const { width } = plan;
  const row = new EncodedRow(width, part);
  const ofThreads: ThreadTexts[][] = [];
  let end = plan.from;
  for (let found = blocks.next(); found !== undefined && found.block.range[0] === end; found = blocks.next()) {
    const { block, thread } = found;
    ofThreads[thread] ??= Array.from({ length: width }, () => new ThreadTexts(source));
    addTexts(block, ofThreads[thread]);
    row.use(block.cells, ofThreads[thread]);
    for (let n = 0; n < block.rows; n++) {
      row.go(n);
      handler(row);
    }
    end = block.range[1];
    if (block.isLast) break;
  }
  return end;
}

function addTexts(block: RowBlock, columns: readonly ThreadTexts[]): void {
  for (const column of columns) column.begin(block.texts);
  let start = 0;
  for (let i = 0; i < block.newTexts; i++) {
    const end = block.added[2 * i + 1];
    columns[block.added[2 * i]].add(block.places[i], start, end - start);
    start = end;
  }
}
