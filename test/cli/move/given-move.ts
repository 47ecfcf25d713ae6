import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { checkBookFile } from "../../../src/cli/move/book-file.js";
import type { BookExport, Exported } from "../../../src/cli/move/export-book.js";
import { exportBook } from "../../../src/cli/move/export-book.js";
import { importBook, type Imported } from "../../../src/cli/move/import-book.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import type { NairobiDay } from "../../../src/domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { Marker } from "../../../src/statements/marker.js";
import type { Cell, Database, DatabaseAddress } from "../../../src/storage/database.js";
import { openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { columnsOfTables } from "../../../src/storage/moves/columns.js";
import { readBook } from "../../../src/storage/moves/read-book.js";
import { railInbox } from "../../../src/storage/rails/inbox.js";
import { clearAlarm } from "../../../src/storage/seals/alarms.js";
import { sealStore } from "../../../src/storage/seals/seal-store.js";
import { markStore } from "../../../src/storage/statements/marks.js";
import { deliveryStore } from "../../../src/storage/webhooks/delivery-store.js";
import type { SealEvidence } from "../../../src/verify/audit.js";
import { FULL_SPEED } from "../../../src/verify/pace.js";
import { openTestDatabase } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { createDestination } from "../../support/operations/accounts.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";
import { sharedPostgres } from "../../support/postgres.js";
import { migrateCells } from "../../support/postgres/cells.js";
import { recordReserve } from "../../support/record-reserve.js";
import { SEAL_PUBLIC_KEY, sealBooks } from "../../support/seals/given-seals.js";
import { makeKey } from "../../support/service/tenants.js";
import { GivenBooks, makeTraffic } from "../../verify/given/books.js";
import { makeDeposits } from "../../verify/given/deposits.js";
import { makeOperators } from "../../verify/given/operators.js";
import { makeOrders } from "../../verify/given/orders.js";
import { makePayoutList, makePayouts } from "../../verify/given/payouts.js";
import { makeRails } from "../../verify/given/rails.js";

/** From one engine to the other, each way, and from one cell to another of the same database. */
export const DIRECTIONS = ["sqlite to postgres", "postgres to sqlite", "cell to cell"] as const;
export type Direction = (typeof DIRECTIONS)[number];

const EVIDENCE: SealEvidence = { publicKeys: [SEAL_PUBLIC_KEY], published: undefined };
export const clock = (): UnixMillis => toUnixMillis(Date.now());

/** Two places, and an organization at the first that has rows in every table. */
export class GivenMove {
  readonly folder = mkdtempSync(join(tmpdir(), "kesc-move-"));
  readonly source: Database;
  readonly target: Database;
  readonly from: Cell;
  readonly to: Cell;
  readonly books: GivenBooks;
  /** The secret of a key. */
  readonly secret: string;
  readonly #dispose: () => Promise<void>;

  private constructor(
    places: Pick<GivenMove, "source" | "target" | "from" | "to"> & { readonly dispose: () => Promise<void> },
    made: Pick<GivenMove, "books" | "secret">,
  ) {
    this.source = places.source;
    this.target = places.target;
    this.from = places.from;
    this.to = places.to;
    this.books = made.books;
    this.secret = made.secret;
    this.#dispose = places.dispose;
  }

  static async make(direction: Direction): Promise<GivenMove> {
    const places = await (direction === "cell to cell" ? twoCells() : twoDatabases(direction));
    // Another organization, so that the book has another number at the new place.
    await keys(places.target, clock).createOrganization("stranger", { cell: places.to.number });
    const books = await GivenBooks.open(places.source, "Duka");
    return new GivenMove(places, { books, secret: await fill(places.source, books) });
  }

  get organizationId(): OrganizationId {
    return this.books.organizationId;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  export(name = "book.ndjson", given: Partial<BookExport> = {}): Promise<Exported> {
    const { organizationId } = this;
    return exportBook(this.from, {
      organizationId,
      name: "Duka",
      file: this.path(name),
      sealPublicKeys: [Buffer.from(SEAL_PUBLIC_KEY).toString("base64url")],
      now: clock,
      ...given,
    });
  }

  async import(
    name = "book.ndjson",
    given: { readonly onRows?: (rows: number) => void; to?: Cell } = {},
  ): Promise<Imported> {
    const file = checkBookFile(this.path(name));
    const { onRows = () => undefined, to = this.to } = given;
    return importBook(to, { file, seals: EVIDENCE, pace: FULL_SPEED, now: clock, onRows });
  }

  async dispose(): Promise<void> {
    await this.#dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

type Places = Pick<GivenMove, "source" | "target" | "from" | "to"> & { readonly dispose: () => Promise<void> };

async function twoDatabases(direction: Direction): Promise<Places> {
  const [first, second] = direction.split(" to ") as ["sqlite" | "postgres", "sqlite" | "postgres"];
  const source = await openTestDatabase(first);
  const target = await openTestDatabase(second);
  return {
    source: source.database,
    target: target.database,
    from: source.cell,
    to: target.cell,
    dispose: async () => {
      await source.dispose();
      await target.dispose();
    },
  };
}

async function twoCells(): Promise<Places> {
  const url = await (await sharedPostgres()).createDatabase();
  await migrateCells(url, 2);
  const address: DatabaseAddress = { engine: "postgres", url, connectionsMax: 10, masterKeyFile: TEST_MASTER_KEY_FILE };
  const database = await openDatabase(address);
  const [from, to] = database.cells;
  if (to === undefined) throw new Error("the database has one cell");
  return { source: database, target: database, from, to, dispose: () => database.close() };
}

/** Makes rows in every table. Returns the secret of a key. */
async function fill(database: Database, books: GivenBooks): Promise<string> {
  const { organizationId } = books;
  const [cell] = database.cells;
  await makeTraffic(books);
  const zoe = await books.createAccount("zoe");
  await makeOrders(books, zoe);
  const rail = { railAccountId: "rail_lenient" as RailAccountId, facts: { accountsOfAll: "1:2", movesPlace: false } };
  await makeDeposits(books, rail);
  await books.mintOften(zoe, 2_100);
  await books.do((of) => createDestination(of, zoe.id));
  await makeRails(database, organizationId);
  // The rows name operators whom another database does not know. They have the time of the real
  // clock, and the rows before an earlier one.
  await makeOperators(database, organizationId);
  const [payment] = await cell.reader.rows<{ readonly transaction_id: TransactionId }>(
    `SELECT transaction_id FROM ${cell.engine.table("payments")} ORDER BY transaction_id LIMIT 1`,
  );
  if (payment === undefined) throw new Error("there is no payment");
  await railInbox(cell).add({ transactionId: payment.transaction_id, purpose: "collect", body: "{}" }, clock());
  const figure = { place: "KCB", amountCents: toCents(1_000), asOfDay: "2026-11-21" as NairobiDay, evidence: "e" };
  await recordReserve(cell, { organizationId, figure, now: clock() });
  await makePayouts({ cells: [cell] }, organizationId);
  await makePayoutList({ cells: [cell] }, organizationId);
  await makeWebhooks(cell, books);
  const { secret } = await makeKey(keys(database, clock), organizationId);
  await sealBooks(cell);
  const timing = { monotonicMillis: () => 0, wait: () => Promise.resolve() };
  const failing = (error: unknown): void => {
    throw error;
  };
  const lease = { leftMillis: () => 1_000 };
  await new Marker({ store: markStore(cell), lease, timing, onError: failing }).round();
  await makeAlarm(cell, organizationId);
  return secret;
}

async function makeWebhooks(cell: Cell, { organizationId, actor }: GivenBooks): Promise<void> {
  const command = createWebhookEndpoint(organizationId, { actor, url: "https://hooks.example.com/kesc" });
  const [made] = await cell.committer.commit([command], clock());
  if (made?.kind !== "done") throw new Error(JSON.stringify(made));
  const failed = { code: 500, problem: "no", at: clock(), millis: 1 };
  const store = deliveryStore(cell);
  const taken = await store.take(command.newEndpointId, clock());
  if (taken === undefined) throw new Error("the endpoint is not active");
  await store.save([
    {
      id: taken.endpoint.id,
      revision: taken.endpoint.revision,
      settledSeq: 7,
      replay: undefined,
      failures: 1,
      failingSince: clock(),
      probeAt: undefined,
      retryAt: clock(),
      retries: [{ seq: 1, tries: 1, nextAt: clock(), last: failed }],
      settledRetries: [],
      attempts: [{ ...failed, seq: 1, tries: 1, succeeded: false }],
    },
  ]);
}

/** An alarm that somebody has cleared. */
async function makeAlarm(cell: Cell, organizationId: OrganizationId): Promise<void> {
  const [book] = await cell.reader.rows<{ readonly number: number }>(
    `SELECT number FROM ${cell.engine.table("books")} WHERE organization_id = ?`,
    [organizationId],
  );
  const of = { number: book?.number ?? 0, organizationId };
  await sealStore(cell).raise(of, { size: 5, firstSeq: 1, lastSeq: 5, problem: "a test" }, clock());
  await clearAlarm(cell, { book: of, person: "amina", reason: "it was a test", now: toUnixMillis(clock() + 1) });
}

/** All rows of a book, without what each place has of its own. */
export async function rowsOfBook(
  cell: Cell,
  organizationId: OrganizationId,
): Promise<Readonly<Record<string, readonly (readonly unknown[])[]>>> {
  const columns = await columnsOfTables(cell);
  const [book] = await cell.reader.rows<{ readonly number: number }>(
    `SELECT number FROM ${cell.engine.table("books")} WHERE organization_id = ?`,
    [organizationId],
  );
  const own: Readonly<Record<string, readonly string[]>> = {
    books: ["number", "state", "arrived_seq"],
    book_keys: ["book", "data_key", "index_key", "seal_secret", "master_key_id"],
  };
  const rows: Record<string, (readonly unknown[])[]> = {};
  await readBook(cell, { book: { number: book?.number ?? 0, organizationId }, columns }, ({ table, values }) => {
    const names = Object.keys(columns.get(table) ?? {});
    const kept = values.filter((_, index) => ![...(own[table] ?? ["book"])].includes(names[index] ?? ""));
    (rows[table] ??= []).push(kept);
  });
  // The two engines order texts in different ways.
  for (const own of Object.values(rows)) own.sort((left, right) => (String(left) < String(right) ? -1 : 1));
  return rows;
}
