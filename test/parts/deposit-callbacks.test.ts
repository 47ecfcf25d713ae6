import { expect } from "chai";
import { pino } from "pino";
import { toUUID, type TypeId, typeidUnboxed } from "typeid-js";

import type { RailAccountId } from "../../src/domain/payment.js";
import { toCents } from "../../src/domain/values/cents.js";
import { type DepositCallbacks, depositCallbacks } from "../../src/parts/deposit-callbacks.js";
import type { RailAccount } from "../../src/settlement/ports/rail-accounts.js";
import type { Cell } from "../../src/storage/database.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import { beginDeposits, deposits } from "../../src/storage/rails/deposits.js";
import { mpesaRail } from "../rails/mpesa/mpesa-rail.js";
import { ManualTiming, settled } from "../settlement/support/manual-timing.js";
import { NUMBER, PaymentsPlace, railSetting } from "../storage/rails/given-payments.js";
import { ENGINES } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { depositReference } from "../support/names.js";
import { freezeAccount, setLimits } from "../support/operations/accounts.js";

const ID = typeidUnboxed("rail") as string as RailAccountId;
const UUID = toUUID(ID as string as TypeId<"rail">);
const UNKNOWN_UUID = "01932d53-1b2e-7c3a-8f00-0123456789ab";
const [NO_ACCOUNT, WRONG_AMOUNT] = ["C2B00012", "C2B00013"];

for (const engine of ENGINES) {
  describe(`what M-Pesa sends about payments by hand (${engine})`, () => {
    let place: PaymentsPlace;
    let timing: ManualTiming;
    let callbacks: DepositCallbacks;
    let lines: Readonly<Record<string, unknown>>[];
    /** Changes how the cell reads and writes. */
    let changes: Partial<Cell>;
    let writes: number;

    beforeEach(async () => {
      place = await PaymentsPlace.make(engine);
      const { opened, organizationId, now } = place;
      await saveRailAccount(opened.database, railSetting(opened, { id: ID, organizationId, rail: "listing", now }));
      timing = new ManualTiming();
      lines = [];
      changes = {};
      writes = 0;
      const { cell } = opened;
      const transact: Cell["transact"] = (work) => {
        writes += 1;
        return (changes.transact ?? cell.transact)(work);
      };
      const rows: Cell["reader"]["rows"] = (sql, bindings) => (changes.reader ?? cell.reader).rows(sql, bindings);
      const rail = mpesaRail();
      callbacks = depositCallbacks(
        { ...cell, transact, reader: { ...cell.reader, rows } },
        {
          rails: {
            account: (id) => (id === ID ? ({ id, organizationId, rail } as unknown as RailAccount) : undefined),
          },
          timing,
          logger: pino(
            { base: null },
            { write: (line) => lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>) },
          ),
        },
      );
    });
    afterEach(async () => {
      await callbacks.stop();
      await place.opened.dispose();
    });

    const begin = () => beginDeposits(place.opened.cell, ID, place.now);
    const dueAt = async (): Promise<number | undefined> => {
      const lists = await deposits(place.opened.cell).dueLists(timing.now());
      return lists.find(({ railAccountId }) => railAccountId === ID)?.dueAt;
    };

    describe("as a confirmation", () => {
      it("makes the list due", async () => {
        await place.opened.cell.transact((session) =>
          session.read({
            sql: "UPDATE rail_accounts SET deposits_since = 1, deposits_due_at = 999999999999999 RETURNING id",
            bindings: [],
          }),
        );
        const now = timing.now();
        callbacks.confirmed(UUID);
        await eventually(async () => (await dueAt()) === now);
      });

      it("writes at most once a second, however many come, and once more after the last", async () => {
        await begin();
        for (let second = 0; second < 3; second += 1) {
          for (let times = 0; times < 1_000; times += 1) callbacks.confirmed(UUID);
          await eventually(() => writes === second + 1);
          await eventually(async () => (await dueAt()) === timing.now());
          await settled();
          await timing.pass(1_000);
        }
        await eventually(() => writes === 4);
        await settled();
        await timing.pass(60_000);
        expect(writes).to.equal(4);
      });

      it("writes nothing for an account that nobody knows", async () => {
        for (let times = 0; times < 10; times += 1) callbacks.confirmed(UNKNOWN_UUID);
        await settled();
        expect(writes).to.equal(0);
      });

      it("notes the last one when the server stops", async () => {
        await begin();
        callbacks.confirmed(UUID);
        callbacks.confirmed(UUID);
        await callbacks.stop();
        expect(writes).to.equal(2);
      });

      it("is logged if the database fails", async () => {
        changes = { transact: () => Promise.reject(new Error("gone")) };
        callbacks.confirmed(UUID);
        await eventually(() => lines.length > 0);
        expect(lines[0]).to.include({ msg: "a confirmation was not noted", rail_account_id: ID });
      });
    });

    describe("as a validation", () => {
      const ask = (reference: string, amount = "100", uuid = UUID): Promise<string | undefined> =>
        callbacks.answer(uuid, JSON.stringify({ TransAmount: amount, BillRefNumber: reference }));
      const codeOf = async (reference: string, amount?: string): Promise<unknown> => {
        const answer = await ask(reference, amount);
        return answer === undefined ? undefined : (JSON.parse(answer) as { ResultCode: unknown }).ResultCode;
      };

      it("is answered by the state of the account and its limits", async () => {
        await begin();
        expect(await codeOf(NUMBER)).to.equal("0");
        expect(await codeOf(`${NUMBER.slice(0, 4)}-${NUMBER.slice(4)}`)).to.equal("0");
        expect(await codeOf("")).to.equal(NO_ACCOUNT);
        expect(await codeOf("JOHN")).to.equal(NO_ACCOUNT);
        expect(await codeOf(depositReference(2))).to.equal(NO_ACCOUNT);
        expect(await codeOf(NUMBER, "nothing")).to.equal(WRONG_AMOUNT);
        expect(await codeOf(NUMBER, "9999999999999.99")).to.equal(WRONG_AMOUNT);
        const { organizationId, accountId } = place;
        await place.commit(setLimits(organizationId, { changes: { TRANSACTION: toCents(99_99) } }));
        expect(await codeOf(NUMBER)).to.equal(WRONG_AMOUNT);
        expect(await codeOf(NUMBER, "99")).to.equal("0");
        await place.commit(freezeAccount(organizationId, accountId));
        expect(await codeOf(NUMBER, "99")).to.equal(NO_ACCOUNT);
      });

      it("lets everything pass before the registration, at an unknown account, and about a push", async () => {
        expect(await ask("JOHN")).to.equal(undefined);
        await begin();
        expect(await ask("JOHN", "100", UNKNOWN_UUID)).to.equal(undefined);
        expect(await ask("W3XHB1Z7Q4YE")).to.equal(undefined);
        expect(await callbacks.answer(UUID, "no JSON")).to.equal(undefined);
      });

      it("lets a payment pass while the database fails, or does not answer within 3 seconds", async () => {
        await begin();
        changes = { reader: { rows: () => Promise.reject(new Error("gone")) } as never };
        expect(await ask("JOHN")).to.equal(undefined);
        expect(lines.map(({ msg }) => msg)).to.deep.equal(["a payment was accepted without a look at its account"]);
        const { promise, resolve } = Promise.withResolvers<readonly never[]>();
        let reads = 0;
        changes = {
          reader: {
            rows: () => {
              reads += 1;
              return promise;
            },
          } as never,
        };
        const answers = Promise.all(Array.from({ length: 200 }, () => ask("JOHN")));
        await settled();
        expect(reads, "of 200 questions at once").to.equal(2);
        await timing.pass(2_999);
        await timing.pass(1);
        expect(new Set(await answers)).to.deep.equal(new Set([undefined]));
        resolve([]);
        await settled();
      });
    });
  });
}
