import { expect } from "chai";
import pg from "pg";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Reads } from "../../../src/ledger/ports/reads.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import type { Reader } from "../../../src/storage/sql/reader.js";
import { openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { ACCOUNT_FILTERS, DEPOSIT_FILTERS, namesOf, TRANSACTION_FILTERS } from "./filters.js";

// The planner would scan tables that are empty. The settings switch scans, sorts and joins of whole
// tables off, so it uses them only where no index leads to the rows in their order.
const SETTINGS =
  "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; " +
  "SET enable_hashjoin = off; SET enable_mergejoin = off; SET plan_cache_mode = force_generic_plan";
const DEAR = /(Seq Scan|Bitmap Heap Scan|Sort(?! Key)|Hash Join|Merge Join)/;

describe("the plans of the lists on postgres", () => {
  let opened: TestDatabase;
  let organization: OrganizationId;
  let client: pg.Client;
  before(async () => {
    opened = await openTestDatabase("postgres");
    organization = (await keys(opened.database, () => toUnixMillis(0)).createOrganization("plans")).id;
    client = new pg.Client(opened.url);
    await client.connect();
    await client.query(SETTINGS);
  });
  after(async () => {
    await client.end();
    await opened.dispose();
  });

  async function planOf(sql: string, bindings: readonly unknown[]): Promise<string[]> {
    let count = 0;
    const text = sql.replaceAll("?", () => `$${String((count += 1))}`);
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`EXPLAIN (COSTS OFF) ${text}`, [...bindings]);
    return rows.map((row) => row["QUERY PLAN"]);
  }

  async function expectCheap(work: (stored: Reads) => Promise<unknown>): Promise<void> {
    const { engine, directory, number, reader } = opened.cell;
    const plans: Promise<string[]>[] = [];
    const rows: Reader["rows"] = (sql, bindings) => {
      plans.push(planOf(sql, bindings ?? []));
      return reader.rows(sql, bindings);
    };
    await directory.find([organization], ({ sql, bindings }) => reader.rows(sql, bindings));
    await work(reads({ engine, directory, number, reader: { rows }, listReader: { rows } }));
    expect(plans).not.to.deep.equal([]);
    for (const plan of await Promise.all(plans)) {
      // The walk along an account's rows sorts its page at the end.
      const walks = plan.some((step) => step.includes("CTE walk"));
      const dear = plan.filter((step) => DEAR.test(step) && !(walks && /Sort/.test(step)));
      expect(dear, plan.join("\n")).to.deep.equal([]);
    }
  }

  const page = { size: 100, beforeSeq: 1_000 };

  for (const filters of ACCOUNT_FILTERS) {
    it(`list accounts by ${namesOf(filters)} along an index`, async () => {
      await expectCheap((stored) => stored.accounts(organization, filters, page));
    });
  }

  for (const filters of TRANSACTION_FILTERS) {
    it(`list transactions by ${namesOf(filters)} along an index`, async () => {
      await expectCheap((stored) => stored.transactions(organization, filters, page));
    });
  }

  for (const filters of DEPOSIT_FILTERS) {
    it(`list deposits by ${namesOf(filters)} along an index`, async () => {
      await expectCheap((stored) => stored.deposits(organization, filters, page));
    });
  }
});
