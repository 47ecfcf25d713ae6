import { typeidUnboxed } from "typeid-js";

import { SCOPES } from "../../src/domain/api-key.js";
import type { MoveMoney } from "../../src/domain/money/move-money.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import type { Description, Metadata, Reference } from "../../src/domain/values/text.js";
import { now } from "../../src/startup/clock.js";
import type { Cell, Database } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { progress } from "../stage.js";
import { POISON } from "./attacks.js";

const BATCH = 1_000;
const KEYS = 1_000;
/** One account has all rows but one in this number. */
const OTHER_ACCOUNTS_SHARE = 10;
/** The newest rows, which a first page shows, have metadata of a kilobyte. */
const LARGE_ROWS = 1_000;
const SMALL = new Map() as ReadonlyMap<string, string> as Metadata;
const LARGE = new Map([["note", "x".repeat(1_000)]]) as ReadonlyMap<string, string> as Metadata;

/** Creates a thousand keys of the service's organization. */
export async function manyKeys(database: Database, organizationId: OrganizationId): Promise<string[]> {
  const all: string[] = [];
  const key = { organizationId, name: "bench", scopes: SCOPES, expiresAt: undefined };
  while (all.length < KEYS) all.push((await keys(database, now).createApiKey(key)).secret);
  return all;
}

/** Commits this number of mints, nearly all to the first account. */
export async function fill(
  { committer }: Cell,
  organizationId: OrganizationId,
  { transactions, accountIds }: { transactions: number; accountIds: readonly string[] },
): Promise<void> {
  const mint = (serial: number): MoveMoney => ({
    name: "mint",
    organizationId,
    actor: OPERATOR,
    newTransactionId: typeidUnboxed("txn") as string as TransactionId,
    accountId: accountIds[serial % OTHER_ACCOUNTS_SHARE === 0 ? serial % accountIds.length : 0] as AccountId,
    amountCents: toCents(1),
    reference: `filled-${String(serial)}` as Reference,
    description: "" as Description,
    metadata: serial >= transactions - LARGE_ROWS ? LARGE : SMALL,
    rail: DIRECT_RAIL,
    idempotencyKey: undefined,
  });
  for (let from = 0; from < transactions; from += BATCH) {
    if (from % 100_000 === 0) progress(`filling: ${String(from)} of ${String(transactions)} transactions`);
    const commands = Array.from({ length: Math.min(BATCH, transactions - from) }, (_, index) => mint(from + index));
    const results = await committer.commit(commands, now());
    const wrong = results.find(({ kind }) => kind !== "done");
    if (wrong !== undefined) throw new Error(`a mint was ${wrong.kind}`, { cause: wrong });
  }
}

/** Makes the database reject mints with the reference of the attack `poison`. */
export async function rejectPoison({ engine, transact }: Cell): Promise<void> {
  const table = engine.table("transactions");
  const like = `LIKE '${POISON}-%'`;
  const sql =
    engine.name === "sqlite"
      ? `CREATE TRIGGER poison BEFORE INSERT ON ${table} WHEN NEW.reference ${like}
         BEGIN SELECT RAISE(ABORT, 'poison'); END`
      : `ALTER TABLE ${table} ADD CONSTRAINT poison CHECK (reference NOT ${like}) NOT VALID`;
  await transact(async (session) => {
    await session.read({ sql, bindings: [] });
  });
}
