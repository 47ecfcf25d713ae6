import { expect } from "chai";

import type { PayoutRow } from "../../src/domain/payout-file.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { Description, Reference } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { Ledger } from "../../src/ledger/ledger.js";
import type { OpenPart, PayoutStore, StoredPayouts } from "../../src/payouts/ports.js";
import { redemptionOf } from "../../src/payouts/redemption.js";
import { PayoutRunner, type RowDecision } from "../../src/payouts/runner.js";
import { keys } from "../../src/storage/keys.js";
import { payoutFiles } from "../../src/storage/payouts/payout-files.js";
import { payoutStore } from "../../src/storage/payouts/payout-store.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { newTransactionId, NO_DEADLINE, RAIL_TERMS } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { payFile, stopFile } from "../support/operations/payouts.js";
import { mint } from "../support/operations/transactions.js";
import { makeTenant } from "../support/service/tenants.js";

const now = () => toUnixMillis(Date.now());
/** What a file of these tests has: three rows, one that the ledger refuses, and one left out. */
const STEPS = 12;

/** The process ends here. */
class Killed extends Error {}

for (const engine of ENGINES) {
  describe(`the runner of payouts (${engine})`, () => {
    let opened: TestDatabase;
    let organizationId: OrganizationId;
    let accountId: AccountId;
    let ledger: Ledger;
    let files = 0;

    before(async () => {
      opened = await openTestDatabase(engine);
      const { database, cell } = opened;
      ({ organizationId } = await makeTenant(keys(database, now), "Tenant"));
      const account = createAccount(organizationId, "amina");
      ({ newAccountId: accountId } = account);
      const funds = mint({ organizationId, accountId, amount: "10000.00", reference: "funds" });
      await cell.committer.commit([account, funds], now());
      const onStoreError = (error: Error): void => {
        throw error;
      };
      ledger = new Ledger({ committer: cell.committer, now, batchMax: 64, queueMax: 1_000, onStoreError });
    });
    after(async () => {
      expect(await findingsIn({ cells: [opened.cell] })).to.deep.equal([]);
      await ledger.close();
      await opened.dispose();
    });

    const rowOf = (line: number, given: Partial<PayoutRow> = {}): PayoutRow => ({
      line,
      accountId,
      amountCents: toCents(1_000),
      reference: `${String(files)} ${String(line)}` as Reference,
      description: "" as Description,
      destinationId: undefined,
      ...given,
    });

    /** Stores and approves a file of two parts. */
    const approved = async (): Promise<StoredPayouts> => {
      files += 1;
      const [sha256, rowsSha256] = ["a", "b"].map((letter) => String(files).padStart(64, letter)) as [string, string];
      const refused = rowOf(3, { accountId: "acc_none" as AccountId });
      const parts = [
        [rowOf(2), refused, rowOf(4)],
        [rowOf(5), { line: 6, problem: "amount: is required" }],
      ];
      const organization = { id: organizationId, cell: opened.cell.number };
      await payoutFiles(opened.database).store(organization, { sha256, rowsSha256, preview: {}, parts }, now());
      await opened.cell.committer.commit([payFile(organizationId, { sha256, rowsSha256, rows: 4 })], now());
      return (await payoutFiles(opened.database).file(organization, sha256)) as StoredPayouts;
    };
    const outcomesOf = async (file: StoredPayouts) => {
      const { items } = await payoutFiles(opened.database).items({ id: organizationId, cell: 0 }, file, {
        from: 0,
        size: 9,
      });
      return items.map(({ refused, transaction }) => transaction?.status ?? refused ?? "nothing");
    };
    const redemptions = async (): Promise<number> => {
      const [row] = (await execute(
        opened.address,
        "SELECT CAST(count(*) AS INTEGER) AS count FROM transactions WHERE type = 'REDEEM'",
      )) as [{ readonly count: number }];
      return row.count;
    };

    /** Runs until no part is open, or until a step fails. Returns how often it looked for parts. */
    const run = async (
      step: () => void = () => undefined,
      { decide = (decided: RowDecision) => decided, lease = 1_000 } = {},
    ): Promise<number> => {
      const store = payoutStore(opened.cell, () => undefined);
      let looks = 0;
      const ended = Promise.withResolvers<undefined>();
      const watched: PayoutStore = {
        ...store,
        open: async () => {
          looks += 1;
          const open = await store.open();
          if (open.length === 0) ended.resolve(undefined);
          return open;
        },
        finish: async (part, refused) => {
          step();
          await store.finish(part, refused);
          step();
        },
      };
      const redeem = async ({ sha256, rail }: OpenPart["file"], row: PayoutRow): Promise<RowDecision> => {
        step();
        const of = { organizationId, sha256, rail, railTerms: RAIL_TERMS, newTransactionId: newTransactionId() };
        const outcome = await ledger.submit(redemptionOf(row, of), NO_DEADLINE, { bulk: true });
        step();
        return decide(
          outcome.kind === "done" ? { kind: "accepted" } : { kind: "refused", reason: outcome.refusal.reason },
        );
      };
      const runner = new PayoutRunner({
        store: watched,
        lease: { leftMillis: () => lease },
        redeem,
        timing: { now, monotonicMillis: () => 0, wait: () => new Promise((resolve) => setImmediate(resolve)) },
        onError: (error) => {
          if (error instanceof Killed) ended.resolve(undefined);
          else ended.reject(error);
        },
      });
      runner.start();
      if (lease > 0) await ended.promise;
      await runner.stop();
      return looks;
    };

    it("redeems each row once, and notes why the ledger refused one", async () => {
      const before = await redemptions();
      const file = await approved();
      await run();
      expect(await outcomesOf(file)).to.deep.equal(["PENDING", "ACCOUNT_NOT_FOUND", "PENDING", "PENDING", "nothing"]);
      expect(await redemptions()).to.equal(before + 3);
      const after = await payoutFiles(opened.database).file({ id: organizationId, cell: 0 }, file.sha256);
      expect(after).to.include({ decidedParts: 2, parts: 2, refused: 1 });
    });

    for (let killedAt = 1; killedAt <= STEPS; killedAt += 1) {
      it(`redeems each row once if the process is killed at step ${String(killedAt)} of ${String(STEPS)}`, async () => {
        const before = await redemptions();
        const file = await approved();
        let steps = 0;
        await run(() => {
          steps += 1;
          if (steps >= killedAt) throw new Killed();
        });
        expect(steps).to.be.at.least(killedAt);
        await run();
        expect(await outcomesOf(file)).to.deep.equal(["PENDING", "ACCOUNT_NOT_FOUND", "PENDING", "PENDING", "nothing"]);
        expect(await redemptions()).to.equal(before + 3);
      });
    }

    it("redeems each row once if two servers believe that they have the lease", async () => {
      const before = await redemptions();
      const file = await approved();
      await Promise.all([run(), run()]);
      expect((await outcomesOf(file)).filter((word) => word === "PENDING")).to.have.length(3);
      expect(await redemptions()).to.equal(before + 3);
    });

    it("does not take the redemption of somebody else for that of a row", async () => {
      const { sha256 } = await approved();
      const row = rowOf(2);
      const of = { organizationId, sha256: "f".repeat(64), rail: "mpesa" as never, railTerms: RAIL_TERMS };
      await ledger.submit(redemptionOf(row, { ...of, newTransactionId: newTransactionId() }), NO_DEADLINE);
      const before = await redemptions();
      await run();
      const file = await payoutFiles(opened.database).file({ id: organizationId, cell: 0 }, sha256);
      expect(file).to.include({ refused: 2 });
      expect((await outcomesOf(file as StoredPayouts))[0]).to.equal("REFERENCE_ALREADY_USED");
      expect(await redemptions()).to.equal(before + 2);
    });

    it("sends a row again that the ledger could not decide", async () => {
      const file = await approved();
      let undecided = 5;
      await run(undefined, {
        decide: (decided) => {
          undecided -= 1;
          return undecided > 0 ? { kind: "later" } : decided;
        },
      });
      expect((await outcomesOf(file)).filter((word) => word === "PENDING")).to.have.length(3);
    });

    it("redeems no more rows of a stopped file, and notes them as refused, but those that it has redeemed", async () => {
      const before = await redemptions();
      const { sha256 } = await approved();
      let rows = 0;
      // The first part runs, and is not finished.
      await run(() => {
        rows += 1;
        if (rows > 6) throw new Killed();
      });
      expect(await redemptions()).to.equal(before + 2);
      await opened.cell.committer.commit([stopFile(organizationId, { sha256 })], now());
      await run();
      expect(await redemptions()).to.equal(before + 2);
      const file = await payoutFiles(opened.database).file({ id: organizationId, cell: 0 }, sha256);
      expect(file).to.include({ decidedParts: 2, parts: 2, refused: 2 });
      expect(await outcomesOf(file as StoredPayouts)).to.deep.equal([
        ...["PENDING", "PAYOUTS_STOPPED", "PENDING", "PAYOUTS_STOPPED", "nothing"],
      ]);
    });

    it("counts the rows of a part by what became of them", async () => {
      const file = await approved();
      const organization = { id: organizationId, cell: 0 };
      const counts = (part: number) => payoutFiles(opened.database).counts(organization, file, part);
      expect(await counts(1)).to.deep.equal({ items: 3, leftOut: 0, refused: 0, made: new Map() });
      expect((await payoutFiles(opened.database).running(organization)).map(({ sha256 }) => sha256)).to.deep.equal([
        file.sha256,
      ]);
      await run();
      expect(await counts(1)).to.deep.equal({ items: 3, leftOut: 0, refused: 1, made: new Map([["PENDING", 2]]) });
      expect(await counts(2)).to.deep.equal({ items: 2, leftOut: 1, refused: 0, made: new Map([["PENDING", 1]]) });
      expect(await counts(3)).to.deep.equal({ items: 0, leftOut: 0, refused: 0, made: new Map() });
      expect(await payoutFiles(opened.database).running(organization)).to.deep.equal([]);
    });

    it("redeems nothing without the lease, and nothing that nobody has approved", async () => {
      const before = await redemptions();
      const file = await approved();
      expect(await run(undefined, { lease: 0 })).to.equal(0);
      expect(await redemptions()).to.equal(before);
      await run();
      const organization = { id: organizationId, cell: 0 };
      const only = { sha256: "e".repeat(64), rowsSha256: "e".repeat(64), preview: {}, parts: [[rowOf(9)]] };
      await payoutFiles(opened.database).store(organization, only, now());
      await run();
      expect(await redemptions()).to.equal(before + 3);
      const store = payoutStore(opened.cell, () => undefined);
      const later = toUnixMillis(now() + 1_000);
      await payoutFiles(opened.database).store(organization, only, later);
      await store.removeUnapproved(later);
      expect(await payoutFiles(opened.database).file(organization, only.sha256)).to.have.property("parts", 1);
      await store.removeUnapproved(toUnixMillis(later + 1));
      expect(await payoutFiles(opened.database).file(organization, only.sha256)).to.equal(undefined);
      expect(await payoutFiles(opened.database).file(organization, file.sha256)).to.have.property("parts", 2);
    });

    it("redeems the other files if a part of one was changed", async () => {
      const before = await redemptions();
      const { sha256 } = await approved();
      const part = `rows_sha256 = '${String(files).padStart(64, "b")}' AND part = 1`;
      const [row] = (await execute(opened.address, `SELECT sealed FROM payout_parts WHERE ${part}`)) as [
        { readonly sealed: Buffer },
      ];
      const bytes = (given: Uint8Array): string =>
        engine === "sqlite" ? `x'${Buffer.from(given).toString("hex")}'` : `'\\x${Buffer.from(given).toString("hex")}'`;
      await execute(opened.address, `UPDATE payout_parts SET sealed = ${bytes(row.sealed.toReversed())} WHERE ${part}`);
      const changed: string[] = [];
      const other = await approved();
      const open = await payoutStore(opened.cell, (id) => changed.push(id)).open();
      expect([changed, open.map(({ file }) => file.sha256)]).to.deep.equal([[sha256], [other.sha256]]);
      await execute(opened.address, `UPDATE payout_parts SET sealed = ${bytes(row.sealed)} WHERE ${part}`);
      await run();
      expect(await redemptions()).to.equal(before + 6);
    });

    it("redeems nothing of a file whose row somebody has changed", async () => {
      const before = await redemptions();
      const { sha256 } = await approved();
      await execute(opened.address, `UPDATE payout_files SET rail = 'other' WHERE sha256 = '${sha256}'`);
      const changed: string[] = [];
      expect(await payoutStore(opened.cell, (id) => changed.push(id)).open()).to.deep.equal([]);
      expect(changed).to.deep.equal([sha256]);
      expect(await redemptions()).to.equal(before);
      await execute(opened.address, `UPDATE payout_files SET rail = 'mpesa' WHERE sha256 = '${sha256}'`);
      await run();
      expect(await redemptions()).to.equal(before + 3);
    });
  });
}
