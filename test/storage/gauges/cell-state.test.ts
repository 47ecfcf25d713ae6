import { expect } from "chai";

import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { cellState } from "../../../src/storage/gauges/cell-state.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { ENGINES, execute } from "../../support/databases.js";
import { setLimits } from "../../support/operations/accounts.js";
import { receiveDeposit } from "../../support/operations/deposits.js";
import { stopFile } from "../../support/operations/payouts.js";
import { setPayoutCheck } from "../../support/operations/payouts.js";
import { sealBooks } from "../../support/seals/given-seals.js";
import { makePayouts } from "../../verify/given/payouts.js";
import { PaymentsPlace } from "../rails/given-payments.js";

const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`the state of a cell for the gauges (${engine})`, () => {
    let place: PaymentsPlace;
    before(async () => {
      place = await PaymentsPlace.make(engine);
    });
    after(() => place.opened.dispose());

    it("has the money, the payments by age, the rails, the webhooks and the seals", async () => {
      const { opened, now, organizationId } = place;
      await sealBooks(opened.cell);
      await leases(opened.cell).take("webhooks", { holder: "a", millis: HOUR_MILLIS });
      await place.accept("mint", "in");
      await place.accept("redeem", "out");
      await place.commit(receiveDeposit(organizationId));
      await place.commit(setLimits(organizationId, { type: "REDEEM", changes: { HELD_AMOUNT: NO_CENTS } }));
      await place.accept("redeem", "held");
      await place.commit(setLimits(organizationId, { type: "REDEEM", changes: { HELD_AMOUNT: "NONE" } }));
      await place.commit(setPayoutCheck(organizationId));
      await place.accept("redeem", "checked");
      const endpoint = (id: string, status: string, failing: string, reason: string): string => `
        INSERT INTO webhook_endpoints (id, organization_id, url, secrets, description, types, status, disabled_reason,
          revision, settled_seq, replay_seq, replay_until_seq, failures, failing_since, probe_at, retry_at, logged,
          changed_seq, created_at, updated_at, mac)
        VALUES ('${id}', '${organizationId}', ${bytes}, ${bytes}, '', NULL, '${status}', ${reason},
          1, 1, NULL, NULL, ${failing === "NULL" ? "0" : "1"}, ${failing}, NULL, NULL, 0, 2, 1, 1, ${bytes})`;
      const hex = "00".repeat(32);
      const bytes = engine === "sqlite" ? `x'${hex}'` : `'\\x${hex}'`;
      await execute(
        opened.address,
        `UPDATE rail_accounts SET deposits_since = ${String(now - 7)}, warnings = '{"FLOAT_LOW":{}}'`,
        endpoint("whe_1", "ACTIVE", String(now - 5_000), "NULL"),
        endpoint("whe_2", "DISABLED", String(now - 9_000), "'FAILING'"),
        "INSERT INTO webhook_retries (endpoint_id, seq, tries, next_at) VALUES ('whe_1', 2, 1, 5), ('whe_1', 3, 9, NULL)",
      );

      const {
        payments,
        heldPayouts,
        payoutChecks,
        railAccounts,
        railWarnings,
        deposits,
        payouts,
        webhooks,
        seals,
        leases: held,
        actsWithoutPerson,
        ...sums
      } = await cellState(opened.cell, opened.cell)(now + HOUR_MILLIS);
      // A payout holds its amount, and a mint is counted once it is complete.
      const expected = {
        books: 1,
        supplyCents: 100_000,
        reserveCents: 100_500,
        reserveGapCents: 0,
        shortfallCents: 0,
        chargesCents: 0,
      };
      expect(sums).to.deep.equal(expected);
      // It is not among the open payments, whose rail must act.
      expect(heldPayouts).to.deep.equal({ waiting: 1, oldestAt: now + 1 });
      expect(payoutChecks).to.deep.equal({ waiting: 1, oldestAt: now + 1 });
      expect(deposits).to.deep.equal({ waiting: 1, oldestAt: now, listReadAt: now - 7 });
      expect(payouts).to.deep.equal({ partsWaiting: 0, oldestAt: undefined });
      expect(railWarnings).to.deep.equal([{ code: "FLOAT_LOW", count: 2 }]);
      expect(actsWithoutPerson).to.equal(0);
      expect(held.map(({ name }) => name)).to.deep.equal(["webhooks"]);
      expect(held[0]?.leftMillis).to.be.within(HOUR_MILLIS - 60_000, HOUR_MILLIS);
      expect([...payments].sort((left, right) => (left.direction < right.direction ? -1 : 1))).to.deep.equal([
        { direction: "MINT", age: "UNDER_ONE_DAY", count: 1, oldestAt: now },
        { direction: "REDEEM", age: "UNDER_ONE_DAY", count: 1, oldestAt: now },
      ]);
      expect(railAccounts.map(({ rail, count }) => [rail, count])).to.have.deep.members([
        ["mpesa", 1],
        ["slower", 1],
      ]);
      const [book] = await opened.cell.reader.rows<{ last_seq: number; size: number }>(
        "SELECT last_seq, (SELECT MAX(size) FROM seals) AS size FROM books",
      );
      const { last_seq: lastSeq = 0, size = 0 } = book ?? {};
      expect(webhooks).to.deep.include({ eventsBehind: lastSeq - 1, failingSince: now - 5_000 });
      expect(webhooks.endpoints).to.have.deep.members([
        { status: "ACTIVE", count: 1 },
        { status: "DISABLED", count: 1 },
      ]);
      expect(webhooks.retries).to.have.deep.members([
        { state: "waiting", count: 1 },
        { state: "given_up", count: 1 },
      ]);
      expect(lastSeq).to.be.greaterThan(size);
      expect(seals).to.deep.equal({ rowsBehind: lastSeq - size, oldestUnsealedAt: now, alarms: 0 });

      await sealBooks(opened.cell);
      const sealed = await cellState(opened.cell, opened.cell)(now);
      expect(sealed.seals).to.deep.equal({ rowsBehind: 0, oldestUnsealedAt: undefined, alarms: 0 });
    });

    it("counts the parts of approved files of payouts that have not run, and none of a stopped file", async () => {
      const { opened, now, organizationId } = place;
      const payoutsNow = async () => (await cellState(opened.cell, opened.cell)(now)).payouts;
      await makePayouts(opened.database, organizationId);
      const { partsWaiting, oldestAt } = await payoutsNow();
      expect([partsWaiting, oldestAt !== undefined]).to.deep.equal([1, true]);
      await place.commit(stopFile(organizationId));
      expect(await payoutsNow()).to.deep.equal({ partsWaiting: 0, oldestAt: undefined });
    });

    it("shows an alarm, and no lag of its book", async () => {
      const { opened, now } = place;
      await place.accept("mint", "later");
      await execute(
        opened.address,
        "INSERT INTO seal_alarms (book, raised_at, size, first_seq, last_seq, problem) SELECT number, 1, 1, 1, 1, 'x' FROM books",
      );
      const { seals } = await cellState(opened.cell, opened.cell)(now);
      expect(seals).to.deep.equal({ rowsBehind: 0, oldestUnsealedAt: undefined, alarms: 1 });
    });
  });
}
