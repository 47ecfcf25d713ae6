import { existsSync } from "node:fs";

import { readSealKeys, SealKeyError } from "../../seals/key-file.js";
import { isSignedBy, keysOfLog, parseSignedNote } from "../../seals/note.js";
import type { Config } from "../../startup/config.js";
import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { newestSealNotes, openAlarms } from "../../storage/diagnosis/facts.js";
import { missingFrom, neededMasterKeys } from "../../storage/master-keys.js";
import { MasterKeyError, type MasterKeys, readMasterKeys } from "../../storage/secrets/master-key.js";
import { checkMode } from "./files.js";
import { checkNamed, type DoctorFinding } from "./finding.js";

const MASTER_KEY = checkNamed("master key");
const SEAL_ALARM = checkNamed("seal alarm");
const SEAL_KEY = checkNamed("seal key");

const FIND_MASTER_KEY =
  "Put the file back from its copy, or set KESC_MASTER_KEY_FILE to it. Without it personal data is lost.";

/** Reads the master key file. Returns the finding in place of the keys if it cannot be used. */
export function openMasterKeys(file: string): { readonly keys: MasterKeys } | { readonly finding: DoctorFinding } {
  try {
    return { keys: readMasterKeys(file) };
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    const words = `The master key file ${file} cannot be used: ${error.message}.`;
    return { finding: MASTER_KEY.fail(words, error.advice ?? FIND_MASTER_KEY) };
  }
}

/** Checks that the master key file opens the keys of all books. */
export async function checkMasterKeys(
  file: string,
  { cells }: Pick<Diagnosed, "cells">,
): Promise<readonly DoctorFinding[]> {
  const opened = openMasterKeys(file);
  if ("finding" in opened) return [opened.finding];
  const needed = await neededMasterKeys({ cells });
  const missing = missingFrom(opened.keys, needed);
  if (missing.length > 0) {
    const words = `The master key file ${file} lacks the keys ${missing.join(", ")}, which the books need.`;
    return [MASTER_KEY.fail(words, FIND_MASTER_KEY)];
  }
  const words = `${file} opens the keys of all books. Keep a copy apart from the backups.`;
  const modes = checkMode("master key file", file);
  return [MASTER_KEY.ok(words), ...modes];
}

/** Checks that the seal key file can be read, and that its keys have signed the newest seals. */
export async function checkSeals(
  { seals: { keyFile } }: Pick<Config, "seals">,
  { cells }: Diagnosed,
): Promise<readonly DoctorFinding[]> {
  const notes = (await Promise.all(cells.map(newestSealNotes))).flat();
  const alarms = (await Promise.all(cells.map(openAlarms))).reduce((sum, each) => sum + each, 0);
  const words = `Sealed rows of ${String(alarms)} books were changed.`;
  const alarm = alarms === 0 ? [] : [SEAL_ALARM.fail(words, "Run: kesc seal list, and see docs/seals.md.")];
  return [...alarm, checkSealKey(keyFile, notes), ...checkMode("seal key file", keyFile)];
}

function checkSealKey(keyFile: string, notes: readonly string[]): DoctorFinding {
  const putBack = "Put the file back from its copy, or set KESC_SEAL_KEY_FILE to it (docs/seals.md).";
  if (!existsSync(keyFile)) {
    if (notes.length > 0) {
      return SEAL_KEY.fail(`${keyFile} does not exist, but the books have seals. They get no more.`, putBack);
    }
    return SEAL_KEY.warn(`${keyFile} does not exist, so the books are not sealed.`, "Run: kesc seal rotate");
  }
  try {
    const keys = readSealKeys(keyFile);
    const isForeign = notes.some((text) => {
      const note = parseSignedNote(text);
      if (note === undefined) return true;
      const organizationId = note.origin.slice(note.origin.lastIndexOf("/") + 1);
      return !isSignedBy(note, keysOfLog(keys, { organizationId, size: note.size }));
    });
    if (isForeign) {
      return SEAL_KEY.fail(`The keys of ${keyFile} have not signed the newest seals: it is another file.`, putBack);
    }
    return SEAL_KEY.ok(`${keyFile} can be read${notes.length > 0 ? ", and has signed the newest seals" : ""}.`);
  } catch (error) {
    if (!(error instanceof SealKeyError)) throw error;
    return SEAL_KEY.fail(`The seal key file ${keyFile} cannot be used: ${error.message}.`, putBack);
  }
}
