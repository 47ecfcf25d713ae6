import type { Knex } from "knex";

import type { Account } from "../domain/account.js";
import type { AccountId, OrganizationId } from "../domain/ids.js";
import type { Transaction } from "../domain/transaction.js";
import type { Database } from "./database.js";
import type { AccountFilters, Page, PageRequest, Reads, TransactionFilters } from "./read-port.js";
import { orStoreError, query } from "./query.js";
import { accountOf, transactionOf, type AccountRow, type TransactionRow } from "./rows.js";

const ACCOUNT = "SELECT * FROM accounts WHERE id = ? AND organization_id = ?";
const TRANSACTION = "SELECT * FROM transactions WHERE id = ? AND organization_id = ?";

/** The read port, on Knex. Lists are keysets on `seq`: a page costs the same however deep it is. */
export function reads({ read, engine }: Database): Reads {
  const answered = <Result>(work: PromiseLike<Result>): Promise<Result> => orStoreError(engine, work);
  return {
    async account(organizationId, id) {
      const [row] = await answered(query<AccountRow>(read, ACCOUNT, [id, organizationId]));
      return row === undefined ? undefined : accountOf(row);
    },

    async accounts(organizationId, filters, page) {
      const rows = await answered(accountsQuery(read, organizationId, filters, page));
      return pageOf(rows, page, accountOf);
    },

    async transaction(organizationId, id) {
      const [row] = await answered(query<TransactionRow>(read, TRANSACTION, [id, organizationId]));
      return row === undefined ? undefined : transactionOf(row);
    },

    async transactions(organizationId, filters, page) {
      const rows = await answered(transactionsQuery(read, organizationId, filters, page));
      return pageOf(rows, page, transactionOf);
    },
  };
}

/** One row more than the page holds: it tells whether there is a next one. */
function accountsQuery(
  read: Knex,
  organizationId: OrganizationId,
  filters: AccountFilters,
  { size, beforeSeq }: PageRequest,
): PromiseLike<AccountRow[]> {
  const { userId, phoneNumber, email, status } = filters;
  return read<AccountRow>("accounts")
    .where({
      organization_id: organizationId,
      ...(userId === undefined ? {} : { user_id: userId }),
      ...(phoneNumber === undefined ? {} : { phone_number: phoneNumber }),
      ...(email === undefined ? {} : { email }),
      ...(status === undefined ? {} : { status }),
    })
    .modify((builder) => {
      if (beforeSeq !== undefined) void builder.where("seq", "<", beforeSeq);
    })
    .orderBy("seq", "desc")
    .limit(size + 1)
    .select<AccountRow[]>("*");
}

/** One row more than the page holds, as for accounts. */
function transactionsQuery(
  read: Knex,
  organizationId: OrganizationId,
  filters: TransactionFilters,
  page: PageRequest,
): PromiseLike<readonly TransactionRow[]> {
  const { accountId, ...others } = filters;
  return accountId === undefined
    ? transactionsOfOrganization(read, organizationId, others, page)
    : transactionsOfAccount(read, { organizationId, accountId }, others, page);
}

function transactionsOfOrganization(
  read: Knex,
  organizationId: OrganizationId,
  filters: OtherFilters,
  { size, beforeSeq }: PageRequest,
): PromiseLike<readonly TransactionRow[]> {
  const match = matching({ ...filters, organizationId, beforeSeq });
  return query(read, `SELECT t.* FROM transactions t WHERE ${match.sql} ORDER BY t.seq DESC LIMIT ?`, [
    ...match.bindings,
    size + 1,
  ]);
}

/**
 * Walks the account's rows in the journal, from the newest or from where the last page ended, until as many transactions
 * match as are wanted. Only the page itself is sorted.
 */
function transactionsOfAccount(
  read: Knex,
  { organizationId, accountId }: { organizationId: OrganizationId; accountId: AccountId },
  filters: OtherFilters,
  { size, beforeSeq }: PageRequest,
): PromiseLike<readonly TransactionRow[]> {
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
      SELECT j.seq, j.previous_seq, CASE WHEN ${match.sql} THEN 1 ELSE 0 END, walk.hits_before + walk.hit
      FROM walk CROSS JOIN journal j LEFT JOIN transactions t ON t.seq = j.seq
      WHERE j.seq = walk.previous_seq AND walk.hits_before + walk.hit < ?
    )
    SELECT t.* FROM walk CROSS JOIN transactions t WHERE walk.hit = 1 AND t.seq = walk.seq ORDER BY t.seq DESC`;
  return query(read, sql, [accountId, organizationId, ...start.bindings, ...match.bindings, size + 1]);
}

type OtherFilters = Omit<TransactionFilters, "accountId">;

/** A condition on the row `t` of transactions that is true where all that is given matches. */
function matching(given: OtherFilters & { organizationId?: OrganizationId; beforeSeq?: number | undefined }): {
  readonly sql: string;
  readonly bindings: readonly (string | number)[];
} {
  const conditions = [
    ["t.organization_id = ?", given.organizationId],
    ["t.seq < ?", given.beforeSeq],
    ["t.type = ?", given.type],
    ["t.status = ?", given.status],
    ["t.reference = ?", given.reference],
    ["t.created_at >= ?", given.createdAfter],
    ["t.created_at < ?", given.createdBefore],
  ].filter((condition): condition is [string, string | number] => condition[1] !== undefined);
  return {
    // A row of the journal that created no transaction has no `t`.
    sql: ["t.seq IS NOT NULL", ...conditions.map(([sql]) => sql)].join(" AND "),
    bindings: conditions.map(([, binding]) => binding),
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
