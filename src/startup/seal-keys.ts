import { existsSync } from "node:fs";

import type { Logger } from "pino";

import { createSealKeyFile, readSealKeys, SealKeyError, sealKeysIn, type SealKeySource } from "../seals/key-file.js";
import type { PublicSealKeys } from "../seals/note.js";
import { OperatorError } from "./operator-error.js";

interface SealKeyFile {
  readonly keyFile: string;
}

/**
 * Returns the keys of the seal key file. Without the file it says so in the log, and returns
 * undefined. Throws an OperatorError if the file cannot be used.
 */
export function usableSealKeys({ keyFile }: SealKeyFile, logger: Logger): SealKeySource | undefined {
  if (!existsSync(keyFile)) {
    logger.warn({ seal_key_file: keyFile }, "there is no seal key file, so the books are not sealed (docs/seals.md)");
    return undefined;
  }
  const keys = sealKeysIn(keyFile);
  usingSealKeyFile({ keyFile }, keys);
  return keys;
}

/** Calls `work`. Throws an OperatorError if the seal key file is missing or cannot be used. */
export function usingSealKeyFile<Result>({ keyFile }: SealKeyFile, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof SealKeyError)) throw error;
    throw new OperatorError(
      `The seal key file ${keyFile} cannot be used: ${error.message}. Put the file back from its copy, ` +
        "set KESC_SEAL_KEY_FILE to it, or make a new key: kesc seal rotate (docs/seals.md).",
      { cause: error },
    );
  }
}

/** Returns the public keys of the seal key file, and none if there is no file. */
export function publicSealKeys({ keyFile }: SealKeyFile): Required<PublicSealKeys> {
  if (!existsSync(keyFile)) return { publicKeys: [], arrivedKeys: [] };
  return usingSealKeyFile({ keyFile }, () => readSealKeys(keyFile));
}

/** Creates the seal key file if there is none. Returns whether it was created. */
export function ensureSealKeyFile(keyFile: string): boolean {
  return !existsSync(keyFile) && usingSealKeyFile({ keyFile }, () => createSealKeyFile(keyFile));
}
