import { createSecretKey, hash, type KeyObject, randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const KEY_BYTES = 32;
const KEY_LINE = /^[A-Za-z0-9_-]{43}$/;
const ID_CHARACTERS = 16;
const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** A key that encrypts the keys of the books. It never lies in the database. */
export interface MasterKey {
  /** Derived from the key. It says which key a book needs, and reveals nothing about the key. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of a master key file. The first encrypts new keys; the others only decrypt. */
export type MasterKeys = readonly [MasterKey, ...MasterKey[]];

/** The master key file is missing or malformed. The message never repeats its content. */
export class MasterKeyError extends Error {
  readonly isMissing: boolean;

  constructor(message: string, { isMissing = false, cause }: { isMissing?: boolean; cause?: unknown } = {}) {
    super(message, { cause });
    this.isMissing = isMissing;
  }
}

/**
 * Returns a function that reads the file at its first call. The function throws a MasterKeyError.
 */
export function masterKeysIn(filename: string): () => MasterKeys {
  let keys: MasterKeys | undefined;
  return () => (keys ??= readMasterKeys(filename));
}

/** Reads a file with one key on each line: 32 bytes in base64url. Throws a MasterKeyError. */
function readMasterKeys(filename: string): MasterKeys {
  let text: string;
  try {
    text = readFileSync(filename, "utf8");
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    throw new MasterKeyError(isMissing ? "it does not exist" : "it cannot be read", { isMissing, cause: error });
  }
  return parseMasterKeys(text);
}

/** Parses the text of a master key file. Throws a MasterKeyError. */
export function parseMasterKeys(text: string): MasterKeys {
  const lines = text.split("\n").filter((line) => line !== "");
  const wrong = lines.findIndex((line) => !KEY_LINE.test(line));
  if (wrong !== -1) throw new MasterKeyError(`line ${String(wrong + 1)} is not 32 bytes in base64url`);
  const [first, ...others] = lines.map(masterKeyOf);
  if (first === undefined) throw new MasterKeyError("it is empty");
  return [first, ...others];
}

/** Creates the file with one random key. Only its owner can read it. Throws if the file exists. */
export function createMasterKeyFile(filename: string): void {
  const folder = dirname(filename);
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  writeFileSync(filename, `${randomBytes(KEY_BYTES).toString("base64url")}\n`, { flag: "wx", mode: OWNER_ONLY_FILE });
  chmodSync(filename, OWNER_ONLY_FILE);
}

function masterKeyOf(line: string): MasterKey {
  const bytes = Buffer.from(line, "base64url");
  const id = hash("sha256", Buffer.concat([Buffer.from("kesc-master-key"), bytes]), "hex").slice(0, ID_CHARACTERS);
  return { id, key: createSecretKey(bytes) };
}
