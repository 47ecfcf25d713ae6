import { expect } from "chai";

import type { Account, AccountWithFreeze } from "../../src/domain/account.js";
import type { ApiKey } from "../../src/domain/api-key.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Transaction } from "../../src/domain/transaction.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { DepositId } from "../../src/domain/values/ids.js";
import type { Pace } from "../../src/verify/pace.js";
import { type Verification, verify, type VerifyOptions } from "../../src/verify/verify.js";
import { ENGINES_OF_STAGE, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { receiptNamed, SLOW_RAIL } from "../support/names.js";
import { correctBook } from "../support/operations/corrections.js";
import {
  assignDeposit,
  receiveDeposit,
  returnDeposit,
  reverseDeposit,
  unassignDeposit,
} from "../support/operations/deposits.js";
import { setRailAccount } from "../support/operations/rails.js";
import {
  beginPayment,
  clearFlag,
  completePayment,
  failPayment,
  flag,
  resolve,
} from "../support/operations/transactions.js";
import { byStage, STAGE } from "../support/stage.js";
import { GivenBooks, makeTraffic } from "./given/books.js";
import { acted, creditOf, received } from "./given/deposits.js";

/** Rests before each statement but the first. `atRest` gets the number of the rest. */
function restless(atRest: (rest: number) => Promise<void>): Pace {
  let [time, rests] = [0, 0];
  return {
    now: () => (time += 1),
    processorMillis: () => (time += 1),
    restAfter: () => atRest((rests += 1)),
  };
}

/** The books move at every nth statement of an audit. */
const STATEMENTS = byStage({ test: 4, check: STAGE === "nightly" ? 1 : 2 });
/** The number of bursts on one database. Each makes the audits after it longer. */
const ROUNDS_MAX = 10;

const SIZES = byStage<Readonly<Record<string, VerifyOptions>>>({
  test: { "all accounts at once": {} },
  check: { "all accounts at once": {}, "in parts": { accountsMax: 3 } },
});

for (const engine of ENGINES_OF_STAGE) {
  describe(`verify on ${engine}, while others write`, () => {
    let opened: TestDatabase;
    let books: GivenBooks;
    let amina: Account;
    /** Her account is frozen before each burst. */
    let dora: AccountWithFreeze;
    let key: ApiKey;
    /** A deposit that nothing credits before the next burst. */
    let waiting: DepositId;
    let bursts = 0;
    beforeEach(open);
    afterEach(() => opened.dispose());

    async function open(): Promise<void> {
      opened = await openTestDatabase(engine);
      books = await GivenBooks.open(opened.database);
      await makeTraffic(books);
      amina = await books.createAccount("amina again");
      dora = await books.freeze(await books.createAccount("dora again"), "COURT_ORDER", "first");
      key = await books.createApiKey("first");
      await books.move("mint", amina, "1000.00");
      await books.do((id) =>
        setRailAccount(id, { railAccountId: "rail_lenient" as RailAccountId, resolveAloneMaxCents: toCents(99) }),
      );
      waiting = await receive("first");
    }

    /** Changes a row of each table, in each way, in an old book and in a new one. */
    async function burst(): Promise<void> {
      const name = `burst-${String((bursts += 1))}`;
      await books.cancel(await books.move("redeem", amina, "2.00", { rail: SLOW_RAIL }), "no answer");
      const hold = await books.move("redeem", amina, "3.00", { rail: SLOW_RAIL, key: name });
      const frozen = await books.freeze(amina, "CUSTOMER_REQUEST", "lost phone");
      await books.cancel(hold, "lost phone");
      await books.unfreeze(frozen, "found again");
      await books.unfreeze(dora, "court order ended");
      dora = await books.freeze(dora, "COURT_ORDER", name);
      await pay(name);
      await correct(name);
      await deposit(name);
      await books.update(amina);
      await books.reverse(await books.move("mint", amina, "4.00"));
      await books.revokeApiKey(key);
      key = await books.createApiKey(name);
      await books.changeSuspension(true, "no answer");
      await books.changeSuspension(false, "answered");
      const leaving = await books.createAccount(name, { key: `open-${name}` });
      await books.close(leaving, "moved away");
      await books.erase(leaving);
      const others = await GivenBooks.open(opened.database, name);
      await others.move("mint", await others.createAccount("zoe"), "1.00");
    }

    /** An order that the rail carries out step by step, and one that it reports late. */
    async function pay(name: string): Promise<void> {
      const order = await books.move("mint", amina, "5.00", { rail: SLOW_RAIL });
      await books.do((id) => beginPayment(id, order.id));
      await books.do((id) => completePayment(id, order.id, { movement: `${name}-m1` }));
      await books.do((id) => flag(id, order.id));
      await books.do((id) => completePayment(id, order.id, { movement: `${name}-m1`, receipt: `${name}-r1` }));
      await books.do((id) => clearFlag(id, order.id, "OUTCOME_UNKNOWN"));
      const failed = await books.move("redeem", amina, "6.00", { rail: SLOW_RAIL });
      await books.do((id) => beginPayment(id, failed.id));
      await books.do((id) => failPayment(id, failed.id));
      await books.do((id) => completePayment(id, failed.id, { receipt: `${name}-r2` }));
    }

    async function receive(receipt: string): Promise<DepositId> {
      return received(await books.do((id) => receiveDeposit(id, { receipt, amountCents: toCents(1) }))).id;
    }

    /** One is credited twice and taken back twice, one comes and goes, and one waits. */
    async function deposit(name: string): Promise<void> {
      const wrong = acted(await books.do((id) => assignDeposit(id, waiting, amina.id)));
      await books.do((id) => unassignDeposit(id, waiting, creditOf(wrong)));
      const right = acted(await books.do((id) => assignDeposit(id, waiting, amina.id)));
      const frozen = await books.freeze(amina, "FRAUD", "doubted");
      const reversal = { transactionId: creditOf(right), receipt: `${name}-d1` };
      await books.do((id) => reverseDeposit(id, waiting, reversal));
      await books.unfreeze(frozen, "cleared");
      const gone = await receive(`${name}-d2`);
      await books.do((id) => returnDeposit(id, gone, `${name}-d3`));
      waiting = await receive(`${name}-d4`);
    }

    /** What operators decide, alone and by two. */
    async function correct(name: string): Promise<void> {
      const order = await books.move("mint", amina, "7.00", { rail: SLOW_RAIL });
      await books.do((id) => beginPayment(id, order.id));
      await books.do((id) => flag(id, order.id));
      const resolution = { kind: "COMPLETED", receipt: receiptNamed(`${name}-r4`) } as const;
      for (const person of ["amina", "brian"]) {
        const received = { amountCents: 100, key: name, target: `${name}-r3`, person };
        await books.do((id) => correctBook("bookReceipt", id, received));
      }
      for (const person of ["amina", "brian"]) {
        await books.do((id) => resolve(id, order.id, resolution, { person }));
        const given = { amountCents: 100, key: `${name}-back`, target: `${name}-r5`, person };
        await books.do((id) => correctBook("returnUnallocated", id, given));
      }
    }

    /** Verifies with `during` at the first rest, then at the second one, and so on. */
    async function eachTime(
      options: VerifyOptions,
      { before, during }: { before?: () => Promise<void>; during: () => Promise<void> },
    ): Promise<readonly Verification[]> {
      let rests = 0;
      const counting = restless((rest) => {
        rests = rest;
        return Promise.resolve();
      });
      await verify(opened.database, { ...options, pace: counting });
      expect(rests).to.be.greaterThan(10);
      const verifications: Verification[] = [];
      for (let time = 1; time <= rests; time += STATEMENTS) {
        await before?.();
        const pace = restless(async (rest) => {
          if (rest === time) await during();
        });
        verifications.push(await verify(opened.database, { ...options, pace }));
      }
      return verifications;
    }

    for (const [name, options] of Object.entries(SIZES)) {
      it(`finds nothing in books that move between any two statements: ${name}`, async () => {
        let rounds = 0;
        const before = async (): Promise<void> => {
          if ((rounds += 1) % ROUNDS_MAX !== 0) return;
          await opened.dispose();
          await open();
        };
        const verifications = await eachTime(options, { before, during: burst });
        expect(verifications.flatMap(({ firstFindings }) => firstFindings)).to.deep.equal([]);
      });
    }

    if (STAGE === "test") return;

    it("finds nothing in an account that moves between all statements", async () => {
      const pace = restless(async () => {
        await books.move("mint", amina, "1.00");
        await books.cancel(await books.move("redeem", amina, "1.00", { rail: SLOW_RAIL }), "no answer");
      });
      expect((await verify(opened.database, { pace })).firstFindings).to.deep.equal([]);
    });

    it("finds nothing when a pending transaction ends between any two statements", async () => {
      let pending = await books.move("redeem", amina, "2.00", { rail: SLOW_RAIL });
      const verifications = await eachTime(
        {},
        {
          during: async () => {
            await books.cancel(pending, "no answer");
            pending = await books.move("redeem", amina, "2.00", { rail: SLOW_RAIL });
          },
        },
      );
      expect(verifications.flatMap(({ firstFindings }) => firstFindings)).to.deep.equal([]);
    });

    it("finds nothing when a completed order gets its receipt and flags between any two statements", async () => {
      let order: Transaction;
      const verifications = await eachTime(
        {},
        {
          before: async () => {
            order = await books.move("mint", amina, "1.00", { rail: SLOW_RAIL });
            await books.do((id) => beginPayment(id, order.id));
            await books.do((id) => completePayment(id, order.id, { movement: `m-${order.id}` }));
          },
          during: async () => {
            await books.do((id) => flag(id, order.id));
            await books.do((id) =>
              completePayment(id, order.id, { movement: `m-${order.id}`, receipt: `r-${order.id}` }),
            );
          },
        },
      );
      expect(verifications.flatMap(({ firstFindings }) => firstFindings)).to.deep.equal([]);
    });

    // The account itself moves no more: its commands are ROW_CHANGED.
    it("finds a wrong balance of an account while its book moves between any two statements", async () => {
      const other = await books.createAccount("other");
      const change = (cents: number): Promise<unknown> =>
        execute(
          opened.address,
          `UPDATE accounts SET available_cents = available_cents + ${String(cents)} WHERE id = '${amina.id}'`,
        );
      const verifications = await eachTime(
        {},
        {
          before: async () => {
            await change(1);
          },
          during: async () => {
            await books.move("mint", other, "1.00");
          },
        },
      );
      for (const { firstFindings } of verifications) {
        expect(firstFindings.map(({ id }) => id)).to.include(amina.id);
      }
    });

    it("covers the rows that a book had when its turn came", async () => {
      const [quiet, ...moving] = (await eachTime({}, { during: () => Promise.resolve() })).map(
        ({ coverage }) => coverage,
      );
      expect(quiet?.journalRows).to.equal(quiet?.heads[0]?.seq);
      for (const coverage of moving) expect(coverage).to.deep.equal(quiet);
    });
  });
}
