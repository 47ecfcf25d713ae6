import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";
import { parse } from "csv-parse/sync";
import express from "express";
import { pino } from "pino";

import { csvOf, EXPORT_ROWS_MAX, fieldsOf } from "../../console/export.js";
import { beginRequest, stateOf } from "../../console/http/request-state.js";
import type { Download } from "../../console/page.js";
import { monthOf } from "../../console/pages/month.js";
import { sendFile } from "../../console/reply.js";
import type { ReadRows } from "../../console/upstream/rows.js";
import { listPath, quickRanges } from "../../console/view/filters.js";
import { transactionTotals } from "../../console/view/lists.js";
import { sumOf } from "../../console/view/values.js";
import { ask, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const REFUSAL = { code: 8, reason: "QUEUE_FULL", text: "Too many lists.", advice: undefined } as const;
const FORMULA = "=1+2";
// By its ending a payment stays pending: docs/sandbox.md.
const PHONE = "712001917";

describe("the lists of the console", () => {
  let service: ConsoleService;
  let org: string;
  let accountId: string;
  before(async () => {
    service = await startConsoleService();
    org = service.demo.organizationId;
    const { client } = service;
    const email = "wanjiku@example.com";
    const { account } = await client.accounts.createAccount({
      user_id: "wanjiku",
      phone_number: `+254${PHONE}`,
      email,
    });
    const { account: other } = await client.accounts.createAccount({
      user_id: "otieno",
      phone_number: "+254712001922",
    });
    accountId = account.id;
    for (const [index, account_id] of [account.id, account.id, other.id].entries()) {
      const given = {
        account_id,
        amount: "1000.10",
        reference: `a-very-long-reference-${String(index)}`,
        rail: "direct",
      };
      await client.transactions.mint({ ...given, description: FORMULA });
    }
    await client.transactions.redeem({ account_id: accountId, amount: "0.20", reference: "shop", rail: "direct" });
    await client.transactions.redeem({ account_id: accountId, amount: "50.00", reference: "open", rail: "sandbox" });
    const payer_phone_number = `+254${PHONE}`;
    await client.sandbox.createDeposit({ amount: "2211.00", typed_reference: "", payer_phone_number, receipt: "D1" });
  });
  after(() => service.dispose());

  const get = (path: string, token = service.keys.amina): ReturnType<typeof ask> =>
    ask(service.origin, `/${org}${path}`, { token });
  const rowsOf = async (path: string, token?: string): Promise<readonly Readonly<Record<string, string>>[]> => {
    const { status, html, headers } = await get(path, token);
    expect(status, path).to.equal(200);
    expect(headers["content-type"]).to.equal("text/csv; charset=utf-8; header=present");
    return parse(html, { columns: true });
  };

  it("name the customer of each payment, and lead to the account", async () => {
    const { html } = await get("/transactions");
    expect(
      html.match(/<a href="[^"]+\/accounts\/acc_[^"]+"><bdi class="text">(wanjiku|otieno)<\/bdi>/g),
    ).to.have.length(5);
    expect(html).not.to.include('class="id"');
    expect(html).to.include('title="a-very-long-reference-0">a-very-l…rence-0</bdi>');
  });

  it("sum what they show: minted and redeemed apart, to the cent", async () => {
    const text = textOf((await get("/transactions")).html);
    expect(text)
      .to.include("Minted: 3 payments 3,000.30")
      .and.include("Redeemed: 1 payment 0.20")
      .and.include("Not completed: 1 payment 50.00");
    expect(textOf((await get(`/transactions?type=redeem&status=completed`)).html))
      .to.include("Redeemed: 1 payment 0.20")
      .and.not.include("Minted:");
    expect(textOf((await get("/journal?type=transaction.completed")).html))
      .to.include("Minted: 3 rows 3,000.30")
      .and.include("Redeemed: 1 row 0.20");
    expect(textOf((await get("/accounts")).html)).to.include("2 accounts");
    const row = { type: "mint", status: "completed", amount: "90071992547409.91" };
    expect(transactionTotals([row, row] as never)).to.deep.equal([
      { name: "Minted: 2 payments", amount: "180143985094819.82" },
    ]);
  });

  it("leave out the columns that the URL names, and keep that in each link", async () => {
    const { html } = await get("/transactions?hide=rail&hide=receipt&type=mint");
    expect(html).not.to.include(">Rail</th>").and.not.include(">Receipt</th>");
    expect(html).to.include(">Reference</th>");
    const links = [...html.matchAll(/href="([^"]*\/transactions\?[^"]*start=[^"]*)"/g)].map(([, to = ""]) => to);
    expect(links).to.have.length(4);
    for (const link of links) expect(link).to.include("type=mint").and.include("hide=rail");
  });

  it("offer the rails, tiers and people that there are", async () => {
    const optionsOf = async (path: string, name: string): Promise<readonly string[]> => {
      const [, select = ""] = new RegExp(`<select name="${name}">(.*?)</select>`).exec((await get(path)).html) ?? [];
      return [...select.matchAll(/<option[^>]*>(.*?)<\/option>/g)].map(([, text = ""]) => text);
    };
    expect(await optionsOf("/transactions", "rail")).to.deep.equal(["all", "direct", "sandbox"]);
    expect(await optionsOf("/accounts", "tier")).to.deep.equal(["all", "default"]);
    expect(await optionsOf("/journal", "person")).to.include.members(["all", "Amina", "Brian"]);
    expect(await optionsOf("/transactions?rail=old", "rail")).to.include("old");
  });

  it("lead from a form to a URL without empty fields", async () => {
    const { status, headers } = await get("/transactions?type=mint&rail=&start=&hide=rail");
    expect([status, headers.location]).to.deep.equal([303, `/${org}/transactions?type=mint&hide=rail`]);
  });

  it("filter deposits and the journal by day and type", async () => {
    const today = quickRanges(new Date())["Today"];
    const days = `start=${today?.start ?? ""}&end=${today?.end ?? ""}`;
    expect((await get(`/journal?type=account.*&${days}`)).html)
      .to.include("account created")
      .and.not.include("transaction completed");
    expect((await get("/journal?end=2020-01-01")).html).to.include("No row has all of this");
    expect((await get("/journal?type=nothing")).html).to.include("INVALID_FIELD");
    expect((await get(`/deposits?${days}&reason=by_hand`)).html).to.include("No deposit has all of this");
  });

  it("are files: what the filter selects, with the guard of formulas and the masks of the pages", async () => {
    const mints = await rowsOf("/transactions.csv?type=mint");
    expect(mints.map(({ amount, user_id, description }) => [amount, user_id, description])).to.deep.equal([
      ["1000.10", "otieno", `'${FORMULA}`],
      ["1000.10", "wanjiku", `'${FORMULA}`],
      ["1000.10", "wanjiku", `'${FORMULA}`],
    ]);
    for (const key of Object.values(service.roleKeys)) {
      for (const path of ["/accounts", "/transactions", "/deposits", "/journal", "/general-ledger"].map(csv)) {
        const text = JSON.stringify(await rowsOf(path, key));
        expect(text, path).not.to.include(PHONE).and.not.include("wanjiku@");
      }
      const [account] = await rowsOf("/accounts.csv?status=active", key);
      expect(account).to.include({ user_id: "otieno", phone_number: "'+254******922", available_balance: "1000.10" });
    }
    const journal = await rowsOf("/journal.csv?type=transaction.completed");
    expect(journal.map(({ amount }) => amount)).to.deep.equal(["0.20", "1000.10", "1000.10", "1000.10"]);
    const statement = await rowsOf(`/accounts/${accountId}/statement.csv?start=2026-01-01&end=2026-01-31`);
    expect(statement.map(({ type, balance, date }) => [type, balance, date])).to.deep.equal([
      ["opening", "0.00", "2026-01-01"],
      ["closing", "0.00", "2026-01-31"],
    ]);
    expect((await get("/transactions.csv?start=2026-02-31")).html).to.include("INVALID_FIELD");
    expect((await get("/accounts/acc_01jd2r6p5vf8ksw3xhb1z7q4ye/statement.csv")).html).to.include("ACCOUNT_NOT_FOUND");
  });

  it("find deposits by their amount", async () => {
    expect((await get("/deposits?min_amount=2211&max_amount=2211")).html).to.include("2,211.00");
    expect((await get("/deposits?min_amount=2211.01")).html).to.include("No deposit has all of this");
    expect((await get("/deposits?min_amount=2&max_amount=1")).html).to.include("INVALID_FIELD");
    expect(await rowsOf("/deposits.csv?max_amount=2211&status=unallocated")).to.have.length(1);
    expect(await rowsOf("/deposits.csv?max_amount=2210.99")).to.have.length(0);
  });

  it("have the general ledger as a file, with a debit and a credit of each posting", async () => {
    const lines = await rowsOf("/general-ledger.csv");
    const postings = lines.filter(({ type }) => type !== "opening" && type !== "closing");
    const sideOf = (name: string): readonly string[] =>
      postings.map((line) => line[name] ?? "").filter((text) => text !== "");
    expect(sideOf("debit").length).to.be.greaterThan(5);
    expect(sideOf("debit")).to.deep.equal(sideOf("credit"));
    const ofReserve = postings.filter(({ book_account }) => book_account === "reserve");
    expect(sumOf(ofReserve.map(({ debit }) => debit ?? ""))).to.equal("5211.30");
    expect(sumOf(ofReserve.map(({ credit }) => credit ?? ""))).to.equal("0.20");
    const closing = lines.filter(({ type, book_account }) => type === "closing" && book_account === "reserve");
    expect(closing.map(({ debit, credit, balance }) => [debit, credit, balance])).to.deep.equal([
      ["5211.30", "0.20", "5211.10"],
    ]);
    expect(ofReserve.at(-1)?.["balance"]).to.equal("5211.10");
    const before = await rowsOf("/general-ledger.csv?start=2019-01-01&end=2020-01-01");
    expect(before.map(({ type, balance }) => `${type ?? ""} ${balance ?? ""}`)).to.deep.equal([
      ...Array.from({ length: 6 }, () => "opening 0.00"),
      ...Array.from({ length: 6 }, () => "closing 0.00"),
    ]);
  });

  it("are noted in the log as files: who took how many rows, and nothing of them", async () => {
    service.lines.length = 0;
    await rowsOf("/transactions.csv?type=mint");
    const line = await lineOf(service.lines, "/:org/transactions.csv");
    expect(line).to.deep.include({ level: 30, export: { organization: org, rows: 3, end: "whole" } });
    expect(line["person"]).to.match(/^opr_/);
    expect(JSON.stringify(line)).not.to.include("wanjiku").and.not.include("mint");
  });

  it("let a person download two files at once, and others meanwhile", async () => {
    const replies = await Promise.all(Array.from({ length: 12 }, () => get("/transactions.csv")));
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).to.be.within(2, 11);
    expect(statuses).to.include(429);
    expect((await get("/transactions.csv")).status).to.equal(200);
    expect((await get("/transactions.csv", service.keys.brian)).status).to.equal(200);
  });

  it("show a month for the accountant, with its files", async () => {
    const { html } = await get("/month?month=2026-01");
    expect(textOf(html)).to.include("January 2026").and.include("In circulation at the end 0.00");
    for (const file of ["journal", "general-ledger"])
      expect(html).to.include(`/${org}/${file}.csv?start=2026-01-01&amp;end=2026-01-31`);
    const now = textOf((await get("/month")).html);
    const sides = ["Assets", "Liabilities"].map((side) => new RegExp(`${side} ([\\d.,− ]+)`).exec(now)?.[1]);
    expect(sides[0]).to.equal(sides[1]).and.match(/\d/);
    expect((await get("/month?month=nonsense")).status).to.equal(200);
  });
});

function csv(path: string): string {
  return `${path}.csv`;
}

/** Returns the line about a request, which the console writes once the response has ended. */
async function lineOf(lines: readonly string[], route: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const found = lines.find((line) => line.includes(route));
    if (found !== undefined) return JSON.parse(found) as Readonly<Record<string, unknown>>;
    await sleep(5);
  }
}

describe("the files of the console", () => {
  /** A list of `count` rows in pages of `size`. Counts the reads. */
  function listOf(count: number, size: number): { read: ReadRows<{ readonly n: number }>; reads: () => number } {
    let reads = 0;
    return {
      reads: () => reads,
      read: ({ page_token }) => {
        reads += 1;
        const begin = Number(page_token);
        const rows = Array.from({ length: Math.min(size, count - begin) }, (_, index) => ({ n: begin + index }));
        const next = begin + size < count ? String(begin + size) : null;
        return Promise.resolve({ ok: true, value: { rows, next } });
      },
    };
  }
  async function fileOf(read: ReadRows<{ readonly n: number }>, more: { command?: string } = {}): Promise<Download> {
    const columns = fieldsOf<{ readonly n: number }>("n");
    const shown = await csvOf({ name: 'a list/of"rows', read, columns, ...more });
    if (shown === undefined || !("file" in shown)) throw new Error("there is no file");
    return shown;
  }
  async function linesOf({ parts }: Download): Promise<readonly string[]> {
    let text = "";
    for await (const part of parts) text += String(part);
    return text.split("\r\n").slice(0, -1);
  }

  it("have a header, also without rows, and a plain name", async () => {
    const file = await fileOf(listOf(0, 10).read);
    expect(file.file).to.equal("a_list_of_rows.csv");
    expect(await linesOf(file)).to.deep.equal(["n"]);
  });

  it("have 10,000 rows, and say in the last row if there are more", async () => {
    const whole = await linesOf(await fileOf(listOf(EXPORT_ROWS_MAX, 1_000).read));
    expect(whole).to.have.length(1 + EXPORT_ROWS_MAX);
    expect(whole.at(-1)).to.equal("9999");
    for (const size of [1_000, 999]) {
      const cut = await linesOf(await fileOf(listOf(EXPORT_ROWS_MAX + 1, size).read));
      expect(cut).to.have.length(2 + EXPORT_ROWS_MAX);
      expect(cut.at(-1)).to.include("There are more rows: this file ends after 10000. Export a shorter period.");
    }
    const command = "kesc export journal";
    const cut = await linesOf(await fileOf(listOf(EXPORT_ROWS_MAX + 1, 1_000).read, { command }));
    expect(cut.at(-1)).to.include("A command has them all: kesc export journal");
  });

  it("end after 200 reads, however few rows a filter passes", async () => {
    const list = listOf(1_000, 1);
    const lines = await linesOf(await fileOf(list.read));
    expect(list.reads()).to.equal(200);
    expect(lines.at(-1)).to.include("this file ends after 200");
  });

  it("read a page only once the browser has taken the one before", async () => {
    const list = listOf(10_000, 1_000);
    const parts = (await fileOf(list.read)).parts[Symbol.asyncIterator]();
    await parts.next();
    await parts.next();
    expect(list.reads()).to.equal(1);
    await parts.next();
    expect(list.reads()).to.equal(2);
  });

  it("break off if a page cannot be read, so that none is taken for whole", async () => {
    const { read } = listOf(30, 10);
    const file = await fileOf((page) =>
      page.page_token === "20" ? Promise.resolve({ ok: false, refusal: REFUSAL }) : read(page),
    );
    const error: unknown = await linesOf(file).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property("message", "Too many lists.");
    expect(file.made).to.deep.equal({ rows: 20, isCut: false, failure: "QUEUE_FULL" });
  });

  it("are noted in the log when they break off, and when they have not all rows", async () => {
    const { read } = listOf(30, 10);
    const failing: typeof read = (page) =>
      page.page_token === "20" ? Promise.resolve({ ok: false, refusal: REFUSAL }) : read(page);
    for (const [rows, level, exported] of [
      [failing, 40, { organization: "org_1", rows: 20, end: "broken off", cause: "QUEUE_FULL" }],
      [listOf(1_000, 1).read, 30, { organization: "org_1", rows: 200, end: "cut" }],
    ] as const) {
      const lines: string[] = [];
      const file = await fileOf(rows);
      const app = express();
      app.use(beginRequest(pino({}, { write: (line: string) => lines.push(line) })));
      app.get("/", async (_req, res) => {
        Object.assign(stateOf(res), { route: "/:org/list.csv", download: { made: file.made, organization: "org_1" } });
        await sendFile(res, file);
      });
      const server = app.listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      await ask(`http://127.0.0.1:${String(port)}`, "/").catch(() => undefined);
      expect(await lineOf(lines, "/:org/list.csv")).to.deep.include({ level, export: exported });
      server.close();
      await once(server, "close");
    }
  });
});

describe("the days of the console", () => {
  it("are those of Kenya, also at the ends of months and years", () => {
    const at = (time: string): unknown => quickRanges(new Date(time));
    expect(at("2026-12-31T21:30:00Z")).to.deep.equal({
      Today: { start: "2027-01-01", end: "2027-01-01" },
      Yesterday: { start: "2026-12-31", end: "2026-12-31" },
      "This month": { start: "2027-01-01", end: "2027-01-01" },
      "Last month": { start: "2026-12-01", end: "2026-12-31" },
    });
    expect(at("2024-03-31T10:00:00Z")).to.have.deep.property("Last month", { start: "2024-02-01", end: "2024-02-29" });
  });

  it("make a month: from its first moment to the first of the next, or to two minutes ago", () => {
    const now = new Date("2026-11-28T11:00:00Z");
    expect(monthOf("2024-02", now)).to.deep.equal({
      name: "February 2024",
      start: "2024-02-01",
      end: "2024-02-29",
      startsAt: "2024-01-31T21:00:00.000Z",
      endsAt: "2024-02-29T21:00:00.000Z",
      isOver: true,
    });
    expect(monthOf("2026-13", now)).to.include({ start: "2026-11-01", end: "2026-11-30", isOver: false });
    expect(monthOf("", now)).to.include({ endsAt: "2026-11-28T10:58:00.000Z" });
  });

  it("are changed in a URL that keeps all else", () => {
    const query = new URLSearchParams("status=failed&status=canceled&page=x&rail=");
    expect(listPath("/o/transactions", query, { page: "", start: "2026-11-01" })).to.equal(
      "/o/transactions?status=failed&status=canceled&start=2026-11-01",
    );
    expect(listPath("/o/transactions", new URLSearchParams("page=1"), { page: "" })).to.equal("/o/transactions");
  });
});
