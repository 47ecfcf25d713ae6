import { readWitnesses, WitnessesError } from "../seals/cosigned.js";
import type { Witness } from "../seals/note.js";
import { OperatorError } from "../startup/operator-error.js";

/** The option of the commands that know witnesses. */
export const WITNESSES = [
  "--witnesses <file>",
  "the public keys of those who cosign published checkpoints, one on each line (docs/seals.md)",
] as const;

/** Reads the file of the option. Throws an OperatorError. */
export function witnessesIn(filename: string | undefined): readonly Witness[] {
  if (filename === undefined) return [];
  try {
    return readWitnesses(filename);
  } catch (error) {
    if (!(error instanceof WitnessesError)) throw error;
    throw new OperatorError(`The file of witnesses ${filename} cannot be used: ${error.message}.`, { cause: error });
  }
}
