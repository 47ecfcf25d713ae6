import type { Transaction } from "../gen/messages.js";
import type { Visit } from "../page.js";
import type { Reading } from "./upstream.js";

/** A page of a list. */
export interface RowsPage<Row> {
  readonly rows: readonly Row[];
  /** The token of the next page. Null on the last page. */
  readonly next: string | null;
}

/** Which page of a list is read. */
export interface PageAsked {
  readonly page_size: number;
  readonly page_token: string;
}

/** Reads a page of a list, for the pages of the console and for its exports. */
export type ReadRows<Row> = (page: PageAsked) => Promise<Reading<RowsPage<Row>>>;

/** Makes a page of the response of a list. */
export function pageOf<T extends { readonly next_page_token: string | null }, Row>(
  reading: Reading<T>,
  rowsOf: (value: T) => readonly Row[],
): Reading<RowsPage<Row>> {
  if (!reading.ok) return reading;
  return { ok: true, value: { rows: rowsOf(reading.value), next: reading.value.next_page_token } };
}

/** A row with the customer's user_id: null after an erasure, undefined if it is not known. */
export type OfCustomer<Row> = Row & { readonly user_id?: string | null };

const ACCOUNTS_MAX = 100;

/** Adds the user_ids to the rows of a page, by one more read of at most 100 accounts. */
export async function withCustomers<Row extends { readonly account_id: string | null }>(
  visit: Visit,
  reading: Reading<RowsPage<Row>>,
): Promise<Reading<RowsPage<OfCustomer<Row>>>> {
  if (!reading.ok) return reading;
  const users = await usersOf(
    visit,
    reading.value.rows.map(({ account_id }) => account_id),
  );
  const rows = reading.value.rows.map((row) =>
    row.account_id === null || !users.has(row.account_id)
      ? row
      : { ...row, user_id: users.get(row.account_id) ?? null },
  );
  return { ok: true, value: { ...reading.value, rows } };
}

/** Reads the user_ids of at most 100 accounts. If that fails, pages show the ids. */
export async function usersOf(
  visit: Visit,
  accountIds: readonly (string | null)[],
): Promise<ReadonlyMap<string, string | null>> {
  const ids = new Set(accountIds.filter((id) => id !== null));
  if (ids.size === 0) return new Map();
  const request = { account_ids: [...ids].slice(0, ACCOUNTS_MAX), page_size: ACCOUNTS_MAX };
  const accounts = await visit.read("AccountService/ListAccounts", request);
  return new Map(accounts.ok ? accounts.value.accounts.map(({ id, user_id }) => [id, user_id]) : []);
}

/** The payments of a list, with their customers. */
export function withNames<
  T extends { readonly transactions: readonly Transaction[]; readonly next_page_token: string | null },
>(visit: Visit, reading: Reading<T>): Promise<Reading<RowsPage<OfCustomer<Transaction>>>> {
  return withCustomers(
    visit,
    pageOf(reading, ({ transactions }) => transactions),
  );
}
