import { createHash } from "node:crypto";

import type { DepositId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { RAIL_MESSAGES } from "../../model/rails.js";
import type { InboxMessage, RailInbox, StoredMessage } from "../../settlement/ports/inbox.js";
import type { Cell } from "../database.js";
import type { Engine, Read } from "../sql/engine.js";
import { orStoreError, runAlone } from "../sql/store-error.js";

/**
 * A thief of a callback's address can send messages, but cannot fill the disk. The results of our
 * own status queries have a room of their own, for more than we ever ask: they must not take the
 * room of what the rail says by itself.
 */
const MESSAGES_MAX = 50;
const RESULTS_MAX = 1_000;

/** The purpose of a message about the return of a deposit, whose id it has. */
const RETURN = "return";

interface AddedMessage {
  readonly transactionId: TransactionId | DepositId;
  readonly purpose: InboxMessage["purpose"] | typeof RETURN;
  readonly body: string;
}

type InboxRow = Omit<RowOf<typeof RAIL_MESSAGES>, "due_at" | "sha256">;

interface SeenRow {
  readonly stored: number;
  readonly known: number;
}

type MessageRow = Pick<RowOf<typeof RAIL_MESSAGES>, "purpose" | "body_masked" | "received_at">;

/** Implements the port `RailInbox` for one cell. */
export function railInbox({ engine, reader, transact }: Pick<Cell, "engine" | "reader" | "transact">): RailInbox {
  const statements = inboxStatements(engine);
  const change = async (read: Read): Promise<boolean> => (await runAlone({ engine, transact }, read)).length > 0;
  /** A message that need not be stored costs no transaction: anybody may repeat one without end. */
  const seen = async (
    { transactionId, purpose }: Pick<AddedMessage, "transactionId" | "purpose">,
    sha256: string,
  ): Promise<"known" | "full" | undefined> => {
    const bindings = [isResult(purpose), sha256, transactionId];
    const [row] = await orStoreError(engine, reader.rows<SeenRow>(statements.seen, bindings));
    if (row === undefined) return undefined;
    if (row.known > 0) return "known";
    return row.stored >= roomOf(purpose) ? "full" : undefined;
  };
  const add = async (message: AddedMessage, now: UnixMillis): ReturnType<RailInbox["add"]> => {
    const { transactionId, purpose, body } = message;
    const sha256 = createHash("sha256").update(body).digest("hex");
    const before = await seen(message, sha256);
    if (before !== undefined) return before;
    const room = [transactionId, isResult(purpose), roomOf(purpose)];
    const row = [transactionId, purpose, sha256, body, now, purpose, now, ...room];
    if (await change({ sql: statements.add, bindings: row })) return "stored";
    // Meanwhile another server has stored the same text, or the last one that is allowed.
    return (await seen(message, sha256)) ?? "full";
  };
  const alone = oneByOne();
  return {
    add: (message, now) => alone(message.transactionId, () => add(message, now)),
    addAboutReturn: (id, body, now) => {
      const message = { transactionId: id, purpose: RETURN, body } as const;
      return alone(id, () => add(message, now));
    },
    aboutReturn: async (id) => {
      const rows = await orStoreError(engine, reader.rows<MessageRow>(statements.messages, [id, id]));
      return rows.map((row) => row.body_masked);
    },
    due: async ({ now, limit }) => {
      const rows = await orStoreError(engine, reader.rows<InboxRow>(statements.due, [now, limit]));
      return rows.map((row): InboxMessage => ({
        id: row.id,
        transactionId: row.transaction_id as TransactionId,
        purpose: row.purpose as InboxMessage["purpose"],
        body: row.body_masked,
        receivedAt: toUnixMillis(row.received_at),
        tries: row.tries,
      }));
    },
    postpone: async (id, { dueAt, tries }) => {
      await change({ sql: statements.postpone, bindings: [dueAt, tries, id] });
    },
    settle: async (id) => {
      await change({ sql: statements.settle, bindings: [id] });
    },
    messages: async (transactionId) => {
      const rows = await orStoreError(
        engine,
        reader.rows<MessageRow>(statements.messages, [transactionId, transactionId]),
      );
      return rows.map((row): StoredMessage => ({
        purpose: row.purpose as StoredMessage["purpose"],
        body: row.body_masked,
        receivedAt: toUnixMillis(row.received_at),
      }));
    },
  };
}

function isResult(purpose: AddedMessage["purpose"]): number {
  return purpose === "status" ? 1 : 0;
}

function roomOf(purpose: AddedMessage["purpose"]): number {
  return purpose === "status" ? RESULTS_MAX : MESSAGES_MAX;
}

/**
 * Returns a function that runs work of one key after the other. Thousands of messages that come at
 * once would all find room for one more, and each begin a transaction.
 */
function oneByOne(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, result);
    const forget = (): void => {
      if (last.get(key) === result) last.delete(key);
    };
    result.then(forget, forget);
    return result;
  };
}

function inboxStatements({ table, int64 }: Engine) {
  const messages = table("rail_messages");
  const result = "CASE WHEN purpose = 'status' THEN 1 ELSE 0 END";
  return {
    add: `
      INSERT INTO ${messages} (transaction_id, purpose, sha256, body_masked, received_at, due_at, tries)
      SELECT ?, ?, ?, ?, ?, CASE WHEN CAST(? AS TEXT) = '${RETURN}' THEN NULL ELSE CAST(? AS ${int64}) END, 0
      WHERE (SELECT COUNT(*) FROM ${messages} WHERE transaction_id = ? AND ${result} = ?) < ?
      ON CONFLICT (transaction_id, sha256) DO NOTHING RETURNING id`,
    seen: `
      SELECT COUNT(CASE WHEN ${result} = ? THEN 1 END) AS stored, COUNT(CASE WHEN sha256 = ? THEN 1 END) AS known
      FROM ${messages} WHERE transaction_id = ?`,
    due: `
      SELECT id, transaction_id, purpose, body_masked, received_at, tries FROM ${messages}
      WHERE due_at IS NOT NULL AND due_at <= ? AND NOT EXISTS (
        SELECT 1 FROM ${table("transactions")} t JOIN ${table("books")} b ON b.number = t.book
        WHERE t.id = transaction_id AND b.state IN ('MOVING', 'MOVED'))
      ORDER BY due_at LIMIT ?`,
    postpone: `UPDATE ${messages} SET due_at = ?, tries = ? WHERE id = ? AND due_at IS NOT NULL RETURNING id`,
    settle: `UPDATE ${messages} SET due_at = NULL WHERE id = ? RETURNING id`,
    // Of the results that have been applied, the last one says all: an order has thousands of them.
    messages: `
      SELECT purpose, body_masked, received_at FROM ${messages}
      WHERE transaction_id = ? AND (purpose <> 'status' OR due_at IS NOT NULL OR id = (
        SELECT MAX(id) FROM ${messages} WHERE transaction_id = ? AND purpose = 'status' AND due_at IS NULL))
      ORDER BY received_at, id`,
  };
}
