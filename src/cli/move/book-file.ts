import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

import * as z from "zod";

import { type OrganizationId, parseOrganizationId } from "../../domain/values/ids.js";
import { parseFields } from "../../rails/fields.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { FileRow, FileValue } from "../../storage/moves/read-book.js";
import { NewFile, writeAll } from "../backup/new-file.js";

const FORMAT = "kesc-book-1";
const CHUNK_BYTES = 1_048_576;
/** No row comes near it: a description has 256 characters, and metadata a few kilobytes. */
const LINE_BYTES_MAX = 16_777_216;
const LINE_FEED = 0x0a;

/** The first line of a file: what the file is, and which place it comes from. */
export interface BookFileHeader {
  readonly kescVersion: string;
  readonly createdAt: string;
  readonly moveId: string;
  readonly organizationId: OrganizationId;
  /** The name of the organization. */
  readonly name: string;
  /** The key that encrypts the keys of the book. */
  readonly masterKeyId: string;
  /** The `seq` of the last row. */
  readonly lastSeq: number;
  /** The migrations of the database. Another schema may have other columns. */
  readonly migrations: readonly string[];
  /** The names of the columns of each table. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** The public keys that may have signed the seals: see exportedKeys(). */
  readonly sealPublicKeys: readonly string[];
}

const TEXTS = z.array(z.string());
const HEADER = z.object({
  kescVersion: z.string(),
  createdAt: z.string(),
  moveId: z.string(),
  organizationId: z.string().refine((text) => parseOrganizationId(text).ok),
  name: z.string(),
  masterKeyId: z.string(),
  lastSeq: z.int(),
  migrations: TEXTS,
  columns: z.record(z.string(), TEXTS),
  sealPublicKeys: TEXTS,
});

/** The last line of a file: what the lines before it must be. */
export interface BookFileEnd {
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
  /** The root of the tree over all rows of the journal, in hexadecimal. */
  readonly root: string;
  /** The SHA-256 of all lines before this one, in hexadecimal. */
  readonly sha256: string;
}

/**
 * Writes a file of one book: a header, a line for each row, and a last line that shows whether the
 * file is whole. The file gets its name at the end, and only its owner can read it.
 */
export class BookFileWriter {
  readonly #file: NewFile;
  readonly #descriptor: number;
  readonly #hash: Hash = createHash("sha256");
  readonly #counts: Record<string, number> = {};
  #pending: string[] = [];
  #pendingCharacters = 0;

  /** Throws an OperatorError if the file exists. */
  constructor(name: string, header: BookFileHeader) {
    this.#file = NewFile.create(name);
    this.#descriptor = openSync(this.#file.part, "w");
    this.#line({ format: FORMAT, ...header });
  }

  row({ table, values }: FileRow): void {
    this.#counts[table] = (this.#counts[table] ?? 0) + 1;
    this.#line([table, ...values]);
  }

  /** Writes the last line, and gives the file its name. */
  end(root: string): BookFileEnd {
    this.#flush();
    const end: BookFileEnd = { rows: this.#counts, root, sha256: this.#hash.digest("hex") };
    writeAll(this.#descriptor, Buffer.from(`${JSON.stringify({ end: FORMAT, ...end })}\n`));
    closeSync(this.#descriptor);
    this.#file.publish();
    return end;
  }

  /** Removes what was written. */
  remove(): void {
    this.#file.remove();
  }

  #line(value: unknown): void {
    const text = `${JSON.stringify(value)}\n`;
    this.#pending.push(text);
    this.#pendingCharacters += text.length;
    if (this.#pendingCharacters >= CHUNK_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    this.#pendingCharacters = 0;
    this.#hash.update(bytes);
    writeAll(this.#descriptor, bytes);
  }
}

/** A file whose lines were compared with its last line. */
export interface CheckedFile {
  readonly name: string;
  readonly header: BookFileHeader;
  readonly end: BookFileEnd;
  /** The number of rows. */
  readonly rows: number;
}

/**
 * Reads the whole file, and compares its lines with the last one. Throws an OperatorError if the
 * file is not whole, was changed, or is of another format.
 */
export function checkBookFile(name: string): CheckedFile {
  const hash = createHash("sha256");
  let header: BookFileHeader | undefined;
  let rows = -1;
  let last: Buffer | undefined;
  for (const line of linesOf(name)) {
    if (last === undefined) header = headerOf(name, line);
    else hash.update(last);
    last = line;
    rows += 1;
  }
  if (header === undefined || last === undefined) throw fileError(name, "it is empty");
  const end = endOf(last);
  if (end === undefined) {
    throw fileError(name, "it has no last line that says what it holds, so a part of it is missing");
  }
  if (hash.digest("hex") !== end.sha256) {
    throw fileError(name, "its lines do not have the SHA-256 of its last line, so somebody or something changed it");
  }
  return { name, header, end, rows: rows - 1 };
}

/** Reads the rows again. Throws an OperatorError if the file is no longer what it was. */
export function* rowsOf({ name, header, end }: CheckedFile): Generator<FileRow, void, void> {
  const hash = createHash("sha256");
  let last: Buffer | undefined;
  let index = 0;
  for (const line of linesOf(name)) {
    if (last !== undefined) {
      hash.update(last);
      if (index > 1) yield rowOf(name, header, last);
    }
    last = line;
    index += 1;
  }
  if (hash.digest("hex") !== end.sha256) throw fileError(name, "it was changed while it was read");
}

/** Yields the lines with their line feeds. The memory does not grow with the file. */
function* linesOf(name: string): Generator<Buffer, void, void> {
  const file = openForReading(name);
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    for (;;) {
      const read = readSync(file, chunk);
      if (read === 0) break;
      rest = Buffer.concat([rest, chunk.subarray(0, read)]);
      let begin = 0;
      for (let feed = rest.indexOf(LINE_FEED); feed !== -1; feed = rest.indexOf(LINE_FEED, begin)) {
        yield rest.subarray(begin, feed + 1);
        begin = feed + 1;
      }
      rest = rest.subarray(begin);
      if (rest.length > LINE_BYTES_MAX) throw fileError(name, "it has a line of more than 16 MiB");
    }
    if (rest.length > 0) throw fileError(name, "its last line has no end, so a part of it is missing");
  } finally {
    closeSync(file);
  }
}

function openForReading(name: string): number {
  try {
    return openSync(name, "r");
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw fileError(name, isMissing ? "it does not exist" : "it cannot be read", error);
  }
}

function headerOf(name: string, line: Buffer): BookFileHeader {
  const value = parseFields(line.toString());
  if (value?.["format"] !== FORMAT) {
    throw fileError(name, `its first line is not that of a ${FORMAT} file, which "kesc book export" writes`);
  }
  if (!HEADER.safeParse(value).success) throw fileError(name, "its first line lacks a part");
  return value as unknown as BookFileHeader;
}

function endOf(line: Buffer): BookFileEnd | undefined {
  const value = parseFields(line.toString());
  const isEnd =
    value?.["end"] === FORMAT &&
    typeof value["sha256"] === "string" &&
    typeof value["root"] === "string" &&
    typeof value["rows"] === "object";
  return isEnd ? (value as unknown as BookFileEnd) : undefined;
}

function rowOf(name: string, { columns }: BookFileHeader, line: Buffer): FileRow {
  const value: unknown = JSON.parse(line.toString());
  const [table, ...values] = value as readonly [string, ...FileValue[]];
  const own = columns[table];
  if (own?.length !== values.length) throw fileError(name, `it has a row of ${table} with other columns than it says`);
  return { table, values };
}

function fileError(name: string, problem: string, cause?: unknown): OperatorError {
  return new OperatorError(`The file ${name} cannot be imported: ${problem}. Nothing was imported.`, { cause });
}
