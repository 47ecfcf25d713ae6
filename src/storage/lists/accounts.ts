import type { AccountId } from "../../domain/values/ids.js";
import type { AccountFilters, Page, PageRequest } from "../../ledger/ports/reads.js";
import { blindIndexOf } from "../secrets/personal-data.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Binding, Engine } from "../sql/engine.js";
import type { DestinationRow } from "../sql/records/destination-rows.js";
import { type FreezeRow, standingFreezesColumn } from "../sql/records/freeze-rows.js";
import type { FullAccountRow } from "../sql/records/holder-rows.js";
import { createdIn } from "./first-seq-from.js";
import {
  allOf,
  bindingsOf,
  type Condition,
  given,
  type ListQuery,
  type ListReader,
  pageOf,
  readPage,
  statusIn,
} from "./page.js";

const COLUMNS = "a.*, h.user_id, h.phone_number, h.phone_number_index, h.email, h.email_index";

/** Reads one page of the book's accounts, newest first. */
export async function accountsPage(
  reader: ListReader,
  engine: Engine,
  { book, filters, page }: { readonly book: OpenBook; readonly filters: AccountFilters; readonly page: PageRequest },
): Promise<Page<FullAccountRow>> {
  const { fromSeq, toSeq } = await createdIn(reader, engine, { book: book.number, ...filters });
  const inTimeOf = (seq: string): readonly Condition[] =>
    given([
      [`${seq} >= ?`, fromSeq],
      [`${seq} < ?`, toSeq],
    ]);
  if (filters.accountIds !== undefined)
    return pageOfIds(reader, engine, { book, filters, page, inTime: inTimeOf("a.seq") }, filters.accountIds);
  const query = queryOf(engine, book, filters);
  const inTime = inTimeOf(query.seq);
  return readPage(reader, engine, { query: { ...query, along: [...query.along, ...inTime] }, page });
}

interface ListOfIds {
  readonly book: OpenBook;
  readonly filters: AccountFilters;
  readonly page: PageRequest;
  readonly inTime: readonly Condition[];
}

/** Reads the accounts by their ids. They are so few that all of them are read, and sorted here. */
async function pageOfIds(
  reader: ListReader,
  engine: Engine,
  { book, filters, page, inTime }: ListOfIds,
  ids: readonly AccountId[],
): Promise<Page<FullAccountRow>> {
  const { ofUser, withPhoneNumber, withEmail, matching } = conditionsOf(book, filters);
  const conditions: readonly Condition[] = [
    ["a.id = input.id AND h.account_id = a.id AND a.book = ?", book.number],
    ["a.seq < ?", page.beforeSeq ?? Number.MAX_SAFE_INTEGER],
    ...given([["a.deposit_reference = ?", filters.depositReference]]),
    ...[...ofUser, ...withPhoneNumber, ...withEmail, ...matching, ...inTime],
  ];
  const rows = await reader.rows<FullAccountRow>(
    `SELECT ${COLUMNS}, ${standingFreezesColumn(engine)}
     FROM ${engine.input({ id: "text" })} CROSS JOIN ${engine.table("accounts")} a CROSS JOIN ${engine.table("account_holders")} h
     WHERE ${allOf(conditions)}`,
    [JSON.stringify(ids.map((id) => ({ id }))), ...bindingsOf(conditions)],
  );
  const newestFirst = rows.toSorted((left, right) => right.seq - left.seq);
  return { ...pageOf(newestFirst, page), lookedAt: ids.length };
}

/** The tables with rows about one account, and the indexes by it. */
const INDEXES_BY_ACCOUNT = { freezes: "freezes_by_account", destinations: "destinations_of_accounts" } as const;

/** Reads one page of the rows of a table about an account, newest first. */
export function pageOfAccount<Row extends FreezeRow | DestinationRow>(
  reader: ListReader,
  engine: Engine,
  name: keyof typeof INDEXES_BY_ACCOUNT,
  { book, accountId, page }: { readonly book: number; readonly accountId: AccountId; readonly page: PageRequest },
): Promise<Page<Row>> {
  const query: ListQuery = {
    book,
    columns: "r.*",
    from: `${engine.table(name)} r${engine.indexedBy(INDEXES_BY_ACCOUNT[name])}`,
    seq: "r.seq",
    along: [["r.account_id = ? AND r.book = ?", accountId, book]],
  };
  return readPage(reader, engine, { query, page });
}

/** Returns the conditions of the filters. `matching` is what no index serves. */
function conditionsOf({ keys }: OpenBook, { userId, phoneNumber, email, status, tier }: AccountFilters) {
  const blindIndex = (field: "phone_number" | "email", value: string | undefined): Binding | undefined =>
    value === undefined ? undefined : blindIndexOf(keys, field, value);
  const withTier = given([["tier = ?", tier]]);
  return {
    ofUser: given([["h.user_id = ?", userId]]),
    withPhoneNumber: given([["phone_number_index = ?", blindIndex("phone_number", phoneNumber)]]),
    withEmail: given([["email_index = ?", blindIndex("email", email)]]),
    withTier,
    matching: [...statusIn(status), ...withTier],
  };
}

function queryOf(engine: Engine, openBook: OpenBook, filters: AccountFilters): ListQuery {
  const { table, indexedBy } = engine;
  const { number: book } = openBook;
  const { status, depositReference } = filters;
  const columns = `${COLUMNS}, ${standingFreezesColumn(engine)}`;
  const { ofUser, withPhoneNumber, withEmail, withTier, matching } = conditionsOf(openBook, filters);
  if (depositReference !== undefined) {
    // At most one account has the number. Its seq leads to it in the order of the list.
    const seq = `SELECT r.seq FROM ${table("accounts")} r WHERE r.book = ? AND r.deposit_reference = ?`;
    return {
      book,
      columns,
      from: `${table("accounts")} a CROSS JOIN ${table("account_holders")} h`,
      seq: "a.seq",
      along: [
        ["h.account_id = a.id AND a.book = ?", book],
        [`a.seq = (${seq})`, book, depositReference],
        ...[...ofUser, ...withPhoneNumber, ...withEmail, ...matching],
      ],
    };
  }

  // CROSS JOIN makes SQLite read the first table in the order of its index.
  const ofHolders = (index: string | undefined, conditions: Pick<ListQuery, "along" | "matching">): ListQuery => ({
    book,
    columns,
    from: `${table("account_holders")} h${index === undefined ? "" : indexedBy(index)} CROSS JOIN ${table("accounts")} a`,
    seq: "h.seq",
    along: [["a.id = h.account_id AND h.book = ?", book], ...conditions.along],
    matching: conditions.matching,
  });
  if (ofUser.length > 0) {
    const others = [...withPhoneNumber, ...withEmail, ...matching];
    return ofHolders("account_holders_by_user", { along: ofUser, matching: others });
  }
  if (withPhoneNumber.length > 0) {
    const others = [...withEmail, ...matching];
    return ofHolders("account_holders_by_phone_number", { along: withPhoneNumber, matching: others });
  }
  if (withEmail.length > 0) {
    return ofHolders("account_holders_by_email", { along: withEmail, matching });
  }
  const index = status === undefined ? "" : indexedBy("accounts_by_status");
  return {
    book,
    columns,
    from: `${table("accounts")} a${index} CROSS JOIN ${table("account_holders")} h`,
    seq: "a.seq",
    along: [["h.account_id = a.id AND a.book = ?", book]],
    oneOf: status?.map((one): Condition => ["status = ?", one]) ?? [],
    matching: withTier,
  };
}
