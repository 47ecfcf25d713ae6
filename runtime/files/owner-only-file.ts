import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
const ALL_PERMISSIONS = 0o777;

/**
 * Creates a file that only its owner can read, with its folder. Returns false if the file exists.
 * After a crash the file is whole, or there is none. Throws the error of the file system.
 */
export function createOwnerOnlyFile(filename: string, text: string): boolean {
  mkdirSync(dirname(filename), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const written = writtenBeside(filename, text);
  try {
    // Unlike a rename, a link never replaces the file of another process.
    linkSync(written, filename);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(written);
    syncFolderOf(filename);
  }
}

/**
 * Replaces the text of a file at once: after a crash it has either the old text or the new one.
 * Throws the error of the file system.
 */
export function replaceOwnerOnlyFile(filename: string, text: string): void {
  // A rename would replace a symbolic link, and not the file.
  const file = realpathSync(filename);
  const written = writtenBeside(file, text);
  try {
    renameSync(written, file);
  } catch (error) {
    rmSync(written);
    throw error;
  }
  syncFolderOf(file);
}

/** Returns the code of an error of the file system. Returns undefined for other errors. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error ? String(error.code) : undefined;
}

/**
 * Writes the text to a new file in the same folder, and syncs it. The new file has the owner and
 * the mode of the file that it will replace: root may run the command, but another user runs the
 * servers. Returns its name.
 */
function writtenBeside(filename: string, text: string): string {
  const name = `${filename}.${randomBytes(4).toString("hex")}.new`;
  const file = openSync(name, "wx", OWNER_ONLY_FILE);
  try {
    const replaced = statSync(filename, { throwIfNoEntry: false });
    if (replaced !== undefined) fchownSync(file, replaced.uid, replaced.gid);
    fchmodSync(file, replaced === undefined ? OWNER_ONLY_FILE : replaced.mode & ALL_PERMISSIONS);
    writeSync(file, text);
    fsyncSync(file);
    return name;
  } catch (error) {
    rmSync(name);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Without this sync, a power cut could undo the rename. */
function syncFolderOf(filename: string): void {
  const folder = openSync(dirname(filename), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
