import type { Account } from "../domain/account.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, OrganizationId } from "../domain/values/ids.js";
import type { AccountFilters, Page, PageRequest, Reads, TransactionFilters } from "../ledger/ports/reads.js";
import type { Database } from "./database.js";
import type { Reader } from "./sql/reader.js";
import { accountOf, type AccountRow, transactionOf, type TransactionRow } from "./sql/rows.js";
import { orStoreError } from "./sql/store-error.js";

const ACCOUNT = "SELECT * FROM accounts WHERE id = ? AND organization_id = ?";
const TRANSACTION = "SELECT * FROM transactions WHERE id = ? AND organization_id = ?";

type Rows = Pick<Reader, "rows">;

/**
 * Implements the port `Reads`. A list pages by `seq`, so a page costs the same however deep it is.
 */
export function reads({ reader, engine }: Pick<Database, "engine"> & { readonly reader: Rows }): Reads {
  const answered = <Result>(work: PromiseLike<Result>): Promise<Result> => orStoreError(engine, work);
  return {
    async account(organizationId, id) {
      const [row] = await answered(reader.rows<AccountRow>(ACCOUNT, [id, organizationId]));
      return row === undefined ? undefined : accountOf(row);
    },

    async accounts(organizationId, filters, page) {
      const rows = await answered(accountsQuery(reader, organizationId, filters, page));
      return pageOf(rows, page, accountOf);
    },

    async transaction(organizationId, id) {
      const [row] = await answered(reader.rows<TransactionRow>(TRANSACTION, [id, organizationId]));
      return row === undefined ? undefined : transactionOf(row);
    },

    async transactions(organizationId, filters, page) {
      const rows = await answered(transactionsQuery(reader, organizationId, filters, page));
      return pageOf(rows, page, transactionOf);
    },
  };
}

/** Reads one row more than the page holds. That row shows whether there is a next page. */
function accountsQuery(
  reader: Rows,
  organizationId: OrganizationId,
  { userId, phoneNumber, email, status }: AccountFilters,
  { size, beforeSeq }: PageRequest,
): Promise<readonly AccountRow[]> {
  const match = allOf([
    ["organization_id = ?", organizationId],
    ["seq < ?", beforeSeq],
    ["user_id = ?", userId],
    ["phone_number = ?", phoneNumber],
    ["email = ?", email],
    ["status = ?", status],
  ]);
  return reader.rows(`SELECT * FROM accounts WHERE ${match.sql} ORDER BY seq DESC LIMIT ?`, [
    ...match.bindings,
    size + 1,
  ]);
}

/** Reads one row more than the page holds, as for accounts. */
function transactionsQuery(
  reader: Rows,
  organizationId: OrganizationId,
  filters: TransactionFilters,
  page: PageRequest,
): Promise<readonly TransactionRow[]> {
  const { accountId, ...others } = filters;
  return accountId === undefined
    ? transactionsOfOrganization(reader, organizationId, others, page)
    : transactionsOfAccount(reader, { organizationId, accountId }, others, page);
}

function transactionsOfOrganization(
  reader: Rows,
  organizationId: OrganizationId,
  filters: OtherFilters,
  { size, beforeSeq }: PageRequest,
): Promise<readonly TransactionRow[]> {
  const match = matching({ ...filters, organizationId, beforeSeq });
  return reader.rows(`SELECT t.* FROM transactions t WHERE ${match.sql} ORDER BY t.seq DESC LIMIT ?`, [
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
  { organizationId, accountId }: { organizationId: OrganizationId; accountId: AccountId },
  filters: OtherFilters,
  { size, beforeSeq }: PageRequest,
): Promise<readonly TransactionRow[]> {
  const match = matching(filters);
  const start =
    beforeSeq === undefined
      ? { sql: "SELECT last_seq FROM accounts WHERE id = ? AND organization_id = ?", bindings: [] }
      : {
          sql: "SELECT previous_seq FROM journal WHERE account_id = ? AND organization_id = ? AND seq = ?",
          bindings: [beforeSeq],
        };
  const sql = `
    WITH RECURSIVE walk (seq, previous_seq, hit, hits_before) AS (
      SELECT CAST(0 AS BIGINT), (${start.sql}), 0, 0
      UNION ALL
      SELECT j.seq, j.previous_seq, CASE WHEN t.seq IS NOT NULL AND ${match.sql} THEN 1 ELSE 0 END, walk.hits_before + walk.hit
      FROM walk CROSS JOIN journal j LEFT JOIN transactions t ON t.seq = j.seq
      WHERE j.seq = walk.previous_seq AND walk.hits_before + walk.hit < ?
    )
    SELECT t.* FROM walk CROSS JOIN transactions t WHERE walk.hit = 1 AND t.seq = walk.seq ORDER BY t.seq DESC`;
  return reader.rows(sql, [accountId, organizationId, ...start.bindings, ...match.bindings, size + 1]);
}

type OtherFilters = Omit<TransactionFilters, "accountId">;

/** Builds the condition on the row `t` of transactions. */
function matching(
  given: OtherFilters & { organizationId?: OrganizationId; beforeSeq?: number | undefined },
): Condition {
  return allOf([
    ["t.organization_id = ?", given.organizationId],
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
  readonly bindings: readonly (string | number)[];
}

/** Joins the conditions whose binding is defined with AND. */
function allOf(conditions: readonly (readonly [sql: string, binding: string | number | undefined])[]): Condition {
  const given = conditions.filter((condition): condition is [string, string | number] => condition[1] !== undefined);
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
