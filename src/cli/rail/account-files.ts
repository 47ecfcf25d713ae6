import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { asText, type Fields, parseFields } from "../../rails/fields.js";
import type { RailKind } from "../../rails/rail-kind.js";
import { UsageError } from "../../startup/operator-error.js";

const OTHERS = 0o077;

/**
 * Reads the settings of an account as they are stored: with a certificate in place of the name of
 * its file, which is relative to the file of the settings.
 *
 * Throws an OperatorError with one line for each problem.
 */
export function readSettingsFile({ settingsFiles, settingsProblems }: RailKind, file: string): string {
  const settings: Record<string, unknown> = { ...fieldsIn(file) };
  for (const [nameField, textField] of Object.entries(settingsFiles)) {
    const name = asText(settings[nameField]);
    Reflect.deleteProperty(settings, nameField);
    if (name !== undefined) settings[textField] = readText(resolve(dirname(file), name));
  }
  const problems = settingsProblems(settings).map((problem) =>
    Object.entries(settingsFiles).reduce((words, [inFile, stored]) => words.replace(stored, inFile), problem),
  );
  refuseProblems(file, problems);
  return JSON.stringify(settings);
}

/** Reads the credentials. The file must belong to its owner alone. Throws an OperatorError. */
export function readCredentialsFile({ credentialsProblems }: RailKind, file: string): string {
  const text = readText(file);
  if ((statSync(file).mode & OTHERS) !== 0) {
    throw new UsageError(`Others may read ${file}, which holds secrets. Run: chmod 600 ${file}`);
  }
  const credentials = parseFields(text);
  refuseProblems(file, credentialsProblems(credentials));
  return JSON.stringify(credentials);
}

function refuseProblems(file: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new UsageError([`${file} is wrong:`, ...problems].join("\n  "));
}

function fieldsIn(file: string): Fields {
  const fields = parseFields(readText(file));
  if (fields === undefined) throw new UsageError(`${file} must hold a JSON object.`);
  return fields;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "it gave no reason" } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file ${file} cannot be read (${code}).`);
  }
}
