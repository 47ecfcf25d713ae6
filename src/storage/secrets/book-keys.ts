import { createCipheriv, createSecretKey, hash, type KeyObject, randomBytes } from "node:crypto";

import type { OrganizationId } from "../../domain/values/ids.js";
import type { RowOf } from "../../model/column.js";
import type { BOOK_KEYS } from "../../model/organizations.js";
import { decrypt, encrypt } from "./encryption.js";
import type { MasterKeys } from "./master-key.js";

const KEY_BYTES = 32;
const SALT_BYTES = 16;
const SALT_CHARACTERS = 2 * SALT_BYTES;
/** The first byte of the counter. It keeps the two streams apart. */
const TEXTS_STREAM = 1;
// 4 KiB for each book in memory.
const SALTS_AT_ONCE = 128;

/** The secrets of one organization's book. Each is random. */
export interface BookKeys {
  /** Encrypts personal data. */
  readonly data: KeyObject;
  /** Makes blind indexes. */
  readonly index: KeyObject;
  /** Makes the salts of `content_hash`. */
  readonly seal: KeyObject;
}

/** A row of `book_keys`: the secrets of a book, encrypted by a master key. */
export type BookKeysRow = Omit<RowOf<typeof BOOK_KEYS>, "book">;

/** No key of the master key file decrypts the keys of this book. */
export class WrongMasterKeyError extends Error {}

/** Returns random keys, and the same keys encrypted by the first master key. */
export function newBookKeys(masterKeys: MasterKeys, organizationId: OrganizationId): [BookKeys, BookKeysRow] {
  const secret = (): KeyObject => createSecretKey(randomBytes(KEY_BYTES));
  const keys: BookKeys = { data: secret(), index: secret(), seal: secret() };
  return [keys, wrapBookKeys(masterKeys, organizationId, keys)];
}

/** Encrypts keys again, with the first master key. Throws a WrongMasterKeyError. */
export function rewrapBookKeys(masterKeys: MasterKeys, organizationId: OrganizationId, row: BookKeysRow): BookKeysRow {
  return wrapBookKeys(masterKeys, organizationId, unwrapBookKeys(masterKeys, organizationId, row));
}

function wrapBookKeys([master]: MasterKeys, organizationId: OrganizationId, keys: BookKeys): BookKeysRow {
  const wrapped = (name: keyof BookKeys): Buffer =>
    encrypt(master.key, keys[name].export(), contextOf(organizationId, name));
  return {
    data_key: wrapped("data"),
    index_key: wrapped("index"),
    seal_secret: wrapped("seal"),
    master_key_id: master.id,
  };
}

/** Decrypts the keys of a book. Throws a WrongMasterKeyError. */
export function unwrapBookKeys(masterKeys: MasterKeys, organizationId: OrganizationId, row: BookKeysRow): BookKeys {
  const master = masterKeys.find(({ id }) => id === row.master_key_id);
  if (master === undefined) {
    throw new WrongMasterKeyError(
      `the keys of ${organizationId} need the master key ${row.master_key_id}, which the master key file lacks`,
    );
  }
  const unwrapped = (name: keyof BookKeys, wrapped: Buffer): KeyObject => {
    try {
      return createSecretKey(decrypt(master.key, wrapped, contextOf(organizationId, name)));
    } catch (error) {
      throw new WrongMasterKeyError(`the ${name} key of ${organizationId} was changed`, { cause: error });
    }
  };
  return {
    data: unwrapped("data", row.data_key),
    index: unwrapped("index", row.index_key),
    seal: unwrapped("seal", row.seal_secret),
  };
}

/**
 * The salts of the content hashes of a book's journal rows. The salt of row n is block n of the key
 * stream of AES-256-CTR, so only the book's key gives it, and one salt reveals nothing about
 * another. One cipher gives the salts of many rows: an HMAC for each row took 10 µs of a mint's 78
 * on the storage thread (docs/adr/0020).
 */
export class RowSalts {
  readonly #key: KeyObject;
  readonly #stream: number;
  #firstSeq = -SALTS_AT_ONCE;
  /** The salts of the rows from #firstSeq on, in hexadecimal. */
  #text = "";

  /** The salts of `content_hash`, unless another stream is named. */
  constructor({ seal }: Pick<BookKeys, "seal">, stream = 0) {
    this.#key = seal;
    this.#stream = stream;
  }

  /** Returns the salt of a row: 16 bytes in hexadecimal. */
  of(seq: number): string {
    let index = seq - this.#firstSeq;
    if (index < 0 || index >= SALTS_AT_ONCE) {
      index = seq % SALTS_AT_ONCE;
      this.#fill(seq - index);
    }
    return this.#text.slice(index * SALT_CHARACTERS, (index + 1) * SALT_CHARACTERS);
  }

  #fill(firstSeq: number): void {
    const counter = Buffer.alloc(SALT_BYTES);
    counter.writeUInt8(this.#stream);
    counter.writeBigUInt64BE(BigInt(firstSeq), SALT_BYTES - 8);
    const cipher = createCipheriv("aes-256-ctr", this.#key, counter);
    this.#text = cipher.update(Buffer.alloc(SALTS_AT_ONCE * SALT_BYTES)).toString("hex");
    this.#firstSeq = firstSeq;
  }
}

/** Returns the salts of the texts in the leaves of a seal: another stream of the same key. */
export function textSalts(keys: Pick<BookKeys, "seal">): RowSalts {
  return new RowSalts(keys, TEXTS_STREAM);
}

/** Returns the random salt of a person's data, in hexadecimal. An erasure deletes it. */
export function newPersonSalt(): string {
  return randomBytes(SALT_BYTES).toString("hex");
}

function contextOf(organizationId: OrganizationId, name: keyof BookKeys): string[] {
  return ["kesc-book-key", organizationId, name];
}

/** The content of a journal row that its `content_hash` covers, with what the row created. */
export interface Content {
  readonly kind: string;
  readonly transactionId: string | null;
  readonly accountId: string | null;
  readonly recordedAt: number;
  /** The fields of the created transaction, account or organization, in a fixed order. */
  readonly created: readonly string[];
}

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-content-1";

/**
 * Returns the SHA-256 of the salt and the content, in hexadecimal. The salt is hexadecimal, too. It
 * keeps a reader of the hash from testing guesses.
 */
export function contentHash(salt: string, { kind, transactionId, accountId, recordedAt, created }: Content): string {
  const fields = [FORMAT, kind, transactionId ?? "", accountId ?? "", String(recordedAt), ...created];
  return hash("sha256", `${salt}${JSON.stringify(fields)}`, "hex");
}
