import type { KeyObject } from "node:crypto";

import { Loop } from "../../runtime/loop.js";
import type { LoopTiming } from "../../runtime/wait.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Lease } from "../leases/lease.js";
import { completeRoot, HASH_BYTES } from "./merkle.js";
import { signedNote } from "./note.js";
import type { Alarm, NumberedBook, Seal, SealableBook, SealStore } from "./ports.js";
import type { RememberedSeal, SealMemory } from "./seal-memory.js";
import { split, type Tile, TILE_HASHES, TileError, type TileName, TreeEdge } from "./tiles.js";

/** A book whose last seal is younger waits, unless it has many new rows. */
const SEAL_MILLIS = 60_000;
const SEAL_ROWS = 10_000;
const LOOK_MILLIS = 5_000;
/** After each page of rows a sealer rests this many times as long as the page took. */
const RESTS_PER_PAGE = 4;
/** The old rows that one round computes again. */
const CHECKED_TILES = Math.ceil(10_000 / TILE_HASHES);

export interface SealerOptions {
  readonly store: SealStore;
  readonly lease: Pick<Lease, "leftMillis">;
  readonly timing: LoopTiming & { readonly now: () => UnixMillis };
  /** Names the logs: the origin of a book is "<origin>/<organization's id>". */
  readonly origin: string;
  readonly privateKey: () => KeyObject;
  readonly memory: SealMemory;
  readonly onAlarm: (book: NumberedBook, alarm: Alarm) => void;
  readonly onError: (error: unknown) => void;
}

/** Sealed rows are no longer as they were. */
class PastChanged extends Error {
  readonly alarm: Alarm;

  constructor(alarm: Alarm) {
    super(alarm.problem);
    this.alarm = alarm;
  }
}

/**
 * Seals the books of one cell, and computes old rows again. It needs nothing of the ledger: rows of
 * the journal never change, and a reader sees them in their order (docs/adr/0044).
 *
 * Two sealers do no harm. Both compute the same root from the same rows, and one of them saves it.
 */
export class Sealer {
  readonly #options: SealerOptions;
  readonly #loop: Loop;
  /** The newest seals that this round made or found. */
  readonly #newest = new Map<string, RememberedSeal>();
  /** The tile from which the next round computes old rows again. */
  #next: { readonly book: number; readonly index: number } = { book: 0, index: 0 };
  #checkedAt = -Infinity;

  constructor(options: SealerOptions) {
    this.#options = options;
    const { lease, timing, onError } = options;
    const step = async (): Promise<number> => {
      if (lease.leftMillis() > 0) await this.#round().catch(onError);
      return LOOK_MILLIS;
    };
    this.#loop = new Loop({ step, wait: timing.wait });
  }

  /** Seals and checks, while this server has the lease, until `stop`. */
  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /**
   * Seals each book that has new rows, or only those that are due. A book that fails keeps none of
   * the others from it. Then rejects with the first error.
   */
  async sealAll({ isDue = () => true }: { isDue?: (book: SealableBook) => boolean } = {}): Promise<void> {
    const failures: unknown[] = [];
    for (let after = 0; ;) {
      const books = await this.#options.store.books(after);
      for (const book of books) {
        if (this.#loop.isStopped) return;
        const isOfThisRound = book.lastSeq > (book.seal?.size ?? 0) && isDue(book);
        const work = async (): Promise<void> => {
          await this.#compareMemory(book);
          if (isOfThisRound) await this.#seal(book);
        };
        await this.#orAlarm(book, work).catch((error: unknown) => failures.push(error));
      }
      after = books.at(-1)?.number ?? after;
      if (books.length === 0) break;
    }
    // The database has these seals already. A crash before this line raises no alarm.
    this.#options.memory.add(this.#newest);
    this.#newest.clear();
    if (failures.length > 0) throw failures[0];
  }

  /**
   * Computes up to 10,000 old rows again, from where the last call ended. Compares each tile of
   * rows with its hash in the tile above, each full tile with the one above that, and the root with
   * the seal.
   */
  async checkSome(): Promise<void> {
    const { store } = this.#options;
    let left = CHECKED_TILES;
    let { book: number, index } = this.#next;
    while (left > 0 && !this.#loop.isStopped) {
      const [book] = await store.books(number - 1);
      if (book === undefined) {
        this.#next = { book: 0, index: 0 };
        return;
      }
      if (book.number !== number) index = 0;
      ({ number } = book);
      const tiles = Math.ceil((book.seal?.size ?? 0) / TILE_HASHES);
      const end = Math.min(tiles, index + left);
      left -= Math.max(end - index, 1);
      const first = index;
      index = end;
      if (index >= tiles) [number, index] = [number + 1, 0];
      // A book that fails keeps no other from its turn.
      this.#next = { book: number, index };
      await this.#orAlarm(book, () => this.#check(book, first, end));
    }
  }

  async #round(): Promise<void> {
    const { timing, onError } = this.#options;
    const now = timing.now();
    const isDue = ({ seal, lastSeq }: SealableBook): boolean =>
      seal === undefined || now - seal.sealedAt >= SEAL_MILLIS || lastSeq - seal.size >= SEAL_ROWS;
    await this.sealAll({ isDue }).catch(onError);
    if (now - this.#checkedAt < SEAL_MILLIS) return;
    this.#checkedAt = now;
    await this.checkSome();
  }

  /**
   * Throws PastChanged if the database lacks the seal that this machine remembers, or if the rows
   * do not give its root. Somebody who can delete seals would otherwise let the service sign
   * another past.
   */
  async #compareMemory(book: SealableBook): Promise<void> {
    const { store, memory } = this.#options;
    const remembered = memory.of(book.organizationId);
    if (remembered === undefined || isSame(book.seal, remembered)) return;
    // Another server of this machine may have sealed since the book was read.
    const seal = await store.seal(book);
    if (isSame(seal, remembered)) return;
    const { size } = remembered;
    if (seal === undefined || seal.size < size) {
      const problem = `the seal of the first ${String(size)} rows is gone`;
      throw new PastChanged({ size, firstSeq: 1, lastSeq: size, problem });
    }
    await this.#sealedEdge({ ...book, seal: { ...seal, size, root: Buffer.from(remembered.root, "hex") } });
    this.#newest.set(book.organizationId, rememberedOf(seal));
  }

  /** Seals the book up to its last row. Throws PastChanged. */
  async #seal(book: SealableBook): Promise<void> {
    const { store, origin, privateKey, timing } = this.#options;
    const { lastSeq, sums, seal } = book;
    const edge = await this.#sealedEdge(book);
    const tiles = new Map<string, Tile>();
    while (edge.size < lastSeq) {
      if (this.#loop.isStopped) return;
      const firstSeq = edge.size + 1;
      const endOfTile = (Math.floor(edge.size / TILE_HASHES) + 1) * TILE_HASHES;
      const hashes = await this.#leaves(book, { firstSeq, lastSeq: Math.min(lastSeq, endOfTile), size: lastSeq });
      for (const leaf of split(hashes)) addTiles(tiles, edge.add(leaf));
    }
    addTiles(tiles, edge.partialTiles());
    const root = edge.root();
    const checkpoint = { origin: `${origin}/${book.organizationId}`, size: lastSeq, root };
    const made: Seal = { size: lastSeq, root, note: signedNote(checkpoint, privateKey()), sealedAt: timing.now() };
    const stored = await store.add(book, { ...made, sums }, [...tiles.values()]);
    if (Buffer.compare(stored, root) === 0) {
      this.#newest.set(book.organizationId, rememberedOf(made));
      return;
    }
    const firstSeq = (seal?.size ?? 0) + 1;
    const problem = `another server sealed other rows as the first ${String(lastSeq)}`;
    throw new PastChanged({ size: lastSeq, firstSeq, lastSeq, problem });
  }

  /** Returns the edge of the sealed tree. Throws PastChanged if its root is not the sealed one. */
  async #sealedEdge(book: SealableBook): Promise<TreeEdge> {
    const { seal } = book;
    if (seal === undefined) return TreeEdge.of(0, () => Promise.resolve(new Uint8Array()));
    const { size } = seal;
    const edge = await TreeEdge.of(size, (name) =>
      name.level > 0 ? this.#tile(book, name) : this.#tileOfRows(book, { index: name.index, size }),
    ).catch((error: unknown) => {
      if (!(error instanceof TileError)) throw error;
      throw new PastChanged({ size, firstSeq: 1, lastSeq: size, problem: error.message });
    });
    if (Buffer.compare(edge.root(), seal.root) === 0) return edge;
    const problem = "the rows no longer give the sealed root";
    throw new PastChanged({ size, firstSeq: 1, lastSeq: size, problem });
  }

  /** Computes the rows of tiles again. Throws PastChanged. */
  async #check(book: SealableBook, first: number, end: number): Promise<void> {
    const { seal } = book;
    if (seal === undefined) return;
    const { size } = seal;
    for (let index = first; index < end && !this.#loop.isStopped; index++) {
      await this.#checkTile(book, { index, size });
    }
    if (end * TILE_HASHES >= size) await this.#sealedEdge(book);
  }

  async #checkTile(
    book: SealableBook,
    { index, size }: { readonly index: number; readonly size: number },
  ): Promise<void> {
    const firstSeq = index * TILE_HASHES + 1;
    const lastSeq = (index + 1) * TILE_HASHES;
    // The root covers a tile that is not full.
    if (lastSeq > size) return;
    let root = completeRoot(await this.#tileOfRows(book, { index, size }));
    for (let [level, number] = [1, index]; ; level++) {
      const name: TileName = { level, index: Math.floor(number / TILE_HASHES) };
      const above = await this.#tile(book, name);
      const at = (number % TILE_HASHES) * HASH_BYTES;
      if (Buffer.compare(above.subarray(at, at + HASH_BYTES), root) !== 0) {
        throw new PastChanged({ size, firstSeq, lastSeq, problem: "the rows no longer give the sealed hash" });
      }
      number = name.index;
      if (above.length < TILE_HASHES * HASH_BYTES || (number + 1) * TILE_HASHES ** (level + 1) > size) return;
      root = completeRoot(above);
    }
  }

  async #tile(book: SealableBook, name: TileName): Promise<Uint8Array> {
    return (await this.#options.store.tile(book, name)) ?? new Uint8Array();
  }

  #tileOfRows(
    book: NumberedBook,
    { index, size }: { readonly index: number; readonly size: number },
  ): Promise<Uint8Array> {
    const firstSeq = index * TILE_HASHES + 1;
    return this.#leaves(book, { firstSeq, lastSeq: Math.min((index + 1) * TILE_HASHES, size), size });
  }

  /** Throws PastChanged if a row is missing. */
  async #leaves(
    book: NumberedBook,
    { firstSeq, lastSeq, size }: { readonly firstSeq: number; readonly lastSeq: number; readonly size: number },
  ): Promise<Uint8Array> {
    const { store, timing } = this.#options;
    const startedAt = timing.monotonicMillis();
    const { hashes, missingSeq } = await store.leaves(book, { firstSeq, lastSeq });
    // A seal is made later than its rows anyway. So while there is much to seal, mints come first.
    await timing.wait((timing.monotonicMillis() - startedAt) * RESTS_PER_PAGE, this.#loop.signal);
    if (missingSeq === undefined) return hashes;
    const problem = `the row ${String(missingSeq)} is missing`;
    throw new PastChanged({ size, firstSeq: missingSeq, lastSeq: missingSeq, problem });
  }

  async #orAlarm(book: NumberedBook, work: () => Promise<void>): Promise<void> {
    const { store, timing, onAlarm } = this.#options;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof PastChanged)) throw error;
      if (await store.raise(book, error.alarm, timing.now())) onAlarm(book, error.alarm);
    }
  }
}

function rememberedOf({ size, root }: Seal): RememberedSeal {
  return { size, root: Buffer.from(root).toString("hex") };
}

function isSame(seal: Seal | undefined, { size, root }: RememberedSeal): boolean {
  return seal?.size === size && Buffer.from(seal.root).toString("hex") === root;
}

/** Keeps the tiles that are stored. Those of rows are made from the journal again. */
function addTiles(tiles: Map<string, Tile>, added: readonly Tile[]): void {
  for (const tile of added) {
    if (tile.level > 0) tiles.set(`${String(tile.level)}/${String(tile.index)}`, tile);
  }
}
