import type { Knex } from "knex";

import type { Account } from "../domain/account.js";
import type { OrganizationId } from "../domain/ids.js";
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

function transactionsQuery(
  read: Knex,
  organizationId: OrganizationId,
  filters: TransactionFilters,
  { size, beforeSeq }: PageRequest,
): PromiseLike<TransactionRow[]> {
  const { accountId, type, status, reference, createdAfter, createdBefore } = filters;
  return read<TransactionRow>("transactions")
    .where({
      organization_id: organizationId,
      ...(accountId === undefined ? {} : { account_id: accountId }),
      ...(type === undefined ? {} : { type }),
      ...(status === undefined ? {} : { status }),
      ...(reference === undefined ? {} : { reference }),
    })
    .modify((builder) => {
      if (beforeSeq !== undefined) void builder.where("seq", "<", beforeSeq);
      if (createdAfter !== undefined) void builder.where("created_at", ">=", createdAfter);
      if (createdBefore !== undefined) void builder.where("created_at", "<", createdBefore);
    })
    .orderBy("seq", "desc")
    .limit(size + 1)
    .select<TransactionRow[]>("*");
}

function pageOf<Row extends { readonly seq: number }, Resource extends Account | Transaction>(
  found: readonly Row[],
  { size }: PageRequest,
  resourceOf: (row: Row) => Resource,
): Page<Resource> {
  const rows = found.slice(0, size);
  return { rows: rows.map(resourceOf), nextBeforeSeq: found.length > size ? rows.at(-1)?.seq : undefined };
}
