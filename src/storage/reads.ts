import { isWhole } from "../domain/api-key.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis } from "../domain/values/time.js";
import type { DepositRail, Page, ReadLimits, Reads } from "../ledger/ports/reads.js";
import type { Cell } from "./database.js";
import { accountsPage, pageOfAccount } from "./lists/accounts.js";
import { depositsPage } from "./lists/deposits.js";
import { transactionsPage } from "./lists/transactions.js";
import { UnreadableRowError } from "./secrets/unreadable-row.js";
import type { OpenBook } from "./sql/book-directory.js";
import type { Engine } from "./sql/engine.js";
import { type ListedOrganizationRow, organizationOf } from "./sql/organization-rows.js";
import type { Reader } from "./sql/reader.js";
import { limitsOf, type LimitsRow } from "./sql/records/book-head-rows.js";
import { depositColumns, depositOf, type DepositRow } from "./sql/records/deposit-rows.js";
import { destinationOf, type DestinationRow } from "./sql/records/destination-rows.js";
import { freezeOf, type FreezeRow, standingFreezesColumn } from "./sql/records/freeze-rows.js";
import { fullAccountOf, type FullAccountRow } from "./sql/records/holder-rows.js";
import { type ReadTransactionRow, transactionOf, withBalanceAfter } from "./sql/records/transaction-rows.js";
import { orStoreError } from "./sql/store-error.js";

type Rows = Pick<Reader, "rows">;

/** Implements the port `Reads` for one cell. */
export function reads({
  reader,
  listReader,
  engine,
  directory,
  number: cell,
}: Pick<Cell, "engine" | "directory" | "number"> & { readonly reader: Rows; readonly listReader: Rows }): Reads {
  const statements = readStatements(engine);

  const { one, page } = ofBooks({ reader, engine, directory });

  return {
    organization: (organizationId) =>
      one(
        organizationId,
        () => reader.rows<ListedOrganizationRow>(statements.organization, [organizationId]),
        (row, { keys }) => {
          const found = organizationOf(row, { cell, keys });
          if (!isWhole(found)) throw new UnreadableRowError(`the organization ${organizationId}`);
          return found;
        },
      ),

    account: (organizationId, id) =>
      one(organizationId, ({ number }) => reader.rows<FullAccountRow>(statements.account, [id, number]), fullAccountOf),

    limits: (organizationId) =>
      one(organizationId, ({ number }) => reader.rows<ReadLimitsRow>(statements.limits, [number]), readLimitsOf),

    accounts: (organizationId, filters, request) =>
      page(organizationId, (book) => accountsPage(listReader, engine, { book, filters, page: request }), fullAccountOf),

    freezes: (organizationId, accountId, request) =>
      page(
        organizationId,
        ({ number }) =>
          pageOfAccount<FreezeRow>(listReader, engine, "freezes", { book: number, accountId, page: request }),
        freezeOf,
      ),

    transaction: (organizationId, id) =>
      one(
        organizationId,
        ({ number }) => reader.rows<ReadTransactionRow>(statements.transaction, [id, number]),
        transactionOf,
      ),

    transactions: (organizationId, filters, request) =>
      page(
        organizationId,
        ({ number }) => transactionsPage(listReader, engine, { book: number, filters, page: request }),
        transactionOf,
      ),

    deposit: (organizationId, id) =>
      one(organizationId, ({ number }) => reader.rows<DepositRow>(statements.deposit, [id, number]), depositOf),

    deposits: (organizationId, filters, request) =>
      page(
        organizationId,
        ({ number }) => depositsPage(listReader, engine, { book: number, filters, page: request }),
        depositOf,
      ),

    depositRails: (organizationId) =>
      orStoreError(engine, reader.rows<DepositRail>(statements.depositRails, [organizationId])),

    destination: (organizationId, id) =>
      one(
        organizationId,
        ({ number }) => reader.rows<DestinationRow>(statements.destination, [id, number]),
        destinationOf,
      ),

    destinations: (organizationId, accountId, request) =>
      page(
        organizationId,
        ({ number }) =>
          pageOfAccount<DestinationRow>(listReader, engine, "destinations", { book: number, accountId, page: request }),
        destinationOf,
      ),
  };
}

/** Reads rows of a book that is open, or opens it first. */
function ofBooks({ reader, engine, directory }: Pick<Cell, "engine" | "directory"> & { readonly reader: Rows }) {
  const findBook = async (organizationId: OrganizationId): Promise<OpenBook | undefined> => {
    const finding = directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
    const [book] = await orStoreError(engine, finding);
    return book;
  };

  const one = async <Row, Resource>(
    organizationId: OrganizationId,
    read: (book: OpenBook) => Promise<readonly Row[]>,
    resourceOf: (row: Row, book: OpenBook) => Resource | undefined,
  ): Promise<Resource | undefined> => {
    const book = directory.get(organizationId) ?? (await findBook(organizationId));
    if (book === undefined) return undefined;
    const [row] = await orStoreError(engine, read(book));
    return row === undefined ? undefined : resourceOf(row, book);
  };

  const page = async <Row, Resource>(
    organizationId: OrganizationId,
    read: (book: OpenBook) => Promise<Page<Row>>,
    resourceOf: (row: Row, book: OpenBook) => Resource,
  ): Promise<Page<Resource>> => {
    const book = directory.get(organizationId) ?? (await findBook(organizationId));
    if (book === undefined) return { rows: [], nextBeforeSeq: undefined, lookedAt: 0 };
    const { rows, ...others } = await orStoreError(engine, read(book));
    return { ...others, rows: rows.map((row) => resourceOf(row, book)) };
  };

  return { one, page };
}

function readStatements(engine: Engine) {
  const { table } = engine;
  return {
    organization: `
      SELECT o.*, b.suspended_seq, b.receipts_required_seq
      FROM ${table("organizations")} o JOIN ${table("books")} b ON b.organization_id = o.id WHERE o.id = ?`,
    account: `
      SELECT a.*, h.user_id, h.phone_number, h.email, ${standingFreezesColumn(engine)}
      FROM ${table("accounts")} a JOIN ${table("account_holders")} h ON h.account_id = a.id
      WHERE a.id = ? AND a.book = ?`,
    limits: `SELECT * FROM ${table("books")} WHERE number = ?`,
    transaction: `
      SELECT ${withBalanceAfter(engine)} FROM ${table("transactions")} t WHERE t.id = ? AND t.book = ?`,
    deposit: `SELECT ${depositColumns(engine)} FROM ${table("deposits")} d WHERE d.id = ? AND d.book = ?`,
    destination: `SELECT * FROM ${table("destinations")} WHERE id = ? AND book = ?`,
    depositRails: `
      SELECT rail, settings FROM ${table("rail_accounts")}
      WHERE organization_id = ? AND deposits_since IS NOT NULL ORDER BY rail`,
  };
}

type ReadLimitsRow = LimitsRow & { readonly last_recorded_at: number };

function readLimitsOf(row: ReadLimitsRow): ReadLimits | undefined {
  const limits = limitsOf(row);
  return limits === undefined ? undefined : { ...limits, lastRecordedAt: toUnixMillis(row.last_recorded_at) };
}
