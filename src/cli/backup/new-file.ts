import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { OperatorError } from "../../startup/operator-error.js";

const OWNER_ONLY_FILE = 0o600;
const CHUNK_BYTES = 1_048_576;

/**
 * A file that is written under a temporary name, and gets its own name when it is complete. A crash
 * leaves no file that looks complete. From its first byte only its owner can read it.
 */
export class NewFile {
  readonly name: string;
  /** The temporary name. */
  readonly part: string;

  private constructor(name: string, part: string) {
    this.name = name;
    this.part = part;
  }

  /**
   * Creates the empty file under its temporary name. The name is always the same, so two commands
   * never write one file. Throws an OperatorError if the file exists under either name.
   */
  static create(name: string): NewFile {
    const part = `${name}.part`;
    try {
      closeSync(openSync(part, "wx", OWNER_ONLY_FILE));
    } catch (error) {
      throw creationError(part, error);
    }
    const file = new NewFile(name, part);
    try {
      refuseExisting(name);
      return file;
    } catch (error) {
      file.remove();
      throw error;
    }
  }

  /**
   * Syncs the file, and gives it its name. A rename works on every file system. It could replace a
   * file that another program creates at this very moment, so no other program may write here.
   */
  publish(): void {
    sync(this.part);
    refuseExisting(this.name);
    renameSync(this.part, this.name);
    // The new name is on disk once its folder is.
    sync(dirname(this.name));
  }

  /** Removes the temporary file, with the files that SQLite may have created beside it. */
  remove(): void {
    for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${this.part}${ending}`, { force: true });
  }
}

/** Throws an OperatorError if the file exists. */
export function refuseExisting(name: string): void {
  if (!existsSync(name)) return;
  throw new OperatorError(`${name} exists, and is not overwritten. Give another name, or move the file away.`);
}

function creationError(part: string, error: unknown): OperatorError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "EEXIST") {
    return new OperatorError(
      `${part} exists: another command is writing the file, or was interrupted. ` +
        "If none is running, remove it and run the command again.",
    );
  }
  const reason = code === "ENOENT" ? `there is no folder ${dirname(part)}` : message;
  return new OperatorError(`${part} cannot be created: ${reason}.`, { cause: error });
}

function sync(name: string): void {
  const file = openSync(name, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The length of a file, and a checksum. */
export interface FileDigest {
  readonly bytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Reads a file to its end. Writes what it reads to the file `target`, if given. */
export function digestOf(name: string, { target }: { readonly target?: string } = {}): FileDigest {
  const input = openSync(name, "r");
  const output = target === undefined ? undefined : openSync(target, "w", OWNER_ONLY_FILE);
  try {
    const hash = createHash("sha256");
    const chunk = Buffer.alloc(CHUNK_BYTES);
    let bytes = 0;
    for (let read = -1; read !== 0; bytes += read) {
      read = readSync(input, chunk);
      hash.update(chunk.subarray(0, read));
      if (output !== undefined) writeAll(output, chunk.subarray(0, read));
    }
    return { bytes, sha256: hash.digest("hex") };
  } finally {
    closeSync(input);
    if (output !== undefined) closeSync(output);
  }
}

/** A write to a disk that is almost full may write less than it was given. */
export function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
