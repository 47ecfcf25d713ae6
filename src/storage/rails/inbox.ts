import { createHash } from "node:crypto";

import type { TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { InboxMessage, RailInbox, StoredMessage } from "../../settlement/ports/inbox.js";
import type { Cell } from "../database.js";
import type { Engine, Read } from "../sql/engine.js";
import { orStoreError } from "../sql/store-error.js";

/** Whoever knows a callback's address can send messages, but cannot fill the disk. */
const MESSAGES_MAX = 50;

interface InboxRow {
  readonly id: number;
  readonly transaction_id: string;
  readonly purpose: string;
  readonly body_masked: string;
  readonly tries: number;
}

interface SeenRow {
  readonly stored: number;
  readonly known: number;
}

interface MessageRow {
  readonly purpose: string;
  readonly body_masked: string;
  readonly received_at: number;
}

/** Implements the port `RailInbox` for one cell. */
export function railInbox({ engine, reader, transact }: Pick<Cell, "engine" | "reader" | "transact">): RailInbox {
  const statements = inboxStatements(engine);
  const change = async (read: Read): Promise<boolean> => {
    const rows = await orStoreError(
      engine,
      transact((session) => session.read(read)),
    );
    return rows.length > 0;
  };
  /** A message that need not be stored costs no transaction: anybody may repeat one without end. */
  const seen = async (transactionId: TransactionId, sha256: string): Promise<"known" | "full" | undefined> => {
    const [row] = await orStoreError(engine, reader.rows<SeenRow>(statements.seen, [sha256, transactionId]));
    if (row === undefined || row.stored === 0) return undefined;
    if (row.known > 0) return "known";
    return row.stored >= MESSAGES_MAX ? "full" : undefined;
  };
  const add = async (
    { transactionId, purpose, body }: Parameters<RailInbox["add"]>[0],
    now: UnixMillis,
  ): ReturnType<RailInbox["add"]> => {
    const sha256 = createHash("sha256").update(body).digest("hex");
    const before = await seen(transactionId, sha256);
    if (before !== undefined) return before;
    const row = [transactionId, purpose, sha256, body, now, now, transactionId];
    if (await change({ sql: statements.add, bindings: row })) return "stored";
    // Meanwhile another server has stored the same text, or the last one that is allowed.
    return (await seen(transactionId, sha256)) ?? "full";
  };
  const alone = oneByOne();
  return {
    add: (message, now) => alone(message.transactionId, () => add(message, now)),
    due: async ({ now, limit }) => {
      const rows = await orStoreError(engine, reader.rows<InboxRow>(statements.due, [now, limit]));
      return rows.map((row): InboxMessage => ({
        id: row.id,
        transactionId: row.transaction_id as TransactionId,
        purpose: row.purpose as InboxMessage["purpose"],
        body: row.body_masked,
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
      const rows = await orStoreError(engine, reader.rows<MessageRow>(statements.messages, [transactionId]));
      return rows.map((row): StoredMessage => ({
        purpose: row.purpose as StoredMessage["purpose"],
        body: row.body_masked,
        receivedAt: toUnixMillis(row.received_at),
      }));
    },
  };
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

function inboxStatements({ table }: Engine) {
  const messages = table("rail_messages");
  return {
    add: `
      INSERT INTO ${messages} (transaction_id, purpose, sha256, body_masked, received_at, due_at, tries)
      SELECT ?, ?, ?, ?, ?, ?, 0
      WHERE (SELECT COUNT(*) FROM ${messages} WHERE transaction_id = ?) < ${String(MESSAGES_MAX)}
      ON CONFLICT (transaction_id, sha256) DO NOTHING RETURNING id`,
    seen: `
      SELECT COUNT(*) AS stored, COUNT(CASE WHEN sha256 = ? THEN 1 END) AS known
      FROM ${messages} WHERE transaction_id = ?`,
    due: `
      SELECT id, transaction_id, purpose, body_masked, tries FROM ${messages}
      WHERE due_at IS NOT NULL AND due_at <= ? AND NOT EXISTS (
        SELECT 1 FROM ${table("transactions")} t JOIN ${table("books")} b ON b.number = t.book
        WHERE t.id = transaction_id AND b.state IN ('MOVING', 'MOVED'))
      ORDER BY due_at LIMIT ?`,
    postpone: `UPDATE ${messages} SET due_at = ?, tries = ? WHERE id = ? AND due_at IS NOT NULL RETURNING id`,
    settle: `UPDATE ${messages} SET due_at = NULL WHERE id = ? RETURNING id`,
    messages: `
      SELECT purpose, body_masked, received_at FROM ${messages} WHERE transaction_id = ? ORDER BY received_at, id`,
  };
}
