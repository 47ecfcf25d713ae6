import { type DestinationKind, differsFromLabel } from "../../domain/destination.js";
import type { TierName } from "../../domain/limits/limits.js";
import { payoutFileIn } from "../../domain/payout-file.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, DestinationId, TransactionId } from "../../domain/values/ids.js";
import type { Reference, UserId } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { ACCOUNT_HOLDERS } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import {
  type FileToStore,
  isLeftOut,
  PART_ROWS,
  type PayoutAccount,
  type PayoutFiles,
  type PayoutOwner,
  type RecentPayout,
  type StoredPayouts,
} from "../../payouts/ports.js";
import { type Cell, cellOf, type Database } from "../database.js";
import { firstSeqFrom } from "../lists/first-seq-from.js";
import { decryptPersonal } from "../secrets/personal-data.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Binding } from "../sql/engine.js";
import { insertOf } from "../sql/insert.js";
import { destinationOf, type DestinationRow } from "../sql/records/destination-rows.js";
import type { PayoutFileRow } from "../sql/records/payout-file-rows.js";
import { usageOf, type UsageRow } from "../sql/records/sum-columns.js";
import { type ReadTransactionRow, transactionOf, type TransactionRow } from "../sql/records/transaction-rows.js";
import { inTransaction, orStoreError, readRows } from "../sql/store-error.js";
import { fileStatements } from "./file-statements.js";
import { itemsOfPart, openPart, type PayoutPartRow, refusedIn, sealPart, wholeFileOf } from "./payout-rows.js";

/** A list of what needs a person shows no more. */
const RUNNING_MAX = 100;

type FilesCell = Pick<Cell, "engine" | "directory" | "transact" | "listReader">;

type HeadRow = PayoutPartRow & { readonly parts: number };
type PayingAccountRow = Pick<RowOf<typeof ACCOUNT_HOLDERS, Uint8Array>, "account_id" | "user_id" | "phone_number"> & {
  readonly available_cents: number;
  readonly tier: string;
} & UsageRow;
type StatusRow = Pick<TransactionRow, "status"> & { readonly count: number };
type RecentRow = Pick<
  TransactionRow,
  "id" | "account_id" | "destination_id" | "amount_cents" | "reference" | "created_at"
>;

/** A book that is open, and how its rows are read: where lists run. */
async function opened(database: Pick<Database, "cells">, organization: PayoutOwner) {
  const cell: FilesCell = cellOf(database, organization);
  const { engine, listReader: reader, directory } = cell;
  const rows = <Row>(sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> =>
    readRows<Row>({ engine, reader }, sql, bindings);
  const book = await directory.book(organization.id, (read) => rows(read.sql, read.bindings));
  return { cell, rows, book, sql: fileStatements(engine) };
}

type Opened = Awaited<ReturnType<typeof opened>>;
type Open = (organization: PayoutOwner) => Promise<Opened>;

/** Implements the port `PayoutFiles`. Its reads run where lists run. */
export function payoutFiles(database: Pick<Database, "cells">): PayoutFiles {
  const open: Open = (organization) => opened(database, organization);
  return { ...storedFiles(open), ...payoutFacts(open) };
}

async function storedNamed(all: Opened, sha256: string): Promise<StoredPayouts | undefined> {
  const [head] = await all.rows<HeadRow>(all.sql.head, [sha256, all.book.number, sha256]);
  return head === undefined ? undefined : storedOf(all, head);
}

async function storedOf({ rows, book, sql }: Opened, head: HeadRow): Promise<StoredPayouts> {
  const { rows_sha256: rowsSha256, file_sha256: sha256, parts } = head;
  const [found] = await rows<PayoutFileRow>(sql.file, [book.number, sha256]);
  const file = found === undefined ? undefined : wholeFileOf(found, book);
  const approved = file?.rowsSha256 === rowsSha256 ? file : undefined;
  const outcomes = await rows<Pick<PayoutPartRow, "outcomes">>(sql.outcomes, [book.number, rowsSha256]);
  return {
    sha256,
    rowsSha256,
    approved,
    parts,
    decidedParts: outcomes.length,
    refused: outcomes.reduce((sum, row) => sum + refusedIn(row.outcomes).size, 0),
    preview: openPart(book.keys, { organizationId: book.organizationId, rowsSha256, part: 0 }, head.sealed),
  };
}

function storedFiles(open: Open): Pick<PayoutFiles, "store" | "file" | "approved" | "running" | "counts" | "items"> {
  return {
    store: async (organization, file, now) => {
      const { cell, book } = await open(organization);
      // Part 0 comes last: with it the file is complete.
      for (const [index, part] of [...file.parts.entries()].toReversed()) {
        await storePart(cell, book, { file, part: index + 1, value: part, now });
      }
      await storePart(cell, book, { file, part: 0, value: file.preview, now });
    },
    file: async (organization, sha256) => {
      return storedNamed(await open(organization), sha256);
    },
    running: async (organization) => {
      const all = await open(organization);
      const { number } = all.book;
      const files = await all.rows<PayoutFileRow>(all.sql.running, [number, number, RUNNING_MAX]);
      return (await Promise.all(files.map(({ sha256 }) => storedNamed(all, sha256)))).flatMap((file) => file ?? []);
    },
    counts: async (organization, { rowsSha256 }, part) => {
      const { rows, book, sql } = await open(organization);
      const [row] = await rows<PayoutPartRow>(sql.parts, [book.number, rowsSha256, part, 1]);
      if (row === undefined) return { items: 0, leftOut: 0, refused: 0, made: new Map() };
      const refused = refusedIn(row.outcomes);
      const items = itemsOfPart(row, book);
      const leftOut = items.filter(isLeftOut).length;
      const references = items.flatMap((item) => (isLeftOut(item) || refused.has(item.line) ? [] : [item.reference]));
      const statuses = await rows<StatusRow>(sql.statuses, [JSON.stringify(references), book.number]);
      const made = new Map(statuses.map(({ status, count }) => [status as Transaction["status"], count]));
      return { items: items.length, leftOut, refused: refused.size, made };
    },
    approved: async (organization, { size, beforeSeq = Number.MAX_SAFE_INTEGER }) => {
      const all = await open(organization);
      const files = await all.rows<PayoutFileRow>(all.sql.approved, [all.book.number, beforeSeq, size]);
      const found: (StoredPayouts & { readonly seq: number })[] = [];
      for (const { sha256, seq } of files) {
        const file = await storedNamed(all, sha256);
        if (file !== undefined) found.push({ ...file, seq });
      }
      return found;
    },
    items: async (organization, { sha256, rowsSha256 }, { from, size }) => {
      const { rows, book, sql } = await open(organization);
      const first = Math.floor(from / PART_ROWS) + 1;
      const parts = await rows<PayoutPartRow>(sql.parts, [book.number, rowsSha256, first, 2]);
      const all = parts.flatMap((part) => {
        const refused = refusedIn(part.outcomes);
        return itemsOfPart(part, book).map((item) => ({ item, refused: refused.get(item.line) }));
      });
      const offset = from - (first - 1) * PART_ROWS;
      const page = all.slice(offset, offset + size);
      const references = page.flatMap(({ item }) => (isLeftOut(item) ? [] : [item.reference]));
      const found = await rows<ReadTransactionRow>(sql.transactions, [JSON.stringify(references), book.number]);
      // Somebody else may have used the reference of a row.
      const own = found
        .map((row) => transactionOf(row, book))
        .filter(({ metadata }) => payoutFileIn(metadata) === sha256);
      const made = new Map(own.map((each) => [each.reference, each]));
      const items = page.map(({ item, refused }) => {
        return { item, refused, transaction: isLeftOut(item) ? undefined : made.get(item.reference) };
      });
      return { items, hasMore: all.length > offset + size };
    },
  };
}

/** What a file is compared with. */
function payoutFacts(open: Open): Pick<PayoutFiles, "accounts" | "recent"> {
  return {
    accounts: async (organization, { accountIds, userIds }) => {
      const { rows, book, sql } = await open(organization);
      const names = [JSON.stringify(accountIds), book.number, JSON.stringify(userIds), book.number];
      const found = await rows<PayingAccountRow>(sql.accounts, names);
      const ids = JSON.stringify(found.map((row) => row.account_id));
      const destinations = await rows<DestinationRow>(sql.destinations, [ids]);
      return found.map((row) => accountOf(row, destinations, book));
    },
    recent: async (organization, accountIds, since) => {
      const { cell, rows, book, sql } = await open(organization);
      const { engine, listReader } = cell;
      const from = await orStoreError(engine, firstSeqFrom(listReader, engine, { book: book.number, time: since }));
      const found = await rows<RecentRow>(sql.recent, [JSON.stringify(accountIds), from]);
      return found.map(recentOf);
    },
  };
}

interface NewPart {
  readonly file: FileToStore;
  readonly part: number;
  readonly value: unknown;
  readonly now: number;
}

async function storePart(
  { engine, transact }: Pick<Cell, "engine" | "transact">,
  book: OpenBook,
  { file: { sha256, rowsSha256 }, part, value, now }: NewPart,
): Promise<void> {
  const sealed = sealPart(book.keys, { organizationId: book.organizationId, rowsSha256, part }, value);
  const row = { book: book.number, rows_sha256: rowsSha256, part, file_sha256: sha256 };
  const { touch } = fileStatements(engine);
  await inTransaction({ engine, transact }, async (session) => {
    const there = await session.read({ sql: touch, bindings: [now, book.number, rowsSha256, part] });
    if (there.length > 0) return;
    await session.write([
      insertOf(engine, "payout_parts", [{ ...row, sealed: sealed.toString("hex"), stored_at: now, outcomes: null }]),
    ]);
  });
}

function accountOf(row: PayingAccountRow, destinations: readonly DestinationRow[], book: OpenBook): PayoutAccount {
  const id = row.account_id as AccountId;
  const place = { organizationId: book.organizationId, ownerId: id, field: "phone_number" } as const;
  const { phone_number: sealed } = row;
  return {
    id,
    userId: (row.user_id ?? undefined) as UserId | undefined,
    organizationId: book.organizationId,
    availableCents: row.available_cents,
    tier: row.tier as TierName,
    usage: usageOf(row),
    phoneNumber: sealed === null ? undefined : decryptPersonal(book.keys, place, sealed),
    destinations: destinations
      .filter((each) => each.account_id === id)
      .flatMap((each) => {
        const { number, label, railName } = destinationOf(each, book);
        const hasOtherName = differsFromLabel(label, railName);
        const known = { id: each.id as DestinationId, kind: each.kind as DestinationKind, hasOtherName };
        return number === undefined ? [] : [{ ...known, number }];
      }),
  };
}

function recentOf(row: RecentRow): RecentPayout {
  return {
    id: row.id as TransactionId,
    accountId: row.account_id as AccountId,
    destinationId: (row.destination_id ?? undefined) as DestinationId | undefined,
    amountCents: row.amount_cents,
    reference: row.reference as Reference,
    createdAt: toUnixMillis(row.created_at),
  };
}
