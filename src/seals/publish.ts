import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { cosignedNotes } from "./cosigned.js";
import { cosignaturesIn, parseSignedNote, signerOf, verifierKeyOf, type Witness } from "./note.js";
import type { NumberedBook, SealReads } from "./ports.js";
import { split, type Tile, TILE_HASHES, tilePath, TreeEdge } from "./tiles.js";

/** The book cannot be published into this folder. The message says why. */
export class PublishError extends Error {}

export interface Published {
  /** The rows that the folder had before, and has now. */
  readonly from: number;
  readonly size: number;
  /** The witnesses that have cosigned the checkpoint. */
  readonly cosignatures: number;
}

interface PublishOptions {
  /** The folder of this book. */
  readonly folder: string;
  /** The keys that may have signed the log. Those that have are published. */
  readonly publicKeys: readonly Uint8Array[];
  /** Their cosignatures of the newest checkpoint are published with it. */
  readonly witnesses?: readonly Witness[];
  /** Called after each tile with the rows that are done, and with all of them. */
  readonly onRows?: (size: number, total: number) => void;
}

/**
 * Writes the newest checkpoint of a book and its tiles as files, in the layout of C2SP tlog-tiles.
 * Goes on from what the folder has. The checkpoint is written last, so that the folder is whole
 * after a crash.
 *
 * Returns undefined if the book has no seal. Throws a PublishError if the rows do not go on from
 * what was published, or do not give the sealed root.
 */
export async function publishBook(
  reads: Pick<SealReads, "seal" | "signers" | "leaves">,
  book: NumberedBook,
  { folder, publicKeys, witnesses = [], onRows = () => undefined }: PublishOptions,
): Promise<Published | undefined> {
  const seal = await reads.seal(book);
  if (seal === undefined) return undefined;
  const { edge, from } = await publishedEdge(folder);
  if (from > seal.size) {
    throw new PublishError(`${String(from)} rows are published, but only ${String(seal.size)} are sealed`);
  }
  const tiles: Tile[] = [];
  while (edge.size < seal.size) {
    const firstSeq = edge.size + 1;
    const endOfTile = (Math.floor(edge.size / TILE_HASHES) + 1) * TILE_HASHES;
    const lastSeq = Math.min(seal.size, endOfTile);
    const { hashes, missingSeq } = await reads.leaves(book, { firstSeq, lastSeq });
    if (missingSeq !== undefined) throw new PublishError(`the row ${String(missingSeq)} is missing`);
    for (const leaf of split(hashes)) tiles.push(...edge.add(leaf));
    // A file that is not named by a checkpoint yet does no harm.
    for (const tile of tiles.splice(0)) writeTile(folder, tile);
    onRows(edge.size, seal.size);
  }
  if (Buffer.compare(edge.root(), seal.root) !== 0) {
    const words = from === 0 ? "do not give the sealed root" : `are not those of which ${String(from)} were published`;
    throw new PublishError(`the first ${String(seal.size)} rows ${words}`);
  }
  for (const tile of edge.partialTiles()) writeTile(folder, tile);
  const [origin = ""] = seal.note.split("\n", 1);
  const signers = new Set(await reads.signers(book, from));
  const known = publishedKeys(folder);
  const keys = publicKeys
    .filter((key) => signers.has(signerOf(origin, key)) || known.has(verifierKeyOf(origin, key)))
    .map((key) => `${verifierKeyOf(origin, key)}\n`);
  replace(join(folder, "keys"), keys.join(""));
  const cosignatures = cosignaturesOf(seal.note, folder, witnesses);
  replace(join(folder, "checkpoint"), seal.note + cosignatures.join(""));
  for (const tile of edge.partialTiles()) removeShorter(folder, tile);
  return { from, size: seal.size, cosignatures: cosignatures.length };
}

/** Returns the lines of the witnesses that have cosigned the checkpoint, each once. */
function cosignaturesOf(note: string, folder: string, witnesses: readonly Witness[]): readonly string[] {
  const parsed = parseSignedNote(note);
  if (parsed === undefined) return [];
  const signatures = cosignedNotes(folder)
    .filter(({ text }) => text === parsed.text)
    .flatMap((cosigned) => cosigned.signatures);
  return cosignaturesIn({ ...parsed, signatures }, witnesses);
}

/** Returns the keys that were published before: they have signed earlier seals. */
function publishedKeys(folder: string): ReadonlySet<string> {
  const filename = join(folder, "keys");
  return new Set(existsSync(filename) ? readFileSync(filename, "utf8").split("\n") : []);
}

/** Reads the edge of the published tree. Throws a PublishError if the tiles are not those of it. */
async function publishedEdge(folder: string): Promise<{ readonly edge: TreeEdge; readonly from: number }> {
  const filename = join(folder, "checkpoint");
  if (!existsSync(filename)) return { edge: await TreeEdge.of(0, () => Promise.resolve(new Uint8Array())), from: 0 };
  const checkpoint = parseSignedNote(readFileSync(filename, "utf8"));
  if (checkpoint === undefined) throw new PublishError(`${filename} is no checkpoint`);
  const { size, root } = checkpoint;
  try {
    const edge = await TreeEdge.of(size, (name) => {
      const width = Math.floor(size / TILE_HASHES ** name.level) - name.index * TILE_HASHES;
      return Promise.resolve(readFileSync(join(folder, tilePath(name, Math.min(TILE_HASHES, width)))));
    });
    if (Buffer.compare(edge.root(), root) === 0) return { edge, from: size };
  } catch (error) {
    throw new PublishError("the published tiles are incomplete", { cause: error });
  }
  throw new PublishError("the published tiles do not give the root of the published checkpoint");
}

function writeTile(folder: string, tile: Tile): void {
  replace(join(folder, tilePath(tile, tile.hashes.length / 32)), tile.hashes);
}

/** Removes the files of a tile that has become longer since. */
function removeShorter(folder: string, tile: Tile): void {
  const width = tile.hashes.length / 32;
  const parts = dirname(join(folder, tilePath(tile, width)));
  for (const name of readdirSync(parts)) if (Number(name) < width) rmSync(join(parts, name));
}

/** Replaces a file in one step, so that a reader sees the old one or the new one. */
function replace(filename: string, content: string | Uint8Array): void {
  mkdirSync(dirname(filename), { recursive: true });
  writeFileSync(`${filename}.new`, content);
  renameSync(`${filename}.new`, filename);
}
