import { hash, type KeyObject } from "node:crypto";

import { isSignedBy, parseNote, signedText } from "../seals/note.js";
import type { HashedFile } from "./pack.js";

/** The name of this form of a pack: the first line of its note. */
export const FORMAT = "kesc-month-1";

/** The balances of the six book accounts, as decimals. */
export type BookBalances = Readonly<Record<string, string>>;

/** What a pack says of itself. The note of the seal key covers it. */
export interface MonthManifest {
  readonly format: typeof FORMAT;
  /** The release of KESC that closed the month: it makes the same files again. */
  readonly kesc_version?: string;
  readonly organization_id: string;
  readonly month: string;
  /** The name of the book's log, which is that of the seal key. */
  readonly log: string;
  /** Of a month without a row it is one more than the last. */
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly rows: number;
  readonly checkpoint_size: number;
  readonly opening: BookBalances;
  readonly closing: BookBalances;
  readonly files: readonly HashedFile[];
}

/** Who signs a manifest: the log, and its private key. */
interface Signer {
  readonly log: string;
  readonly privateKey: KeyObject;
}

/** Returns the note about the text of a manifest, signed in the name of the log. */
export function signedManifest(manifest: string, month: string, { log, privateKey }: Signer): string {
  return signedText(noteText(manifest, { log, month }), { name: log, privateKey });
}

/** Whether the note is about this text, and one of the keys has signed it. */
export function isManifestSigned(
  manifest: string,
  { note, log, month, keys }: Readonly<Record<"note" | "log" | "month", string>> & { keys: readonly Uint8Array[] },
): boolean {
  const parsed = parseNote(note);
  if (parsed === undefined || parsed.text !== noteText(manifest, { log, month })) return false;
  return isSignedBy({ ...parsed, origin: log }, keys);
}

/** The first line is no origin, so the note never passes for a checkpoint. */
function noteText(manifest: string, { log, month }: Readonly<Record<"log" | "month", string>>): string {
  return `${FORMAT}\n${log}\n${month}\n${hash("sha256", manifest, "base64")}\n`;
}
