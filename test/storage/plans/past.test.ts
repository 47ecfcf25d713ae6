import { expect } from "chai";

import { NO_SUMS, NO_TURNOVER } from "../../../src/domain/book.js";
import type {
  AccountId,
  OperatorId,
  OrganizationId,
  TransactionId,
  WebhookEndpointId,
} from "../../../src/domain/values/ids.js";
import type { Month } from "../../../src/domain/values/month.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { EventReads } from "../../../src/events/ports.js";
import type { BookReads } from "../../../src/operators/reads.js";
import type { SealStore } from "../../../src/seals/ports.js";
import type { BookMark, MarkStore } from "../../../src/statements/mark-ports.js";
import type { HistoryReads } from "../../../src/statements/ports.js";
import type { Cell } from "../../../src/storage/database.js";
import { eventReads } from "../../../src/storage/events/event-reads.js";
import { keys } from "../../../src/storage/keys.js";
import { bookReads } from "../../../src/storage/operators/book-reads.js";
import { sealStore } from "../../../src/storage/seals/seal-store.js";
import { BookDirectory } from "../../../src/storage/sql/book-directory.js";
import { historyReads } from "../../../src/storage/statements/history.js";
import { markStore } from "../../../src/storage/statements/marks.js";
import { deliveryStore } from "../../../src/storage/webhooks/delivery-store.js";
import { StoredWebhookEndpoints } from "../../../src/storage/webhooks/endpoints.js";
import type { DeliveryStore, EndpointChanges } from "../../../src/webhooks/ports/delivery.js";
import type { WebhookEndpoints } from "../../../src/webhooks/ports/endpoints.js";
import { databaseOfSuite, ENGINES, execute } from "../../support/databases.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";
import { heardPlans } from "./heard-plans.js";

// Reads of a whole table. A scan of something else is bounded: of the rows of a parameter, of a
// walk, or of a subquery over such rows.
const SCANS = {
  sqlite: /^SCAN (?!(json_each|input|walk|search|looked_at|s|CONSTANT ROW)\b)/,
  postgres: /Seq Scan|Bitmap Heap Scan|Hash Join|Merge Join/,
};
const SORTS = { sqlite: /TEMP B-TREE/, postgres: /Sort(?! Key)/ };
/** These sort a bounded number of rows: a page, the rows of a step, or ten endpoints. */
const BOUNDED_SORTS: ReadonlySet<string> = new Set([
  ...["after", "slices"],
  ...["balances", "closing", "accountLines", "accountRows", "sums", "openPayments", "journal", "countsBefore"],
  ...["endpoint", "endpoints", "create", "update", "rotate", "resend", "replay", "remove"],
]);

const LARGE = ["journal", "transactions", "accounts", "webhook_retries", "webhook_log"];
const MAKE_LARGE = `
  UPDATE pg_class SET reltuples = 10000000, relpages = 1
  WHERE relkind = 'r' AND relname IN (${LARGE.map((name) => `'${name}'`).join(", ")})`;
const MAKE_UNKNOWN = "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relname IN ('journal', 'transactions')";
const INDEX_SCAN = new RegExp(`Index (Only )?Scan .* on (${LARGE.join("|")})\\b`);

const NOW = toUnixMillis(Date.now());
const ENDPOINT = "whe_01jd2r6p5vf8ksw3xhb1z7q4ye" as WebhookEndpointId;
const SUMS = { reserve: "0", shortfall: "0", charges: "0", available: "0", held: "0", unallocated: "0" };

/** One call for each method of a port. A method without a line does not compile. */
type Calls<Port> = Record<keyof Port, (port: Port) => Promise<unknown>>;

for (const engine of ENGINES) {
  describe(`the plans of events, statements, seals and webhooks (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let accountId: AccountId;
    let transactionId: TransactionId;
    let book: { number: number; organizationId: OrganizationId };

    before(async () => {
      organizationId = (await keys(opened.database, () => NOW).createOrganization("plans")).id;
      const account = createAccount(organizationId, "user");
      const money = mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "first" });
      accountId = account.newAccountId;
      transactionId = money.newTransactionId;
      await opened.cell.committer.commit([account, money], NOW);
      await opened.cell.committer.commit([createWebhookEndpoint(organizationId, { newEndpointId: ENDPOINT })], NOW);
      const found = await sealStore(opened.cell).book(organizationId);
      if (found === undefined) throw new Error("the organization has no book");
      book = found;
      // PostgreSQL walks along the whole index of a small table. It takes these for large ones.
      if (engine === "postgres") await execute(opened.address, MAKE_LARGE);
    });

    async function expectCheap(name: string, work: (cell: Cell) => Promise<unknown>): Promise<void> {
      for (const plan of await heardPlans(opened, work)) {
        const dear = plan.filter(
          (step, index) =>
            SCANS[engine].test(step) ||
            // PostgreSQL can read a whole table along an index, too. Then no condition follows.
            (INDEX_SCAN.test(step) && !/Index Cond/.test(plan[index + 1] ?? "")) ||
            (SORTS[engine].test(step) && !BOUNDED_SORTS.has(name)),
        );
        expect(dear, plan.join("\n")).to.deep.equal([]);
      }
    }

    function each<Port>(what: string, portOf: (cell: Cell) => Port, calls: Calls<Port>): void {
      for (const [name, call] of Object.entries<(port: Port) => Promise<unknown>>(calls)) {
        it(`${what} goes along an index: ${name}`, () => expectCheap(name, (cell) => call(portOf(cell))));
      }
    }

    each<EventReads>("a read of events", eventReads, {
      after: (reads) => reads.after({ organizationId, afterSequence: 0, limit: 10 }),
      latest: (reads) => reads.latest([organizationId]),
      slices: (reads) => reads.slices([{ organizationId, after: 0, upTo: 5 }]),
    });
    for (const [name, filter] of Object.entries({
      types: () => ({ types: ["account.created" as const] }),
      account: () => ({ accountId }),
      both: () => ({ types: ["account.created" as const], accountId }),
    })) {
      it(`a read of events with a filter goes along an index: ${name}`, () =>
        expectCheap("after", (cell) =>
          eventReads(cell).after({ organizationId, afterSequence: 0, limit: 10, filter: filter() }),
        ));
    }

    const lines = { afterSeq: 0, toSeq: 100, size: 10 };
    each<HistoryReads>("a read of the past", historyReads, {
      position: async (reads) => {
        await reads.position(organizationId, { seq: 2 });
        await reads.position(organizationId, { before: NOW });
      },
      balances: async (reads) => {
        await reads.balances(organizationId, { accountId, upToSeq: 100, from: undefined });
        await reads.balances(organizationId, { accountId, upToSeq: 100, from: 3 });
      },
      closedMonth: (reads) => reads.closedMonth(organizationId, "2026-10" as Month),
      closing: (reads) => reads.closing(organizationId, { accountId, from: undefined }),
      freezes: (reads) => reads.freezes(organizationId, { accountId, seq: 100, afterSeq: 0 }),
      tier: (reads) => reads.tier(organizationId, { accountId, seq: 100 }),
      accountLines: (reads) => reads.accountLines(organizationId, { ...lines, accountId }),
      accountRows: async (reads) => {
        await reads.accountRows(organizationId, { accountId, beforeSeq: undefined, size: 10 });
        await reads.accountRows(organizationId, { accountId, beforeSeq: 3, size: 10 });
      },
      journal: async (reads) => {
        const operatorId = "opr_01jd2r6p5vf8ksw3xhb1z7q4ye" as OperatorId;
        const filters = [{}, { own: true }, { accountId }, { transactionId }, { operatorId }] as const;
        for (const filter of filters) {
          for (const beforeSeq of [undefined, 3]) {
            const list = { filter, startSeq: 1, endSeq: 9, size: 10, beforeSeq };
            await reads.journal(organizationId, list);
            const [createdAfter, createdBefore] = [toUnixMillis(0), NOW];
            await reads.journal(organizationId, { ...list, types: ["account.frozen"], createdAfter, createdBefore });
          }
        }
      },
      waiting: (reads) => reads.waiting(organizationId, NOW),
      bookLines: (reads) => reads.bookLines(organizationId, lines),
      sums: (reads) => reads.sums(organizationId, { seq: 2, from: undefined }),
      currentSums: (reads) => reads.currentSums(organizationId),
      openPayments: (reads) => reads.openPayments(organizationId, NOW),
      railBalances: (reads) => reads.railBalances(organizationId),
      reserveHoldings: (reads) => reads.reserveHoldings(organizationId),
    });

    const mark = (): BookMark => {
      return {
        book: book.number,
        seq: 1,
        sums: NO_SUMS,
        turnover: NO_TURNOVER,
      };
    };
    // PostgreSQL expects one row of a book that its statistics lack. It would walk along the
    // primary key, which has the order of the list, and not sort the rows of a transaction.
    it("the rows of a transaction are found by its id alone, also in a new book", async () => {
      if (engine === "postgres") await execute(opened.address, MAKE_UNKNOWN);
      const list = { filter: { transactionId }, startSeq: 1, endSeq: 9, size: 10, beforeSeq: undefined };
      const plans = await heardPlans(opened, (cell) => historyReads(cell).journal(organizationId, list));
      if (engine === "postgres") await execute(opened.address, MAKE_LARGE);
      const plan = plans.find((steps) => steps.some((step) => step.includes("journal_transaction_steps"))) ?? [];
      expect(plan).not.to.deep.equal([]);
      const ofBook = plan.filter((step) => /_pkey|PRIMARY KEY/.test(step));
      expect(ofBook, plan.join("\n")).to.deep.equal([]);
    });

    each<MarkStore>("a mark", markStore, {
      next: (marks) => marks.next(0, 1),
      rows: (marks) => marks.rows(book.number, { afterSeq: 0, upToSeq: 10 }),
      countsBefore: (marks) => marks.countsBefore(book.number, [{ seq: 3, accountId }]),
      save: (marks) => marks.save(mark(), [{ seq: 3, accountId }]),
    });

    it("a search for books to mark reads no list while all books are short", async () => {
      const listReader = { rows: () => Promise.reject(new Error("a list was read")) };
      expect(await markStore({ ...opened.cell, listReader }).next(0, 1_000_000)).to.equal(undefined);
    });

    // A directory of its own looks the book up.
    const seals = (cell: Cell): SealStore =>
      sealStore({ ...cell, directory: new BookDirectory(cell.engine, cell.masterKeys) });
    each<SealStore>("a seal", seals, {
      book: (seals) => seals.book(organizationId),
      books: (seals) => seals.books(0),
      signers: (seals) => seals.signers({ number: 1, organizationId }, 1),
      seal: async (seals) => {
        await seals.seal(book);
        await seals.seal(book, 1);
      },
      leaves: (seals) => seals.leaves(book, { firstSeq: 1, lastSeq: 3 }),
      tile: (seals) => seals.tile(book, { level: 1, index: 0 }),
      leaf: (seals) => seals.leaf(book, 1),
      rowOf: (seals) => seals.rowOf(book, transactionId),
      add: (seals) =>
        seals.add(book, { size: 1, root: Buffer.alloc(32), note: "note", sealedAt: NOW, sums: SUMS }, [
          { level: 1, index: 0, hashes: Buffer.alloc(32) },
        ]),
      raise: (seals) => seals.raise(book, { size: 1, firstSeq: 1, lastSeq: 1, problem: "changed" }, NOW),
    });

    const owner = () => ({ id: organizationId, cell: 0 });
    each<Pick<BookReads, "seals" | "sealAlarm">>("a read of operators", (cell) => bookReads({ cells: [cell] }), {
      seals: (reads) => reads.seals(owner(), { size: 10, beforeSize: undefined }),
      sealAlarm: (reads) => reads.sealAlarm(owner()),
    });

    const changes = (revision: number): EndpointChanges => ({
      id: ENDPOINT,
      revision,
      settledSeq: 1,
      replay: undefined,
      failures: 1,
      failingSince: NOW,
      probeAt: undefined,
      retryAt: NOW,
      retries: [{ seq: 1, tries: 1, nextAt: NOW, last: undefined }],
      settledRetries: [2],
      attempts: [{ seq: 1, tries: 1, succeeded: false, code: 500, problem: "no", at: NOW, millis: 1 }],
    });
    each<DeliveryStore>("a delivery", deliveryStore, {
      due: (store) => store.due({ now: NOW, after: "", limit: 10 }),
      closed: (store) => store.closed([organizationId]),
      take: (store) => store.take(ENDPOINT, NOW),
      save: async (store) => {
        const taken = await store.take(ENDPOINT, NOW);
        expect(await store.save([changes(taken?.endpoint.revision ?? 0)])).to.deep.equal([]);
      },
    });

    const page = { size: 10, beforeSeq: undefined };
    const listed = () => ({ id: ENDPOINT, organizationId });
    each<WebhookEndpoints>("an endpoint", (cell) => new StoredWebhookEndpoints(cell), {
      endpoint: (endpoints) => endpoints.endpoint(organizationId, ENDPOINT),
      endpoints: (endpoints) => endpoints.endpoints(organizationId),
      attempts: async (endpoints) => {
        for (const filter of ["all", "failed"] as const) await endpoints.attempts(listed(), filter, page);
      },
      undelivered: (endpoints) => endpoints.undelivered(listed(), page),
      log: (endpoints) =>
        endpoints.log(ENDPOINT, { seq: 0, tries: 1, succeeded: true, code: 204, problem: "", at: NOW, millis: 1 }),
    });
  });
}
