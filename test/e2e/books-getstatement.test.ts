import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { ENGINES } from "../support/databases.js";
import { problemOf } from "../support/service/each-engine.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`GetStatement (${engine})`, () => {
    // The server's clock begins two hours ago, so that the test can end a period.
    let time = Date.now() - 2 * HOUR_MILLIS;
    const start = time;
    let service: InProcess;
    let accountId: string;
    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(time));
      const { rest, a } = service;
      const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
        time += 60_000;
        const reply = await rest.send("POST", path, { key: a.key, body });
        expect(reply.status, reply.text).to.equal(201);
        return reply.json;
      };
      accountId = String((await post("/accounts", { user_id: "amina", phone_number: "0712345678" }))["id"]);
      await post("/transactions/mint", {
        account_id: accountId,
        amount: "1000.00",
        reference: "fees-1",
        description: "term 1",
      });
      await post("/transactions/redeem", { account_id: accountId, amount: "250.50", reference: "out-1" });
      await post("/transactions/mint", { account_id: accountId, amount: "0.50", reference: "fees-2" });
      time = start + HOUR_MILLIS;
    });
    after(() => service.dispose());

    const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();

    async function statement(query: Readonly<Record<string, string>>, id = accountId) {
      const { rest, a } = service;
      return rest.send("GET", `/accounts/${id}/statement?${new URLSearchParams(query).toString()}`, { key: a.key });
    }

    it("leads from the opening to the closing balance, the same over REST and gRPC", async () => {
      const period = { start: at(0), end: at(10) };
      const { status, text, json } = await statement(period);
      expect(status, text).to.equal(200);
      expect(text).to.include('"opening_balance":0.00,"closing_balance":750.00');
      const lines = json["lines"] as Readonly<Record<string, unknown>>[];
      expect(
        lines.map((line) => [line["amount_in"], line["amount_out"], line["balance"], line["reference"]]),
      ).to.deep.equal([
        [1000, null, 1000, "fees-1"],
        [null, 250.5, 749.5, "out-1"],
        [0.5, null, 750, "fees-2"],
      ]);
      expect(lines[0]).to.include({ type: "transaction.completed", description: "term 1", held_balance: 0 });
      const { grpc, a } = service;
      const called = await grpc.call("GetStatement", { account_id: accountId, ...period }, { key: a.key });
      expect(called.response).to.include({ opening_balance: "0.00", closing_balance: "750.00" });
      expect(called.response["lines"]).to.have.lengthOf(3);
    });

    it("opens with the balance before the period, which ends before its end", async () => {
      // The redemption is a line of the period that begins at its time, and not of one that ends
      // there.
      const { json } = await statement({ start: at(3), end: at(4) });
      expect([json["opening_balance"], json["closing_balance"]]).to.deep.equal([1000, 749.5]);
      expect((json["lines"] as { reference: string }[]).map(({ reference }) => reference)).to.deep.equal(["out-1"]);
      const before = await statement({ start: at(0), end: at(3) });
      expect(before.json["closing_balance"]).to.equal(1000);
    });

    it("takes days of Kenya", async () => {
      const day = new Date(start + 3 * HOUR_MILLIS - 24 * HOUR_MILLIS).toISOString().slice(0, 10);
      const { status, json } = await statement({ start: day, end: day });
      expect(status).to.equal(200);
      expect(Date.parse(String(json["start"]))).to.equal(Date.parse(`${day}T00:00:00+03:00`));
      expect(Date.parse(String(json["end"])) - Date.parse(String(json["start"]))).to.equal(24 * HOUR_MILLIS);
    });

    it("goes on with a page token, which belongs to the period", async () => {
      const period = { start: at(0), end: at(10) };
      const references: string[] = [];
      let token = "";
      do {
        const { json } = await statement({ ...period, page_size: "1", page_token: token });
        references.push(...(json["lines"] as { reference: string }[]).map(({ reference }) => reference));
        token = (json["next_page_token"] ?? "") as string;
        if (token !== "") {
          const other = await statement({ start: at(0), end: at(11), page_token: token });
          expect(problemOf(other)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["page_token"] });
        }
      } while (token !== "");
      expect(references).to.deep.equal(["fees-1", "out-1", "fees-2"]);
    });

    for (const [what, start, end, fields] of [
      ["no period", "", "", ["start", "end"]],
      ["a day that does not exist", "2026-02-30", "2026-03-01", ["start"]],
      ["words", "yesterday", "2026-03-01", ["start"]],
      ["an end before the beginning", "2026-03-02", "2026-03-01", ["end"]],
      ["an end in the future", "2026-03-02", "2126-03-01", ["end"]],
    ] as const) {
      it(`refuses ${what}`, async () => {
        expect(problemOf(await statement({ start, end }))).to.deep.equal({
          status: 400,
          code: "INVALID_FIELD",
          fields,
        });
      });
    }

    it("refuses an end that is not yet final, and takes it a minute later", async () => {
      const end = at(60 + 5);
      const before = time;
      time = start + 66 * 60_000 - 1;
      expect(problemOf(await statement({ start: at(0), end }))).to.include({ status: 400 });
      time += 1;
      expect((await statement({ start: at(0), end })).status).to.equal(200);
      time = Math.max(before, time);
    });

    it("does not find an account of nobody", async () => {
      const reply = await statement({ start: at(0), end: at(10) }, "acc_xyz");
      expect(problemOf(reply)).to.deep.equal({ status: 404, code: "ACCOUNT_NOT_FOUND", fields: [] });
    });

    it("shows the account as it was, by time and by sequence", async () => {
      const { rest, grpc, a } = service;
      const get = (query: string) => rest.send("GET", `/accounts/${accountId}${query}`, { key: a.key });
      const then = await get(`?as_of_time=${at(3)}`);
      expect(then.status, then.text).to.equal(200);
      expect(then.json).to.include({ available_balance: 1000, status: "active" });
      const { json: supply } = await rest.send("GET", "/supply", { key: a.key });
      const last = String(supply["as_of_sequence"]);
      const called = await grpc.call("GetAccount", { account_id: accountId, as_of_sequence: last }, { key: a.key });
      expect(called.response["account"]).to.include({ available_balance: "750.00" });
      expect(problemOf(await get(`?as_of_time=${at(0)}`))).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
      expect((await get("")).json["as_of_sequence"]).to.equal(null);
      for (const [query, field] of [
        [`?as_of_time=${at(600)}`, "as_of_time"],
        [`?as_of_time=${at(3)}&as_of_sequence=2`, "as_of_sequence"],
        ["?as_of_sequence=-1", "as_of_sequence"],
      ] as const) {
        expect(problemOf(await get(query)), query).to.deep.equal({
          status: 400,
          code: "INVALID_FIELD",
          fields: [field],
        });
      }
      const wrong = await grpc.call("GetAccount", { account_id: accountId, as_of_sequence: "-1" }, { key: a.key });
      expect(wrong.code).to.equal(Status.INVALID_ARGUMENT);
    });
  });
}
