import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { type Checked, checkMpesaCredentials, checkMpesaSettings } from "../../rails/accounts/mpesa-account.js";
import { asText, type Fields, parseFields } from "../../rails/fields.js";
import { OperatorError } from "../../startup/operator-error.js";

const WRONG_USAGE = 2;
const OTHERS = 0o077;

/**
 * Reads the settings of an account at M-Pesa, as they are stored: with the certificate in place of
 * the name of its file, which is relative to the file of the settings.
 *
 * Throws an OperatorError with one line for each problem.
 */
export function readSettingsFile(file: string): string {
  const { certificateFile, ...settings } = fieldsIn(file);
  const name = asText(certificateFile);
  const pem = name === undefined ? {} : { certificatePem: readText(resolve(dirname(file), name)) };
  const stored = { ...settings, ...pem };
  // The certificate has another name in the file.
  const problems = problemsOf(checkMpesaSettings(stored)).map((each) =>
    each.replace("certificatePem", "certificateFile"),
  );
  refuseProblems(file, problems);
  return JSON.stringify(stored);
}

/** Reads the credentials. The file must belong to its owner alone. Throws an OperatorError. */
export function readCredentialsFile(file: string): string {
  const text = readText(file);
  if ((statSync(file).mode & OTHERS) !== 0) {
    throw new OperatorError(`Others may read ${file}, which holds secrets. Run: chmod 600 ${file}`, WRONG_USAGE);
  }
  const credentials = parseFields(text);
  refuseProblems(file, problemsOf(checkMpesaCredentials(credentials)));
  return JSON.stringify(credentials);
}

function problemsOf(checked: Checked<unknown>): readonly string[] {
  return checked.ok ? [] : checked.problems;
}

function refuseProblems(file: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new OperatorError([`${file} is wrong:`, ...problems].join("\n  "), WRONG_USAGE);
}

function fieldsIn(file: string): Fields {
  const fields = parseFields(readText(file));
  if (fields === undefined) throw new OperatorError(`${file} must hold a JSON object.`, WRONG_USAGE);
  return fields;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "it gave no reason" } = error as NodeJS.ErrnoException;
    throw new OperatorError(`The file ${file} cannot be read (${code}).`, WRONG_USAGE);
  }
}
