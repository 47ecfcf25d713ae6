import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import pg from "pg";

import { asWritten, type FoundOrganization } from "../../src/domain/api-key.js";
import { credentialOfCertificate } from "../../src/domain/api-key.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Reads } from "../../src/ledger/ports/reads.js";
import { ACCOUNT_HOLDERS, ACCOUNTS } from "../../src/model/accounts.js";
import type { ProposalsPage } from "../../src/operators/ports.js";
import type { Cell } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { postgresEngine } from "../../src/storage/postgres/engine.js";
import { LOOK_UPS_OF_KEPT_PLANS } from "../../src/storage/postgres/kept-plans.js";
import { reads } from "../../src/storage/reads.js";
import { BookDirectory } from "../../src/storage/sql/book-directory.js";
import { ledgerStatements } from "../../src/storage/sql/ledger-statements.js";
import type { Reader } from "../../src/storage/sql/reader.js";
import { sqliteEngine } from "../../src/storage/sqlite/engine.js";
import { SqliteStatements } from "../../src/storage/sqlite/statements.js";
import { verify } from "../../src/verify/verify.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { newAccountId, newDepositId, newDestinationId, newTransactionId } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { byStage } from "../support/stage.js";
import { ACCOUNT_FILTERS, DEPOSIT_FILTERS, namesOf, TRANSACTION_FILTERS } from "./lists/filters.js";
import { expectCompiledOnce, heardPlans, isCompiledAgain, NO_SORTS } from "./plans/heard-plans.js";

// The plan of a query on an empty database shows its cost at ten million rows: it must read no
// table from end to end, and sort nothing. SQLite compiles each of them once.
const SCANS = {
  sqlite: /^SCAN (?!(json_each|input|walk|search|looked_at|CONSTANT ROW|\())/,
  postgres: /Seq Scan|Bitmap Heap Scan|Hash Join|Merge Join/,
};
const SORTS = { sqlite: /TEMP B-TREE/, postgres: /Sort(?! Key)/ };

/**
 * `walk` goes through an account's rows one by one, as far as the page needs, and sorts the page
 * at its end.
 */
function expectCheap(plan: readonly string[], engine: (typeof ENGINES)[number] = "sqlite"): void {
  const walks = plan.some((step) => /(CO-ROUTINE|CTE) walk/.test(step));
  const dear = plan.filter((step) => SCANS[engine].test(step) || (SORTS[engine].test(step) && !walks));
  expect(dear, plan.join("\n")).to.deep.equal([]);
}

for (const engine of ENGINES) {
  describe(`the plans of reads on ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    let organization: OrganizationId;
    before(async () => {
      organization = (await keys(opened.database, () => toUnixMillis(0)).createOrganization("plans")).id;
      const { directory, reader } = opened.cell;
      await directory.find([organization], ({ sql, bindings }) => reader.rows(sql, bindings));
    });

    const page = { size: 100, beforeSeq: 1_000 };
    const accountId = newAccountId();

    // A read without a line here does not compile.
    const READS: Record<keyof Reads, (stored: Reads) => Promise<unknown>> = {
      organization: (stored) => stored.organization(organization),
      account: (stored) => stored.account(organization, accountId),
      limits: (stored) => stored.limits(organization),
      accounts: (stored) => stored.accounts(organization, {}, page),
      freezes: (stored) => stored.freezes(organization, accountId, page),
      transaction: (stored) => stored.transaction(organization, newTransactionId()),
      transactions: (stored) => stored.transactions(organization, {}, page),
      deposit: (stored) => stored.deposit(organization, newDepositId()),
      deposits: (stored) => stored.deposits(organization, {}, page),
      depositRails: (stored) => stored.depositRails(organization),
      destination: (stored) => stored.destination(organization, newDestinationId()),
      destinations: (stored) => stored.destinations(organization, accountId, page),
    };
    const LISTS = [
      ...ACCOUNT_FILTERS.map((filters) => {
        const name = `a list of accounts by ${namesOf(filters)}`;
        return [name, (stored: Reads) => stored.accounts(organization, filters, page)] as const;
      }),
      ...TRANSACTION_FILTERS.map((filters) => {
        const name = `a list of transactions by ${namesOf(filters)}`;
        return [name, (stored: Reads) => stored.transactions(organization, filters, page)] as const;
      }),
      ...DEPOSIT_FILTERS.map((filters) => {
        const name = `a list of deposits by ${namesOf(filters)}`;
        return [name, (stored: Reads) => stored.deposits(organization, filters, page)] as const;
      }),
    ];

    for (const [name, read] of [...Object.entries(READS), ...LISTS]) {
      it(`goes along an index: ${name}`, async () => {
        for (const plan of await heardPlans(opened, (cell) => read(reads(cell)), NO_SORTS)) expectCheap(plan, engine);
      });
    }
  });
}

describe("the plans of the queries on sqlite", () => {
  const opened = databaseOfSuite("sqlite");
  let organization: OrganizationId;
  before(async () => {
    organization = (await keys(opened.database, () => toUnixMillis(0)).createOrganization("plans")).id;
  });

  function filename(): string {
    if (opened.address.engine !== "sqlite") throw new Error("not a file");
    return opened.address.filename;
  }

  async function planOf(sql: string): Promise<string[]> {
    expectCompiledOnce(filename(), [sql]);
    const bindings = Array.from(sql.matchAll(/\?/g), () => "[]");
    const rows = await opened.cell.reader.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, bindings);
    return rows.map(({ detail }) => detail);
  }

  /** The cell, which notes the statements that it reads with. */
  function cellThatTells(heard: string[]): Cell {
    const rows: Reader["rows"] = (sql, bindings) => {
      heard.push(sql);
      return opened.cell.reader.rows(sql, bindings);
    };
    const snapshot: Reader["snapshot"] = (work) => opened.cell.reader.snapshot(work);
    return { ...opened.cell, reader: { rows, snapshot, close: () => Promise.resolve() } };
  }

  it("sees that SQLite compiles a join by a bound key at every execution", () => {
    // SqliteStatements hides only `?`, so the planner sees `:id`. If this test fails, SQLite or
    // better-sqlite3 was mended, and nothing needs to be hidden any more (docs/adr/0008).
    const sql = "SELECT 1 FROM accounts a JOIN account_holders h ON h.account_id = a.id WHERE a.id = :id";
    expect(isCompiledAgain(filename(), sql)).to.equal(true);
  });

  it("keeps a question mark in a text", async () => {
    const rows = await opened.cell.reader.rows("SELECT 'who?' AS text, ? AS value, 'it''s?' AS other", ["7"]);
    expect(rows).to.deep.equal([{ text: "who?", value: "7", other: "it's?" }]);
  });

  it("writes each row, alone or together with others, and refuses one that has no value for a column", () => {
    const connection = new BetterSqlite3(":memory:");
    connection.exec("CREATE TABLE numbers (number INTEGER, bytes BLOB) STRICT");
    const statements = new SqliteStatements(connection);
    const sql = sqliteEngine.insertInto("numbers", { number: "int64", bytes: "bytes" });
    const rows = Array.from({ length: 21 }, (_, number) => ({ number, bytes: number.toString(16).padStart(2, "0") }));
    statements.write({ sql, rows });
    const stored = connection.prepare("SELECT number, lower(hex(bytes)) AS bytes FROM numbers ORDER BY rowid").all();
    expect(stored).to.deep.equal(rows);
    const lacking = [...rows.slice(1), { number: 0, bytes: undefined }];
    expect(() => {
      statements.write({ sql, rows: lacking });
    }).to.throw("a row has no value for bytes");
    connection.close();
  });

  it("opens a book along an index", async () => {
    let heard = "";
    await new BookDirectory(sqliteEngine, opened.cell.masterKeys).find([organization], ({ sql }) => {
      heard = sql;
      return Promise.resolve([]);
    });
    expectCheap(await planOf(heard));
  });

  it("reads a page of proposals along their ids, and those that wait along the undecided ones", async () => {
    const heard: string[] = [];
    const database = { ...opened.database, cells: [cellThatTells(heard)] as const };
    const stored = new StoredAdministration(database, { now: () => toUnixMillis(0), fourEyes: new Set() });
    const searchesOf = async (waits: ProposalsPage["waits"]): Promise<readonly string[]> => {
      heard.length = 0;
      await stored.proposals({ afterId: undefined, size: 1, waits });
      const plans = await Promise.all(heard.filter((sql) => sql.includes("proposals")).map(planOf));
      return plans.flat().filter((step) => / p /.test(step));
    };
    expect(await searchesOf(undefined)).to.have.members([
      "SEARCH p USING INDEX sqlite_autoindex_operator_proposals_1 (id<?)",
      "SEARCH p USING INDEX proposals_by_id (id<?)",
    ]);
    const found = asWritten((await stored.organization(organization)) as FoundOrganization);
    for (const of of [undefined, found]) {
      expect(await searchesOf({ organization: of })).to.have.members([
        "SEARCH p USING INDEX sqlite_autoindex_operator_proposals_1 (id>?)",
        of === undefined ? "SCAN p USING INDEX proposals_waiting" : "SEARCH p USING INDEX proposals_waiting (book=?)",
      ]);
    }
  });

  it("finds an organization, and a key by its secret or its certificate, along an index", async () => {
    const heard: string[] = [];
    const own = keys({ ...opened.database, cells: [cellThatTells(heard)] }, () => toUnixMillis(0));
    await own.organization(organization);
    await own.apiKeyWithSecret(`kesc_0_${"a".repeat(43)}`);
    await own.apiKeyWithSecret(credentialOfCertificate("DNS:a"));
    expect(heard).to.have.lengthOf(3);
    for (const sql of heard) expectCheap(await planOf(sql));
  });

  it("audits the books along indexes, and sorts nothing", async () => {
    const heard: string[] = [];
    await verify({ cells: [cellThatTells(heard)] });
    expect(new Set(heard).size).to.be.greaterThan(8);
    for (const sql of new Set(heard)) expect((await planOf(sql)).join("; "), sql).not.to.match(/TEMP B-TREE/);
  });

  const { readsBeforeLock, readsAfterLock, reads: ledgerReads, lockedBooks } = ledgerStatements(sqliteEngine);
  const { paymentsUnderWay, reveals, ...others } = ledgerReads;
  for (const { table, sql } of [...readsBeforeLock, ...readsAfterLock]) {
    // Few rows are sorted.
    const isSorted = ["freezes", "railAccounts", "reservePlaces"].includes(table) || sql.includes("'LATE'");
    it(`loads what a batch names along an index${isSorted ? ", and sorts it" : ""}: ${table}: ${sql}`, async () => {
      const steps = await planOf(sql);
      expectCheap(isSorted ? steps.filter((step) => !step.startsWith("USE TEMP B-TREE FOR")) : steps);
    });
  }
  // It reads all accounts at rails of the cell, which are few, and only to change one of them.
  const unsorted = Object.entries(others).filter(([name]) => name !== "railAccountsOfCells");
  for (const [name, { sql }] of [...unsorted, ["books", { sql: lockedBooks }] as const]) {
    it(`loads what a batch names along an index: ${name}`, async () => {
      expectCheap(await planOf(sql));
    });
  }

  it("counts the payments that a rail may have along the two indexes of open payments", async () => {
    const searches = (await planOf(paymentsUnderWay.sql)).filter((step) => step.includes(" payments "));
    expect(searches).to.deep.equal(
      ["payments_new_payouts", "payments_other_open"].map(
        (index) => `SEARCH payments USING INDEX ${index} (rail_account_id=?)`,
      ),
    );
  });

  it("reads the newest reveals of a person along their index, and no other row", async () => {
    const steps = (await planOf(reveals.sql)).filter((step) => / j | r$/.test(step));
    expect(steps).to.deep.equal(["CO-ROUTINE r", "SEARCH j USING COVERING INDEX journal_reveals (actor=?)", "SCAN r"]);
  });

  it("asks the journal along an index whether a key was revoked", async () => {
    const [{ sql } = { sql: "" }] = readsAfterLock.filter(({ table }) => table === "apiKeys");
    const steps = (await planOf(sql)).filter((step) => step.includes(" j "));
    expect(steps).to.deep.equal(["SEARCH j USING INDEX journal_revoked_keys (book=? AND detail=?)"]);
  });

  it("reads the rows that decide about a proposal along their index, and no other row", async () => {
    const steps = (await planOf(ledgerReads.decidingRows.sql)).filter((step) => step.includes(" j "));
    expect(steps).to.deep.equal(["SEARCH j USING INDEX journal_deciding (book=? AND seq>?)"]);
  });

  const { updateBooks, tables } = ledgerStatements(sqliteEngine);
  const updates = Object.entries(tables).flatMap(([name, of]) => of.updates.map(({ sql }) => [name, sql] as const));
  for (const [name, statement] of [["books", updateBooks] as const, ...updates]) {
    it(`changes rows by their key: ${name}: ${statement}`, async () => {
      expectCompiledOnce(filename(), [statement]);
      const sql = statement.replaceAll(/@\w+/g, "?");
      expectCheap(await planOf(sql));
    });
  }
});

const FILLED = { accounts: ACCOUNTS, account_holders: ACCOUNT_HOLDERS };
const OWN_VALUES: Readonly<Record<string, string>> = {
  id: "'acc_' || n",
  account_id: "'acc_' || n",
  user_id: "'user ' || n",
  deposit_reference: "NULL",
  seq: "seq + n",
  last_seq: "last_seq + n",
};

describe("the plans that PostgreSQL keeps for the ledger's statements", () => {
  const opened = databaseOfSuite("postgres");
  const {
    readsBeforeLock,
    readsAfterLock,
    reads: ledgerReads,
    tables,
    ...others
  } = ledgerStatements(postgresEngine("public"));
  // They read what is few: the accounts at rails and the places of an organization, or of all.
  const keyed = Object.entries(ledgerReads).filter(([name]) => !/^railAccounts(Lock|OfAll)$/.test(name));
  const statements = {
    ...Object.fromEntries([...readsBeforeLock, ...readsAfterLock].map(({ table, sql }) => [`${table}: ${sql}`, [sql]])),
    ...Object.fromEntries(keyed.map(([name, { sql }]) => [name, [sql]])),
    ...Object.fromEntries(Object.entries(others).map(([name, sql]) => [name, [sql]])),
    ...Object.fromEntries(
      Object.entries(tables).map(([name, { updates }]) => [`change of ${name}`, updates.map(({ sql }) => sql)]),
    ),
  };
  let filled = 0;

  before(async () => {
    const { id } = await keys(opened.database, () => toUnixMillis(0)).createOrganization("plans");
    await opened.cell.committer.commit([createAccount(id, "first")], toUnixMillis(0));
  });

  /** Copies the first account and its holder, past the triggers and the foreign keys. */
  async function fill(accounts: number): Promise<void> {
    for (const [table, { columns }] of Object.entries(FILLED)) {
      const names = Object.keys(columns);
      const values = names.map((name) => OWN_VALUES[name] ?? name);
      await execute(
        opened.address,
        `SET session_replication_role = replica;
         INSERT INTO ${table} (${names.join(", ")})
         SELECT ${values.join(", ")} FROM (SELECT * FROM ${table} ORDER BY seq LIMIT 1) first,
           generate_series(${String(filled + 1)}, ${String(accounts - 1)}) n`,
      );
    }
    filled = accounts - 1;
  }

  for (const accounts of [10, 1_000, ...byStage({ test: [], check: [100_000] })]) {
    for (const isAnalyzed of [false, true]) {
      // If it knows of ten, it reads all ten.
      if (isAnalyzed && accounts === 10) continue;
      const known = isAnalyzed ? "of which it has statistics" : "of which it has none";
      it(`read no table from end to end, of ${String(accounts)} accounts ${known}`, async () => {
        await fill(accounts);
        if (isAnalyzed) await execute(opened.address, "ANALYZE");
        const client = new pg.Client(opened.url);
        await client.connect();
        try {
          for (const [name, value] of Object.entries({ enable_seqscan: "off", ...LOOK_UPS_OF_KEPT_PLANS }))
            await client.query(`SET ${name} = ${value}`);
          for (const [name, sqls] of Object.entries(statements)) {
            for (const sql of sqls) {
              let count = 0;
              const text = sql.replaceAll("?", () => `$${String((count += 1))}`);
              const { rows } = await client.query<{ "QUERY PLAN": unknown }>(
                `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`,
              );
              expect(scansIn(rows[0]?.["QUERY PLAN"]), `${name}: ${text}`).to.deep.equal([]);
            }
          }
        } finally {
          await client.end();
        }
      });
    }
  }
});

/** The steps of a plan that read one of the filled tables without a condition on an index. */
function scansIn(plan: unknown): readonly string[] {
  if (Array.isArray(plan)) return plan.flatMap(scansIn);
  if (typeof plan !== "object" || plan === null) return [];
  const step = plan as Readonly<Record<string, string>>;
  const { "Relation Name": table = "", "Index Cond": found, "Recheck Cond": foundByBitmap } = step;
  const isDear =
    Object.hasOwn(FILLED, table) && step["Node Type"]?.includes("Scan") && (found ?? foundByBitmap) === undefined;
  return [...(isDear ? [`${String(step["Node Type"])} ${table}`] : []), ...Object.values(plan).flatMap(scansIn)];
}
