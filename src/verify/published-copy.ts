import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { cosignedNotes } from "../seals/cosigned.js";
import {
  type Checkpoint,
  cosignaturesIn,
  isSignedBy,
  keysOfLog,
  type ParsedNote,
  parseSignedNote,
  parseVerifierKey,
  type PublicSealKeys,
  type Witness,
} from "../seals/note.js";
import { TILE_HASHES, tilePath } from "../seals/tiles.js";

const HASH_BYTES = 32;

/** The folder of `--published` is missing, or it is no published copy. */
export class PublishedCopyError extends Error {}

/** What was published of one book, as files in the layout of C2SP tlog-tiles. */
export interface PublishedBook {
  readonly organizationId: string;
  readonly checkpoint: ParsedNote;
  /** Whether a known key has signed the checkpoint. */
  readonly isSigned: boolean;
  /** The checkpoints that a known witness has cosigned. */
  readonly cosigned: readonly Checkpoint[];
  /** The number of known witnesses that have cosigned a checkpoint. Undefined if none is known. */
  readonly cosignatures: number | undefined;
  /** Returns the hash of a leaf, counted from 0. Undefined if the copy lacks it. */
  readonly leaf: (index: number) => Buffer | undefined;
}

/** The published books, by the organization's id. */
export type PublishedCopy = ReadonlyMap<string, PublishedBook>;

/**
 * Opens a folder that `kesc seal publish` wrote, or a copy of one. The keys are those that the
 * caller trusts; without any, the keys beside each checkpoint count. Throws a PublishedCopyError.
 */
export function openPublishedCopy(
  folder: string,
  trusted: PublicSealKeys,
  witnesses: readonly Witness[] = [],
): PublishedCopy {
  if (!existsSync(folder)) throw new PublishedCopyError("it does not exist");
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, "checkpoint")));
  if (names.length === 0) throw new PublishedCopyError("it has no checkpoint of any book");
  return new Map(names.map((name) => [name, openBook(join(folder, name), name, { trusted, witnesses })]));
}

function openBook(
  folder: string,
  organizationId: string,
  { trusted, witnesses }: { readonly trusted: PublicSealKeys; readonly witnesses: readonly Witness[] },
): PublishedBook {
  const checkpoint = parseSignedNote(readFileSync(join(folder, "checkpoint"), "utf8"));
  if (checkpoint === undefined || !checkpoint.origin.endsWith(`/${organizationId}`)) {
    throw new PublishedCopyError(`the checkpoint of ${organizationId} is no checkpoint of that book`);
  }
  const { size } = checkpoint;
  const keys =
    trusted.publicKeys.length > 0 ? keysOfLog(trusted, { organizationId, size }) : keysIn(join(folder, "keys"));
  let read: { readonly index: number; readonly hashes: Buffer } | undefined;
  const leaf = (index: number): Buffer | undefined => {
    const tile = Math.floor(index / TILE_HASHES);
    if (read?.index !== tile) read = { index: tile, hashes: tileIn(folder, tile, checkpoint.size) };
    const at = (index % TILE_HASHES) * HASH_BYTES;
    const hash = read.hashes.subarray(at, at + HASH_BYTES);
    return hash.length === HASH_BYTES ? hash : undefined;
  };
  const notes = [checkpoint, ...cosignedNotes(folder)].filter(({ origin }) => origin === checkpoint.origin);
  const cosigned = notes.filter((note) => cosignaturesIn(note, witnesses).length > 0);
  const cosigners = witnesses.filter((witness) => notes.some((note) => cosignaturesIn(note, [witness]).length > 0));
  return {
    organizationId,
    checkpoint,
    isSigned: isSignedBy(checkpoint, keys),
    cosigned,
    cosignatures: witnesses.length === 0 ? undefined : cosigners.length,
    leaf,
  };
}

function keysIn(filename: string): readonly Uint8Array[] {
  if (!existsSync(filename)) return [];
  return readFileSync(filename, "utf8")
    .split("\n")
    .flatMap((line) => parseVerifierKey(line) ?? []);
}

/** A tile that is not full has its width in its name. Returns no bytes if there is no such file. */
function tileIn(folder: string, index: number, size: number): Buffer {
  const width = Math.min(TILE_HASHES, size - index * TILE_HASHES);
  const filename = join(folder, tilePath({ level: 0, index }, width));
  return existsSync(filename) ? readFileSync(filename) : Buffer.of();
}
