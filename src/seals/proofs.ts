import { consistencyRanges, inclusionRanges, type Range, rootOfRange } from "./merkle.js";
import type { NumberedBook, SealReads } from "./ports.js";
import { nodesOfTiles, TILE_HASHES, type TileReader } from "./tiles.js";

type ProofReads = Pick<SealReads, "leaves" | "tile">;

/** A proof, and how many rows of the journal it took. */
export interface Proof {
  readonly hashes: readonly Uint8Array[];
  readonly rowsRead: number;
}

/**
 * Returns the proof that the row is the leaf `seq - 1` of the tree of this size. Reads at most two
 * tiles of 256 rows: the row's own, and the last one.
 */
export function inclusionProof(
  reads: ProofReads,
  book: NumberedBook,
  of: { seq: number; size: number },
): Promise<Proof> {
  return proofOver(reads, book, of.size, inclusionRanges(of.seq - 1, of.size));
}

/** Returns the proof that the first `from` rows are those of an earlier tree. */
export function consistencyProof(
  reads: ProofReads,
  book: NumberedBook,
  of: { from: number; size: number },
): Promise<Proof> {
  return proofOver(reads, book, of.size, consistencyRanges(of.from, of.size));
}

async function proofOver(
  reads: ProofReads,
  book: NumberedBook,
  size: number,
  ranges: readonly Range[],
): Promise<Proof> {
  let rowsRead = 0;
  const tile: TileReader = async ({ level, index }) => {
    if (level > 0) return (await reads.tile(book, { level, index })) ?? new Uint8Array();
    const firstSeq = index * TILE_HASHES + 1;
    const lastSeq = Math.min(size, (index + 1) * TILE_HASHES);
    rowsRead += lastSeq - firstSeq + 1;
    return (await reads.leaves(book, { firstSeq, lastSeq })).hashes;
  };
  const node = nodesOfTiles(tile);
  const hashes: Uint8Array[] = [];
  // One after another: a proof has one page of rows under way at a time.
  for (const range of ranges) hashes.push(await rootOfRange(range, node));
  return { hashes, rowsRead };
}
