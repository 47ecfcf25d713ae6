import { type BookHead, NO_SUMS } from "../../domain/book.js";
import type { Refusal } from "../../domain/refusal.js";
import { bookEntryOf } from "../../domain/second-person.js";
import { type Actor, OPERATOR } from "../../domain/values/actor.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Cell } from "../database.js";
import { lockMasterKeys } from "../master-keys.js";
import { balanceKeyOf } from "../secrets/balance-mac.js";
import { newBookKeys, RowSalts } from "../secrets/book-keys.js";
import { readMasterKeys } from "../secrets/master-key.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Columns, Session } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { journalRowOf } from "../sql/journal-rows.js";
import {
  bookKeysHexOf,
  contentOfOrganization,
  newOrganizationRow,
  type OrganizationRow,
} from "../sql/organization-rows.js";
import { BOOK_COLUMNS, bookRowOf } from "../sql/records/book-head-rows.js";

/** Who makes an organization. Without it, the `kesc` command on the database does. */
export interface Authorship {
  readonly actor: Actor;
  /** Runs first in the transaction. Nothing is made if there is a refusal. */
  readonly refusal: (session: Session) => Promise<Refusal | undefined>;
}

const NEW_BOOK_COLUMNS = { ...BOOK_COLUMNS, organization_id: "text", state: "text" } as const satisfies Columns;

const FIRST_SEQ = 1;

/**
 * Creates the organization, its book with new keys, and the first row of the book. Resolves with
 * the refusal of the author, if there is one.
 */
export function insertOrganization(
  cell: Cell,
  row: OrganizationRow,
  author?: Authorship,
): Promise<Refusal | undefined> {
  const { table, insertInto } = cell.engine;
  const organizationId = row.id as OrganizationId;
  return cell.transact(async (session) => {
    // Under this lock the numbers of new books do not collide, and no rotation removes the key.
    await lockMasterKeys(cell, session);
    const refusal = await author?.refusal(session);
    if (refusal !== undefined) return refusal;
    const [keys, wrapped] = newBookKeys(readMasterKeys(cell.masterKeyFile), organizationId);
    const [last] = (await session.read({
      sql: `SELECT COALESCE(MAX(number), 0) AS number FROM ${table("books")}`,
      bindings: [],
    })) as readonly [{ readonly number: number }];
    const number = last.number + 1;
    const recordedAt = toUnixMillis(row.created_at);
    const by = { organizationId, actor: author?.actor ?? OPERATOR, now: recordedAt };
    const opening = bookEntryOf(by, { kind: "organization.created" });
    const journalRow = journalRowOf(opening, {
      book: number,
      seq: FIRST_SEQ,
      previousSeq: null,
      salt: new RowSalts(keys).of(FIRST_SEQ),
      created: contentOfOrganization(row),
    });
    await session.write([
      insertOf(cell.engine, "organizations", [newOrganizationRow(row, keys)]),
      {
        sql: insertInto(table("books"), NEW_BOOK_COLUMNS),
        rows: [newBookRow(row, { number, balanceKey: balanceKeyOf(keys) })],
      },
      insertOf(cell.engine, "book_keys", [{ book: number, ...bookKeysHexOf(wrapped) }]),
      insertOf(cell.engine, "journal", [journalRow]),
    ]);
    return undefined;
  });
}

function newBookRow(
  row: OrganizationRow,
  book: Pick<OpenBook, "number" | "balanceKey">,
): Readonly<Record<keyof typeof NEW_BOOK_COLUMNS, string | number | null>> {
  const organizationId = row.id as OrganizationId;
  const head: BookHead = {
    organizationId,
    state: "OPEN",
    suspendedSeq: undefined,
    receiptsRequiredSeq: undefined,
    lastSeq: FIRST_SEQ,
    lastRecordedAt: toUnixMillis(row.created_at),
    sums: NO_SUMS,
    limits: undefined,
  };
  return { organization_id: organizationId, state: head.state, ...bookRowOf(head, book) };
}
