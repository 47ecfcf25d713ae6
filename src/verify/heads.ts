import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { parseOrganizationId } from "../domain/values/ids.js";

/** The last row of a book, of the operators' chain, or the newest seal of a book. */
export interface Head {
  /** The organization whose book it is, or the name of the other rows: see below. */
  readonly organizationId: string;
  readonly seq: number;
  /** The hash of the row, in hexadecimal. */
  readonly contentHash: string;
}

/** Returns the name of the chain of the operators in a cell. */
export function operatorsOfCell(cell: number): string {
  return `operators-${String(cell)}`;
}

/** Returns the name of the seals of a book. */
export function sealsOf(organizationId: string): string {
  return `seals-${organizationId}`;
}

/** Heads that an earlier audit noted, by the organization's id or the name of the chain. */
export type NotedHeads = ReadonlyMap<string, Head>;

/** A heads file is missing or malformed. */
export class HeadsFileError extends Error {}

const OTHER_CHAIN = /^(operators-(0|[1-9][0-9]{0,3})|seals-org_[0-9a-z]{26})$/;
const SEQ = /^[1-9][0-9]{0,15}$/;
const CONTENT_HASH = /^[0-9a-f]{64}$/;
const OWNER_ONLY_FILE = 0o600;

/** Reads the file. Throws a HeadsFileError. */
export function readHeads(filename: string): NotedHeads {
  let text: string;
  try {
    text = readFileSync(filename, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new HeadsFileError(isMissing ? "it does not exist" : "it cannot be read", { cause: error });
  }
  return parseHeads(text);
}

/**
 * Parses one line for each book: the organization's id, the `seq` of the book's last row, and the
 * `content_hash` of that row. Throws a HeadsFileError that names the wrong line.
 */
export function parseHeads(text: string): NotedHeads {
  const heads = new Map<string, Head>();
  const lines = text.split("\n");
  // A text that was cut has no line feed at its end.
  if (lines.pop() !== "") throw new HeadsFileError(`line ${String(lines.length + 1)} has no end`);
  for (const [index, line] of lines.entries()) {
    const head = headOf(line);
    const where = `line ${String(index + 1)}`;
    if (head === undefined) {
      throw new HeadsFileError(`${where} is not an organization id, a seq and a content_hash, with one space between`);
    }
    if (heads.has(head.organizationId)) throw new HeadsFileError(`${where} names ${head.organizationId} again`);
    heads.set(head.organizationId, head);
  }
  return heads;
}

function headOf(line: string): Head | undefined {
  const [organizationId = "", seq = "", contentHash = "", ...others] = line.split(" ");
  const isNamed = parseOrganizationId(organizationId).ok || OTHER_CHAIN.test(organizationId);
  const isHead = others.length === 0 && isNamed && SEQ.test(seq) && CONTENT_HASH.test(contentHash);
  return isHead ? { organizationId, seq: Number(seq), contentHash } : undefined;
}

/**
 * Replaces the file in one step, so that a crash leaves the old file or the new one. Throws the
 * error of the file system.
 */
export function writeHeads(filename: string, heads: readonly Head[]): void {
  const temporary = `${filename}.${String(process.pid)}.tmp`;
  try {
    const file = openSync(temporary, "w", OWNER_ONLY_FILE);
    try {
      writeFileSync(file, formatHeads(heads));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, filename);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  // The new name is on disk once its folder is.
  const folder = openSync(dirname(filename), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Returns the lines that parseHeads() parses, sorted. Each ends with a line feed. */
export function formatHeads(heads: Iterable<Head>): string {
  const lines = Array.from(
    heads,
    ({ organizationId, seq, contentHash }) => `${organizationId} ${String(seq)} ${contentHash}\n`,
  );
  return lines.sort().join("");
}
