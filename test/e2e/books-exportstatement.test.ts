import { expect } from "chai";

import { nairobiDayOf } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { ENGINES } from "../support/databases.js";
import { problemOf } from "../support/service/each-engine.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const HOUR_MILLIS = 3_600_000;
/** A text that a spreadsheet would run, with all that CSV must quote. */
const FORMULA = `=HYPERLINK("http://127.0.0.1","a, b")`;

interface Message {
  readonly lines: readonly Readonly<Record<string, string>>[];
}

for (const engine of ENGINES) {
  describe(`the exports of a book (${engine})`, () => {
    // The server's clock begins two hours ago, so that the test can end a period.
    let time = Date.now() - 2 * HOUR_MILLIS;
    const start = time;
    let service: InProcess;
    let accountId: string;
    const ids: string[] = [];
    before(async () => {
      service = await startInProcess(engine, () => toUnixMillis(time));
      const { rest, a } = service;
      const post = async (path: string, body: object): Promise<string> => {
        time += 60_000;
        const reply = await rest.send("POST", path, { key: a.key, body });
        expect(reply.status, reply.text).to.equal(201);
        return String(reply.json["id"]);
      };
      accountId = await post("/accounts", { user_id: "amina", phone_number: "0712345678" });
      const move = async (verb: string, amount: string, reference: string, description: string): Promise<void> => {
        ids.push(await post(`/transactions/${verb}`, { account_id: accountId, amount, reference, description }));
      };
      await move("mint", "1000.00", "fees-1", FORMULA);
      await move("redeem", "250.50", "-2+3", "second");
      await move("mint", "0.50", "fees-2", "");
      time = start + HOUR_MILLIS;
    });
    after(() => service.dispose());

    const at = (minutes: number): string => new Date(start + minutes * 60_000).toISOString();
    const dayAt = (minutes: number): string => nairobiDayOf(toUnixMillis(start + minutes * 60_000));
    const period = (from: number, to: number) => ({ start: at(from), end: at(to) });

    async function get(path: string, accept: string, query: Readonly<Record<string, string>>, key = service.a.key) {
      const search = new URLSearchParams(query).toString();
      return service.rest.send("GET", `${path}?${search}`, { key, headers: { accept } });
    }

    async function streamed(rpc: string, request: object, key = service.a.key) {
      const stream = service.grpc.watch<Message>(rpc, request, { key });
      const { code, reason } = await stream.ended;
      return { code, reason, lines: stream.responses.flatMap(({ lines }) => lines) };
    }

    it("writes the statement as CSV that foots, with formulas escaped", async () => {
      const { status, text, headers } = await get(`/accounts/${accountId}/statement`, "text/csv", period(0, 10));
      expect(status, text).to.equal(200);
      expect(headers["content-type"]).to.match(/^text\/csv/);
      const of = `,${service.a.organizationId},${accountId}`;
      expect(text.split("\r\n")).to.deep.equal([
        "sequence,date,recorded_at,type,transaction_id,reference,description,rail_receipt,amount_in,amount_out,balance,available_balance,held_balance,organization_id,account_id,kind",
        `,${dayAt(0)},${at(0)},opening,,,,,,,0.00,0.00,0.00${of},`,
        `4,${dayAt(2)},${at(2)},transaction.completed,${ids[0] ?? ""},fees-1,"'=HYPERLINK(""http://127.0.0.1"",""a, b"")",,1000.00,,1000.00,1000.00,0.00${of},mint`,
        `5,${dayAt(3)},${at(3)},transaction.completed,${ids[1] ?? ""},'-2+3,second,,,250.50,749.50,749.50,0.00${of},redemption`,
        `6,${dayAt(4)},${at(4)},transaction.completed,${ids[2] ?? ""},fees-2,,,0.50,,750.00,750.00,0.00${of},mint`,
        `6,${dayAt(10)},${at(10)},closing,,,,,1000.50,250.50,750.00,750.00,0.00${of},`,
        "",
      ]);
    });

    it("streams the same statement over gRPC", async () => {
      const { code, lines } = await streamed("ExportStatement", { account_id: accountId, ...period(0, 10) });
      expect(code).to.equal(0);
      expect(lines.map(({ type, balance }) => [type, balance])).to.deep.equal([
        ["opening", "0.00"],
        ["transaction.completed", "1000.00"],
        ["transaction.completed", "749.50"],
        ["transaction.completed", "750.00"],
        ["closing", "750.00"],
      ]);
    });

    it("exports the journal: every row of the period, and no other", async () => {
      const { code, lines } = await streamed("ExportJournal", period(1, 10));
      expect(code).to.equal(0);
      expect(lines.map(({ sequence, type }) => [sequence, type])).to.deep.equal([
        ["3", "account.created"],
        ["4", "transaction.completed"],
        ["5", "transaction.completed"],
        ["6", "transaction.completed"],
      ]);
      const accounts = { debit_account: "reserve", credit_account: "available" };
      expect(lines[1]).to.include({ ...accounts, amount: "1000.00", reference: "fees-1", date: dayAt(2) });
      const { text } = await get("/journal", "text/csv", period(3, 4));
      expect(text.trimEnd().split("\r\n")).to.have.lengthOf(2);
    });

    it("exports the general ledger, whose debits equal its credits", async () => {
      const { code, lines } = await streamed("ExportGeneralLedger", period(3, 10));
      expect(code).to.equal(0);
      const cents = (text = ""): number => (text === "" ? 0 : Math.round(Number(text) * 100));
      const sums = (types: RegExp) => {
        const some = lines.filter(({ type = "" }) => types.test(type));
        return [
          some.reduce((sum, line) => sum + cents(line["debit"]), 0),
          some.reduce((sum, line) => sum + cents(line["credit"]), 0),
        ];
      };
      expect(sums(/^transaction/)).to.deep.equal([25_100, 25_100]);
      expect(sums(/^closing/)).to.deep.equal([25_100, 25_100]);
      const balances = (type: string) =>
        Object.fromEntries(
          lines.filter((line) => line["type"] === type).map((line) => [line["book_account"] ?? "", line["balance"]]),
        ) as Readonly<Record<string, string>>;
      const others = { shortfall: "0.00", charges: "0.00", held: "0.00", unallocated: "0.00" };
      expect(balances("opening")).to.deep.equal({ reserve: "1000.00", available: "1000.00", ...others });
      expect(balances("closing")).to.deep.equal({ reserve: "750.00", available: "750.00", ...others });
    });

    it("shows another organization nothing", async () => {
      const { b } = service;
      const statement = await streamed("ExportStatement", { account_id: accountId, ...period(0, 10) }, b.key);
      expect(statement).to.deep.equal({ code: 5, reason: "ACCOUNT_NOT_FOUND", lines: [] });
      expect((await streamed("ExportJournal", period(1, 10), b.key)).lines).to.deep.equal([]);
      const ledger = await streamed("ExportGeneralLedger", period(0, 10), b.key);
      expect(
        ledger.lines.every(({ balance, type }) => balance === "0.00" && type !== "transaction.completed"),
      ).to.equal(true);
    });

    it("refuses a period that is not over, over REST as a problem", async () => {
      for (const path of [`/accounts/${accountId}/statement`, "/journal", "/general-ledger"]) {
        const reply = await get(path, "text/csv", { start: at(0), end: "2126-01-01" });
        expect(problemOf(reply), path).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["end"] });
      }
    });
  });
}
