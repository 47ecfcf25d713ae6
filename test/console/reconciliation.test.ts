import { createHash } from "node:crypto";

import { expect } from "chai";
import { renderToString } from "preact-render-to-string";

import { sheetXml, workbook } from "../../bench/fairness/workbook.js";
import type { View, Visit } from "../../console/page.js";
import { nightPage } from "../../console/pages/night.js";
import { reconciliationPage } from "../../console/pages/reconciliation.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { FileReading } from "../../src/grpc/services/files/file-reading.js";
import { bounded } from "../../src/grpc/services/rails/reconcile-rpc.js";
import { readBankFile } from "../../src/reconcile/banks/read-bank-file.js";
import type { BookedMovements } from "../../src/reconcile/ports.js";
import type { BookedMovement } from "../../src/reconcile/reconciliation.js";
import type { InTurn } from "../../src/statements/ports.js";
import { camt053, detail, entry, formOf, mt940 } from "../support/bank-files.js";
import { ask, fieldsIn, formTokenIn, type Page, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";
const MEBIBYTES_4 = 4 * 1_024 * 1_024;
const MEBIBYTES_32 = 8 * MEBIBYTES_4;
const HOUR_MILLIS = 3_600_000;

interface Row {
  readonly receipt: string;
  readonly paidIn?: string;
  readonly withdrawn?: string;
  /** From now. */
  readonly hours?: number;
}

function csvOf(rows: readonly Row[]): string {
  const lines = rows.map(({ receipt, paidIn = "", withdrawn = "", hours = 0 }) => {
    const nairobi = new Date(Date.now() + (3 + hours) * HOUR_MILLIS).toISOString().slice(0, 19).replace("T", " ");
    return `${receipt},${nairobi},Pay Bill,Completed,${paidIn},${withdrawn},254712001900 - PAYER,`;
  });
  return ["Organization,KESC", HEADER, ...lines, ""].join("\n");
}

describe("the reconciliation in the console", () => {
  let service: ConsoleService;
  let path: string;
  let accountId: string;
  before(async () => {
    service = await startConsoleService();
    path = `/${service.demo.organizationId}/reconciliation`;
    const { client } = service;
    const { account } = await client.accounts.createAccount({ user_id: "wanjiku", phone_number: "0712345600" });
    accountId = account.id;
    for (const [number, amount] of [
      ["RKTQDM7W01", "100.00"],
      ["RKTQDM7W02", "200.00"],
      ["RKTQDM7W03", "300.00"],
    ] as const) {
      const receipt = { source: "mpesa", number } as const;
      await client.transactions.mint({ account_id: accountId, amount, reference: number, rail: "direct", receipt });
    }
  });
  after(() => service.dispose());

  const compare = async (
    text: string | Buffer,
    token = service.keys.amina,
    rail = "mpesa",
  ): Promise<Page & { text: string }> => {
    const { html: asked } = await ask(service.origin, path, { token });
    const form = { form_token: formTokenIn(asked, path), rail };
    const sent = await ask(service.origin, path, { token, form, file: { field: "statement", text } });
    return { ...sent, text: textOf(sent.html) };
  };
  /** The first is of the book, with the same amount. Both ends are around what the book has. */
  const AGREED: readonly Row[] = [
    { receipt: "RKTQDM7W01", paidIn: "100.00", hours: -1 },
    { receipt: "RKTQDM7W02", paidIn: "200.00" },
    { receipt: "RKTQDM7W03", paidIn: "300.00", hours: 1 },
  ];

  it("begins with what should be at the rail by the book, and says which command asks the rail itself", async () => {
    const read = async (query: string): Promise<string> =>
      textOf((await ask(service.origin, path + query, { token: service.keys.amina })).html);
    expect(await read(""))
      .to.match(
        /Now, at sandbox Balance that the rail reported unknown none yet Should be there by the book 600\.00 KES/,
      )
      .and.include("The rail has reported no balance")
      .and.not.include("--pull");
    expect(await read("?rail=nothing")).to.include("Now, at sandbox");
    for (const role of ["viewer", "support"] as const) {
      const { html } = await ask(service.origin, path, { token: service.roleKeys[role] });
      expect(textOf(html), role).to.include("Should be there by the book 600.00");
    }
  });

  it("says that all movements agree, with the sums of both sides", async () => {
    const { status, text } = await compare(csvOf(AGREED));
    expect(status).to.equal(200);
    expect(text)
      .to.contain("All 3 movements agree")
      .and.match(/Came in 600\.00 600\.00 0\.00/);
  });

  it("reads the rows of a workbook, and of HTML that is called .xls", async () => {
    const [head, ...rows] = csvOf(AGREED)
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));
    const cells = [head ?? [], ...rows];
    expect((await compare(workbook([sheetXml(cells)]))).text).to.contain("All 3 movements agree");
    const table = cells.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("");
    expect((await compare(`<table>${table}</table>`)).text).to.contain("All 3 movements agree");
  });

  it("lists what differs in groups, each with the form that ends it, filled in", async () => {
    const { html, text } = await compare(
      csvOf([
        { receipt: "RKTQDM7W01", paidIn: "90.00", hours: -1 },
        { receipt: "RKTQDM7W02", paidIn: "1,200.00".replace(",", "") },
        { receipt: "RKTQDM7W08", paidIn: "50.00" },
        { receipt: "RKTQDM7W09", withdrawn: "40.00", hours: 1 },
      ]),
    );
    expect(text)
      .to.contain("5 movements differ, 0 agree")
      .and.match(/Differing: 2 .*Missing in the book: 2 .*Missing at the rail: 1 /)
      .and.match(/Went out 40\.00 0\.00 40\.00/);
    const hrefs = [...html.matchAll(/href="([^"]*\/acts\/[^"]*)"/g)].map(([, href = ""]) =>
      href.replaceAll("&amp;", "&"),
    );
    const acts = `/${service.demo.organizationId}/acts`;
    expect(hrefs).to.include.members([
      `${acts}/adjust?movement=RKTQDM7W01&account_id=${accountId}&direction=out&amount=10.00`,
      `${acts}/adjust?movement=RKTQDM7W02&account_id=${accountId}&direction=in&amount=1000.00`,
      `${acts}/record-deposit?receipt=RKTQDM7W08&amount=50.00`,
      `${acts}/transfer?rail_receipt=RKTQDM7W09&direction=out&amount=40.00`,
      `${acts}/paid?rail_receipt=RKTQDM7W09&amount=40.00`,
      `${acts}/adjust?movement=RKTQDM7W03&account_id=${accountId}&direction=out&amount=300.00`,
    ]);
    expect(html).not.to.contain("712001900");
    const form = await ask(service.origin, hrefs[0] ?? "", { token: service.keys.amina });
    expect(form.html).to.contain('value="RKTQDM7W01"').and.contain('value="10.00"');
  });

  it("shows 100 differences of a kind, and how many more there are", async () => {
    const rows = Array.from({ length: 101 }, (_, index): Row => ({
      receipt: `RKTQDM8${String(100 + index)}`,
      paidIn: "1.00",
    }));
    const { html, text } = await compare(csvOf([...AGREED, ...rows]));
    expect(text).to.contain("Missing in the book: 101").and.contain("And 1 more");
    expect(html.match(/record-deposit/g)).to.have.length(100);
  });

  describe("of a lost night", () => {
    /** The fields of the form that has this text. */
    const formWith = (html: string, text: string): Record<string, string> => {
      const form = html.split("<form ").find((part) => part.split("</form>")[0]?.includes(text));
      if (form === undefined) throw new Error(`no form with ${text}: ${textOf(html)}`);
      return fieldsIn(`<form ${form}`, path);
    };
    const send = async (form: Record<string, string>, token = service.keys.amina) => {
      const sent = await ask(service.origin, path, { token, form, file: { field: "statement", text: "" } });
      return { ...sent, text: textOf(sent.html) };
    };
    const rows = Array.from({ length: 120 }, (_, index): Row => ({
      receipt: `RKTQDM9${String(100 + index)}`,
      paidIn: "2.00",
    }));

    it("previews all pay-ins in one page, downloads them, proposes them in one act, and takes each once", async () => {
      const compared = await compare(csvOf([...AGREED, ...rows]));
      expect(compared.text).to.contain("Preview 120 deposits");
      const preview = await send(formWith(compared.html, 'value="record"'));
      expect(preview.text)
        .to.contain("Nothing is done yet. The sum needs a second person")
        .and.match(/Recorded 240\.00 KES 120 rows/);
      for (const { receipt } of rows) expect(preview.html, "each row").to.contain(receipt);
      const file = await send(formWith(preview.html, 'value="csv"'));
      expect(file.html.split("\r\n")).to.have.length(122);
      expect(file.html).to.match(/^receipt,amount,outcome,account_id,reason\r\nRKTQDM9100,2\.00,waiting,,no_reference/);
      const asked = formWith(preview.html, 'value="do"');
      const proposed = await send({ ...asked, note: "no news since 23:00" });
      expect([proposed.status, proposed.headers.location]).to.satisfy(
        ([status, to]: [number, string]) => status === 303 && to.includes("/approvals/prp_"),
      );
      const approval = textOf(
        (await ask(service.origin, proposed.headers.location ?? "", { token: service.keys.brian })).html,
      );
      expect(approval).to.contain("120 of mpesa, together 240.00 KES").and.contain("RKTQDM9219");
      await service.approveAll();
      const again = await send({ ...asked, note: "no news since 23:00" });
      expect(again.text)
        .to.contain("Already done")
        .and.match(/In the book before 240\.00 KES 120 rows/);
      expect((await compare(csvOf([...AGREED, ...rows]))).text).to.not.contain("In one act");
    });

    it("shows of each payout that it would end whom the row has paid, when, and by which receipt", async () => {
      const result = { receipt: "RKTQDM9P01", amount: "10.00", left_because: null };
      const found = { ...result, transaction_id: "txn_1", masked_number: "254******678", time: "2026-11-24T07:05:33Z" };
      const stays = { ...result, transaction_id: "txn_2", receipt: "RKTQDM9P02", left_because: "FLAGGED" };
      const sent: object[] = [];
      const visit = {
        path,
        form: {
          night: "resolve",
          rows: JSON.stringify([found, { ...found, ...stays, masked_number: null }]),
          note: "n",
        },
        organization: { id: "org_1" },
        person: { roles: ["finance"] },
        act: (rpc: string, fields: object) => {
          sent.push({ rpc, ...fields });
          const results = [{ ...result, transaction_id: "txn_1" }, stays];
          const value = { results, completed: { count: 1, amount: "10.00" }, needs_second_person: false };
          return Promise.resolve({ ok: true, value });
        },
      } as unknown as Visit;
      const { body } = (await nightPage(visit)) as View;
      expect(textOf(renderToString(body)))
        .to.contain("You may do this alone.")
        .and.match(/ RKTQDM9P01 254\*{6}678 [^R]*24 Nov[^R]* 10\.00 completed/)
        .and.match(/ RKTQDM9P02 the order [^R]* 10\.00 stays: flagged/i);
      const results = [found, { ...found, ...stays }].map(({ transaction_id, receipt, amount }) => {
        return { transaction_id, receipt, amount };
      });
      const rpc = "AdminService/ResolveTransactions";
      expect(sent).to.deep.equal([{ rpc, results, note: "n", preview: true }]);
    });

    it("asks for the words, and takes no other rows than a list", async () => {
      const compared = await compare(csvOf([{ receipt: "RKTQDM9990", paidIn: "2.00" }]));
      const form = formWith(compared.html, 'value="record"');
      const nameless = await send({ ...form, step: "do", note: " " });
      expect([nameless.status, nameless.text])
        .to.deep.include(400)
        .and.to.satisfy(([, text]: [number, string]) => {
          return text.includes("note is required");
        });
      for (const broken of ["{", "{}"])
        expect((await send({ ...form, rows: broken })).text).to.contain("pay_ins is required");
      expect(
        (await compare(csvOf([{ receipt: "RKTQDM9990", paidIn: "2.00" }]), service.roleKeys.viewer)).text,
      ).to.not.contain("In one act");
      const viewed = await send(form, service.roleKeys.viewer);
      expect(viewed.status).to.equal(403);
    });
  });

  describe("of a bank", () => {
    const FORM = { source: "kcb", column_date: "Date", column_amount: "Amount", column_text: "Words" };
    const TABLE = "Acme\nDate,Words,Amount,Left\n27/11/2025,Rent FT7 A,20.00,20.00\n";
    const post = async (form: Record<string, string>, text = "") => {
      const token = service.keys.amina;
      const { html } = await ask(service.origin, path, { token });
      const sent = await ask(service.origin, path, {
        token,
        form: { form_token: formTokenIn(html, path), ...form },
        file: { field: "statement", text },
      });
      return { ...sent, text: textOf(sent.html) };
    };
    const rest = { date_order: "day_first", reference_pattern: "FT[0-9]+", column_balance: "Left" };

    it("lists what differs with its acts, records its balance by a link, and keeps how the bank writes", async () => {
      const first = await post({ place: "Equity 9", ...FORM, ...rest }, TABLE);
      expect(first.text)
        .to.contain("1 movements differ, 0 agree")
        .and.match(/Missing in the book: 1 The bank moved .* kcb:FT7 .* Record deposit · Explain transfer/)
        .and.match(/Receipts of kcb ?\. No figure of this place was recorded yet/)
        .and.match(/Closing balance 20\.00 KES .* The book has no figure of this day\. Record this balance/)
        .and.contain("Once a figure is recorded, compare again")
        .and.not.contain("In one act");
      const [, href = ""] = /href="([^"]*acts\/reserve[^"]*)"/.exec(first.html) ?? [];
      const act = await ask(service.origin, href.replaceAll("&amp;", "&"), { token: service.keys.amina });
      const [actPath = ""] = href.split("?");
      const asked = fieldsIn(act.html, actPath);
      expect(asked).to.include({
        ...{ place: "Equity 9", amount: "20.00", as_of_day: "2025-11-27" },
        document_sha256: createHash("sha256").update(TABLE).digest("hex"),
      });
      expect(asked["evidence"]).to.match(/^statement of 2025-11-27, /);
      const form = { ...asked, kind: "bank_kenya" };
      const confirmed = await ask(service.origin, actPath, { token: service.keys.amina, form });
      expect(confirmed.status, textOf(confirmed.html)).to.be.below(400);
      const done = await ask(service.origin, actPath, {
        token: service.keys.amina,
        form: fieldsIn(confirmed.html, actPath),
      });
      expect(done.status, textOf(done.html)).to.be.below(400);
      await service.approveAll();
      const second = await post({ place: "Equity 9", ...FORM, ...rest }, TABLE);
      expect(second.text).to.contain("The book has the same figure of this day.");
      const kept = await post({ ...fieldsOfKeep(second.html), keep: "true" });
      expect(kept.text).to.contain("Statements of Equity 9 need no more than the file from now on.");
      const third = await post({ place: "Equity 9" }, TABLE);
      expect(third.text).to.contain("kcb:FT7").and.not.contain("Keep how this bank writes");
      const { html } = await ask(service.origin, path, { token: service.keys.amina });
      expect(textOf(html)).to.contain("These places need no more than the file: Equity 9 (kcb)");
    });

    /** The fields of the form that keeps how the bank writes. */
    function fieldsOfKeep(html: string): Record<string, string> {
      const form = html.split("<form ").find((part) => part.split("</form>")[0]?.includes('name="keep"'));
      return fieldsIn(`<form ${form ?? ""}`, path);
    }

    it("keeps what was filled in where the file or the form is refused", async () => {
      const refused = await post({ place: "Equity 8", column_date: "Date" }, TABLE);
      expect([refused.status, refused.text]).to.satisfy(([status, text]: [number, string]) => {
        return status === 400 && text.includes("form.columns must name date, and amount or else debit and credit");
      });
      expect(refused.html)
        .to.contain('value="Equity 8"')
        .and.contain('name="column_date" maxlength="256" value="Date"');
      expect((await post({ place: "Equity 8" }, TABLE)).text).to.contain("Say how the bank calls the columns");
    });
  });

  for (const [name, text, words] of [
    ["no statement", "a,b\n1,2\n", /is no statement of M-Pesa/],
    ["nothing", "", /statement is required/],
    ["no movement", csvOf([]), /has no movement/],
    [
      "an amount that is none",
      csvOf([{ receipt: "RKTQDM7W01", paidIn: "12.345" }]),
      /Line 3: .*Paid In.* is no amount/,
    ],
    ["a quote that does not end", `${csvOf(AGREED)}"`, /not valid CSV: line 6 opens a quote that nothing closes/],
    ["4 MiB of commas", ",".repeat(MEBIBYTES_4), /line 1 has more than 100 cells/],
    ["a header and 4 MiB of commas", `${HEADER}\n`.padEnd(MEBIBYTES_4, ","), /line 2 has more than 100 cells/],
    ["4 MiB of quotes", '"'.repeat(MEBIBYTES_4), /line 1 begins a record of more than 65536 bytes/],
    ["4 MiB of line feeds", "\n".repeat(MEBIBYTES_4), /is no statement of M-Pesa/],
    ["a header and 4 MiB of line feeds", `${HEADER}\n`.padEnd(MEBIBYTES_4, "\n"), /has no movement/],
    [
      "more than 31 days",
      csvOf([...AGREED, { receipt: "RKTQDM7W04", paidIn: "1.00", hours: -24 * 32 }]),
      /more than 31 days/,
    ],
    ["more than 50,000 rows", `${HEADER}\n${"RKTQDM7W01,,,Failed,,,,\n".repeat(50_001)}`, /more than 50000 rows/],
    ["more than 32 MiB", `${HEADER}\n${"x".repeat(MEBIBYTES_32)}`, /at most 33554432 bytes/],
    [
      "a workbook of Excel 97",
      Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1]),
      /workbook of Excel 97 to 2003 \(\.xls\), which cannot be read\. Open it in a spreadsheet, and save it as \.xlsx/,
    ],
    ["a damaged workbook", Buffer.from("PK\u0003\u0004"), /damaged workbook/],
    ["a workbook of 21 sheets", workbook(Array.from({ length: 21 }, () => sheetXml([]))), /more than 20 sheets/],
  ] as const) {
    it(`refuses ${name}, and says why`, async () => {
      const refused = await compare(text);
      expect(refused.status).to.equal(400);
      expect(refused.text).to.contain("Nothing was compared").and.match(words);
      expect(service.lines.join(""), "the log").not.to.contain("bug");
    });
  }

  it("refuses a larger form, a form of another session, and a role that may not read the books", async () => {
    expect((await compare("x".repeat(MEBIBYTES_32 + 65_536))).status).to.equal(413);
    const form = { form_token: "x", rail: "mpesa" };
    const file = { field: "statement", text: csvOf(AGREED) };
    expect((await ask(service.origin, path, { token: service.keys.amina, form, file })).status).to.equal(403);
    expect((await compare(csvOf(AGREED), service.roleKeys.viewer)).text).to.contain("All 3 movements agree");
    for (const role of ["support", "approver"] as const) {
      expect((await compare(csvOf(AGREED), service.roleKeys[role])).text, role).to.contain("ROLE_REQUIRED");
    }
    expect((await compare(csvOf(AGREED), service.keys.amina, "sandbox")).text).to.contain("a rail with statements");
    expect(service.lines.join("")).not.to.contain("RKTQDM7W01");
  });
});

describe("the tie of a rail", () => {
  const balance = (rail: string, available: string) => ({ rail, name: "Utility", currency: "KES", available });
  const SUPPLY = {
    ...{ owed: "1000.00", shortfall: "0.00", charges: "25.00" },
    backing: {
      ...{ open_payments: [], has_more_open_payments: false, reserve_holdings: [], seen: "985.00" },
      rail_balances: [balance("mpesa", "700.00"), balance("other", "285.00")].map((each) => ({
        ...each,
        age_seconds: 7_200,
      })),
    },
  };
  const LEVY = { kind: "charge", own: ["levy of float"], built_in: ["pay bill charge", "business charge"] };
  const textFor = async (query: string, status: unknown): Promise<string> => {
    const values: Readonly<Record<string, unknown>> = {
      "BookService/GetSupply": { supply: SUPPLY },
      "AdminService/ListRailAccounts": { rail_accounts: [{ rail: "mpesa" }, { rail: "other" }] },
      "AdminService/GetRailAccount": { status },
    };
    const visit = {
      path: "/org_1/reconciliation",
      form: {},
      query: new URLSearchParams(query),
      organization: { id: "org_1" },
      read: (rpc: string) => Promise.resolve({ ok: true, value: values[rpc] }),
    } as unknown as Visit;
    return textOf(renderToString(((await reconciliationPage.show(visit)) as View).body));
  };

  it("is that of the chosen rail: what lies in other places is not expected there", async () => {
    const since = new Date(Date.now() - 3 * HOUR_MILLIS).toISOString();
    const mpesa = await textFor("", { deposits_since: since, deposits_read_at: since, statement_words: [LEVY] });
    expect(mpesa)
      .to.match(/reported 700\.00 KES 2 hours ago .* book 715\.00 KES .* Difference −15\.00 KES/)
      .and.match(/Rail charges, net of funding −25\.00 Not explained 10\.00 Difference −15\.00/)
      .and.include("It has read the list to its end 3 hours ago")
      .and.include("kesc reconcile mpesa --pull --org org_1")
      .and.match(/Kind Added to this account Built in charge levy of float pay bill charge, business charge/);
    const other = await textFor("rail=other", { deposits_since: null, deposits_read_at: null, statement_words: [] });
    expect(other)
      .to.match(/reported 285\.00 KES .* book 300\.00 KES .* Difference −15\.00 KES/)
      .and.include("is not registered for deposits");
  });
});

describe("the reads of a reconciliation", () => {
  const READ = { rail: "mpesa", name: "", numbers: [] } as const;
  /** Reads a file. Returns the costs of its turns, its rows, and what is wrong with it. */
  const read = async (
    text: string | Buffer,
    millisMax?: number,
  ): Promise<{ costs: readonly number[]; rows: number; problem: string }> => {
    const costs: number[] = [];
    const inTurn: InTurn = async (take) => {
      const { result, lookedAt } = await take();
      costs.push(lookedAt);
      return result;
    };
    try {
      const statement = { ...READ, bytes: new Uint8Array(Buffer.from(text)) };
      const facts = await new FileReading().ofRail("amina", statement, {
        inTurn,
        ...(millisMax && { millisMax }),
      });
      return { costs, rows: facts?.rows.length ?? 0, problem: "" };
    } catch (error) {
      return { costs, rows: 0, problem: (error as Error).message };
    }
  };
  const row = "RKTQDM7W01,2026-11-22 10:05:33,Pay Bill,Completed,1.00,,254712001900 - P,\n";

  it("take 500 rows in a turn, from a thread that read the whole file", async () => {
    const { costs, rows, problem } = await read(`${HEADER}\n${row.repeat(1_200)}`);
    expect({ costs, rows, problem }).to.deep.equal({ costs: [500, 200, 1], rows: 1_200, problem: "" });
  });

  it("end by a sentence if the thread takes too long", async () => {
    const { problem } = await read(`${HEADER}\n${row.repeat(40_000)}`, 1);
    expect(problem).to.equal("It takes too long to read. Export fewer days.");
  });

  it("say of a bank's file what the command reads, whatever the bank writes", async () => {
    const inTurn: InTurn = async (take) => (await take()).result;
    const lines = ["261231C10,NTRFX//FT1", "2612310102RC10,NTRFX//FT1", "261231RD3,NTRFNONREF", "261231D2,NCHGX//FT1"];
    const parts = [detail({ amount: "4.00", bank: "A" }), detail({ amount: "6.00", endToEnd: "B" })];
    const entries = [
      entry("DBIT 10.00", { details: parts }),
      entry("CRDT 1.00", { reversal: true, bank: "A" }),
      entry("CRDT 9.00", { status: "PDNG" }),
    ];
    for (const [text, form] of [
      [mt940({ lines: lines.map((line) => `:61:${line}`), closing: "C261231KES1," }), formOf({})],
      [camt053({ entries, balances: ["PRCD CRDT 9.00", "CLBD CRDT 0.00", "CLAV CRDT 7.00"] }), formOf({})],
      ["Date,Amount\n2026-11-27,1\n", formOf({ columns: { date: "Date", amount: "Amount" } })],
      [mt940(), formOf({ account: "1234567890" })],
    ] as const) {
      const bytes = new Uint8Array(Buffer.from(text));
      const file = await new FileReading().ofBank("amina", { form, bytes }, { inTurn });
      expect(file).to.deep.equal(await readBankFile(Buffer.from(text), form));
    }
  });

  it("end so, too, for the file of a bank", async () => {
    const form = formOf({ columns: { date: "Date", amount: "Amount" } });
    const bytes = new Uint8Array(Buffer.from(`Date,Amount\n${"2026-11-27,1\n".repeat(40_000)}`));
    const inTurn: InTurn = async (take) => (await take()).result;
    const options = { inTurn, millisMax: 1 };
    const problem: unknown = await new FileReading()
      .ofBank("amina", { form, bytes }, options)
      ?.catch((error: unknown) => (error as Error).message);
    expect(problem).to.equal("It takes too long to read. Export fewer days.");
  });

  it("say what a bank says of a payment file, and end so, too", async () => {
    const inTurn: InTurn = async (take) => (await take()).result;
    const about = "<TxInfAndSts><OrgnlEndToEndId>A</OrgnlEndToEndId><TxSts>RJCT</TxSts></TxInfAndSts>";
    const report = (rows: string): Uint8Array =>
      new Uint8Array(
        Buffer.from(
          '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt><OrgnlGrpInfAndSts>' +
            `<OrgnlMsgId>KB1</OrgnlMsgId></OrgnlGrpInfAndSts><OrgnlPmtInfAndSts>${rows}</OrgnlPmtInfAndSts>` +
            "</CstmrPmtStsRpt></Document>",
        ),
      );
    expect(await new FileReading().ofReport("amina", report(about), { inTurn })).to.deep.equal({
      fileId: "KB1",
      status: undefined,
      payments: [{ reference: "A", status: "RJCT", reason: "" }],
    });
    const problem: unknown = await new FileReading()
      .ofReport("amina", report(about.repeat(100_000)), { inTurn, millisMax: 1 })
      ?.catch((error: unknown) => (error as Error).message);
    expect(problem).to.equal("It takes too long to read. Ask the bank for a smaller one.");
  });

  it("end by a sentence that names the pattern, if it tries too many ways to match", async () => {
    const columns = { date: "Date", amount: "Amount", text: "Text" };
    const form = formOf({ columns, referencePattern: "^(A+)+$" });
    const bytes = new Uint8Array(Buffer.from(`Date,Amount,Text\n2026-11-27,1,${"A".repeat(40)}B\n`));
    const inTurn: InTurn = async (take) => (await take()).result;
    const problem: unknown = await new FileReading()
      .ofBank("amina", { form, bytes }, { inTurn, millisMax: 500 })
      ?.catch((error: unknown) => (error as Error).message);
    expect(problem)
      .to.include("too long to read with this form.reference_pattern")
      .and.include("Write it without a repetition inside another one, such as FT[0-9A-Z]+");
  });

  it("are one at a time, and those of one person that wait are few", async () => {
    const reading = new FileReading();
    const inTurn: InTurn = async (take) => (await take()).result;
    const begun = Array.from({ length: 9 }, () =>
      reading.ofRail("amina", { ...READ, bytes: new Uint8Array(Buffer.from("x")) }, { inTurn }),
    );
    const taken = begun.filter((each) => each !== undefined);
    expect(taken).to.have.length(5);
    const ends = await Promise.allSettled(taken);
    expect(ends.map(({ status }) => status)).to.deep.equal(taken.map(() => "rejected"));
  });

  it("cost as much for a receipt that the book lacks as for one that it has", async () => {
    const costs: number[] = [];
    const none = { withReceipts: () => Promise.resolve([]) } as unknown as BookedMovements;
    const book = bounded(none, {
      inTurn: async (read) => {
        const { result, lookedAt } = await read();
        costs.push(lookedAt);
        return result;
      },
    });
    await book.withReceipts(Array.from({ length: 500 }, (_, index) => String(index)));
    expect(costs).to.deep.equal([500]);
  });

  it("take a turn each, and end at 100,000 movements of the book", async () => {
    const slice = Array.from({ length: 1_000 }, () => ({}) as BookedMovement);
    let turns = 0;
    const endless = {
      async *within() {
        for (;;) yield await Promise.resolve(slice);
      },
      adjusted: () => Promise.resolve(new Map([["RKTQDM7W01", 100]])),
    } as unknown as BookedMovements;
    const book = bounded(endless, {
      inTurn: async (read) => {
        turns += 1;
        return (await read()).result;
      },
    });
    expect((await book.adjusted()).size).to.equal(1);
    let read = 0;
    let problem = "";
    try {
      for await (const rows of book.within({ from: toUnixMillis(0), to: toUnixMillis(1) })) read += rows.length;
    } catch (error) {
      problem = (error as Error).message;
    }
    expect([read, problem, turns]).to.deep.equal([100_000, "The book has more than 100000 movements then.", 102]);
  });
});
