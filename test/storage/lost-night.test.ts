import { expect } from "chai";

import type { RecordedDeposits } from "../../src/domain/deposits/record-deposits.js";
import type { Command } from "../../src/domain/operations.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { asOperator } from "../support/commands.js";
import { databaseOfSuite, ENGINES } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { depositReference, NOW } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { receiveDeposit, recordDeposits } from "../support/operations/deposits.js";
import { setRailAccount } from "../support/operations/rails.js";
import { byStage } from "../support/stage.js";

// The reports of one night were lost. An act records them from the statement, and the callback and
// the list of the rail tell the same pay-ins before it, after it, and at the same time.

const PAY_INS = byStage({ test: 12, check: 500 });
const ACCOUNTS = 3;
const CENTS = 100;

type Step = "act" | "callback" | "list";
const STEPS: readonly Step[] = ["act", "callback", "list"];

/** All orders of the steps, each of which may come twice. */
const ORDERS = STEPS.flatMap((first) =>
  STEPS.flatMap((second) => STEPS.map((third) => [first, second, third] as const)),
).filter((order) => order.includes("act"));

for (const engine of ENGINES) {
  describe(`a lost night, stored on ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    let night = 0;

    async function givenOrganization(): Promise<{ id: OrganizationId; accounts: readonly AccountId[] }> {
      night += 1;
      const { id } = await keys(opened.database, () => NOW).createOrganization(`night ${String(night)}`);
      const users = Array.from({ length: ACCOUNTS }, (_, index) =>
        createAccount(id, `user-${String(index)}`, { depositReferences: [depositReference(index)] }),
      );
      const ONE_ACCOUNT = { accountsOfAll: `${String(night - 1)}:${String(night - 1)}`, movesPlace: false };
      const lenient = setRailAccount(id, {
        railAccountId: `rail_${String(night)}` as never,
        resolveAloneMaxCents: MAX_CENTS,
        facts: ONE_ACCOUNT,
      });
      for (const command of [...users, lenient]) {
        const [result] = await commit([command]);
        if (result?.kind !== "done") throw new Error(JSON.stringify(result));
      }
      return { id, accounts: users.map(({ newAccountId }) => newAccountId) };
    }

    /** A server repeats what the database refuses because another one was faster. */
    async function commit(commands: readonly Command[]): Promise<readonly CommandResult[]> {
      for (;;) {
        try {
          return await opened.cell.committer.commit(commands, NOW);
        } catch (error) {
          if (!(error instanceof StoreError) || error.kind !== "conflict") throw error;
        }
      }
    }

    const payIns = Array.from({ length: PAY_INS }, (_, index) => ({
      receipt: `N${String(index).padStart(9, "0")}`,
      amountCents: toCents(CENTS + index),
      reference: index % 5 === 4 ? ("NONE" as const) : depositReference(index % ACCOUNTS),
    }));

    /** The rail tells a half of the night by callback, and all of it in its list. */
    function commandsOf(id: OrganizationId, step: Step): readonly Command[] {
      if (step === "act") return [asOperator(recordDeposits(id, payIns, { actor: OPERATOR }))];
      const told = step === "list" ? payIns : payIns.filter((_, index) => index % 2 === 0);
      return told.map(({ receipt, amountCents, reference }) =>
        receiveDeposit(id, { receipt, amountCents, typed: reference === "NONE" ? "" : reference }),
      );
    }

    async function expectOnce(id: OrganizationId, accounts: readonly AccountId[]): Promise<void> {
      const { reader, engine: sql } = opened.cell;
      const rows = await reader.rows<{ readonly receipt: string; readonly amount_cents: number }>(
        `SELECT d.receipt, d.amount_cents FROM ${sql.table("deposits")} d
         JOIN ${sql.table("books")} b ON b.number = d.book WHERE b.organization_id = ? ORDER BY d.receipt`,
        [id],
      );
      expect(rows.map(({ receipt, amount_cents: cents }) => [receipt, cents])).to.deep.equal(
        payIns.map(({ receipt, amountCents }) => [receipt, amountCents]),
      );
      const balances = await reader.rows<{ readonly id: string; readonly available_cents: number }>(
        `SELECT id, available_cents FROM ${sql.table("accounts")} WHERE id IN (${accounts.map(() => "?").join(", ")})`,
        [...accounts],
      );
      const expected = accounts.map((_, index) =>
        payIns
          .filter(({ reference }) => reference === depositReference(index))
          .reduce((sum, { amountCents }) => sum + amountCents, 0),
      );
      const found = accounts.map((account) => balances.find((row) => row.id === account)?.available_cents);
      expect(found).to.deep.equal(expected);
    }

    it("books each receipt once, in whatever order the act, the callback and the list come", async () => {
      for (const order of engine === "sqlite" ? ORDERS : ORDERS.slice(0, 6)) {
        const { id, accounts } = await givenOrganization();
        for (const step of order) {
          for (const result of await commit(commandsOf(id, step))) expect(result.kind, order.join()).to.equal("done");
        }
        await expectOnce(id, accounts);
      }
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    }).timeout(byStage({ test: 20_000, check: 120_000 }));

    it("books each receipt once if the act comes twice at once with the callback and the list", async () => {
      const { id, accounts } = await givenOrganization();
      const results = await Promise.all(
        (["act", "list", "act", "callback"] as const).map((step) => commit(commandsOf(id, step))),
      );
      const isNew = results.flat().map((result) => {
        if (result.kind !== "done") throw new Error(JSON.stringify(result));
        const { resource } = result.resource as { readonly resource?: RecordedDeposits };
        return resource?.recorded.filter((each) => each.isNew).length ?? Number(!result.replayed);
      });
      expect(isNew.reduce((sum, count) => sum + count, 0)).to.equal(PAY_INS);
      await expectOnce(id, accounts);
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    }).timeout(byStage({ test: 20_000, check: 120_000 }));
  });
}
