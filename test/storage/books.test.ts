import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { Ledger } from "../../src/ledger/ledger.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { type Database, openDatabase } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { bookMac, type BoundBookRow } from "../../src/storage/secrets/balance-mac.js";
import { databaseOfEachTest, databaseOfSuite, ENGINES, execute, openTestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { NO_DEADLINE } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";

const NEXT_HOUR_MILLIS = 3_600_000;

const now = (aheadMillis = 0): UnixMillis => toUnixMillis(Date.now() + aheadMillis);

// What a batch must know of a book is in its row, which each batch reads and locks again.
for (const engine of ENGINES) {
  describe(`the book of an organization on ${engine}`, () => {
    const opened = databaseOfEachTest(engine);
    let organizationId: OrganizationId;
    let stranger: OrganizationId;
    beforeEach(async () => {
      const own = keys(opened.database, now);
      organizationId = (await own.createOrganization("own")).id;
      stranger = (await own.createOrganization("stranger")).id;
    });

    async function commit(commands: readonly Command[], clock = now()): Promise<readonly string[]> {
      const results = await opened.cell.committer.commit(commands, clock);
      return results.map(wordOf);
    }

    function wordOf(result: CommandResult): string {
      if (result.kind === "refused") return result.refusal.reason;
      return result.kind === "done" ? "done" : String(result.error);
    }

    /** Changes the row of the organization's book, as the service would. */
    async function changeBook(set: string): Promise<void> {
      const where = `WHERE organization_id = '${organizationId}'`;
      await execute(opened.address, `UPDATE books SET ${set} ${where}`);
      const { reader, directory } = opened.cell;
      const { balanceKey } = await directory.book(organizationId, ({ sql, bindings }) => reader.rows(sql, bindings));
      const [row] = await execute<BoundBookRow>(opened.address, `SELECT * FROM books ${where}`);
      if (row === undefined) throw new Error("the book has no row");
      await execute(opened.address, `UPDATE books SET mac = '${bookMac(balanceKey, row)}' ${where}`);
    }

    async function rowsOf(id: OrganizationId): Promise<readonly { seq: number; recorded_at: number }[]> {
      const { reader, engine: sql } = opened.cell;
      return reader.rows(
        `SELECT seq, recorded_at FROM ${sql.table("journal")} JOIN ${sql.table("books")} ON number = book
         WHERE organization_id = ? ORDER BY seq`,
        [id],
      );
    }

    it("begins with one row of the organization, and the time at which it was created", async () => {
      const rows = await opened.cell.reader.rows(
        `SELECT kind, seq, previous_seq, account_id, transaction_id, available_after_cents, held_after_cents, actor,
           recorded_at = created_at AND last_recorded_at = created_at AS is_timed, last_seq, state
         FROM ${opened.cell.engine.table("organizations")} o
         JOIN ${opened.cell.engine.table("books")} ON organization_id = o.id
         JOIN ${opened.cell.engine.table("journal")} ON book = number WHERE o.id = ?`,
        [organizationId],
      );
      expect(rows).to.deep.equal([
        {
          kind: "organization.created",
          seq: 1,
          previous_seq: null,
          account_id: null,
          transaction_id: null,
          available_after_cents: null,
          held_after_cents: null,
          actor: "operator",
          is_timed: engine === "sqlite" ? 1 : true,
          last_seq: 1,
          state: "OPEN",
        },
      ]);
    });

    for (const [state, word] of [
      ["MOVING", "BOOK_MOVING"],
      ["MOVED", "BOOK_MOVING"],
      ["RESTORED", "done"],
      ["OPEN", "done"],
    ] as const) {
      it(`in the state ${state}: ${word}, from the next batch on`, async () => {
        expect(await commit([createAccount(organizationId, "before")])).to.deep.equal(["done"]);
        await changeBook(`state = '${state}'`);
        const account = createAccount(organizationId, "user");
        const batch = [
          account,
          mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "in" }),
          createAccount(stranger, "user"),
        ];
        expect(await commit(batch)).to.deep.equal([word, word, "done"]);
        expect(await rowsOf(organizationId)).to.have.lengthOf(word === "done" ? 4 : 2);
        expect(await findingsIn(opened.database)).to.deep.equal([]);
      });
    }

    it("keeps its times in order when the clock is slow, and refuses one that is too slow", async () => {
      const later = now(30_000);
      await changeBook(`last_recorded_at = ${String(later)}`);
      const clock = now();
      const batch = [createAccount(organizationId, "user"), createAccount(stranger, "user")];
      expect(await commit(batch, clock)).to.deep.equal(["done", "done"]);
      expect((await rowsOf(organizationId)).at(-1)).to.deep.equal({ seq: 2, recorded_at: later });
      expect((await rowsOf(stranger)).at(-1)).to.deep.equal({ seq: 2, recorded_at: clock });

      const tooSlow = toUnixMillis(later - 60_001);
      expect(await commit([createAccount(organizationId, "other")], tooSlow)).to.deep.equal(["CLOCK_BEHIND"]);
      expect(await rowsOf(organizationId)).to.have.lengthOf(2);
    });

    it("refuses sums past 2^53 - 1 cents, and keeps those up to it exact", async () => {
      const account = createAccount(organizationId, "user");
      await commit([account]);
      const max = Number.MAX_SAFE_INTEGER;
      const [first, second] = ["0.01", "0.01"].map((amount, index) =>
        mint({ organizationId, accountId: account.newAccountId, amount, reference: `in-${String(index)}` }),
      ) as [Command, Command];
      await changeBook(`reserve_cents = ${String(max - 1)}, available_cents = ${String(max - 1)}`);
      expect(await commit([first, second])).to.deep.equal(["done", "LIMIT_EXCEEDED"]);
      const [sums] = await opened.cell.reader.rows<{ reserve_cents: number }>(
        `SELECT reserve_cents FROM ${opened.cell.engine.table("books")} WHERE organization_id = ?`,
        [organizationId],
      );
      expect(sums?.reserve_cents).to.equal(max);
    });
  });
}

describe("a server whose clock is ahead of PostgreSQL's", () => {
  const opened = databaseOfSuite("postgres");
  let organizationId: OrganizationId;
  before(async () => {
    organizationId = (await keys(opened.database, now).createOrganization("own")).id;
  });

  it("commits nothing, and does not set the time of a book for the others", async () => {
    const ahead = opened.cell.committer.commit([createAccount(organizationId, "user")], now(NEXT_HOUR_MILLIS));
    const error: unknown = await ahead.catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(StoreError).and.have.property("kind", "unavailable");
    expect(String((error as StoreError).cause)).to.match(/the clock of this server is \d+ ms ahead of the database's/);
    const [result] = await opened.cell.committer.commit([createAccount(organizationId, "user")], now());
    expect(result).to.include({ kind: "done", replayed: false });
  });

  for (const [what, millis, says] of [
    ["ahead", 3_000, /\d+ ms ahead of that of the database/],
    ["behind", -3_000, /\d+ ms behind that of the database/],
  ] as const) {
    it(`does not pass the ping that decides on its health, nor does one that is ${what}`, async () => {
      const error: unknown = await opened.database.ping(() => now(millis)).catch((reason: unknown) => reason);
      expect(String(error)).to.match(says);
    });
  }

  it("passes it with a clock that agrees", async () => {
    await opened.database.ping(now);
  });
});

describe("a database that shares the clock of the server", () => {
  it("is an SQLite file: the server's clock is the only one", async () => {
    const opened = await openTestDatabase("sqlite");
    try {
      const { id } = await keys(opened.database, now).createOrganization("own");
      const [result] = await opened.cell.committer.commit([createAccount(id, "user")], now(NEXT_HOUR_MILLIS));
      expect(result?.kind).to.equal("done");
      await opened.database.ping(() => now(NEXT_HOUR_MILLIS));
    } finally {
      await opened.dispose();
    }
  });
});

describe("a book whose keys no master key decrypts", () => {
  for (const engine of ENGINES) {
    it(`fails its own commands alone (${engine})`, async () => {
      const opened = await openTestDatabase(engine);
      const other = await openDatabase(opened.address);
      try {
        const own = keys(opened.database, now);
        const [good, bad] = [await own.createOrganization("good"), await own.createOrganization("bad")];
        await execute(
          opened.address,
          `UPDATE book_keys SET master_key_id = 'lost'
           WHERE book = (SELECT number FROM books WHERE organization_id = '${bad.id}')`,
        );
        const batch = [createAccount(good.id, "user"), createAccount(bad.id, "user")];
        const ledger = ledgerOn(other);
        const [done, error] = await Promise.allSettled(batch.map((command) => ledger.submit(command, NO_DEADLINE)));
        expect(done).to.have.nested.property("value.kind", "done");
        expect(causeOf(error)).to.contain(`rejected: Error: the keys of ${bad.id} need the master key lost`);
        await ledger.close();
      } finally {
        await other.close();
        await opened.dispose();
      }
    });
  }

  function ledgerOn({ cells: [{ committer }] }: Database): Ledger {
    return new Ledger({ committer, now, batchMax: 16, queueMax: 16, onStoreError: () => undefined });
  }

  function causeOf(settled: PromiseSettledResult<unknown> | undefined): string {
    if (settled?.status !== "rejected" || !(settled.reason instanceof StoreError)) return "no StoreError";
    return `${settled.reason.kind}: ${String(settled.reason.cause)}`;
  }
});
