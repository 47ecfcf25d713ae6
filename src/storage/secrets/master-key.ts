import { createSecretKey, hash, type KeyObject, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import { codeOf, createOwnerOnlyFile, replaceOwnerOnlyFile } from "../../../runtime/files/owner-only-file.js";

const KEY_BYTES = 32;
const KEY_LINE = /^[A-Za-z0-9_-]{43}$/;
const ID_CHARACTERS = 16;
// The group may read: Kubernetes gives a secret to a container that is not root by its group.
const FORBIDDEN_RIGHTS = 0o027;

/** A key that encrypts the keys of the books. It never lies in the database. */
export interface MasterKey {
  /** Derived from the key. It says which key a book needs, and reveals nothing about the key. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of a master key file. The first encrypts new keys; the others only decrypt. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

/**
 * The master key file is missing or malformed, or others may use it. The message never repeats its
 * content.
 */
export class MasterKeyError extends Error {
  readonly isMissing: boolean;
  /** What to do. Undefined: find the file. */
  readonly advice: string | undefined;

  constructor(
    message: string,
    { isMissing = false, advice, cause }: { isMissing?: boolean; advice?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.isMissing = isMissing;
    this.advice = advice;
  }
}

/**
 * Returns the keys of the master key file. Reads the file at the first call, and again if no key
 * has the id `neededId`: a rotation may have added it. Throws a MasterKeyError.
 */
export type MasterKeySource = (neededId?: string) => MasterKeys;

export function masterKeysIn(filename: string): MasterKeySource {
  let keys: MasterKeys | undefined;
  return (neededId) => {
    const isKnown = neededId === undefined || keys?.some(({ id }) => id === neededId) === true;
    if (keys === undefined || !isKnown) keys = readMasterKeys(filename);
    return keys;
  };
}

/**
 * Reads a file with one key on each line: 32 bytes in base64url. Throws a MasterKeyError, also if
 * users outside of its group may read it, or others than its owner may write it.
 */
export function readMasterKeys(filename: string): MasterKeys {
  let text: string;
  try {
    text = readFileSync(filename, "utf8");
  } catch (error) {
    const code = codeOf(error);
    const isMissing = code === "ENOENT";
    const problem = isMissing ? "it does not exist" : `it cannot be read (${String(code)})`;
    throw new MasterKeyError(problem, { isMissing, cause: error });
  }
  refuseOthers(filename);
  return parseMasterKeys(text);
}

function refuseOthers(filename: string): void {
  if ((statSync(filename).mode & FORBIDDEN_RIGHTS) === 0) return;
  throw new MasterKeyError("others may read or change it", { advice: `Run: chmod 600 ${filename}` });
}

/** Parses the text of a master key file. Throws a MasterKeyError. */
export function parseMasterKeys(text: string): MasterKeys {
  const lines = linesOf(text);
  const wrong = lines.findIndex((line) => !KEY_LINE.test(line));
  if (wrong !== -1) throw new MasterKeyError(`line ${String(wrong + 1)} is not 32 bytes in base64url`);
  const [first, ...others] = lines.map(masterKeyOf);
  if (first === undefined) throw new MasterKeyError("it is empty");
  return [first, ...others];
}

/**
 * Creates the file with one random key. Only its owner can read it. Returns false if the file
 * exists.
 */
export function createMasterKeyFile(filename: string): boolean {
  return orMasterKeyError(() => createOwnerOnlyFile(filename, `${newLine()}\n`));
}

/** Adds a random key as the first line of the file. Returns the keys of the file. */
export function addMasterKey(filename: string): MasterKeys {
  return rewritten(filename, (lines) => [newLine(), ...lines]);
}

/** Removes the keys with these ids. Returns the keys that stay. Throws if none would stay. */
export function removeMasterKeys(filename: string, ids: ReadonlySet<string>): MasterKeys {
  return rewritten(filename, (lines) => lines.filter((line) => !ids.has(masterKeyOf(line).id)));
}

function newLine(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

/**
 * Replaces the lines of the file at once: after a crash the file has either the old lines or the
 * new ones. Returns the new keys.
 */
function rewritten(filename: string, change: (lines: readonly string[]) => readonly string[]): MasterKeys {
  return orMasterKeyError(() => {
    const before = readFileSync(filename, "utf8");
    refuseOthers(filename);
    parseMasterKeys(before);
    const text = `${change(linesOf(before)).join("\n")}\n`;
    const keys = parseMasterKeys(text);
    replaceOwnerOnlyFile(filename, text);
    return keys;
  });
}

/** Calls `work`. Turns an error of the file system into a MasterKeyError. */
function orMasterKeyError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    throw code === undefined ? error : new MasterKeyError(`it cannot be written (${code})`, { cause: error });
  }
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

function masterKeyOf(line: string): MasterKey {
  const bytes = Buffer.from(line, "base64url");
  const id = hash("sha256", Buffer.concat([Buffer.from("kesc-master-key"), bytes]), "hex").slice(0, ID_CHARACTERS);
  return { id, key: createSecretKey(bytes) };
}
