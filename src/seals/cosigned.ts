import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

import { type ParsedNote, parseSignedNote, parseWitness, type Witness } from "./note.js";

/** Others write here. So what is read is bounded. */
const FILES_MAX = 64;
const FILE_BYTES_MAX = 16_384;

/** The file of the witnesses' keys cannot be used. The message says why. */
export class WitnessesError extends Error {}

/** Reads the public keys of witnesses, one on each line. Throws a WitnessesError. */
export function readWitnesses(filename: string): readonly Witness[] {
  if (!existsSync(filename)) throw new WitnessesError("it does not exist");
  const witnesses = new Map<string, Witness>();
  for (const [index, line] of readFileSync(filename, "utf8").split("\n").entries()) {
    if (line.trim() === "") continue;
    const witness = parseWitness(line.trim());
    if (witness === undefined)
      throw new WitnessesError(`line ${String(index + 1)} is not the key of a witness, "NAME+ID+BASE64" of the type 4`);
    // One key is one witness, under whatever names.
    witnesses.set(Buffer.from(witness.publicKey).toString("hex"), witness);
  }
  return [...witnesses.values()];
}

/** Returns the checkpoints that witnesses put beside the published one of a book, in any order. */
export function cosignedNotes(folder: string): readonly ParsedNote[] {
  const cosigned = join(folder, "cosigned");
  if (!existsSync(cosigned)) return [];
  return readdirSync(cosigned)
    .sort()
    .slice(0, FILES_MAX)
    .flatMap((name) => {
      const file = statSync(join(cosigned, name), { throwIfNoEntry: false });
      if (file?.isFile() !== true || file.size > FILE_BYTES_MAX) return [];
      return parseSignedNote(readFileSync(join(cosigned, name), "utf8")) ?? [];
    });
}
