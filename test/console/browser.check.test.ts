import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import type { Browser, BrowserContext, Locator, Page, Request } from "playwright-core";

import { launchBrowser, NO_BROWSER, PICTURES_FOLDER, Watched } from "../support/callers/chromium.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const TITLE = "the console in a browser";
const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

const OF_ONE = ["account", "statement", "transaction", "deposit", "row", "webhook", "form", "question"] as const;
const BOOKS = [
  "attention",
  "customers",
  "transactions",
  "deposits",
  "month",
  "supply",
  "days",
  "reconciliation",
  "payouts",
  "holds",
  "journal",
] as const;
const LISTS = [...BOOKS, "rails", "webhooks", "limits", "keys", "approvals", "people", "audit"] as const;
const PAGE_NAMES = ["today", "sign-in", ...LISTS, ...OF_ONE] as const;
type PageName = (typeof PAGE_NAMES)[number];

const PERSONAL = /(?:254|\b0)7[0-9]{8}|[a-z0-9.]@[a-z]/;

/** Who works with the console. */
type Person = "support" | "controller" | "engineer" | "auditor";
/** What is to be done, where it begins, and how. Undefined: where the task before it ended. */
type Task = readonly [name: string, start: string | undefined, work: (page: Page) => Promise<void>];

const TODAY = "";
/** 640 px are the window of 1,280 px at a zoom of 200 %. */
const WIDTHS = [1_280, 640, 360];
const LOADS_MAX = 3;
/** The fields of acts that are choices. */
const CHOICES: ReadonlySet<string> = new Set(["reason", "kind"]);
const STATEMENT_HEADER =
  "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.";

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

(NO_BROWSER === undefined ? describe : describe.skip)(
  NO_BROWSER === undefined ? TITLE : `${TITLE}: ${NO_BROWSER}`,
  () => {
    let service: ConsoleService;
    let browser: Browser;
    let org: string;
    /** The paths of pages about one thing each. */
    let ofOne: Readonly<Record<(typeof OF_ONE)[number], string>>;
    /** That of a payment which is completed. */
    let receipt: string;
    const folder = PICTURES_FOLDER;
    const watched = new Watched();

    before(async () => {
      service = await startConsoleService({ isFilled: true });
      browser = await launchBrowser();
      org = service.demo.organizationId;
      const { accounts, transactions, deposits, webhooks } = service.client;
      // Nothing listens there, so each delivery fails.
      const { webhook_endpoint: endpoint } = await webhooks.createWebhookEndpoint({ url: "http://127.0.0.1:1/hooks" });
      await webhooks.sendTestEvent({ webhook_endpoint_id: endpoint.id });
      const [account] = (await accounts.listAccounts({ user_id: "amani" })).accounts;
      const [transaction] = (await transactions.listTransactions({ needs_attention: true })).transactions;
      const { transactions: done } = await transactions.listTransactions({
        statuses: ["completed"],
        rail: "sandbox",
      });
      receipt = done[0]?.rail_receipt ?? "";
      for (const [number, amount] of [
        ["RKTQDM7W01", "100.00"],
        ["RKTQDM7W02", "200.00"],
        ["RKTQDM7W03", "300.00"],
      ] as const) {
        const paid = { reference: number, rail: "direct", receipt: { source: "mpesa", number } } as const;
        await transactions.mint({ account_id: account?.id ?? "", amount, ...paid });
      }
      await service.createKey("old key");
      const [deposit] = (await deposits.listDeposits({})).deposits;
      ofOne = {
        account: `/${org}/accounts/${account?.id ?? ""}`,
        statement: `/${org}/accounts/${account?.id ?? ""}/statement`,
        transaction: `/${org}/transactions/${transaction?.id ?? ""}`,
        deposit: `/${org}/deposits/${deposit?.id ?? ""}`,
        row: `/${org}/journal/row-20`,
        webhook: `/${org}/webhooks/${endpoint.id}`,
        form: `/${org}/acts/tier?account_id=${account?.id ?? ""}`,
        question: `/${org}/acts/freeze?account_id=${account?.id ?? ""}`,
      };
    });
    after(async () => {
      await browser.close();
      await service.dispose();
    });
    beforeEach(() => {
      watched.clear();
    });
    afterEach(() => {
      expect(watched.complaints).to.deep.equal([]);
      expect([...watched.hosts]).to.deep.equal([new URL(service.origin).host]);
    });

    type Look = Partial<Parameters<Browser["newContext"]>[0]> & { readonly who?: string };

    async function withPage(look: Look, work: (page: Page, context: BrowserContext) => Promise<void>): Promise<void> {
      const { who = service.keys.amina, ...options } = look;
      const context = await browser.newContext({
        baseURL: service.origin,
        viewport: { width: 1_280, height: 900 },
        ...options,
      });
      if (who !== "")
        await context.addCookies([{ name: `kesc-${new URL(service.origin).port}`, value: who, url: service.origin }]);
      const page = await context.newPage();
      watched.watch(page);
      await work(page, context).finally(() => context.close());
    }

    async function find(page: Page, text: string): Promise<void> {
      await page.getByRole("searchbox").fill(text);
      await Promise.all([page.waitForURL(/accounts|transactions|row-/), page.keyboard.press("Enter")]);
    }

    /** Finds the only match of a text. */
    async function findAs(page: Page, text: string, heading: RegExp): Promise<void> {
      await find(page, text);
      expect(await page.locator("h1").innerText()).to.match(heading);
    }

    /** Follows a link, or the first link with a name. */
    async function follow(page: Page, link: Locator | string, to: RegExp): Promise<void> {
      const named = typeof link === "string" ? page.getByRole("link", { name: link, exact: true }).first() : link;
      await Promise.all([page.waitForURL(to), named.click()]);
    }

    const rowOf = (page: Page, text: string): Locator => page.locator("main tbody tr", { hasText: text }).first();

    async function openRow(page: Page, text: string, to: RegExp): Promise<void> {
      await follow(page, rowOf(page, text).getByRole("link").first(), to);
    }

    async function sees(page: Page, text: RegExp): Promise<void> {
      await page.locator("main", { hasText: text }).waitFor();
    }

    /** Fills the form of an act in, and says yes to its question. */
    async function decide(page: Page, given: Readonly<Record<string, string>> = {}): Promise<void> {
      for (const [name, value] of Object.entries(given)) {
        const field = page.locator(`main .form [name="${name}"]`);
        await (CHOICES.has(name) ? field.selectOption(value) : field.fill(value));
      }
      const next = page.getByRole("button", { name: "Continue" });
      if ((await next.count()) > 0) await next.click();
      await page.locator('form:has(input[value="do"]) button.main').click();
      await page
        .getByRole("heading", { name: "Done" })
        .or(page.getByText("Another person must approve"))
        .first()
        .waitFor();
    }

    /** Does what a row of a list offers. */
    async function doListed(page: Page, list: string, row: string, name: string): Promise<void> {
      await follow(page, list, new RegExp(list, "i"));
      await follow(page, rowOf(page, row).getByRole("link", { name }), /acts/);
      await decide(page);
    }

    /** Ends a difference of a comparison in a tab of its own. */
    async function explain(page: Page, name: string, given: Readonly<Record<string, string>>): Promise<void> {
      const opened = page.waitForEvent("popup");
      await page.getByRole("link", { name }).first().click();
      const tab = await opened;
      watched.watch(tab);
      await tab.waitForURL(/acts/);
      await decide(tab, given);
      await tab.close();
      await sees(page, /movements differ/);
    }

    /** Returns how many pages were loaded, in all tabs. A redirect and its target are one. */
    async function loadsOf(context: BrowserContext, work: () => Promise<void>): Promise<number> {
      let loads = 0;
      const count = (request: Request): void => {
        if (request.isNavigationRequest() && request.redirectedFrom() === null) loads += 1;
      };
      context.on("request", count);
      await work();
      context.off("request", count);
      return loads;
    }

    const whoIs = (): Readonly<Record<Person, string>> => ({
      support: service.roleKeys.support,
      controller: service.keys.amina,
      engineer: service.roleKeys.admin,
      auditor: service.roleKeys.viewer,
    });

    async function picture(page: Page, name: string): Promise<void> {
      if (folder !== undefined) await page.screenshot({ path: join(folder, `console-${name}.png`) });
    }

    /** A statement of the rail, with an amount and a row that differ from the book. */
    function statement(): string {
      const rows = [
        ["RKTQDM7W01", "100.00", ""],
        ["RKTQDM7W02", "250.00", ""],
        ["RKTQDM7W09", "", "40.00"],
        ["RKTQDM7W03", "300.00", ""],
      ].map(([receipt = "", paidIn = "", withdrawn = ""], index) => {
        const at = new Date(Date.now() + (3 + index - 1) * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
        return `${receipt},${at},Pay Bill,Completed,${paidIn},${withdrawn},254712001900 - PAYER,`;
      });
      return ["Organization,KESC", STATEMENT_HEADER, ...rows, ""].join("\n");
    }

    const paths = (): Readonly<Record<PageName, string>> => ({
      today: `/${org}`,
      attention: `/${org}/attention`,
      customers: `/${org}/accounts`,
      transactions: `/${org}/transactions`,
      deposits: `/${org}/deposits`,
      month: `/${org}/month`,
      supply: `/${org}/supply`,
      days: `/${org}/supply/days`,
      reconciliation: `/${org}/reconciliation`,
      payouts: `/${org}/payouts`,
      holds: `/${org}/payouts/holds`,
      journal: `/${org}/journal`,
      rails: `/${org}/rails`,
      webhooks: `/${org}/webhooks`,
      limits: `/${org}/limits`,
      keys: `/${org}/keys`,
      approvals: `/${org}/approvals`,
      people: `/${org}/people`,
      audit: `/${org}/audit`,
      "sign-in": "/sign-in",
      ...ofOne,
    });

    // First: what later tests decide is not in the picture.
    if (folder !== undefined)
      it("its first picture shows what a person sees", async () => {
        await withPage({}, async (page) => {
          await page.goto(`/${org}`);
          await picture(page, "today");
        });
      });

    // Each task begins on Today, or where the one before it ended. What a day decides is in no
    // picture of another one.
    const DAYS: Readonly<Record<Person, readonly Task[]>> = {
      support: [
        ["find a customer by phone number", TODAY, (page) => findAs(page, "0712001100", /baraka/)],
        ["find a payment by its receipt", TODAY, (page) => findAs(page, receipt, /^(Mint|Redeem) .*completed/)],
        [
          "find a customer by user_id, and freeze the account",
          TODAY,
          async (page) => {
            await findAs(page, "daudi", /active/);
            await follow(page, "Freeze the account", /acts\/freeze/);
            await decide(page, { reason: "customer_request", note: "the phone was stolen" });
          },
        ],
        [
          "ask a second person to lift the freeze",
          TODAY,
          async (page) => {
            await findAs(page, "daudi", /frozen/);
            await follow(page, "Unfreeze the account", /acts\/unfreeze/);
            await decide(page, { note: "the customer has a new phone" });
          },
        ],
        [
          "explain a payment whose amount differs",
          TODAY,
          async (page) => {
            await openRow(page, "report differs", /transactions\/txn_/);
            await sees(page, /Ordered.*Reported.*differs/s);
            await picture(page, "support");
          },
        ],
      ],
      controller: [
        ["see whether the reserve covers what is owed", TODAY, (page) => sees(page, /KES difference/)],
        [
          "record the reserve",
          TODAY,
          async (page) => {
            await follow(page, "Record a reserve balance", /acts\/reserve/);
            const figure = { place: "Trust account, KCB 1234", amount: "410,000.00", as_of_day: "2026-01-31" };
            await decide(page, { ...figure, kind: "bank_kenya", evidence: "statement 48", note: "the day's figure" });
          },
        ],
        [
          "approve a proposal",
          TODAY,
          async (page) => {
            await openRow(page, "Unfreeze account", /prp_/);
            await follow(page, "Approve", /acts\/approve/);
            await decide(page, { note: "the customer called from the new phone" });
          },
        ],
        [
          "print a customer's statement",
          TODAY,
          async (page) => {
            await findAs(page, "baraka", /active/);
            await follow(page, "Statement", /statement/);
            await follow(page, "On one page, to print", /print=yes/);
            await sees(page, /Opening balance.*Closing balance/s);
          },
        ],
        [
          "reconcile a statement",
          TODAY,
          async (page) => {
            await follow(page, "Reconciliation", /reconciliation/);
            const file = { name: "statement.csv", mimeType: "text/csv", buffer: Buffer.from(statement()) };
            // The first form is that of rails, the second that of banks.
            await page.locator("input[type=file]").first().setInputFiles(file);
            await page.getByRole("button", { name: "Compare" }).first().click();
            await sees(page, /2 movements differ, 2 agree/);
            await picture(page, "controller");
          },
        ],
        [
          "explain an amount that differs",
          undefined,
          (page) => explain(page, "Adjust movement", { note: "statement" }),
        ],
        [
          "explain a movement that the book lacks",
          undefined,
          (page) => explain(page, "Explain transfer", { note: "to the bank" }),
        ],
      ],
      engineer: [
        [
          "see which webhook gets no events, and why",
          TODAY,
          async (page) => {
            await follow(page, "Webhooks", /webhooks/);
            await openRow(page, "127.0.0.1", /whe_/);
            await sees(page, /it refused the connection/);
            await picture(page, "engineer");
          },
        ],
        ["pause a webhook", TODAY, (page) => doListed(page, "Webhooks", "127.0.0.1", "Pause it")],
        ["send its events again", TODAY, (page) => doListed(page, "Webhooks", "127.0.0.1", "Send events to it again")],
        [
          "close the payouts of a rail that is down",
          TODAY,
          async (page) => {
            await follow(page, "Rails", /rails/);
            await sees(page, /sandbox/);
            await follow(page, "Close payouts", /acts\/close-payouts/);
            await decide(page, { note: "the rail is down" });
          },
        ],
        [
          "open them again",
          TODAY,
          async (page) => {
            await follow(page, "Rails", /rails/);
            await follow(page, "Open payouts, with the automatic hold", /acts\/auto-payouts/);
            await decide(page, { note: "the rail is up" });
          },
        ],
        ["revoke a key that was replaced", TODAY, (page) => doListed(page, "Keys", "old key", "Revoke the key")],
      ],
      auditor: [
        [
          "see who changed the operators",
          TODAY,
          async (page) => {
            await follow(page, "Audit", /audit/);
            await sees(page, /operator created/);
          },
        ],
        [
          "see what one person did",
          TODAY,
          async (page) => {
            await follow(page, "Journal", /journal/);
            await page.getByLabel("Person").selectOption({ label: "Amina" });
            await Promise.all([page.waitForURL(/person=/), page.getByRole("button", { name: "Filter" }).click()]);
            await sees(page, /Amina, approved by Brian|Amina/);
            await picture(page, "auditor");
          },
        ],
        [
          "open the proof of a row",
          TODAY,
          async (page) => {
            await findAs(page, "#20", /^Row #20/);
            await sees(page, /Proof/);
          },
        ],
        [
          "export a month",
          TODAY,
          async (page) => {
            await follow(page, "Month", /month/);
            const files = page.waitForEvent("download");
            await page.getByRole("link", { name: "Journal of the month" }).click();
            expect((await files).suggestedFilename()).to.match(/^journal.*\.csv$/);
          },
        ],
      ],
    };
    for (const [person, tasks] of Object.entries(DAYS) as [Person, readonly Task[]][]) {
      it(`${person}: each task of a day takes at most three page loads`, async () => {
        await withPage({ who: whoIs()[person] }, async (page, context) => {
          for (const [task, start, work] of tasks) {
            if (start !== undefined) await page.goto(`/${org}${start}`);
            expect(await loadsOf(context, () => work(page)), task).to.be.at.most(LOADS_MAX);
          }
        });
      });
    }

    it("two people at once: each page says what the other did, without a reload", async () => {
      const { account } = await service.client.accounts.createAccount({
        user_id: "two-people",
        phone_number: "0712001901",
      });
      const frozen = { account_id: account.id, reason: "fraud" as const, note: "case 7" };
      const { freeze } = await service.client.accounts.freezeAccount(frozen);
      await withPage({}, async (amina) => {
        await withPage({ who: service.keys.brian }, async (brian) => {
          await brian.goto(`/${org}/approvals`);
          await amina.goto(`/${org}/acts/unfreeze?account_id=${account.id}&freeze_id=${freeze.id}`);
          await decide(amina, { note: "case 7 is closed" });
          await brian.getByText("1 new proposal for you.").waitFor();
          await follow(brian, "Show", /approvals/);
          const [proposal = ""] = /prp_\w+/.exec(amina.url()) ?? [];
          await follow(brian, brian.locator(`main a[href$="${proposal}"]`).first(), /prp_/);
          await follow(brian, "Approve", /acts\/approve/);
          await decide(brian);
          await amina.getByText("This proposal was approved.").waitFor();
        });
      });
    });

    // One test a page: all of them together take too long on a busy machine.
    for (const name of PAGE_NAMES) {
      it(`"${name}" has no finding of axe and scrolls sideways at no width, in both schemes`, async () => {
        for (const colorScheme of ["light", "dark"] as const) {
          await withPage({ colorScheme, bypassCSP: true }, async (page) => {
            await page.goto(paths()[name]);
            await page.evaluate(AXE);
            for (const width of WIDTHS) {
              await page.setViewportSize({ width, height: 900 });
              const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>("axe.run()");
              const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
              const overflows = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
              expect([found, overflows], `${colorScheme}, ${String(width)} px`).to.deep.equal([[], false]);
            }
          });
        }
      });
    }

    it("every page is whole without scripts, without personal data, and a search works", async () => {
      await withPage({ javaScriptEnabled: false }, async (page) => {
        for (const path of Object.values(paths())) {
          await page.goto(path);
          expect(await page.locator("main h1").count(), path).to.equal(1);
          // A phone number or an address of somebody in the demo. Each has its stars.
          expect(await page.content(), path).not.to.match(PERSONAL);
        }
        await page.goto(`/${org}`);
        await find(page, "amani");
        expect(await page.locator("h1").innerText()).to.include("amani");
        // The id of a request can look like a phone number.
        const log = service.lines.join("\n").replaceAll(/"request_id":"[^"]+"/g, "");
        expect(log).not.to.match(PERSONAL);
      });
    });

    it("keys lead to pages and rows, and start no act", async () => {
      await withPage({}, async (page) => {
        await page.goto(`/${org}`);
        await page.keyboard.press("g");
        await Promise.all([page.waitForURL(/attention/), page.keyboard.press("n")]);
        await page.keyboard.press("j");
        await Promise.all([page.waitForURL(/transactions\/txn_/), page.keyboard.press("Enter")]);
        await page.keyboard.press("?");
        expect(await page.getByRole("dialog").isVisible()).to.equal(true);
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "hidden" });
        await page.keyboard.press("/");
        await page.keyboard.type("wanj");
        expect(await page.getByRole("searchbox").inputValue()).to.equal("wanj");
      });
    });

    it("an invited person registers a passkey, signs in with it, and signs out", async () => {
      const link = await service.invite("Dinah", "ROLE_ADMIN");
      await withPage({ who: "" }, async (page, context) => {
        const session = await context.newCDPSession(page);
        await session.send("WebAuthn.enable");
        const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true };
        await session.send("WebAuthn.addVirtualAuthenticator", {
          options: { ...options, isUserVerified: true, automaticPresenceSimulation: true } as never,
        });
        await page.goto(link);
        await page.getByRole("button", { name: "Register a passkey" }).click();
        await page.locator(".fingerprint").waitFor();
        const fingerprint = await page.locator(".fingerprint").innerText();
        expect(fingerprint).to.match(/^[0-9a-z]{12}$/);
        await service.approveAll();
        await page.goto("/people");
        await page.getByRole("button", { name: "Use your passkey" }).click();
        await page.waitForURL(/\/people$/);
        expect(await page.locator("main").innerText()).to.include(fingerprint);
        await Promise.all([page.waitForURL(/sign-in/), page.getByRole("button", { name: "Sign out" }).click()]);
        await page.goto(`/${org}`);
        expect(page.url()).to.include("/sign-in");
      });
    });
  },
);
