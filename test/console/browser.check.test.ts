import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";

import { launchBrowser, NO_BROWSER, PICTURES_FOLDER, Watched } from "../support/callers/chromium.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const TITLE = "the console in a browser";
const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

const OF_ONE = ["account", "statement", "transaction", "deposit", "row", "webhook", "form"] as const;
const BOOKS = [
  "attention",
  "customers",
  "transactions",
  "deposits",
  "month",
  "supply",
  "days",
  "reconciliation",
  "journal",
] as const;
const LISTS = [...BOOKS, "rails", "webhooks", "limits", "keys", "approvals", "people", "audit"] as const;
const PAGE_NAMES = ["today", "sign-in", ...LISTS, ...OF_ONE] as const;
type PageName = (typeof PAGE_NAMES)[number];

const PERSONAL = /(?:254|\b0)7[0-9]{8}|[a-z0-9.]@[a-z]/;

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
      const [deposit] = (await deposits.listDeposits({})).deposits;
      ofOne = {
        account: `/${org}/accounts/${account?.id ?? ""}`,
        statement: `/${org}/accounts/${account?.id ?? ""}/statement`,
        transaction: `/${org}/transactions/${transaction?.id ?? ""}`,
        deposit: `/${org}/deposits/${deposit?.id ?? ""}`,
        row: `/${org}/journal/row-20`,
        webhook: `/${org}/webhooks/${endpoint.id}`,
        form: `/${org}/acts/freeze?account_id=${account?.id ?? ""}`,
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
      await Promise.all([page.waitForURL(/accounts|transactions/), page.keyboard.press("Enter")]);
    }

    async function follow(page: Page, link: Locator, to: RegExp): Promise<void> {
      await Promise.all([page.waitForURL(to), link.click()]);
    }

    /** Returns how many pages were loaded. */
    async function loadsOf(page: Page, work: () => Promise<void>): Promise<number> {
      let loads = 0;
      const count = (): void => {
        loads += 1;
      };
      page.on("load", count);
      await work();
      page.off("load", count);
      return loads;
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

    const folder = PICTURES_FOLDER;
    // First: what later tests decide is in no picture.
    if (folder !== undefined)
      it("its pictures show what a person sees", async () => {
        const looks = [
          ["console-today", "today", {}],
          ["console-today-dark", "today", { colorScheme: "dark" }],
          ["console-today-wide", "today", { viewport: { width: 1_920, height: 1_080 } }],
          ["console-today-narrow", "today", { viewport: { width: 390, height: 844 } }],
          ["console-attention", "attention", {}],
          ["console-supply", "supply", {}],
          ["console-approvals", "approvals", { who: service.keys.brian }],
        ] as const satisfies readonly (readonly [string, PageName, Look])[];
        for (const [name, path, look] of looks) {
          await withPage(look, async (page) => {
            await page.goto(paths()[path]);
            await page.screenshot({ path: join(folder, `${name}.png`) });
          });
        }
        await withPage({}, async (page) => {
          await page.goto(`/${org}`);
          await find(page, "baraka");
          await page.screenshot({ path: join(folder, "console-account.png") });
        });
      });

    it("the tasks of a team take few pages", async () => {
      const tasks: readonly (readonly [string, number, (page: Page) => Promise<void>])[] = [
        [
          "support: how a customer's last payment ended, by phone number",
          2,
          async (page) => {
            await find(page, "0712001100");
            await follow(page, page.locator("main table a").first(), /transactions\/txn_/);
            expect(await page.locator("h1 .status").innerText()).to.match(/completed/);
          },
        ],
        [
          "controller: what is owed, and what was seen",
          1,
          async (page) => {
            await follow(page, page.getByRole("link", { name: "Supply and reserve" }), /supply/);
            expect(await page.locator("main").innerText()).to.include("Difference");
          },
        ],
        [
          "engineer: why the oldest payment waits",
          2,
          async (page) => {
            await follow(page, page.getByRole("link", { name: /Needs attention/ }), /attention/);
            await follow(page, page.locator("main table a").first(), /transactions\/txn_/);
            expect(await page.locator("main").innerText()).to.include("Needs review");
          },
        ],
        [
          "engineer: whether payouts begin",
          1,
          async (page) => {
            await follow(page, page.getByRole("link", { name: "Rails", exact: true }), /rails/);
            expect(await page.locator("main").innerText()).to.include("they begin, unless too many outcomes");
          },
        ],
        [
          "engineer: why an endpoint gets no events",
          2,
          async (page) => {
            await follow(page, page.getByRole("link", { name: "Webhooks", exact: true }), /webhooks/);
            await follow(page, page.locator("main table a").first(), /whe_/);
            expect(await page.locator("main").innerText()).to.include("it refused the connection");
          },
        ],
        [
          "auditor: who changed the operators",
          1,
          async (page) => {
            await follow(page, page.getByRole("link", { name: "Audit", exact: true }), /audit/);
            expect(await page.locator("main").innerText()).to.include("operator created");
          },
        ],
        [
          "auditor: a row with its proof",
          3,
          async (page) => {
            await follow(page, page.getByRole("link", { name: "Journal" }), /journal/);
            await follow(page, page.locator("main table a").first(), /row-/);
            expect(await page.locator("main").innerText()).to.include("Proof");
          },
        ],
      ];
      await withPage({}, async (page) => {
        for (const [task, most, work] of tasks) {
          await page.goto(`/${org}`);
          expect(await loadsOf(page, () => work(page)), task).to.be.at.most(most);
        }
      });
    });

    it("an approver decides in three pages after the proposal, and its proposer sees it", async () => {
      await withPage({ who: service.keys.brian }, async (page) => {
        await page.goto("/approvals");
        await follow(page, page.getByRole("link", { name: /Carol Wanjiru/ }).first(), /prp_/);
        const proposal = page.url();
        const loads = await loadsOf(page, async () => {
          await follow(page, page.getByRole("link", { name: "Approve", exact: true }), /acts\/approve/);
          await page.getByRole("button", { name: "Continue" }).click();
          await page.getByRole("button", { name: "Approve" }).click();
          await page.getByRole("heading", { name: "Done" }).waitFor();
        });
        expect(loads).to.equal(3);
        await withPage({}, async (own) => {
          await own.goto(proposal);
          expect(await own.locator("main").innerText()).to.include("approved");
        });
      });
    });

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
          await amina.getByLabel("Note").fill("case 7 is closed");
          await amina.getByRole("button", { name: "Continue" }).click();
          await amina.getByRole("button", { name: "Unfreeze the account" }).click();
          await amina.getByText("Another person must approve.").waitFor();
          await brian.getByText("1 new proposal for you.").waitFor();
          await follow(brian, brian.getByRole("link", { name: "Show", exact: true }), /approvals/);
          const [proposal = ""] = /prp_\w+/.exec(amina.url()) ?? [];
          await follow(brian, brian.locator(`main a[href$="${proposal}"]`).first(), /prp_/);
          await follow(brian, brian.getByRole("link", { name: "Approve", exact: true }), /acts\/approve/);
          await brian.getByRole("button", { name: "Continue" }).click();
          await brian.getByRole("button", { name: "Approve" }).click();
          await brian.getByRole("heading", { name: "Done" }).waitFor();
          await amina.getByText("This proposal was approved.").waitFor();
        });
      });
    });

    // One test a page: all of them together take too long on a busy machine.
    for (const name of PAGE_NAMES) {
      it(`axe has no finding in "${name}", in both schemes`, async () => {
        for (const colorScheme of ["light", "dark"] as const) {
          await withPage({ colorScheme, bypassCSP: true }, async (page) => {
            await page.goto(paths()[name]);
            await page.evaluate(AXE);
            const { violations } = await page.evaluate<{ readonly violations: readonly Violation[] }>("axe.run()");
            const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
            expect(found, colorScheme).to.deep.equal([]);
          });
        }
      });
    }

    // 640 px are the window of 1,280 px at a zoom of 200 %.
    for (const width of [360, 640]) {
      it(`no page scrolls sideways at ${String(width)} px or says anything to the console, in both schemes`, async () => {
        for (const colorScheme of ["light", "dark"] as const) {
          await withPage({ colorScheme, viewport: { width, height: 800 } }, async (page) => {
            for (const [name, path] of Object.entries(paths())) {
              await page.goto(path);
              const overflows = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
              expect(overflows, name).to.equal(false);
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
