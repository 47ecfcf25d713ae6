import { expect } from "chai";
import pg from "pg";

import type { Payments } from "../../../src/settlement/ports/payments.js";
import { railInbox } from "../../../src/storage/rails/inbox.js";
import { payments } from "../../../src/storage/rails/payments.js";
import type { Binding } from "../../../src/storage/sql/engine.js";
import { newTransactionId } from "../../support/commands.js";
import { ENGINES } from "../../support/databases.js";
import { PaymentsPlace, RAIL_ACCOUNT } from "./given-payments.js";

// As in test/storage/lists/postgres-plans.test.ts: the planner would scan small tables.
const SETTINGS =
  "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; " +
  "SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan";
const DEAR = {
  sqlite: /TEMP B-TREE|^SCAN (?!a\b)/,
  postgres: /Seq Scan(?! on rail_accounts)|Bitmap Heap Scan|Sort(?! Key)|Hash Join|Merge Join/,
};

type Statement = readonly [sql: string, bindings: readonly Binding[]];

for (const engine of ENGINES) {
  describe(`the plans of the settlement's queries (${engine})`, () => {
    let place: PaymentsPlace;
    before(async () => {
      place = await PaymentsPlace.make(engine);
    });
    after(() => place.opened.dispose());

    async function planOf([sql, bindings]: Statement): Promise<readonly string[]> {
      if (engine === "sqlite") {
        const rows = await place.opened.cell.reader.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bindings);
        return rows.map(({ detail }) => detail);
      }
      const client = new pg.Client(place.opened.url);
      await client.connect();
      try {
        await client.query(SETTINGS);
        let count = 0;
        const text = sql.replaceAll("?", () => `$${String((count += 1))}`);
        const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${text}`, [...bindings]);
        return rows.map((row) => row["QUERY PLAN"]);
      } finally {
        await client.end();
      }
    }

    /** The first statement that `work` runs, whether it reads or writes. */
    async function statementOf(work: (cell: PaymentsPlace["opened"]["cell"]) => Promise<unknown>): Promise<Statement> {
      const heard: Statement[] = [];
      const { cell } = place.opened;
      const rows: typeof cell.reader.rows = (sql, bindings = []) => {
        heard.push([sql, bindings]);
        return cell.reader.rows(sql, bindings);
      };
      const reader = { rows, snapshot: cell.reader.snapshot.bind(cell.reader), close: () => Promise.resolve() };
      const transact: typeof cell.transact = (change) =>
        cell.transact((session) =>
          change({
            write: (writes) => session.write(writes),
            read: (read) => {
              heard.push([read.sql, read.bindings]);
              return session.read(read);
            },
          }),
        );
      await work({ ...cell, reader, transact });
      const [first] = heard;
      if (first === undefined) throw new Error("nothing ran");
      return first;
    }

    const { now, limit } = { now: 5 as never, limit: 10 };
    const id = newTransactionId();
    // A method without a line here does not compile.
    const METHODS = {
      accountsWithDue: [(stored) => stored.accountsWithDue(now), "payments_due"],
      due: [(stored) => stored.due(RAIL_ACCOUNT, { now, limit, beginsPayouts: false }), "payments_due"],
      payment: [(stored) => stored.payment(id), "payments_pkey"],
      reschedule: [
        (stored) =>
          stored.reschedule({ transactionId: id, state: "READY", checks: 0 }, { dueAt: now, checks: 1, code: "" }),
        "payments_pkey",
      ],
      advance: [(stored) => stored.advance(id, now), "payments_pkey"],
      unknownPayouts: [(stored) => stored.unknownPayouts(RAIL_ACCOUNT), "payments_due"],
    } satisfies Record<keyof Payments, readonly [(stored: Payments) => Promise<unknown>, string]>;

    for (const [name, [call, index]] of Object.entries(METHODS)) {
      it(`${name} goes along ${index}`, async () => {
        const plan = await planOf(await statementOf((cell) => call(payments(cell))));
        // SQLite names the index of a primary key after the table.
        const named = engine === "sqlite" ? index.replace("payments_pkey", "sqlite_autoindex_payments_1") : index;
        expect(plan.join("\n")).to.contain(named);
        expect(
          plan.filter((step) => DEAR[engine].test(step)),
          plan.join("\n"),
        ).to.deep.equal([]);
      });
    }

    for (const [name, call] of [
      ["due messages", (inbox) => inbox.due({ now, limit })],
      ["the messages of a transaction", (inbox) => inbox.messages(id)],
      ["a message to postpone", (inbox) => inbox.postpone(1, { dueAt: now, tries: 1 })],
      ["a new message", (inbox) => inbox.add({ transactionId: id, purpose: "status", body: "" }, now)],
    ] as const satisfies readonly (readonly [string, (inbox: ReturnType<typeof railInbox>) => Promise<unknown>])[]) {
      it(`finds ${name} along an index`, async () => {
        const plan = await planOf(await statementOf((cell) => call(railInbox(cell))));
        const dear = plan.filter((step) => /^SCAN (?!CONSTANT)|Seq Scan|Bitmap Heap Scan/.test(step));
        expect(dear, plan.join("\n")).to.deep.equal([]);
      });
    }
  });
}
