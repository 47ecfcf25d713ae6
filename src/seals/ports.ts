import type { OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Tile, TileName } from "./tiles.js";

/** A book, as the sealer knows it. */
export interface NumberedBook {
  readonly number: number;
  readonly organizationId: OrganizationId;
}

/** The sums of a book's accounts, in cents. Text, because a driver rounds large numbers. */
export interface Sums {
  readonly reserve: string;
  readonly shortfall: string;
  readonly charges: string;
  readonly available: string;
  readonly held: string;
  readonly unallocated: string;
}

/** The first `size` rows of a book, sealed. */
export interface Seal {
  readonly size: number;
  readonly root: Uint8Array;
  /** The signed note. */
  readonly note: string;
  readonly sealedAt: UnixMillis;
}

/** A seal, and whether the book has an alarm. */
export interface FoundSeal extends Seal {
  /** When the alarm was raised that nobody has cleared. Undefined if there is none. */
  readonly alarmRaisedAt: UnixMillis | undefined;
}

/** A book with the last row that it has now, and its newest seal. */
export interface SealableBook extends NumberedBook {
  readonly lastSeq: number;
  readonly sums: Sums;
  readonly seal: Seal | undefined;
}

/** The hashes of the leaves of some rows. */
export interface Leaves {
  /** 32 bytes for each row, one after another. Ends before the first row that is missing. */
  readonly hashes: Uint8Array;
  readonly missingSeq: number | undefined;
}

/** A sealed row, as a check sees it. */
export interface LeafFacts {
  readonly seq: number;
  readonly text: string;
  /** The texts that the leaf has a salted hash of, and the salt. */
  readonly texts: string;
  readonly textsSalt: string;
  /** The salt of `content_hash`. Undefined if that hash covers personal data. */
  readonly contentSalt: string | undefined;
}

/** Says that sealed rows of a book are no longer as they were. */
export interface Alarm {
  /** The size of the seal, and the range of rows in which the change lies. */
  readonly size: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly problem: string;
}

/** Reads what a proof needs. Each call reads at most 256 rows of the journal. */
export interface SealReads {
  book(organizationId: OrganizationId): Promise<NumberedBook | undefined>;
  /** Returns the newest seal, or that of a size. */
  seal(book: NumberedBook, size?: number): Promise<FoundSeal | undefined>;
  /** Returns the beginnings of the signatures of all larger seals, each once: see signerOf(). */
  signers(book: NumberedBook, afterSize: number): Promise<readonly string[]>;
  /** Returns the leaves of the rows from the first to the last, at most 256. */
  leaves(book: NumberedBook, rows: { readonly firstSeq: number; readonly lastSeq: number }): Promise<Leaves>;
  /** Returns a tile of level 1 or more. */
  tile(book: NumberedBook, name: TileName): Promise<Uint8Array | undefined>;
  leaf(book: NumberedBook, seq: number): Promise<LeafFacts | undefined>;
  /** Returns the row that ended the transaction. Without one, the row that created it. */
  rowOf(book: NumberedBook, transactionId: TransactionId): Promise<number | undefined>;
}

/** The seals of one cell. */
export interface SealStore extends SealReads {
  /** Returns the books with a larger number that have no alarm, at most 256. */
  books(after: number): Promise<readonly SealableBook[]>;
  /**
   * Saves a seal and its tiles in one commit. A stored tile is replaced only by a longer one.
   * Resolves with the root that is stored for the size: another one if another server sealed
   * another past.
   */
  add(book: NumberedBook, seal: Seal & { readonly sums: Sums }, tiles: readonly Tile[]): Promise<Uint8Array>;
  /** Saves an alarm. Resolves with false if the book has one. */
  raise(book: NumberedBook, alarm: Alarm, now: UnixMillis): Promise<boolean>;
}
