import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { publicBytesOf } from "../../../src/seals/note.js";
import type { Alarm, SealableBook, SealStore } from "../../../src/seals/ports.js";
import type { RememberedSeal, SealMemory } from "../../../src/seals/seal-memory.js";
import { Sealer, type SealerOptions } from "../../../src/seals/sealer.js";
import type { Cell } from "../../../src/storage/database.js";
import { sealStore } from "../../../src/storage/seals/seal-store.js";

/** The key of all tests. */
export const SEAL_KEY: KeyObject = createPrivateKey({
  key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, "seal")]),
  format: "der",
  type: "pkcs8",
});
export const SEAL_PUBLIC_KEY = publicBytesOf(createPublicKey(SEAL_KEY));

/** A sealer that works when a test says so. */
export interface GivenSealer {
  readonly sealer: Sealer;
  readonly store: SealStore;
  readonly alarms: Alarm[];
}

export function givenSealer(
  cell: Cell,
  { book, store = sealStore(cell), ...changes }: Partial<SealerOptions> & { book?: number } = {},
): GivenSealer {
  const alarms: Alarm[] = [];
  const sealer = new Sealer({
    // Only the rows of this book, if one is named.
    store: book === undefined ? store : { ...store, books: (after) => store.books(after).then(of(book)) },
    lease: { leftMillis: () => 1 },
    timing: { now: () => toUnixMillis(Date.now()), monotonicMillis: () => 0, wait: () => Promise.resolve() },
    origin: "kesc.example.com",
    privateKey: () => SEAL_KEY,
    memory: sealMemory(),
    onAlarm: (_, alarm) => alarms.push(alarm),
    onError: (error) => {
      throw error;
    },
    ...changes,
  });
  return { sealer, store, alarms };
}

/** Remembers seals for as long as the test has it. */
export function sealMemory(): SealMemory {
  const seals = new Map<string, RememberedSeal>();
  return {
    of: (id) => seals.get(id),
    add(newest) {
      for (const [id, seal] of newest) seals.set(id, seal);
    },
  };
}

function of(number: number): (books: readonly SealableBook[]) => readonly SealableBook[] {
  return (books) => books.filter((each) => each.number === number);
}

/** Seals everything that is in the books. */
export function sealBooks(cell: Cell): Promise<void> {
  return givenSealer(cell).sealer.sealAll();
}
