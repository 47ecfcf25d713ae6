import { expect } from "chai";

import { toCents } from "../../../src/domain/values/cents.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Deposits } from "../../../src/settlement/ports/deposits.js";
import { beginDeposits, deposits, noteDueList } from "../../../src/storage/rails/deposits.js";
import { accountOfReference } from "../../../src/storage/rails/payment-questions.js";
import { ENGINES, execute } from "../../support/databases.js";
import { depositReference } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { receiveDeposit } from "../../support/operations/deposits.js";
import { advancePayment, beginPayment, completePayment } from "../../support/operations/transactions.js";
import { heardPlans, NO_SORTS } from "../plans/heard-plans.js";
import { NUMBER, OTHER_RAIL_ACCOUNT, PaymentsPlace, RAIL_ACCOUNT } from "./given-payments.js";

const HOUR_MILLIS = 3_600_000;
const ORDERED = toCents(1_000);
const NO_ACCOUNT = "30000000";

for (const engine of ENGINES) {
  describe(`what the settlement must know of deposits (${engine})`, () => {
    let place: PaymentsPlace;
    let stored: Deposits;
    let now: UnixMillis;
    beforeEach(async () => {
      place = await PaymentsPlace.make(engine);
      stored = deposits(place.opened.cell);
      now = place.now;
    });
    afterEach(() => place.opened.dispose());

    const later = (millis: number): UnixMillis => toUnixMillis(now + millis);
    const rows = <Row>(sql: string) => place.opened.cell.reader.rows<Row>(sql);

    it("has the list of a rail account once somebody has registered it, and when it is due", async () => {
      const { cell } = place.opened;
      await noteDueList(cell, RAIL_ACCOUNT, now);
      expect(await stored.dueLists(later(HOUR_MILLIS))).to.deep.equal([]);
      expect(await beginDeposits(cell, RAIL_ACCOUNT, now)).to.equal(now);
      expect(await beginDeposits(cell, RAIL_ACCOUNT, later(5))).to.equal(now);
      const { organizationId } = place;
      const list = { railAccountId: RAIL_ACCOUNT, organizationId, since: now, dueAt: later(5), readAt: undefined };
      expect(await stored.dueLists(later(4))).to.deep.equal([]);
      expect(await stored.dueLists(later(5))).to.deep.equal([list]);

      await stored.noteRead(list, { readAt: later(6), dueAt: later(20) });
      expect(await stored.dueLists(later(19))).to.deep.equal([]);
      await noteDueList(cell, RAIL_ACCOUNT, later(10));
      const noted = { ...list, dueAt: later(10), readAt: later(6) };
      expect(await stored.dueLists(later(10))).to.deep.equal([noted]);
    });

    it("keeps the time of a confirmation that came while the list was read", async () => {
      const { cell } = place.opened;
      await beginDeposits(cell, RAIL_ACCOUNT, now);
      const [list] = await stored.dueLists(now);
      if (list === undefined) throw new Error("no list is due");
      await noteDueList(cell, RAIL_ACCOUNT, later(1));
      await stored.noteRead(list, { readAt: now, dueAt: later(1_000) });
      await stored.postpone(list, later(1_000));
      expect((await stored.dueLists(later(1))).map(({ dueAt, readAt }) => [dueAt, readAt])).to.deep.equal([
        [later(1), now],
      ]);
      await stored.postpone({ ...list, dueAt: later(1) }, later(1_000));
      expect(await stored.dueLists(later(999))).to.deep.equal([]);
    });

    it("leaves out the list of a book that moves, or comes from a backup", async () => {
      await beginDeposits(place.opened.cell, RAIL_ACCOUNT, now);
      for (const state of ["MOVING", "MOVED", "RESTORED"]) {
        await execute(place.opened.address, `UPDATE books SET state = '${state}'`);
        expect(await stored.dueLists(now), state).to.deep.equal([]);
      }
    });

    it("finds the receipts that the book has, and between which moments their payments were", async () => {
      const { organizationId } = place;
      await place.commit(receiveDeposit(organizationId, { receipt: "R1" }));
      const found = await stored.bookedReceipts(organizationId, ["R1", "R2", "R3"]);
      expect([...found.keys()]).to.deep.equal(["R1"]);
      expect(found.get("R1")).to.have.property("orderedAt", undefined);
      expect(found.get("R1")?.learnedAt).to.be.at.least(later(-HOUR_MILLIS));
      expect(await stored.bookedReceipts(organizationId, [])).to.deep.equal(new Map());
    });

    it("finds the mint of a rail account by the end of its id", async () => {
      const id = await place.accept("mint", "a");
      const payout = await place.accept("redeem", "b");
      const find = (of: TransactionId, account = RAIL_ACCOUNT) => stored.orderEndingWith(account, of.slice(-12));
      expect(await find(id)).to.equal(id);
      expect(await find(id, OTHER_RAIL_ACCOUNT)).to.equal(undefined);
      expect(await find(payout)).to.equal(undefined);
    });

    it("knows whether an order of an amount has no receipt yet", async () => {
      const { organizationId } = place;
      const id = await place.accept("mint", "a");
      const has = (amountCents = ORDERED, acceptedTo = later(0)): Promise<boolean> =>
        stored.hasOrderWithoutReceipt({
          railAccountId: RAIL_ACCOUNT,
          amountCents,
          acceptedFrom: later(-HOUR_MILLIS),
          acceptedTo,
        });
      expect(await has(), "the rail has no order yet").to.equal(false);
      await place.commit(beginPayment(organizationId, id, 1), advancePayment("acceptPayment", organizationId, id));
      expect(await has()).to.equal(true);
      expect(await has(toCents(999))).to.equal(false);
      expect(await has(ORDERED, later(-1))).to.equal(false);
      await place.commit(completePayment(organizationId, id, { movement: "m1" }));
      expect(await has(), "completed without a receipt").to.equal(true);
      await place.commit(completePayment(organizationId, id, { movement: "m1", receipt: "R1" }));
      expect(await has()).to.equal(false);
    });

    it("removes what payers typed, by age and by persons who were erased", async () => {
      const { organizationId } = place;
      const number = depositReference(77);
      const erased = createAccount(organizationId, "another", { depositReferences: [number] });
      await place.commit(erased);
      await place.commit(
        receiveDeposit(organizationId, { receipt: "R1", typed: "JOHN" }),
        receiveDeposit(organizationId, { receipt: "R2", typed: number }),
      );
      const typed = async (): Promise<readonly string[]> =>
        (
          await rows<{ receipt: string }>(
            "SELECT receipt FROM deposits WHERE typed_reference IS NOT NULL ORDER BY receipt",
          )
        ).map(({ receipt }) => receipt);
      const look = (limit: number, from = 0) => stored.forgetErased({ from: toUnixMillis(from), limit });
      expect(await look(10)).to.equal(undefined);
      expect(await typed()).to.deep.equal(["R1", "R2"]);
      await execute(
        place.opened.address,
        `UPDATE account_holders SET user_id = NULL, phone_number = NULL, phone_number_index = NULL, email = NULL,
           email_index = NULL, content_salt = NULL, is_open = 0 WHERE account_id = '${erased.newAccountId}'`,
      );
      expect(await look(1)).to.equal(now);
      expect(await look(1, now)).to.equal(now + 1);
      expect(await look(2, now)).to.equal(now + 1);
      expect(await typed()).to.deep.equal(["R1"]);
      expect(await stored.forgetTyped({ before: now, limit: 10 })).to.equal(0);
      expect(await stored.forgetTyped({ before: later(1), limit: 10 })).to.equal(1);
      expect(await typed()).to.deep.equal([]);
    });

    it("finds the account that a payer names, and the limits of its book", async () => {
      const { cell } = place.opened;
      const { organizationId, accountId } = place;
      const find = (typed: string) => accountOfReference(cell, RAIL_ACCOUNT, typed);
      expect(await find(NUMBER), "nobody has registered").to.equal(undefined);
      await beginDeposits(cell, RAIL_ACCOUNT, now);
      const found = await find(`${NUMBER.slice(0, 4)} ${NUMBER.slice(4)}`);
      expect(found?.account).to.include({ id: accountId, organizationId, availableCents: 100_000 });
      expect(found?.head).to.deep.include({ organizationId, limits: undefined });
      for (const typed of ["", "JOHN", NO_ACCOUNT, depositReference(5)]) {
        expect((await find(typed))?.account, typed).to.equal(undefined);
      }
    });

    it("reads it all along indexes", async () => {
      const at = { now, limit: 10 };
      const order = { railAccountId: RAIL_ACCOUNT, amountCents: ORDERED, acceptedFrom: now, acceptedTo: now };
      const plans = await heardPlans(
        place.opened,
        async (cell) => {
          const heard = deposits(cell);
          await heard.bookedReceipts(place.organizationId, ["R1"]);
          await heard.orderEndingWith(RAIL_ACCOUNT, "w3xhb1z7q4ye");
          await heard.hasOrderWithoutReceipt(order);
          await heard.forgetTyped({ before: now, limit: at.limit });
          await heard.forgetErased({ from: now, limit: at.limit });
          await accountOfReference(cell, RAIL_ACCOUNT, depositReference(5));
        },
        NO_SORTS,
      );
      const text = plans.flat().join("\n");
      for (const index of [
        "payments_by_end",
        // PostgreSQL sees no difference between empty indexes.
        ...(engine === "sqlite" ? ["payments_other_open"] : []),
        "journal_receipts",
        "transactions_without_receipt",
        "deposits_typed",
      ]) {
        expect(text.includes(index), text).to.equal(true);
      }
      const dear = plans.flat().filter((step) => DEAR[engine].test(step));
      expect(dear, text).to.deep.equal([]);
    });
  });
}

// The accounts at rails and the books are few.
const DEAR = {
  sqlite: /^SCAN (?!a\b|b\b|r\b|i\b|json|rail_accounts|books)/,
  postgres: /Seq Scan(?! on (rail_accounts|books))|Bitmap Heap Scan/,
};
