import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { cellState } from "../../src/storage/gauges/cell-state.js";
import { ENGINES } from "../support/databases.js";
import { setReserveRules } from "../support/operations/book.js";
import { recordReserve } from "../support/record-reserve.js";
import { problemOf } from "../support/service/each-engine.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const HOUR_MILLIS = 3_600_000;

type Json = Readonly<Record<string, unknown>>;

function backingOf(supply: Json): Json {
  return supply["backing"] as Json;
}

for (const engine of ENGINES) {
  describe(`GetSupply (${engine})`, () => {
    // The server's clock begins two hours ago, so that there is a past.
    let time = Date.now() - 2 * HOUR_MILLIS;
    const start = time;
    let service: InProcess;
    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(time));
      const { rest, a } = service;
      const post = async (path: string, body: object): Promise<string> => {
        time += 60_000;
        const reply = await rest.send("POST", path, { key: a.key, body });
        expect(reply.status, reply.text).to.equal(201);
        return String(reply.json["id"]);
      };
      const account_id = await post("/accounts", { user_id: "amina", phone_number: "0712345678" });
      await post("/transactions/mint", { account_id, amount: "1000.00", reference: "in-1" });
      await post("/transactions/redeem", { account_id, amount: "250.50", reference: "out-1" });
      time = start + HOUR_MILLIS;
    });
    after(() => service.dispose());

    const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
    const supply = (query = "", key = service.a.key) => service.rest.send("GET", `/supply${query}`, { key });

    it("says what is in circulation, and what the book says is there", async () => {
      const { status, text, json } = await supply();
      expect(status, text).to.equal(200);
      expect(json).to.include({ in_circulation: 749.5, available: 749.5, held: 0, reserve: 749.5, shortfall: 0 });
      const { response } = await service.grpc.call("GetSupply", {}, { key: service.a.key });
      expect(response["supply"]).to.include({ in_circulation: "749.50", reserve: "749.50", unallocated: "0.00" });
    });

    it("says it as of a time and a sequence of the past", async () => {
      const then = await supply(`?as_of_time=${at(3)}`);
      expect(then.json).to.include({ in_circulation: 1000, reserve: 1000, minted: 1000, redeemed: 0, backing: null });
      const { response } = await service.grpc.call("GetSupply", { as_of_sequence: "1" }, { key: service.a.key });
      expect(response["supply"]).to.include({ in_circulation: "0.00", as_of_sequence: "1" });
      const now = (await supply()).json;
      expect(now).to.include({ minted: null, redeemed: null });
      const later = await supply(`?as_of_sequence=${String(now["as_of_sequence"])}`);
      expect(later.json).to.include({ in_circulation: 749.5, minted: 1000, redeemed: 250.5 });
      expect(later.json["as_of_sequence"]).to.equal(now["as_of_sequence"]);
    });

    it("counts nothing of another organization", async () => {
      expect((await supply("", service.b.key)).json).to.include({ in_circulation: 0, reserve: 0 });
    });

    it("shows where the reserve lies, with the age of each figure", async () => {
      const { database, a } = service;
      const figure = { place: "KCB 1234", amountCents: toCents(70_000), evidence: "statement 12" };
      const asOfDay = new Date(start - 48 * HOUR_MILLIS).toISOString().slice(0, 10) as NairobiDay;
      const now = toUnixMillis(time);
      await recordReserve(database.cells[0], {
        organizationId: a.organizationId,
        figure: { ...figure, asOfDay },
        now,
      });
      const { json } = await supply();
      const [holding] = backingOf(json)["reserve_holdings"] as Json[];
      expect(holding).to.include({ place: "KCB 1234", amount: 700, as_of_day: asOfDay, evidence: "statement 12" });
      expect(holding?.["age_seconds"]).to.equal(Math.floor((time - Date.parse(`${asOfDay}T21:00:00Z`)) / 1_000));
      expect(backingOf((await supply("", service.b.key)).json)["reserve_holdings"]).to.deep.equal([]);
    });

    it("compares what was seen with all that is owed, as the metric does", async () => {
      const { json } = await supply();
      expect(json).to.include({ owed: 749.5 });
      expect(backingOf(json)).to.include({ seen: 700, difference: -49.5 });
      expect(backingOf((await supply("", service.b.key)).json)).to.include({ seen: null, difference: null });
      const [cell] = service.database.cells;
      expect((await cellState(cell, cell)(time)).reserveGapCents).to.equal(4_950);
    });

    it("says of each rule of the reserve whether it holds, with the figures", async () => {
      const { database, a } = service;
      const command = setReserveRules(a.organizationId, [
        { kind: "other", shareMin: 90, staleAfterDays: 7 },
        { kind: "other", shareMax: 10, staleAfterDays: 7 },
        { kind: "other", daysMax: 30, staleAfterDays: 7 },
        { kind: "cash", shareMax: 10, staleAfterDays: 7 },
      ]);
      await database.cells[0].committer.commit([command], toUnixMillis(time));
      const rules = backingOf((await supply()).json)["reserve_rules"] as Json[];
      expect(rules.map(({ state }) => state)).to.deep.equal(["holds", "broken", "unknown", "unknown"]);
      const none = { share_max: null, days_max: null };
      expect(rules[0]?.["rule"]).to.deep.equal({ kind: "other", share_min: 90, stale_after_days: 7, ...none });
      expect(rules.map(({ amount }) => amount)).to.deep.equal([700, 700, 700, 0]);
      expect(rules[3]?.["as_of_day"]).to.equal(null);
    });

    it("refuses a row that is not there, in the same words for each that is too small", async () => {
      const last = Number((await supply()).json["as_of_sequence"]);
      for (const [sequence, message] of [
        [last + 1, `must be at most ${String(last)}, the sequence of the last row of the book`],
        [0, "must be 1 or more"],
        [-1, "must be 1 or more"],
      ] as const) {
        const { json } = await supply(`?as_of_sequence=${String(sequence)}`);
        expect(json["errors"]).to.deep.equal([{ field: "as_of_sequence", message, code: "OUT_OF_RANGE" }]);
      }
    });

    for (const [query, field] of [
      ["as_of_time=2126-01-01T00:00:00Z", "as_of_time"],
      ["as_of_time=2026-01-01T00:00:00Z&as_of_sequence=2", "as_of_sequence"],
    ] as const) {
      it(`refuses ${query}`, async () => {
        const reply = await supply(`?${query}`);
        expect(problemOf(reply)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: [field] });
      });
    }
  });
}
