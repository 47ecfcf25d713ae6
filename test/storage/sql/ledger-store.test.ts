import { expect } from "chai";

import type { Account } from "../../../src/domain/account.js";
import type { Command, ResourceOf } from "../../../src/domain/operations.js";
import type { Rail } from "../../../src/domain/transaction.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { commitBatch } from "../../../src/ledger/commit-batch.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import { openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import type { Transact } from "../../../src/storage/sql/engine.js";
import { ledgerStore } from "../../../src/storage/sql/ledger-store.js";
import { openSqliteForWriting } from "../../../src/storage/sqlite/connection.js";
import { SqliteStatements, sqliteTransaction } from "../../../src/storage/sqlite/statements.js";
import { databaseOfSuite, ENGINES, type TestDatabase } from "../../support/databases.js";
import { NO_DEADLINE } from "../../support/names.js";
import { closeAccount, createAccount, freezeAccount, unfreezeAccount } from "../../support/operations/accounts.js";
import { cancel, mint, type Movement, redeem } from "../../support/operations/transactions.js";

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());
const SLOW_RAIL = "slow" as Rail;

// The contract that every store must pass, with the ledger in front of it as in the service.
for (const engine of ENGINES) {
  describe(`the ledger on ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    let ledger: Ledger;
    let organizationId: OrganizationId;
    let accountId: AccountId;

    beforeEach(async () => {
      ledger = ledgerOn(opened);
      organizationId = (await keys(opened.database, now).createOrganization("contract")).id;
      accountId = (await done(createAccount(organizationId, "user"))).id;
    });
    afterEach(() => ledger.close());

    function ledgerOn({ cell: { committer } }: Pick<TestDatabase, "cell">): Ledger {
      return new Ledger({
        committer,
        now,
        batchMax: 128,
        queueMax: 10_000,
        onStoreError: (error) => {
          throw error;
        },
      });
    }

    const movement = (given: Partial<Movement> & Pick<Movement, "amount" | "reference">): Movement => ({
      organizationId,
      accountId,
      ...given,
    });

    async function done<C extends Command>(command: C): Promise<ResourceOf<C>> {
      const outcome = await ledger.submit(command, NO_DEADLINE);
      if (outcome.kind === "refused") throw new Error(outcome.refusal.reason);
      return outcome.resource;
    }

    async function summary(command: Command): Promise<string> {
      const outcome = await ledger.submit(command, NO_DEADLINE);
      if (outcome.kind === "refused") return outcome.refusal.reason;
      return outcome.replayed ? "replayed" : "done";
    }

    async function balances(): Promise<Pick<Account, "availableCents" | "heldCents">> {
      const account = await reads(opened.cell).account(organizationId, accountId);
      if (account === undefined) throw new Error("the account is gone");
      const { availableCents, heldCents } = account;
      return { availableCents, heldCents };
    }

    async function sums(): Promise<object | undefined> {
      const [row] = await opened.cell.reader.rows<object>(
        `SELECT reserve_cents, available_cents, held_cents FROM ${opened.cell.engine.table("books")}
         WHERE organization_id = ?`,
        [organizationId],
      );
      return row;
    }

    it("keeps what it answered: accounts, transactions, balances and the sums of the book", async () => {
      const minted = await done(
        mint(
          movement({ amount: "100.00", reference: "in", description: "café ☕", metadata: { b: "2", a: "1", 1: "x" } }),
        ),
      );
      const redeemed = await done(redeem(movement({ amount: "30.01", reference: "out" })));

      const stored = reads(opened.cell);
      expect(await stored.transaction(organizationId, minted.id)).to.deep.equal(minted);
      expect(await stored.transaction(organizationId, redeemed.id)).to.deep.equal(redeemed);
      expect(await balances()).to.deep.equal({ availableCents: 6_999, heldCents: 0 });
      expect(await sums()).to.deep.equal({ reserve_cents: 6_999, available_cents: 6_999, held_cents: 0 });
    });

    it("answers a repeat with the first transaction, and other content with the one that has the reference", async () => {
      const first = await done(mint(movement({ amount: "5.00", reference: "one" })));
      const again = await ledger.submit(mint(movement({ amount: "5.00", reference: "one" })), NO_DEADLINE);
      expect(again).to.deep.equal({ kind: "done", resource: first, replayed: true });

      const other = await ledger.submit(redeem(movement({ amount: "4.00", reference: "one" })), NO_DEADLINE);
      expect(other).to.deep.equal({
        kind: "refused",
        refusal: { reason: "REFERENCE_ALREADY_USED", transactionId: first.id, differingFields: ["type", "amount"] },
      });
    });

    it("lets a later command of the same batch see the earlier one", async () => {
      const outcomes = await Promise.all([
        summary(mint(movement({ amount: "10.00", reference: "a" }))),
        summary(redeem(movement({ amount: "8.00", reference: "b" }))),
        summary(redeem(movement({ amount: "8.00", reference: "c" }))),
        summary(redeem(movement({ amount: "8.00", reference: "b" }))),
        summary(createAccount(organizationId, "twin")),
        summary(createAccount(organizationId, "twin")),
      ]);
      expect(outcomes).to.deep.equal(["done", "done", "INSUFFICIENT_FUNDS", "replayed", "done", "replayed"]);
      expect(await balances()).to.deep.equal({ availableCents: 200, heldCents: 0 });
    });

    it("makes one transaction of 200 parallel calls with one reference, and answers all of them with it", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 200 }, () =>
          ledger.submit(mint(movement({ amount: "7.00", reference: "same" })), NO_DEADLINE),
        ),
      );
      const ids = outcomes.map((outcome) => (outcome.kind === "done" ? outcome.resource.id : outcome.refusal.reason));
      expect(new Set(ids).size).to.equal(1);
      expect(outcomes.filter((outcome) => outcome.kind === "done" && !outcome.replayed)).to.have.lengthOf(1);
      expect(await balances()).to.deep.equal({ availableCents: 700, heldCents: 0 });
    });

    it("makes one transaction when two servers on one database get the calls", async () => {
      const other = await openDatabase(opened.address);
      const otherLedger = ledgerOn({ cell: other.cells[0] });
      try {
        const outcomes = await Promise.all(
          Array.from({ length: 200 }, (_, index) =>
            (index % 2 === 0 ? ledger : otherLedger).submit(
              mint(movement({ amount: "7.00", reference: "shared" })),
              NO_DEADLINE,
            ),
          ),
        );
        const ids = outcomes.map((outcome) => (outcome.kind === "done" ? outcome.resource.id : outcome.refusal.reason));
        expect(new Set(ids).size).to.equal(1);
        expect(await balances()).to.deep.equal({ availableCents: 700, heldCents: 0 });

        // Many references on one account, from both: nothing is lost between them.
        const many = await Promise.all(
          Array.from({ length: 400 }, (_, index) =>
            (index % 2 === 0 ? ledger : otherLedger).submit(
              mint(movement({ amount: "0.01", reference: `n${String(index >> 1)}` })),
              NO_DEADLINE,
            ),
          ),
        );
        expect(many.filter((outcome) => outcome.kind === "done" && !outcome.replayed)).to.have.lengthOf(200);
        expect(await balances()).to.deep.equal({ availableCents: 900, heldCents: 0 });
      } finally {
        await otherLedger.close();
        await other.close();
      }
    });

    it("holds a redemption on a slow rail, and gives it back when it is canceled, once", async () => {
      await done(mint(movement({ amount: "10.00", reference: "in" })));
      const pending = await done(redeem(movement({ amount: "4.00", reference: "out", rail: SLOW_RAIL })));
      expect(pending.status).to.equal("PENDING");
      expect(await balances()).to.deep.equal({ availableCents: 600, heldCents: 400 });
      expect(await sums()).to.deep.equal({ reserve_cents: 1_000, available_cents: 600, held_cents: 400 });

      const canceled = await done(cancel(organizationId, pending.id));
      expect(await reads(opened.cell).transaction(organizationId, pending.id)).to.deep.equal(canceled);
      expect(await summary(cancel(organizationId, pending.id))).to.equal("replayed");
      expect(await balances()).to.deep.equal({ availableCents: 1_000, heldCents: 0 });
    });

    it("keeps an idempotency key with its effect, and refuses it with any other content", async () => {
      const command = mint(movement({ amount: "5.00", reference: "first", key: "k" }));
      const first = await done(command);
      expect(await ledger.submit(command, NO_DEADLINE)).to.deep.equal({
        kind: "done",
        resource: first,
        replayed: true,
      });
      for (const other of [
        mint(movement({ amount: "5.00", reference: "second", key: "k" })),
        mint(movement({ amount: "6.00", reference: "third", key: "k" })),
        redeem(movement({ amount: "5.00", reference: "fourth", key: "k" })),
        createAccount(organizationId, "else", { key: "k" }),
      ]) {
        expect(await summary(other)).to.equal("IDEMPOTENCY_KEY_REUSED");
      }
      expect(await balances()).to.deep.equal({ availableCents: 500, heldCents: 0 });
    });

    it("lets an idempotency key that comes with a replay name that transaction from then on", async () => {
      await done(mint(movement({ amount: "5.00", reference: "plain" })));
      await done(mint(movement({ amount: "5.00", reference: "plain", key: "late" })));
      const other = mint(movement({ amount: "5.00", reference: "new", key: "late" }));
      expect(await summary(other)).to.equal("IDEMPOTENCY_KEY_REUSED");
      expect(await balances()).to.deep.equal({ availableCents: 500, heldCents: 0 });
    });

    it("leaves nothing of a refusal behind: the same reference may be tried again", async () => {
      const early = redeem(movement({ amount: "5.00", reference: "retry", key: "retry" }));
      expect(await summary(early)).to.equal("INSUFFICIENT_FUNDS");
      await done(mint(movement({ amount: "5.00", reference: "in" })));
      expect(await summary(early)).to.equal("done");
    });

    it("changes an account's status, and shows it to the next command", async () => {
      const [first, second] = [freezeAccount(organizationId, accountId), freezeAccount(organizationId, accountId)];
      const outcomes = await Promise.all([
        summary(first),
        summary(second),
        summary(unfreezeAccount(organizationId, accountId, first.newFreezeId)),
        summary(mint(movement({ amount: "1.00", reference: "a" }))),
        summary(unfreezeAccount(organizationId, accountId, second.newFreezeId)),
        summary(closeAccount(organizationId, accountId)),
        summary(freezeAccount(organizationId, accountId)),
      ]);
      expect(outcomes).to.deep.equal(["done", "done", "done", "ACCOUNT_FROZEN", "done", "done", "ACCOUNT_CLOSED"]);
    });

    it("shows one organization nothing of another", async () => {
      const stranger = (await keys(opened.database, now).createOrganization("stranger")).id;
      const minted = await done(mint(movement({ amount: "1.00", reference: "mine" })));
      const pending = await done(redeem(movement({ amount: "1.00", reference: "held", rail: SLOW_RAIL })));
      for (const [command, reason] of [
        [mint({ organizationId: stranger, accountId, amount: "1.00", reference: "x" }), "ACCOUNT_NOT_FOUND"],
        [redeem({ organizationId: stranger, accountId, amount: "1.00", reference: "mine" }), "ACCOUNT_NOT_FOUND"],
        [freezeAccount(stranger, accountId), "ACCOUNT_NOT_FOUND"],
        [cancel(stranger, pending.id), "TRANSACTION_NOT_FOUND"],
      ] as const) {
        expect(await summary(command)).to.equal(reason);
      }
      const stored = reads(opened.cell);
      expect(await stored.account(stranger, accountId)).to.equal(undefined);
      expect(await stored.transaction(stranger, minted.id)).to.equal(undefined);
      const listed = await stored.transactions(stranger, { accountId }, { size: 10, beforeSeq: undefined });
      expect(listed.rows).to.deep.equal([]);
      expect(listed.nextBeforeSeq).to.equal(undefined);
    });

    it("numbers each organization's book without a gap, from 1, whose row is the organization's own", async () => {
      const stranger = (await keys(opened.database, now).createOrganization("stranger")).id;
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          done(
            index % 2 === 0
              ? mint(movement({ amount: "1.00", reference: `s${String(index)}` }))
              : createAccount(stranger, `s${String(index)}`),
          ),
        ),
      );
      // The account of the test is the second row of the first book.
      for (const [id, rowsOf, kind] of [
        [organizationId, 27, "transaction.completed"],
        [stranger, 26, "account.created"],
      ] as const) {
        const { reader, engine } = opened.cell;
        const rows = await reader.rows<{ seq: number; kind: string; last_seq: number }>(
          `SELECT seq, kind, last_seq FROM ${engine.table("journal")} JOIN ${engine.table("books")} ON number = book
           WHERE organization_id = ? ORDER BY seq`,
          [id],
        );
        expect(rows.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: rowsOf }, (_, index) => index + 1));
        expect(rows[0]?.kind).to.equal("organization.created");
        expect(rows.at(-1)).to.deep.include({ kind, last_seq: rowsOf });
      }
    });

    it("runs as many statements for a hundred commands as for one", async () => {
      const transaction = transactionOn(opened);
      const statementsFor = async (commands: readonly Command[]): Promise<number> => {
        let statements = 0;
        const counting: Transact = (work) =>
          transaction((session) =>
            work({
              read: (one) => {
                statements += 1;
                return session.read(one);
              },
              write: (writes) => {
                statements += writes.length;
                return session.write(writes);
              },
            }),
          );
        const answers = await commitBatch(
          ledgerStore(opened.cell.engine, counting, opened.cell.directory),
          commands,
          now(),
        );
        expect(answers.every(({ kind }) => kind === "done")).to.equal(true);
        return statements;
      };
      const batch = (name: string, size: number): Command[] =>
        Array.from({ length: size }, (_, index) => [
          createAccount(organizationId, `${name}${String(index)}`),
          mint(movement({ amount: "1.00", reference: `${name}${String(index)}`, key: `${name}${String(index)}` })),
        ]).flat();
      // The first batch of an organization also opens its book.
      await statementsFor(batch("first", 1));
      expect(await statementsFor(batch("many", 50))).to.equal(await statementsFor(batch("one", 1)));

      // Direct mints read neither holders nor freezes: accounts, transactions and books alone. They
      // write these three tables and the journal.
      const mints = Array.from({ length: 50 }, (_, index) =>
        mint(movement({ amount: "1.00", reference: `direct${String(index)}` })),
      );
      expect(await statementsFor(mints)).to.equal(7);
    });
  });
}

/** As the engine's own, within reach of the test. */
function transactionOn({ address, cell }: TestDatabase): Transact {
  if (address.engine === "postgres") return cell.transact;
  const connection = openSqliteForWriting(address.filename);
  return sqliteTransaction(connection, new SqliteStatements(connection));
}
