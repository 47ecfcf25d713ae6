import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { Decider } from "../../src/domain/proposal.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { nairobiDayOf, startOfDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import { asOperator } from "../support/commands.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { createAccount } from "../support/operations/accounts.js";
import { correctBook } from "../support/operations/corrections.js";
import { recordDeposit } from "../support/operations/deposits.js";
import { mint, reverseByOperator } from "../support/operations/transactions.js";
import { type RAIL_ACCOUNT, railSetting } from "./rails/given-payments.js";

const MAX_CENTS = toCents(10_000);
/** Ten acts of the highest amount are possible in a day. */
const ACTS = 10;

for (const engine of ENGINES) {
  describe(`the sum of what one person does alone in a day, stored on ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    const morning = toUnixMillis(startOfDay(nairobiDayOf(toUnixMillis(Date.now() - 4 * 86_400_000))) + 3_600_000);
    let [one, other] = [] as OrganizationId[] as [OrganizationId, OrganizationId];
    let index = 0;

    const commit = async (command: Command, now: UnixMillis = morning): Promise<string> => {
      const [result] = await opened.cell.committer.commit([command], now);
      if (result?.kind !== "done") return JSON.stringify(result);
      const { proposal } = result.resource as { readonly proposal?: unknown };
      return proposal === undefined ? "done" : "proposed";
    };
    const person = OPERATOR as string as Decider;

    before(async () => {
      const made = keys(opened.database, () => toUnixMillis(morning - 1));
      for (const name of ["one", "other"]) {
        const { id: organizationId } = await made.createOrganization(name);
        const id = `rail_${name}` as typeof RAIL_ACCOUNT;
        const setting = { id, organizationId, rail: "mpesa", now: morning, resolveAloneMaxCents: MAX_CENTS };
        await saveRailAccount(opened.database, railSetting(opened, setting));
        if (name === "one") one = organizationId;
        else other = organizationId;
      }
    });

    /** Acts of each form of row, each of the highest amount. */
    const acts: Readonly<Record<string, (organizationId: OrganizationId, by: Decider) => Promise<Command>>> = {
      correction: (organizationId, by) => {
        const given = { amountCents: MAX_CENTS, key: `c${String(index)}`, target: `c${String(index)}`, person: by };
        return Promise.resolve(correctBook("bookReceipt", organizationId, given));
      },
      transfer: (organizationId, by) => {
        const given = { amountCents: MAX_CENTS, key: `t${String(index)}`, target: `t${String(index)}`, person: by };
        return Promise.resolve(correctBook("explainTransfer", organizationId, given));
      },
      "deposit for an account": async (organizationId, by) => {
        const account = createAccount(organizationId, `user-${String(index)}`);
        await commit(account);
        const receipt = `d${String(index)}`;
        const given = { receipt, amountCents: MAX_CENTS, accountId: account.newAccountId, person: by };
        return asOperator(recordDeposit(organizationId, given));
      },
      reversal: async (organizationId, by) => {
        const account = createAccount(organizationId, `user-${String(index)}`);
        const reference = `m${String(index)}`;
        const paid = mint({ organizationId, accountId: account.newAccountId, amount: "100.00", reference });
        for (const command of [account, paid]) await commit(command);
        return { ...reverseByOperator(organizationId, paid.newTransactionId, { person: by }), actor: OPERATOR };
      },
    };
    const next = async (name: string, organizationId: OrganizationId, by: Decider): Promise<Command> => {
      index += 1;
      const act = acts[name];
      if (act === undefined) throw new Error(`there is no ${name}`);
      return act(organizationId, by);
    };
    const kinds = Object.keys(acts);

    it("is one sum of all kinds, and the next act of each kind is a proposal", async () => {
      for (let count = 0; count < ACTS; count += 1) {
        const name = kinds[count % kinds.length] ?? "";
        expect(await commit(await next(name, one, person)), `${name}, act ${String(count + 1)}`).to.equal("done");
      }
      for (const name of kinds) expect(await commit(await next(name, one, person)), name).to.equal("proposed");
    });

    it("is of that person in that organization and day alone", async () => {
      expect(await commit(await next("correction", one, "baraka" as Decider))).to.equal("done");
      expect(await commit(await next("correction", other, person))).to.equal("done");
      expect(await commit(await next("correction", one, person), toUnixMillis(morning + 60_000))).to.equal("proposed");
      expect(await commit(await next("correction", one, person), toUnixMillis(morning + 86_400_000))).to.equal("done");
    });

    it("counts the acts of one batch", async () => {
      const commands: Command[] = [];
      for (let count = 0; count <= ACTS; count += 1) commands.push(await next("correction", one, "chep" as Decider));
      const results = await opened.cell.committer.commit(commands, toUnixMillis(morning + 86_400_000));
      const outcomes = results.map((result) => result.kind === "done" && "proposal" in result.resource);
      expect(outcomes).to.deep.equal([...Array<boolean>(ACTS).fill(false), true]);
    });

    it("follows from the journal, and kesc verify finds what went beyond it", async () => {
      expect(await findingsIn(opened.database)).to.deep.equal([]);
      const sql = "SELECT seq, alone_cents FROM journal WHERE alone_by = 'chep' ORDER BY seq";
      const rows = await execute<{ readonly seq: number; readonly alone_cents: number }>(opened.address, sql);
      expect(rows.map(({ alone_cents: cents }) => cents / MAX_CENTS)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });
  });
}
