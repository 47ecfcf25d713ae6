import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import type { Account } from "../../src/domain/account.js";
import type { ChangeAccountStatus, Command, MoveMoney, ResourceOf } from "../../src/domain/commands.js";
import { DIRECT_RAIL, type Rail, type Transaction } from "../../src/domain/transaction.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { Ledger } from "../../src/ledger/ledger.js";
import { type Database, type DatabaseAddress, openDatabase } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { migrate } from "../../src/storage/migrate.js";
import { accountChain } from "../../src/storage/migrations/0007-account-chain.js";
import { type Verification, verify } from "../../src/verify/verify.js";
import { cancel, changeStatus, createAccount, mint, NO_DEADLINE, redeem } from "../support/commands.js";
import { ENGINES, execute, openTestDatabase } from "../support/databases.js";

const SLOW_RAIL = "sandbox" as Rail;
const now = (): UnixMillis => toUnixMillis(Date.now());

/** Runs commands of one organization, and returns what they made. */
class Books {
  readonly #ledger: Ledger;
  readonly #organizationId: OrganizationId;
  #references = 0;

  private constructor(ledger: Ledger, organizationId: OrganizationId) {
    this.#ledger = ledger;
    this.#organizationId = organizationId;
  }

  /** Makes an organization in the database. */
  static async open(database: Database): Promise<Books> {
    const organization = await keys(database, now).createOrganization("the organization");
    const committer = database.committer;
    const onStoreError = (): void => undefined;
    return new Books(new Ledger({ committer, now, batchMax: 128, queueMax: 100_000, onStoreError }), organization.id);
  }

  createAccount(userId: string): Promise<Account> {
    return this.#submit(createAccount(this.#organizationId, userId));
  }

  async change(name: ChangeAccountStatus["name"], { id }: Account): Promise<void> {
    await this.#submit(changeStatus(name, this.#organizationId, id));
  }

  move(name: MoveMoney["name"], { id: accountId }: Account, amount: string, rail = DIRECT_RAIL): Promise<Transaction> {
    this.#references += 1;
    const reference = `reference-${String(this.#references)}`;
    const movement = { organizationId: this.#organizationId, accountId, amount, reference, rail };
    return this.#submit(name === "mint" ? mint(movement) : redeem(movement));
  }

  async cancel({ id }: Transaction): Promise<void> {
    await this.#submit(cancel(this.#organizationId, id));
  }

  async #submit<C extends Command>(command: C): Promise<ResourceOf<C>> {
    const outcome = await this.#ledger.submit(command, NO_DEADLINE);
    if (outcome.kind === "refused") throw new Error(outcome.refusal.reason);
    return outcome.resource;
  }
}

/** The same rows in the same order each time: the table below names them by their seq. */
async function makeTraffic(books: Books): Promise<void> {
  const amina = await books.createAccount("amina"); // 1
  const brian = await books.createAccount("brian"); // 2
  const carol = await books.createAccount("carol"); // 3
  await books.move("mint", amina, "1000.00"); // 4
  await books.move("mint", brian, "500.00"); // 5
  await books.move("redeem", amina, "300.00"); // 6
  const hold = await books.move("redeem", amina, "200.00", SLOW_RAIL); // 7
  await books.move("redeem", brian, "100.00", SLOW_RAIL); // 8: stays on hold
  const coming = await books.move("mint", carol, "50.00", SLOW_RAIL); // 9
  await books.change("freezeAccount", amina); // 10
  await books.cancel(hold); // 11
  await books.change("unfreezeAccount", amina); // 12
  await books.change("closeAccount", carol); // 13
  await books.cancel(coming); // 14
  await books.move("mint", amina, "0.01"); // 15
  await books.move("mint", brian, "0.02"); // 16
}
const ROWS = 16;
const HOLDS: Verification = {
  journalRows: ROWS,
  accounts: 3,
  transactions: 8,
  organizations: 1,
  reserveCents: 120_003n,
  findingsCount: 0,
  firstFindings: [],
};

/** `first` is the seq, and a word of what is said about it. */
type Tampering = readonly [name: string, statements: readonly string[], first: readonly [seq: number, word: RegExp]];

const JOURNAL_COLUMNS = `organization_id, account_id, transaction_id, kind, debit, credit, amount_cents,
  available_after_cents, held_after_cents, actor, reason, recorded_at, previous_seq`;
const OF_ROW = (seq: number): string => `(SELECT account_id FROM journal WHERE seq = ${String(seq)})`;

const TAMPERINGS: readonly Tampering[] = [
  ["a changed amount", ["UPDATE journal SET amount_cents = 99999 WHERE seq = 4"], [4, /available 999\.99/]],
  ["an amount below zero", ["UPDATE journal SET amount_cents = -100000 WHERE seq = 4"], [4, /-1000\.00/]],
  ["a deleted row", ["DELETE FROM journal WHERE seq = 6"], [6, /next row has seq 7/]],
  ["deleted rows at the beginning", ["DELETE FROM journal WHERE seq < 4"], [1, /next row has seq 4/]],
  ["a deleted row at the end", [`DELETE FROM journal WHERE seq = ${String(ROWS)}`], [ROWS, /last row at seq 15/]],
  [
    "a doubled row",
    [`INSERT INTO journal SELECT 17, ${JOURNAL_COLUMNS} FROM journal WHERE seq = 5`],
    [17, /last row at seq 17/],
  ],
  [
    "a doubled row that journal_head counts",
    [
      `INSERT INTO journal SELECT 17, ${JOURNAL_COLUMNS} FROM journal WHERE seq = 5`,
      "UPDATE journal_head SET last_seq = 17",
    ],
    [17, /after COMPLETED|available/],
  ],
  [
    "an inserted hold that agrees with the balances, but with no transaction",
    [
      `INSERT INTO journal SELECT 17, organization_id, account_id, 'txn_unknown', kind, debit, credit, 100, 39902, 10100,
         actor, reason, recorded_at, 16 FROM journal WHERE seq = 8`,
      "UPDATE journal_head SET last_seq = 17",
      `UPDATE accounts SET last_seq = 17, available_cents = 39902, held_cents = 10100 WHERE id = ${OF_ROW(8)}`,
      "UPDATE supply SET available_cents = available_cents - 100, held_cents = held_cents + 100",
    ],
    [17, /transactions: a row \| none/],
  ],
  ["a changed balance", [`UPDATE accounts SET available_cents = 1 WHERE id = ${OF_ROW(4)}`], [15, /available 0\.01/]],
  ["a changed hold", [`UPDATE accounts SET held_cents = 0 WHERE id = ${OF_ROW(5)}`], [16, /held 100\.00.*held 0\.00/]],
  ["a changed account status", [`UPDATE accounts SET status = 'FROZEN' WHERE id = ${OF_ROW(4)}`], [15, /FROZEN/]],
  ["an account that is missing", [`DELETE FROM accounts WHERE id = ${OF_ROW(5)}`], [2, /accounts: a row \| none/]],
  [
    "an account from nowhere",
    [
      `INSERT INTO accounts SELECT 99, 'acc_z', organization_id, 'zoe', phone_number, email, status, status_reason, 0, 0,
         created_at, updated_at, 99 FROM accounts WHERE seq = 1`,
    ],
    [99, /journal row that created it/],
  ],
  ["a changed reserve", ["UPDATE supply SET reserve_cents = reserve_cents + 1"], [16, /reserve 1200\.03.*1200\.04/]],
  ["a missing supply", ["DELETE FROM supply"], [16, /no row/]],
  [
    "a changed transaction status",
    ["UPDATE transactions SET status = 'CANCELED' WHERE seq = 8"],
    [8, /PENDING.*CANCELED/],
  ],
  ["a changed transaction amount", ["UPDATE transactions SET amount_cents = 7 WHERE seq = 5"], [5, /0\.07/]],
  ["a changed transaction type", ["UPDATE transactions SET type = 'REDEEM' WHERE seq = 5"], [5, /debit available/]],
  ["a changed rail", ["UPDATE transactions SET rail = 'sandbox' WHERE seq = 5"], [5, /transaction\.pending/]],
  ["a changed moment of completion", ["UPDATE transactions SET completed_at = 5 WHERE seq = 5"], [5, /completed at 5/]],
  ["another account's transaction", [`UPDATE transactions SET account_id = ${OF_ROW(1)} WHERE seq = 5`], [5, /acc_/]],
  ["a missing transaction", ["DELETE FROM transactions WHERE seq = 5"], [5, /transactions: a row \| none/]],
  ["a changed available_after", ["UPDATE journal SET available_after_cents = 5 WHERE seq = 7"], [7, /available 0\.05/]],
  ["a changed held_after", ["UPDATE journal SET held_after_cents = 5 WHERE seq = 9"], [9, /held 0\.05/]],
  ["a changed account of a row", [`UPDATE journal SET account_id = ${OF_ROW(2)} WHERE seq = 6`], [6, /acc_/]],
  ["a swapped kind", ["UPDATE journal SET kind = 'account.frozen' WHERE seq = 12"], [12, /account\.frozen only when/]],
  ["a kind that ends otherwise", ["UPDATE journal SET kind = 'transaction.completed' WHERE seq = 11"], [11, /held/]],
  ["a kind that nobody knows", ["UPDATE journal SET kind = 'transaction.vanished' WHERE seq = 9"], [9, /known kind/]],
  [
    "a kind of accounts on a transaction",
    ["UPDATE journal SET kind = 'account.frozen' WHERE seq = 9"],
    [9, /transaction_id/],
  ],
  ["a swapped direction", ["UPDATE journal SET debit = credit, credit = debit WHERE seq = 5"], [5, /debit available/]],
  ["a posting to itself", ["UPDATE journal SET credit = debit WHERE seq = 5"], [5, /two of reserve/]],
  ["a posting without money", ["UPDATE journal SET amount_cents = NULL WHERE seq = 5"], [5, /two of reserve/]],
  ["another organization's row", ["UPDATE journal SET organization_id = 'org_other' WHERE seq = 6"], [6, /org_other/]],
  [
    "a link that skips a row",
    ["UPDATE journal SET previous_seq = 4 WHERE seq = 7"],
    [7, /previous_seq 6.*previous_seq 4/],
  ],
  [
    "a link into another account",
    ["UPDATE journal SET previous_seq = 5 WHERE seq = 6"],
    [6, /previous_seq 4.*previous_seq 5/],
  ],
  ["a lost link", ["UPDATE journal SET previous_seq = NULL WHERE seq = 6"], [6, /previous_seq 4.*no previous_seq/]],
  [
    "an account that ends too early",
    [`UPDATE accounts SET last_seq = 12 WHERE id = ${OF_ROW(4)}`],
    [15, /last_seq 12/],
  ],
  ["a lost head", ["DELETE FROM journal_head"], [17, /journal_head/]],
];

interface TestBooks {
  readonly address: DatabaseAddress;
  readonly database: Database;
  readonly books: Books;
  readonly dispose: () => Promise<void>;
}

for (const engine of ENGINES) {
  describe(`verify on ${engine}`, () => {
    const openBooks = async (): Promise<TestBooks> => {
      const opened = await openTestDatabase(engine);
      const { address, database } = opened;
      return { address, database, books: await Books.open(database), dispose: () => opened.dispose() };
    };

    it("holds, and counts", async () => {
      const { database, books, dispose } = await openBooks();
      expect(await verify(database)).to.include({ findingsCount: 0, journalRows: 0, organizations: 1 });
      await makeTraffic(books);
      expect(await verify(database)).to.deep.equal(HOLDS);
      await dispose();
    });

    it("reads on past what one fetch of a cursor brings", async () => {
      const { database, books, dispose } = await openBooks();
      const accounts = await Promise.all(["amina", "brian"].map((userId) => books.createAccount(userId)));
      await Promise.all(
        accounts.flatMap((account) => Array.from({ length: 2_600 }, () => books.move("mint", account, "1"))),
      );
      expect(await verify(database)).to.include({ findingsCount: 0, journalRows: 5_202, reserveCents: 520_000n });
      await dispose();
    });

    it("sees the books as they were when it began, while others go on writing", async () => {
      const { database, books, dispose } = await openBooks();
      const account = await books.createAccount("amina");
      let writing = true;
      const writers = ["0.01", "0.02", "0.03", "0.04"].map(async (amount) => {
        while (writing) await books.move("mint", account, amount);
      });
      for (let times = 0; times < 20; times += 1) {
        expect((await verify(database)).firstFindings).to.deep.equal([]);
        // The writers get a turn of the event loop.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      writing = false;
      await Promise.all(writers);
      expect((await verify(database)).journalRows).to.be.greaterThan(1);
      await dispose();
    });

    it("holds after the migration that links the rows of books that were kept before it", async () => {
      const { address, database, books, dispose } = await openBooks();
      await makeTraffic(books);
      const unlink = ["UPDATE journal SET previous_seq = NULL", "UPDATE accounts SET last_seq = 0"];
      const link = accountChain(database.engine).filter((statement) => statement.startsWith("UPDATE"));
      await execute(address, ...database.engine.changeable("journal"), ...unlink, ...link);
      expect(await verify(database)).to.deep.equal(HOLDS);
      await dispose();
    });

    it("names a broken row", async () => {
      const { address, database, books, dispose } = await openBooks();
      await makeTraffic(books);
      await execute(
        address,
        ...database.engine.changeable("journal"),
        "UPDATE journal SET amount_cents = 99999 WHERE seq = 4",
      );
      expect((await verify(database)).firstFindings[0]?.seq).to.equal(4);
      await dispose();
    });
  });
}

describe("verify after somebody was at the database", () => {
  let folder: string;
  let original: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-verify-"));
    original = join(folder, "original.db");
    const database = await openDatabase({ engine: "sqlite", filename: original });
    await migrate(database);
    await makeTraffic(await Books.open(database));
    await database.close();
  });
  after(() => {
    rmSync(folder, { recursive: true });
  });

  /** Verifies a copy after the statements, which no trigger and no constraint hinders. */
  async function verifyAfter(name: string, statements: readonly string[]): Promise<Verification> {
    const copy = join(folder, `${name.replaceAll(" ", "-")}.db`);
    copyFileSync(original, copy);
    const address = { engine: "sqlite", filename: copy } as const;
    const unguarded = [
      "PRAGMA foreign_keys = OFF",
      "PRAGMA ignore_check_constraints = ON",
      "DROP TRIGGER journal_refuses_update",
      "DROP TRIGGER journal_refuses_delete",
      "DROP INDEX journal_terminal_rows",
    ];
    await execute(address, ...unguarded, ...statements);
    const database = await openDatabase(address);
    const verification = await verify(database);
    await database.close();
    return verification;
  }

  it("holds when nobody changed anything", async () => {
    expect(await verifyAfter("nothing", [])).to.deep.equal(HOLDS);
  });

  for (const [name, statements, [seq, word]] of TAMPERINGS) {
    it(`names ${name} by its seq`, async () => {
      const { firstFindings } = await verifyAfter(name, statements);
      expect(firstFindings[0]?.seq).to.equal(seq);
      const said = firstFindings.filter((finding) => finding.seq === seq);
      expect(said.map(({ table, expected, found }) => `${table}: ${expected} | ${found}`).join("\n")).to.match(word);
    });
  }

  it("counts everything that is broken and keeps the first twenty", async () => {
    const { firstFindings, findingsCount } = await verifyAfter("all of it", [
      "UPDATE journal SET available_after_cents = available_after_cents + seq, kind = 'nonsense'",
    ]);
    expect(findingsCount).to.be.greaterThan(20);
    expect(firstFindings).to.have.length(20);
    const seqs = firstFindings.map((finding) => finding.seq ?? 0);
    expect(seqs).to.deep.equal(seqs.toSorted((left, right) => left - right));
    expect(seqs[0]).to.equal(1);
  });
});
