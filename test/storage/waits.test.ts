import { expect } from "chai";

import { DESTINATION_KINDS } from "../../src/domain/destination.js";
import { PROPOSAL_OPEN_MILLIS } from "../../src/domain/proposal.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { TABLES_BY_NAME } from "../../src/model/tables.js";
import { listBooks, wakeWork } from "../../src/storage/books.js";
import { payments } from "../../src/storage/rails/payments.js";
import { ALONE } from "../support/commands.js";
import { commitAll } from "../support/commit.js";
import { ENGINES, execute, openTestDatabase } from "../support/databases.js";
import { createDestination } from "../support/operations/accounts.js";
import { receiveDeposit, returnThroughRail } from "../support/operations/deposits.js";
import { setPayouts } from "../support/operations/rails.js";
import { beginPayment } from "../support/operations/transactions.js";
import { createWebhookEndpoint } from "../support/operations/webhooks.js";
import { fillEachTable } from "../verify/given/each-table.js";
import { PaymentsPlace, RAIL_ACCOUNT } from "./rails/given-payments.js";

const DAY_MILLIS = 86_400_000;

/** The columns with the end of a wait that is not work, and how long that lies ahead at most. */
const ENDS: Readonly<Record<string, number>> = {
  "destinations.usable_at": 2 * DAY_MILLIS,
  "proposals.expires_at": PROPOSAL_OPEN_MILLIS,
  // By the clock of the server, in no row of a book.
  "leases.until": 60_000,
  "operator_proposals.expires_at": PROPOSAL_OPEN_MILLIS,
  "sign_in_tokens.expires_at": 3 * DAY_MILLIS,
  // A caller gives the moment.
  "api_keys.expires_at": Infinity,
  "rail_accounts.credentials_expire_at": Infinity,
};

/** The times that a row was given, or that a rail or a person gave: nothing waits for them. */
const GIVEN =
  /\.(created|updated|recorded|completed|changed|removed|lifted|proposed|decided|done|revoked|restored|confirmed|paid|received|sealed|raised|cleared|used|last_used|verified|last_recorded|clock_accepted|balance|balance_asked|phone_number_changed|email_changed|deposits_read|begun|last|approved|stopped|stored)_at$|_since$/;

const columnsOfTime = TABLES_BY_NAME.flatMap(([table, { columns }]) =>
  Object.entries(columns)
    .filter(([name, { type }]) => type === "int64" && /(_at|_since|^until|_after)$/.test(name))
    .map(([name, { isDue = false }]) => ({ table, name, isDue })),
);
const due = columnsOfTime.filter(({ isDue }) => isDue);

describe("the times of the model", () => {
  it("are given, or say when work is due, or when a wait ends", () => {
    const others = columnsOfTime.filter(({ isDue }) => !isDue).map(({ table, name }) => `${table}.${name}`);
    expect(others.filter((name) => !GIVEN.test(name))).to.have.members(Object.keys(ENDS));
    expect(due).to.have.length.greaterThan(6);
  });
});

for (const engine of ENGINES) {
  describe(`a clock that was a day ahead (${engine})`, () => {
    it("puts nothing off once an operator has said that the clock is right", async () => {
      const opened = await openTestDatabase(engine);
      try {
        await fillEachTable(opened.database);
        const now = toUnixMillis(Date.now());
        // One about a transaction that no book has is nobody's work.
        await execute(opened.address, "UPDATE rail_messages SET transaction_id = (SELECT MAX(id) FROM transactions)");
        const tomorrow = String(now + DAY_MILLIS);
        const [{ organizationId } = { organizationId: "" as OrganizationId }] = await listBooks(opened.database);
        await opened.cell.committer.commit([createWebhookEndpoint(organizationId)], now);
        await execute(
          opened.address,
          `INSERT INTO webhook_retries (endpoint_id, seq, tries, next_at) SELECT id, 1, 0, 5 FROM webhook_endpoints`,
        );
        for (const { table, name } of due) {
          const has = await execute(opened.address, `SELECT 1 FROM ${table} WHERE ${name} IS NOT NULL LIMIT 1`);
          const which = has.length > 0 ? `WHERE ${name} IS NOT NULL` : "";
          await execute(opened.address, `UPDATE ${table} SET ${name} = ${tomorrow} ${which}`);
        }
        for (const book of await listBooks(opened.database)) {
          await wakeWork(opened.cell, book, now);
        }
        for (const { table, name } of due) {
          const left = await execute(opened.address, `SELECT 1 FROM ${table} WHERE ${name} > ${String(now)}`);
          const all = await execute(opened.address, `SELECT 1 FROM ${table} WHERE ${name} IS NOT NULL`);
          expect(all, `${table}.${name}`).to.not.deep.equal([]);
          expect(left, `${table}.${name}`).to.deep.equal([]);
        }
      } finally {
        await opened.dispose();
      }
    });

    it("sets no wait of what is accepted while the rows have the time of tomorrow", async () => {
      const place = await PaymentsPlace.make(engine);
      try {
        const { organizationId, accountId, now, opened } = place;
        const tomorrow = toUnixMillis(now + DAY_MILLIS);
        const time = String(tomorrow);
        await execute(opened.address, `UPDATE books SET last_recorded_at = ${time}, clock_accepted_at = ${time}`);

        const ids = [await place.accept("mint", "a"), await place.accept("redeem", "b")];
        const stored = payments(opened.cell);
        const dueIds = async (): Promise<readonly string[]> =>
          (await stored.due(RAIL_ACCOUNT, { now, limit: 9, payOutTo: DESTINATION_KINDS })).map(
            (each) => each.transactionId,
          );
        expect(await dueIds()).to.have.members(ids);
        expect(await stored.accountsWithDue(now)).to.deep.equal([RAIL_ACCOUNT]);
        for (const id of ids) await place.commit({ ...beginPayment(organizationId, id, 1), nextCheckAt: now });
        for (const id of ids) expect(await stored.payment(id)).to.include({ acceptedAt: now, begunAt: now });
        expect(
          (await stored.unknownPayouts(RAIL_ACCOUNT)).every(({ oldestBegunAt = 0 }) => oldestBegunAt <= now),
        ).to.equal(true);

        const deposit = receiveDeposit(organizationId, { receipt: "d1", railAccountId: RAIL_ACCOUNT });
        const authority = { ...ALONE, groups: ["rails"] } as const;
        await commitAll(
          opened.cell,
          [
            createDestination(organizationId, accountId, { coolingMillis: 2 * DAY_MILLIS }),
            deposit,
            returnThroughRail(organizationId, deposit.newDepositId, { person: "amina" }),
            returnThroughRail(organizationId, deposit.newDepositId, { person: "brian" }),
            { ...setPayouts(organizationId, "open", { rail: "mpesa" as Rail }), authority },
          ],
          now,
        );
        for (const { table, name, isDue } of columnsOfTime) {
          const waitMillis = isDue ? 0 : ENDS[`${table}.${name}`];
          if (waitMillis === undefined) continue;
          const [row] = await execute<{ latest: UnixMillis | null }>(
            opened.address,
            `SELECT MAX(${name}) AS latest FROM ${table}`,
          );
          expect(Number(row?.latest ?? 0) - now, `${table}.${name}`).to.be.at.most(waitMillis + 60_000);
        }
        const ends = ["destinations.usable_at", "proposals.expires_at", "deposits.return_due_at"];
        for (const column of ends) {
          const [table = "", name = ""] = column.split(".");
          expect(
            await execute(opened.address, `SELECT 1 FROM ${table} WHERE ${name} IS NOT NULL`),
            column,
          ).to.not.deep.equal([]);
        }
      } finally {
        await place.opened.dispose();
      }
    });
  });
}
