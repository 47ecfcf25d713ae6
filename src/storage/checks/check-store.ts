import { createHmac } from "node:crypto";

import type { CheckedPayout, CheckStore, StandingCheck } from "../../checks/ports.js";
import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { OLD_SECRET_MILLIS } from "../../domain/webhooks/secrets.js";
import { CHECK_ROWS, WAITS_FOR_CHECK } from "../../model/transactions.js";
import type { Cell } from "../database.js";
import { isKeptHere } from "../moves/here.js";
import { payments } from "../rails/payments.js";
import { reads } from "../reads.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Binding, Engine } from "../sql/engine.js";
import { checkColumns, type CheckRow, payoutCheckOf } from "../sql/journal-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** Implements the port `CheckStore` for one cell. */
export function checkStore(cell: Cell): CheckStore {
  const { engine, reader, directory } = cell;
  const sql = checkStatements(engine);
  const stored = payments(cell);
  const byId = reads(cell);
  const rows = <Row>(statement: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> =>
    orStoreError(engine, reader.rows<Row>(statement, bindings));
  const bookOf = (id: OrganizationId): Promise<OpenBook> => directory.book(id, (read) => rows(read.sql, read.bindings));
  return {
    organizations: async () => {
      const found = await rows<{ readonly organization_id: OrganizationId }>(sql.organizations);
      return found.map((row) => row.organization_id);
    },
    standing: async (organizationId) => {
      const book = await bookOf(organizationId);
      return standingOf(await rows<CheckRow>(sql.standing, [book.number]), book);
    },
    waiting: async (organizationId, limit) => {
      const { number } = await bookOf(organizationId);
      const found = await rows<{ readonly id: TransactionId; readonly created_at: number }>(sql.waiting, [
        number,
        limit,
      ]);
      return found.map(({ id, created_at: at }) => ({ id, acceptedAt: toUnixMillis(at) }));
    },
    payout: async (organizationId, id): Promise<CheckedPayout | undefined> => {
      const transaction = await byId.transaction(organizationId, id);
      const payment = await stored.payment(id);
      if (transaction?.heldFor.includes("CHECK") !== true || payment?.number === undefined) return undefined;
      const { destinationId } = transaction;
      const destination = destinationId && (await byId.destination(organizationId, destinationId));
      const railName = destination?.railName;
      return { ...transaction, kind: payment.numberKind, number: payment.number, railName };
    },
  };
}

/** Returns the check that the two newest rows about it set, with the secrets that sign now. */
function standingOf([newest, earlier]: readonly CheckRow[], book: OpenBook): StandingCheck | undefined {
  const check = newest && payoutCheckOf(newest, book);
  if (newest === undefined || check === undefined) return undefined;
  const before = earlier && payoutCheckOf(earlier, book);
  const oldUntil = toUnixMillis(check.recordedAt + OLD_SECRET_MILLIS);
  const secrets = [secretOf(book, check.seq)];
  return { check, secrets: before === undefined ? secrets : [...secrets, secretOf(book, before.seq, oldUntil)] };
}

/**
 * Returns the secret of the check that a row has set. Only the book's keys give it, so nothing
 * stores it, and each row brings another one.
 */
function secretOf({ keys, organizationId }: OpenBook, seq: number, validUntil?: UnixMillis) {
  const hmac = createHmac("sha256", keys.seal).update(`kesc-payout-check ${organizationId} ${String(seq)}`);
  return { base64: hmac.digest("base64"), validUntil };
}

function checkStatements(engine: Engine) {
  const { table, indexedBy } = engine;
  const along = `${table("transactions")} t${indexedBy("transactions_checks")}`;
  return {
    organizations: `
      SELECT b.organization_id FROM ${table("books")} b
      WHERE b.state = 'OPEN' AND ${isKeptHere(engine)}
        AND EXISTS (SELECT 1 FROM ${along} WHERE t.book = b.number AND ${WAITS_FOR_CHECK})`,
    waiting: `
      SELECT t.id, t.created_at FROM ${along} WHERE t.book = ? AND ${WAITS_FOR_CHECK} ORDER BY t.seq LIMIT ?`,
    standing: `
      SELECT ${checkColumns(engine)} FROM ${table("journal")} j${indexedBy("journal_payout_checks")}
      WHERE j.book = ? AND ${CHECK_ROWS} ORDER BY j.seq DESC LIMIT 2`,
  };
}
