import { expect } from "chai";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";

import { ACTS } from "../../console/acts/acts.js";
import { effectOf } from "../../console/acts/proposal-words.js";
import { changesOf } from "../../console/acts/subjects.js";
import type { Payment, Proposal, Supply } from "../../console/gen/messages.js";
import type { Visit } from "../../console/page.js";
import { asOfIn } from "../../console/pages/as-of.js";
import { statementPage } from "../../console/pages/statement.js";
import { BarChart, LineChart } from "../../console/view/chart.js";
import { coverageOf } from "../../console/view/coverage.js";
import { Link } from "../../console/view/link.js";
import { Section } from "../../console/view/parts.js";
import { Told } from "../../console/view/review.js";
import { ageText, decimalOf, moneyText, sumOf, Text } from "../../console/view/values.js";
import { textOf } from "./browser-like.js";

describe("the views of the console", () => {
  it("a link leads to a path of the console only", () => {
    for (const to of ["javascript:alert(1)", "//evil.example", "/\\evil.example", "https://evil.example", "/a b", ""]) {
      expect(() => renderToString(h(Link, { to, children: "x" })), to).to.throw("path of the console");
    }
    expect(renderToString(h(Link, { to: "/org_1", children: "<x>" }))).to.equal('<a href="/org_1">&lt;x></a>');
  });

  it("a text is isolated, and cut at 256 characters", () => {
    expect(renderToString(h(Text, { children: "\u202Eabc<" }))).to.equal('<bdi class="text">\u202Eabc&lt;</bdi>');
    const long = renderToString(h(Text, { children: "😀".repeat(300) }));
    expect(long).to.equal(`<bdi class="text long">${"😀".repeat(256)}…</bdi>`);
  });

  it("an amount keeps its digits", () => {
    expect(moneyText("9999999999999.99")).to.equal("9,999,999,999,999.99");
    expect(moneyText("-1234.50")).to.equal("−1,234.50");
    expect(moneyText("0.05")).to.equal("0.05");
    expect(sumOf(["9999999999999.99", "0.01", "-0.02"])).to.equal("9999999999999.98");
    expect(decimalOf(-5n)).to.equal("-0.05");
    expect(ageText(59)).to.equal("59 seconds");
    expect(ageText(86_400)).to.equal("1 day");
  });

  it("an order that the rail calls paid, and nobody confirms, is perhaps paid; the rail's code is in words", () => {
    const messages = [{ report: { outcome: "moved" } }];
    const given = { open_flags: ["outcome_unknown"], last_code_meaning: "no such payment (2033, /status)", messages };
    const told = (payment: object): string =>
      renderToString(h(Told, { payment: { ...given, ...payment } as unknown as Payment }));
    expect(told({}))
      .to.contain("The rail told")
      .and.contain("no such payment (2033, /status)")
      .and.contain("Perhaps paid.");
    for (const other of [{ open_flags: ["report_differs"] }, { messages: [{ report: null }] }]) {
      expect(told(other)).not.to.contain("Perhaps paid");
    }
    expect(told({ last_code_meaning: null, messages: [] })).to.equal("");
  });

  it("a chart has its lines and bars in proportion, and none where nothing moved", () => {
    const days = ["2026-11-20", "2026-11-21"];
    const bars = (up: readonly bigint[], down: readonly bigint[]): unknown => {
      const lines = { up: { name: "in", values: up }, down: { name: "out", values: down } };
      const html = renderToString(h(BarChart, { name: "Turnover", days, ...lines }));
      return [...html.matchAll(/y="([0-9.]+)" height="([0-9.]+)"/g)].map(([, ...sizes]) => sizes.map(Number));
    };
    expect(bars([300n, 150n], [0n, 100n])).to.deep.equal([
      [0, 150],
      [150, 0],
      [75, 75],
      [150, 50],
    ]);
    expect(bars([0n, 0n], [0n, 0n])).to.deep.equal(Array.from({ length: 4 }, () => [200, 0]));
    // 3,210.55 has the ticks 0 to 4,000, and the same height for each shilling.
    expect(bars([321_055n, 0n], [0n, 0n])).to.deep.include([39.5, 160.5]);
    const line = renderToString(h(LineChart, { name: "Sums", days, lines: [{ name: "Sum", values: [100n, -100n] }] }));
    expect(line)
      .to.include('d="M0.0 0.0h0.1L600.0 200.0"')
      .and.match(/1\.00<.*0\.50<.*>0\.00<.*−0\.50<.*−1\.00</);
    expect(line).to.include(">20 Nov</text>").and.include(">21 Nov</text>");
  });

  it("payments in flight explain a difference in their direction only, and at most their amount", () => {
    const ofSupply = (seen: string | null, age_seconds = 60) =>
      coverageOf({
        owed: "100.00",
        shortfall: "5.00",
        charges: "-2.00",
        backing: {
          seen,
          rail_balances: [{ currency: "KES", age_seconds }],
          reserve_holdings: [],
          open_payments: [
            { type: "mint", count: 2, amount: "10.00" },
            { type: "redeem", count: 1, amount: "20.00" },
          ],
        },
      } as unknown as Supply);
    const explained = (seen: string): unknown => {
      const { difference, inFlight, unexplained } = ofSupply(seen) ?? {};
      return [difference, inFlight, unexplained];
    };
    // The book explains 3.00 that are missing.
    expect(explained("97.00")).to.deep.equal([-300n, 0n, 0n]);
    expect(explained("80.00")).to.deep.equal([-2_000n, -1_700n, 0n]);
    expect(explained("70.00")).to.deep.equal([-3_000n, -2_000n, -700n]);
    expect(explained("110.00")).to.deep.equal([1_000n, 1_000n, 300n]);
    expect([ofSupply("97.00", 172_800)?.isOld, ofSupply("97.00", 172_801)?.isOld]).to.deep.equal([false, true]);
    expect(ofSupply(null)).to.equal(undefined);
  });

  it("a part of a page fails alone, with the words of the contract", () => {
    const refusal = { code: 7, reason: "ROLE_REQUIRED", text: "You need finance.", advice: "ask an admin" };
    const reading = { ok: false, refusal } as const;
    const html = renderToString(
      h(Section<string>, { title: "Limits", reading, retry: "/org_1", children: () => "never" }),
    );
    expect(html).to.include("You need finance.").and.include("ROLE_REQUIRED").and.include("ask an admin");
    expect(html).to.include('<a href="/org_1">Try again</a>').and.not.include("never");
  });

  it("as_of is a day in Kenya, a time, or a row, and no moment of the last minute", () => {
    const asOf = (text: string): unknown => asOfIn(new URLSearchParams({ as_of: text }))?.fields;
    expect(asOf("row-12345")).to.deep.equal({ as_of_sequence: 12_345 });
    expect(asOf("2026-01-31")).to.deep.equal({ as_of_time: "2026-01-31T21:00:00.000Z" });
    expect(asOf("2026-01-31T10:00:00Z")).to.deep.equal({ as_of_time: "2026-01-31T10:00:00.000Z" });
    for (const wrong of ["", "row-0", "2026-13-01", "yesterday", "2199-01-01", new Date().toISOString()]) {
      expect(asOf(wrong), wrong).to.equal(undefined);
    }
  });

  it("a place is new if it was looked for, and not if it could not be read", () => {
    const act = ACTS.find(({ name }) => name === "reserve");
    if (act === undefined) throw new Error("there is no such act");
    const given = { place: "KCB 1", amount: "5.00" };
    expect(changesOf(act, given, new Map())).to.deep.equal([]);
    expect(changesOf(act, given, new Map([["place", undefined]]))).to.deep.equal([
      ["Place", "none with this name", "KCB 1"],
      ["Amount", "none", "5.00"],
    ]);
  });

  it("a proposal is a sentence of what it changes first, and of nothing that stays", () => {
    const proposal = (type: string, ...changes: readonly (readonly [string, string, string])[]) =>
      ({ type, changes: changes.map(([what, before, after]) => ({ what, before, after })) }) as unknown as Proposal;
    for (const [sentence, given] of [
      [
        "Make an operator: person <b>Carol</b>, roles support, finance",
        proposal("createOperator", ["person", "", "<b>Carol</b>"], ["roles", "", "support, finance"], ["key", "", "5"]),
      ],
      [
        "Set the roles of an operator: roles viewer → admin",
        proposal("setOperatorRoles", ["person", "Hana", "Hana"], ["roles", "viewer", "admin"]),
      ],
      ["Unassign deposit: account acc → none", proposal("unassignDeposit", ["account", "acc", ""])],
      ["Cover shortfall", proposal("coverShortfall")],
    ] as const) {
      expect(effectOf(given)).to.equal(sentence);
    }
  });

  it("a statement on paper has its period, whole receipts and references, and what proves its last row", async () => {
    const line = {
      recorded_at: "2026-11-20T06:00:00Z",
      sequence: 1_234,
      type: "transaction.completed",
      kind: "payout",
    };
    const texts = { transaction_id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", reference: "invoice-2026-11-000017" };
    const amounts = { amount_in: null, amount_out: "250.00", balance: "750.00" };
    const lines = [{ ...line, ...texts, ...amounts, rail_receipt: "kcb-1234:FT26325QWERTYUIOP7" }];
    const period = { start: "2026-10-31T21:00:00Z", end: "2026-11-30T21:00:00Z" };
    const shownWith = async (print: string, size: number): Promise<string> => {
      const replies: Readonly<Record<string, unknown>> = {
        "BookService/GetStatement": { ...period, opening_balance: "1000.00", closing_balance: "750.00", lines },
        "BookService/GetSupply": { supply: { as_of_sequence: 1_240 } },
        "BookService/GetCheckpoint": { checkpoint: { size, root_hash: "cm9vdA==" } },
        "AccountService/GetAccount": { account: { user_id: "amina" } },
      };
      const read = (rpc: string) => Promise.resolve({ ok: true, value: replies[rpc] });
      const query = new URLSearchParams({ start: "2026-11-01", end: "2026-11-30", print });
      const given = { path: "/org_1", query, ids: { acc: "acc_1" }, organization: { id: "org_1", name: "Acme" } };
      const view = await statementPage.show({ ...given, read, readPast: read } as unknown as Visit);
      return view !== undefined && "body" in view ? textOf(renderToString(view.body)) : "";
    };
    const paper = await shownWith("yes", 1_300);
    for (const part of ["1 Nov 2026 to 30 Nov 2026", "payout", "kcb-1234:FT26325QWERTYUIOP7", "#1,240", "cm9vdA=="]) {
      expect(paper).to.contain(part);
    }
    expect(paper).to.contain("invoice-2026-11-000017");
    expect(await shownWith("yes", 1_239))
      .to.contain("None covers the last row yet")
      .and.not.contain("cm9vdA==");
    expect(await shownWith("", 1_300)).not.to.contain("kcb-1234:FT26325QWERTYUIOP7");
  });
});
