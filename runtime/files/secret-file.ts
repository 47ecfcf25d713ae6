import { readFileSync } from "node:fs";

type FileEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * A secret, undefined if there is none; or a sentence that says what is wrong with its variables.
 */
export type Secret =
  { readonly ok: true; readonly value: string | undefined } | { readonly ok: false; readonly problem: string };

/**
 * Reads a secret from its variable, or from the file that the variable with `_FILE` at the end of
 * its name names. A line break at the end of the file does not belong to the secret.
 */
export function readSecret(environment: FileEnvironment, name: string): Secret {
  const value = textOf(environment, name);
  const fileName = `${name}_FILE`;
  const file = textOf(environment, fileName);
  if (file === undefined) return { ok: true, value };
  if (value !== undefined) return { ok: false, problem: `${name} and ${fileName} are both set. Unset one of them.` };
  try {
    return { ok: true, value: readFileSync(file, "utf8").replace(/\r?\n$/, "") };
  } catch (error) {
    const { code = "it cannot be read" } = error as NodeJS.ErrnoException;
    return { ok: false, problem: `${fileName} names a file that cannot be read (${code}); it is "${file}".` };
  }
}

/** An empty variable counts as absent. */
function textOf(environment: FileEnvironment, name: string): string | undefined {
  return environment[name] === "" ? undefined : environment[name];
}
