import { expect } from "chai";

import { DESTINATION_KINDS } from "../../../src/domain/destination.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Payments, StoredPayment } from "../../../src/settlement/ports/payments.js";
import { openPaymentsOf, payments } from "../../../src/storage/rails/payments.js";
import { ENGINES, execute } from "../../support/databases.js";
import {
  advancePayment,
  beginPayment,
  completePayment,
  failPayment,
  flag,
} from "../../support/operations/transactions.js";
import { OTHER_RAIL_ACCOUNT, PaymentsPlace, RAIL_ACCOUNT } from "./given-payments.js";

for (const engine of ENGINES) {
  describe(`payments for the settlement (${engine})`, () => {
    let place: PaymentsPlace;
    let stored: Payments;
    let later: UnixMillis;
    beforeEach(async () => {
      place = await PaymentsPlace.make(engine);
      stored = payments(place.opened.cell);
      later = toUnixMillis(place.now + 3_600_000);
    });
    afterEach(() => place.opened.dispose());

    const read = async (id: TransactionId): Promise<StoredPayment> => {
      const found = await stored.payment(id);
      if (found === undefined) throw new Error("the payment is missing");
      return found;
    };
    const dueIds = async (given: Partial<Parameters<Payments["due"]>[1]> = {}): Promise<readonly string[]> =>
      (await stored.due(RAIL_ACCOUNT, { now: later, limit: 100, payOutTo: DESTINATION_KINDS, ...given })).map(
        ({ transactionId }) => transactionId,
      );

    it("give what the settlement needs, with the phone number", async () => {
      const { organizationId } = place;
      const id = await place.accept("redeem", "a");
      const found = await read(id);
      expect(found).to.deep.equal({
        transactionId: id,
        organizationId,
        railAccountId: RAIL_ACCOUNT,
        direction: "REDEEM",
        amountCents: 1_000,
        status: "PENDING",
        isFlagged: false,
        acceptedAt: place.now,
        state: "READY",
        numberKind: "PHONE",
        number: "+254712345678",
        maskedNumber: found.maskedNumber,
        railReference: undefined,
        begunAt: undefined,
        sends: 0,
        turnedAway: 0,
        dueAt: found.dueAt,
        checks: 0,
        advances: 0,
        lastCode: undefined,
      });
      expect(found.maskedNumber).to.match(/\*/).and.not.contain("712345");

      await place.commit(beginPayment(organizationId, id, 1));
      await place.commit(advancePayment("acceptPayment", organizationId, id), flag(organizationId, id));
      expect(await read(id)).to.deep.include({
        state: "ACCEPTED",
        status: "PROCESSING",
        isFlagged: true,
        railReference: "ws_CO_1",
        begunAt: place.now,
        sends: 1,
        turnedAway: 0,
      });

      await place.commit(failPayment(organizationId, id));
      expect(await read(id)).to.deep.include({ state: "ENDED", status: "FAILED", number: undefined });
      expect(await stored.payment("txn_of_nobody" as TransactionId)).to.equal(undefined);
    });

    it("are due by rail account, those that wait longest first", async () => {
      const [first, second, third] = [
        await place.accept("mint", "a"),
        await place.accept("redeem", "b"),
        await place.accept("mint", "c"),
      ];
      const other = await place.accept("mint", "d", OTHER_RAIL_ACCOUNT);
      for (const [id, dueAt] of [
        [first, later],
        [second, place.now + 1],
        [third, place.now + 2],
        [other, later + 1],
      ] as const) {
        await stored.reschedule(await read(id), { dueAt: toUnixMillis(dueAt), checks: 0, code: "X" });
      }

      expect(await dueIds()).to.deep.equal([second, third, first]);
      expect(await dueIds({ limit: 2 })).to.deep.equal([second, third]);
      expect(await dueIds({ now: toUnixMillis(later - 1) })).to.deep.equal([second, third]);
      expect(await stored.accountsWithDue(later)).to.deep.equal([RAIL_ACCOUNT]);
      expect(await stored.accountsWithDue(toUnixMillis(later + 1))).to.have.members([RAIL_ACCOUNT, OTHER_RAIL_ACCOUNT]);
      expect(await stored.accountsWithDue(place.now)).to.deep.equal([]);
      expect(await openPaymentsOf(place.opened.cell, RAIL_ACCOUNT)).to.equal(3);
    });

    it("leave out new payouts where none may begin, but not those that were begun", async () => {
      const collected = await place.accept("mint", "a");
      const ready = await place.accept("redeem", "b");
      const begun = await place.accept("redeem", "c");
      await place.commit(beginPayment(place.organizationId, begun, 1));
      await stored.reschedule(await read(begun), { dueAt: place.now, checks: 0, code: "X" });

      expect(await dueIds({ payOutTo: ["TILL", "PAYBILL"] })).to.have.members([collected, begun]);
      expect(await dueIds()).to.have.members([collected, ready, begun]);
      expect(await openPaymentsOf(place.opened.cell, RAIL_ACCOUNT)).to.equal(3);
    });

    it("are no longer due once they have ended", async () => {
      const id = await place.accept("mint", "a");
      await place.commit(beginPayment(place.organizationId, id, 1));
      await place.commit(completePayment(place.organizationId, id, { movement: "m" }));
      const never = toUnixMillis(Number.MAX_SAFE_INTEGER);
      expect(await dueIds({ now: never })).to.deep.equal([]);
      expect(await stored.accountsWithDue(never)).to.deep.equal([]);
      expect(await stored.advance(id, place.now)).to.equal(false);
      expect(await openPaymentsOf(place.opened.cell, RAIL_ACCOUNT)).to.equal(0);
    });

    it("are due at once after a person has ended what the ledger let them wait for", async () => {
      const [frozen, restored, unreached, collected] = [
        await place.accept("redeem", "a"),
        await place.accept("redeem", "b"),
        await place.accept("redeem", "c"),
        await place.accept("mint", "d"),
      ];
      const code = { [frozen]: "ACCOUNT_FROZEN", [restored]: "BOOK_RESTORED", [unreached]: "ECONNREFUSED" };
      for (const id of [frozen, restored, unreached, collected]) {
        await stored.reschedule(await read(id), { dueAt: later, checks: 0, code: code[id] ?? "ACCOUNT_FROZEN" });
      }
      await stored.wakeHeld("org_of_nobody" as typeof place.organizationId, place.now);
      expect(await dueIds({ now: place.now })).to.deep.equal([]);
      await stored.wakeHeld(place.organizationId, place.now);
      expect(await dueIds({ now: place.now })).to.have.members([frozen, restored]);

      for (const id of [frozen, unreached]) await stored.forgetHeld(await read(id));
      expect([(await read(frozen)).lastCode, (await read(unreached)).lastCode]).to.deep.equal([
        undefined,
        "ECONNREFUSED",
      ]);
    });

    it("take a new schedule only if they are as they were read", async () => {
      const id = await place.accept("mint", "a");
      const asRead = await read(id);
      await stored.reschedule(asRead, { dueAt: later, checks: 1, code: "OPEN" });
      const moved = { dueAt: later, checks: 1, lastCode: "OPEN" };
      expect(await read(id)).to.deep.include(moved);

      const next = { dueAt: place.now, checks: 9, code: "STALE" };
      await stored.reschedule(asRead, next);
      expect(await read(id)).to.deep.include(moved);
      await stored.reschedule({ transactionId: id, state: "SENDING", checks: 1 }, next);
      expect(await read(id)).to.deep.include(moved);
    });

    it("keep the first code that has a place, but for an outcome that the rail has called", async () => {
      const id = await place.accept("redeem", "a");
      for (const [code, lastCode] of [
        ["HELD", "HELD"],
        ["OPEN", "OPEN"],
        ["2033 status", "2033 status"],
        ["STATUS_REQUESTED", "2033 status"],
        ["17 pay_out", "2033 status"],
        ["SUCCEEDED unconfirmed", "SUCCEEDED unconfirmed"],
        ["2001 unconfirmed", "2001 unconfirmed"],
        ["OPEN", "2001 unconfirmed"],
      ] as const) {
        await stored.reschedule(await read(id), { dueAt: later, checks: 1, code });
        expect(await read(id)).to.include({ lastCode });
      }
    });

    it("have one question about their status, which counts once and until the next is asked", async () => {
      const [id, other] = [await place.accept("redeem", "a"), await place.accept("redeem", "b")];
      await stored.noteQuestion(id, "first");
      await stored.noteQuestion(other, "of another");
      await stored.noteQuestion(id, "second");
      expect(await stored.endQuestion("first")).to.equal(undefined);
      expect(await stored.endQuestion("second")).to.equal(id);
      expect(await stored.endQuestion("second")).to.equal(undefined);
      expect(await stored.endQuestion("of another")).to.equal(other);
    });

    it("are advanced by hand, each time", async () => {
      const id = await place.accept("mint", "a");
      await stored.reschedule(await read(id), { dueAt: later, checks: 1, code: "OPEN" });
      expect(await stored.advance(id, place.now)).to.equal(true);
      expect(await stored.advance(id, place.now)).to.equal(true);
      expect(await read(id)).to.deep.include({ advances: 2, dueAt: place.now, checks: 1 });
      expect(await stored.advance("txn_of_nobody" as TransactionId, place.now)).to.equal(false);
    });

    it("keep their checks and code when the ledger changes their state", async () => {
      const id = await place.accept("redeem", "a");
      await place.commit(beginPayment(place.organizationId, id, 1));
      await stored.reschedule(await read(id), { dueAt: later, checks: 3, code: "OPEN" });
      await place.commit(advancePayment("acceptPayment", place.organizationId, id));
      expect(await read(id)).to.deep.include({ state: "ACCEPTED", checks: 3, lastCode: "OPEN" });
    });

    it("count the payouts whose outcome is overdue, and no other payment", async () => {
      expect(await stored.unknownPayouts(RAIL_ACCOUNT)).to.deep.equal([]);
      const begin = async (direction: "mint" | "redeem", name: string, checks: number): Promise<TransactionId> => {
        const id = await place.accept(direction, name);
        await place.commit(beginPayment(place.organizationId, id, 1));
        await stored.reschedule(await read(id), { dueAt: later, checks, code: "OPEN" });
        return id;
      };
      const ended = await begin("redeem", "ended", 1);
      await place.commit(failPayment(place.organizationId, ended));
      await begin("mint", "mint", 1);
      await begin("redeem", "young", 0);
      const waiting = await place.accept("redeem", "waiting");
      await stored.reschedule(await read(waiting), { dueAt: later, checks: 2, code: "FROZEN" });
      // The rail was asked for it, and is known not to have it.
      const unreached = await begin("redeem", "unreached", 1);
      await place.commit(advancePayment("postponePayment", place.organizationId, unreached));
      expect(await stored.unknownPayouts(RAIL_ACCOUNT)).to.deep.equal([]);

      const unknown = await begin("redeem", "unknown", 1);
      const oldest = await begin("redeem", "older", 2);
      const toTill = await begin("redeem", "till", 1);
      // The rail has called its outcome.
      const called = await begin("redeem", "called", 1);
      await stored.reschedule(await read(called), { dueAt: later, checks: 1, code: "SUCCEEDED unconfirmed" });
      await execute(
        place.opened.address,
        `UPDATE payments SET begun_at = ${String(place.now - 5)} WHERE transaction_id = '${oldest}'`,
        `UPDATE payments SET begun_at = ${String(place.now - 9)}, number_kind = 'TILL' WHERE transaction_id = '${toTill}'`,
      );
      expect(await stored.unknownPayouts(RAIL_ACCOUNT)).to.have.deep.members([
        { kind: "PHONE", count: 2, oldestBegunAt: place.now - 5 },
        { kind: "TILL", count: 1, oldestBegunAt: place.now - 9 },
      ]);
      expect(await stored.unknownPayouts(OTHER_RAIL_ACCOUNT)).to.deep.equal([]);
      const listed = (await stored.listUnknownPayouts(RAIL_ACCOUNT, 10)).map(({ transactionId }) => transactionId);
      expect(listed).to.have.members([unknown, oldest, toTill]);
      expect(await stored.listUnknownPayouts(RAIL_ACCOUNT, 1)).to.have.length(1);
      expect(await stored.listUnknownPayouts(OTHER_RAIL_ACCOUNT, 10)).to.deep.equal([]);
    });

    it("have no number to send anything to if somebody changed it, or the amount, and keep no other from its rail", async () => {
      const [first, second, third] = [
        await place.accept("mint", "a"),
        await place.accept("mint", "b"),
        await place.accept("redeem", "c"),
      ];
      await execute(
        place.opened.address,
        `UPDATE payments SET phone_number = (SELECT phone_number FROM payments WHERE transaction_id = '${first}')
         WHERE transaction_id = '${second}'`,
      );
      expect(await read(first)).to.include({ number: "+254712345678" });
      await execute(place.opened.address, `UPDATE transactions SET amount_cents = 900000 WHERE id = '${third}'`);
      for (const id of [second, third]) expect(await read(id)).to.include({ number: undefined, state: "READY" });
      await execute(place.opened.address, `UPDATE transactions SET amount_cents = 1000 WHERE id = '${third}'`);
      expect(await read(third)).to.include({ number: "+254712345678" });
    });
  });
}
