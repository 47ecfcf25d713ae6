import { expect } from "chai";
import { renderToString } from "preact-render-to-string";

import type { View, Visit } from "../../console/page.js";
import { reconciliationPage } from "../../console/pages/reconciliation.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { bounded } from "../../src/grpc/operators/reconcile-rpc.js";
import type { BookedMovements } from "../../src/reconcile/ports.js";
import type { BookedMovement } from "../../src/reconcile/reconciliation.js";
import { ask, formTokenIn, type Page, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";
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
    text: string,
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

  for (const [name, text, words] of [
    ["no statement", "a,b\n1,2\n", /is no statement of this rail/],
    ["nothing", "", /statement is required/],
    ["no movement", csvOf([]), /has no movement/],
    ["an amount that is none", csvOf([{ receipt: "RKTQDM7W01", paidIn: "12.345" }]), /Line 3 .*Paid In.* is no amount/],
    ["a quote that does not end", `${csvOf(AGREED)}"`, /not valid CSV/],
    [
      "more than 31 days",
      csvOf([...AGREED, { receipt: "RKTQDM7W04", paidIn: "1.00", hours: -24 * 32 }]),
      /more than 31 days/,
    ],
    ["more than 50,000 rows", `${HEADER}\n${"RKTQDM7W01,,,Failed,,,,\n".repeat(50_001)}`, /more than 50000 rows/],
    ["more than 4 MiB", `${HEADER}\n${"x".repeat(4 * 1_024 * 1_024)}`, /at most 4194304 bytes/],
  ] as const) {
    it(`refuses ${name}, and says why`, async () => {
      const refused = await compare(text);
      expect(refused.status).to.equal(400);
      expect(refused.text).to.contain("Nothing was compared").and.match(words);
    });
  }

  it("refuses a larger form, a form of another session, and a role that may not read the books", async () => {
    expect((await compare("x".repeat(5 * 1_024 * 1_024))).status).to.equal(413);
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
  const textFor = async (query: string, status: unknown): Promise<string> => {
    const values: Readonly<Record<string, unknown>> = {
      "BookService/GetSupply": { supply: SUPPLY },
      "AdminService/ListRailAccounts": { rail_accounts: [{ rail: "mpesa" }, { rail: "other" }] },
      "AdminService/GetRailAccount": { status },
    };
    const visit = {
      path: "/org_1/reconciliation",
      query: new URLSearchParams(query),
      organization: { id: "org_1" },
      read: (rpc: string) => Promise.resolve({ ok: true, value: values[rpc] }),
    } as unknown as Visit;
    return textOf(renderToString(((await reconciliationPage.show(visit)) as View).body));
  };

  it("is that of the chosen rail: what lies in other places is not expected there", async () => {
    const since = new Date(Date.now() - 3 * HOUR_MILLIS).toISOString();
    const mpesa = await textFor("", { deposits_since: since, deposits_read_at: since });
    expect(mpesa)
      .to.match(/reported 700\.00 KES 2 hours ago .* book 715\.00 KES .* Difference −15\.00 KES/)
      .and.match(/Rail charges, net of funding −25\.00 Not explained 10\.00 Difference −15\.00/)
      .and.include("It has read the list to its end 3 hours ago")
      .and.include("kesc reconcile mpesa --pull --org org_1");
    const other = await textFor("rail=other", { deposits_since: null, deposits_read_at: null });
    expect(other)
      .to.match(/reported 285\.00 KES .* book 300\.00 KES .* Difference −15\.00 KES/)
      .and.include("is not registered for deposits");
  });
});

describe("the reads of a reconciliation", () => {
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
