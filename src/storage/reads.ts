import type { Account } from "../domain/account.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId } from "../domain/values/ids.js";
import type { AccountFilters, Page, PageRequest, Reads, TransactionFilters } from "../ledger/ports/reads.js";
import type { Cell } from "./database.js";
import { blindIndexOf } from "./secrets/personal-data.js";
import type { OpenBook } from "./sql/book-directory.js";
import type { Binding, Engine } from "./sql/engine.js";
import type { Reader } from "./sql/reader.js";
import {
  type AccountRow,
  accountWithPersonOf,
  type PersonRow,
  transactionOf,
  type TransactionRow,
} from "./sql/rows.js";
import { orStoreError } from "./sql/store-error.js";

type Rows = Pick<Reader, "rows">;
type FullAccountRow = AccountRow & PersonRow;

/**
 * Implements the port `Reads` for one cell. A list pages by `seq`, so a page costs the same however
 * deep it is.
 */
export function reads({
  reader,
  engine,
  directory,
}: Pick<Cell, "engine" | "directory"> & { readonly reader: Rows }): Reads {
  const statements = readStatements(engine);
  /** Calls `read` with the organization's book. Without a book there are no rows. */
  const inBook = async <Row>(
    organizationId: OrganizationId,
    read: (book: OpenBook) => Promise<readonly Row[]>,
  ): Promise<{ readonly book: OpenBook; readonly rows: readonly Row[] } | undefined> => {
    const book = directory.get(organizationId) ?? (await orStoreError(engine, findBook(organizationId)));
    return book === undefined ? undefined : { book, rows: await orStoreError(engine, read(book)) };
  };
  const findBook = async (organizationId: OrganizationId): Promise<OpenBook | undefined> => {
    const [book] = await directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
    return book;
  };

  return {
    async account(organizationId, id) {
      const found = await inBook<FullAccountRow>(organizationId, ({ number }) =>
        reader.rows(statements.account, [id, number]),
      );
      const [row] = found?.rows ?? [];
      return found === undefined || row === undefined ? undefined : accountWithPersonOf(row, found.book);
    },

    async accounts(organizationId, filters, page) {
      const found = await inBook(organizationId, (book) => accountsQuery(reader, engine, { book, filters, page }));
      return found === undefined ? NO_ROWS : pageOf(found.rows, page, (row) => accountWithPersonOf(row, found.book));
    },

    async transaction(organizationId, id) {
      const found = await inBook<TransactionRow>(organizationId, ({ number }) =>
        reader.rows(statements.transaction, [id, number]),
      );
      const [row] = found?.rows ?? [];
      return found === undefined || row === undefined ? undefined : transactionOf(row, found.book);
    },

    async transactions(organizationId, filters, page) {
      const found = await inBook(organizationId, (book) => transactionsQuery(reader, engine, { book, filters, page }));
      return found === undefined ? NO_ROWS : pageOf(found.rows, page, (row) => transactionOf(row, found.book));
    },
  };
}

const NO_ROWS = { rows: [], nextBeforeSeq: undefined } as const;

function readStatements({ table }: Engine) {
  return {
    account: `
      SELECT a.*, h.user_id, h.phone_number, h.email
      FROM ${table("accounts")} a JOIN ${table("account_holders")} h ON h.account_id = a.id
      WHERE a.id = ? AND a.book = ?`,
    transaction: `SELECT * FROM ${table("transactions")} WHERE id = ? AND book = ?`,
  };
}

interface Query<Filters> {
  readonly book: OpenBook;
  readonly filters: Filters;
  readonly page: PageRequest;
}

/**
 * Reads one row more than the page holds. That row shows whether there is a next page.
 *
 * A filter on the holder reads the holders in the order of an index. Other lists read the accounts.
 */
function accountsQuery(
  reader: Rows,
  { table }: Engine,
  { book, filters: { userId, phoneNumber, email, status }, page: { size, beforeSeq } }: Query<AccountFilters>,
): Promise<readonly FullAccountRow[]> {
  const ofHolder = userId !== undefined || phoneNumber !== undefined || email !== undefined;
  const ordered = ofHolder ? "h" : "a";
  const match = allOf([
    [`${ordered}.book = ?`, book.number],
    [`${ordered}.seq < ?`, beforeSeq],
    ["h.user_id = ?", userId],
    [
      "h.phone_number_index = ?",
      phoneNumber === undefined ? undefined : blindIndexOf(book.keys, "phone_number", phoneNumber),
    ],
    ["h.email_index = ?", email === undefined ? undefined : blindIndexOf(book.keys, "email", email)],
    ["a.status = ?", status],
  ]);
  const [first, second] = ofHolder
    ? [`${table("account_holders")} h`, `${table("accounts")} a`]
    : [`${table("accounts")} a`, `${table("account_holders")} h`];
  // CROSS JOIN makes SQLite read the first table in the order of its index.
  return reader.rows(
    `SELECT a.*, h.user_id, h.phone_number, h.email FROM ${first} CROSS JOIN ${second}
     WHERE a.id = h.account_id AND ${match.sql} ORDER BY ${ordered}.seq DESC LIMIT ?`,
    [...match.bindings, size + 1],
  );
}

/** Reads one row more than the page holds, as for accounts. */
function transactionsQuery(
  reader: Rows,
  engine: Engine,
  { book, filters, page }: Query<TransactionFilters>,
): Promise<readonly TransactionRow[]> {
  const { accountId, ...others } = filters;
  return accountId === undefined
    ? transactionsOfBook(reader, engine, { book, filters: others, page })
    : transactionsOfAccount(reader, engine, { book, filters: others, page, accountId });
}

function transactionsOfBook(
  reader: Rows,
  { table }: Engine,
  { book, filters, page: { size, beforeSeq } }: Query<OtherFilters>,
): Promise<readonly TransactionRow[]> {
  const match = matching({ ...filters, book: book.number, beforeSeq });
  return reader.rows(`SELECT t.* FROM ${table("transactions")} t WHERE ${match.sql} ORDER BY t.seq DESC LIMIT ?`, [
    ...match.bindings,
    size + 1,
  ]);
}

/**
 * Walks back along the account's rows in the journal, from its newest row or from the end of the
 * last page. The walk stops when the page is full. Only the rows of the page are sorted.
 */
function transactionsOfAccount(
  reader: Rows,
  { table }: Engine,
  { book, filters, page, accountId }: Query<OtherFilters> & { readonly accountId: AccountId },
): Promise<readonly TransactionRow[]> {
  const { size, beforeSeq } = page;
  const match = matching(filters);
  const start =
    beforeSeq === undefined
      ? { sql: `SELECT last_seq FROM ${table("accounts")} WHERE id = ? AND book = ?`, bindings: [] }
      : {
          sql: `SELECT previous_seq FROM ${table("journal")} WHERE account_id = ? AND book = ? AND seq = ?`,
          bindings: [beforeSeq],
        };
  const sql = `
    WITH RECURSIVE walk (seq, previous_seq, hit, hits_before) AS (
      SELECT CAST(0 AS BIGINT), (${start.sql}), 0, 0
      UNION ALL
      SELECT j.seq, j.previous_seq, CASE WHEN t.seq IS NOT NULL AND ${match.sql} THEN 1 ELSE 0 END, walk.hits_before + walk.hit
      FROM walk CROSS JOIN ${table("journal")} j LEFT JOIN ${table("transactions")} t ON t.book = j.book AND t.seq = j.seq
      WHERE j.book = ? AND j.seq = walk.previous_seq AND walk.hits_before + walk.hit < ?
    )
    SELECT t.* FROM walk CROSS JOIN ${table("transactions")} t
    WHERE walk.hit = 1 AND t.book = ? AND t.seq = walk.seq ORDER BY t.seq DESC`;
  const { number } = book;
  return reader.rows(sql, [accountId, number, ...start.bindings, ...match.bindings, number, size + 1, number]);
}

type OtherFilters = Omit<TransactionFilters, "accountId">;

/** Builds the condition on the row `t` of transactions. */
function matching(given: OtherFilters & { book?: number; beforeSeq?: number | undefined }): Condition {
  return allOf([
    ["t.book = ?", given.book],
    ["t.seq < ?", given.beforeSeq],
    ["t.type = ?", given.type],
    ["t.status = ?", given.status],
    ["t.reference = ?", given.reference],
    ["t.created_at >= ?", given.createdAfter],
    ["t.created_at < ?", given.createdBefore],
  ]);
}

interface Condition {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

/** Joins the conditions whose binding is defined with AND. */
function allOf(conditions: readonly (readonly [sql: string, binding: Binding | undefined])[]): Condition {
  const given = conditions.filter((condition): condition is [string, Binding] => condition[1] !== undefined);
  return {
    sql: given.length === 0 ? "TRUE" : given.map(([sql]) => sql).join(" AND "),
    bindings: given.map(([, binding]) => binding),
  };
}

function pageOf<Row extends { readonly seq: number }, Resource extends Account | Transaction>(
  found: readonly Row[],
  { size }: PageRequest,
  resourceOf: (row: Row) => Resource,
): Page<Resource> {
  const rows = found.slice(0, size);
  return { rows: rows.map(resourceOf), nextBeforeSeq: found.length > size ? rows.at(-1)?.seq : undefined };
}
