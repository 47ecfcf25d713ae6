/** A record of CSV. */
export interface CsvRecord {
  readonly cells: readonly string[];
  /** The text of the record, as it stands in the source, without its line break. */
  readonly raw: string;
  /** The number of its first line. */
  readonly line: number;
}

/** What one record may have: one line can be the whole file. */
export interface CsvBounds {
  readonly recordBytesMax: number;
  readonly recordCellsMax: number;
  /** One character of ASCII between two cells. A comma when omitted. */
  readonly separator?: string;
}

/** The text is not CSV, or breaks a bound. The message names the line, and repeats no cell. */
export class CsvError extends Error {
  override readonly name: string = "CsvError";
}

/** A record, and the first byte behind it. */
interface FoundRecord {
  readonly record: CsvRecord;
  readonly end: number;
}

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
const LINE_BREAK = /\r\n|\n|\r/g;

/**
 * Reads CSV (RFC 4180) in UTF-8, piece by piece. Keeps nothing but a record that has not ended. The
 * number of cells may differ between records. Skips empty lines.
 *
 * `read` and `end` throw a CsvError for a text that is not CSV, and as soon as a record breaks a
 * bound. So a call does work in proportion to its piece and to `recordBytesMax`.
 */
export class CsvReader {
  readonly #bounds: CsvBounds;
  readonly #separator: number;
  #rest: Buffer = Buffer.alloc(0);
  #line = 1;
  #isAtStart = true;

  constructor(bounds: CsvBounds) {
    this.#bounds = bounds;
    this.#separator = (bounds.separator ?? ",").charCodeAt(0);
  }

  /** Returns the records that end in this piece. */
  read(piece: Buffer): readonly CsvRecord[] {
    return this.#records(Buffer.concat([this.#rest, piece]), false);
  }

  /** Returns the record that only the end of the source ends. */
  end(): readonly CsvRecord[] {
    return this.#records(this.#rest, true);
  }

  #records(bytes: Buffer, isLast: boolean): readonly CsvRecord[] {
    const records: CsvRecord[] = [];
    let at = this.#afterMark(bytes, isLast);
    for (;;) {
      at = this.#afterEmptyLines(bytes, at, isLast);
      const found = at < bytes.length ? this.#recordAt(bytes, at, isLast) : undefined;
      if ((found?.end ?? bytes.length) - at > this.#bounds.recordBytesMax) {
        throw this.#error(`begins a record of more than ${String(this.#bounds.recordBytesMax)} bytes`);
      }
      if (found === undefined) break;
      records.push(found.record);
      at = found.end;
    }
    this.#rest = bytes.subarray(at);
    return records;
  }

  #afterMark(bytes: Buffer, isLast: boolean): number {
    // Text that is shorter than the mark cannot be told from its beginning yet.
    if (!this.#isAtStart || (bytes.length < BYTE_ORDER_MARK.length && !isLast)) return 0;
    this.#isAtStart = false;
    return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  }

  #afterEmptyLines(bytes: Buffer, from: number, isLast: boolean): number {
    let at = from;
    for (let end = lineEnd(bytes, at, isLast); end !== undefined && end > at; end = lineEnd(bytes, at, isLast)) {
      at = end;
      this.#line += 1;
    }
    return at;
  }

  /** Returns undefined if the bytes end before the record does. */
  #recordAt(bytes: Buffer, start: number, isLast: boolean): FoundRecord | undefined {
    const cells: string[] = [];
    let breaks = 0;
    for (let at = start; ; at += 1) {
      const isQuoted = bytes[at] === QUOTE;
      const end = isQuoted ? closingQuote(bytes, at + 1) + 1 : cellEnd(bytes, at, this.#separator);
      // A quote at the end of the bytes may be the first half of an escaped one.
      const isOpen = isQuoted && end === 0;
      if (isOpen || end === bytes.length) {
        if (!isLast) return undefined;
        if (isOpen) throw this.#error("opens a quote that nothing closes");
      }
      const text = isQuoted
        ? bytes.toString("utf8", at + 1, end - 1).replaceAll('""', '"')
        : bytes.toString("utf8", at, end);
      if (isQuoted) breaks += text.match(LINE_BREAK)?.length ?? 0;
      cells.push(text);
      if (cells.length > this.#bounds.recordCellsMax) {
        throw this.#error(`has more than ${String(this.#bounds.recordCellsMax)} cells`);
      }
      at = end;
      if (bytes[at] === this.#separator) continue;
      const next = lineEnd(bytes, at, isLast);
      if (next === undefined) return undefined;
      if (next === at && at < bytes.length) {
        throw this.#error(
          isQuoted ? "has text behind a closing quote" : "has a quote in a cell that does not begin with one",
        );
      }
      const record = { cells, raw: bytes.toString("utf8", start, at), line: this.#line };
      this.#line += breaks + (next > at ? 1 : 0);
      return { record, end: next };
    }
  }

  #error(problem: string): CsvError {
    return new CsvError(`line ${String(this.#line)} ${problem}`);
  }
}

/** Returns the place of the quote that closes a cell, or -1. */
function closingQuote(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(QUOTE, from);
  while (at !== -1 && bytes[at + 1] === QUOTE) at = bytes.indexOf(QUOTE, at + 2);
  return at;
}

/** Returns the first byte that is no part of a cell without quotes. */
function cellEnd(bytes: Buffer, from: number, separator: number): number {
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === separator || byte === LF || byte === CR || byte === QUOTE) break;
  }
  return at;
}

/**
 * Returns the first byte behind the line break that stands here, or the place itself if there is
 * none. Undefined: the next piece may have the second half of the line break.
 */
function lineEnd(bytes: Buffer, at: number, isLast: boolean): number | undefined {
  if (bytes[at] === LF) return at + 1;
  if (bytes[at] !== CR) return at;
  if (at + 1 === bytes.length && !isLast) return undefined;
  return bytes[at + 1] === LF ? at + 2 : at + 1;
}

/** Reads the pieces of a source. Yields the records of each piece together. */
export async function* csvRecordsOf(
  pieces: AsyncIterable<Buffer>,
  bounds: CsvBounds,
): AsyncGenerator<readonly CsvRecord[], void, void> {
  const reader = new CsvReader(bounds);
  for await (const piece of pieces) yield reader.read(piece);
  yield reader.end();
}
