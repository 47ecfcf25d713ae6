import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import type { Browser, Page } from "playwright-core";

import { Client } from "../daraja/client.js";
import { launchBrowser, NO_BROWSER, PICTURES_FOLDER, Watched } from "../support/callers/chromium.js";
import { pasted } from "../support/documents/pasted.js";
import { OPERATIONS } from "../support/openapi/document.js";
import { type InProcess, startInProcess } from "../support/service/in-process.js";

const TITLE = "the pages in a browser";
const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

(NO_BROWSER === undefined ? describe : describe.skip)(
  NO_BROWSER === undefined ? TITLE : `${TITLE}: ${NO_BROWSER}`,
  () => {
    let service: InProcess;
    let browser: Browser;
    let page: Page;
    const watched = new Watched();

    before(async () => {
      service = await startInProcess("sqlite");
      browser = await launchBrowser();
    });
    after(async () => {
      await browser.close();
      await service.dispose();
    });
    beforeEach(async () => {
      watched.clear();
      page = await browser.newPage({ viewport: { width: 1_100, height: 860 }, baseURL: `http://${service.address}` });
      watched.watch(page);
    });
    afterEach(async () => {
      await page.close();
    });

    /** Nothing was wrong, and no other host was asked. */
    function expectQuiet(): void {
      expect(watched.complaints).to.deep.equal([]);
      expect([...watched.hosts]).to.deep.equal([service.address]);
    }

    async function picture(name: string): Promise<void> {
      if (PICTURES_FOLDER !== undefined) await page.screenshot({ path: join(PICTURES_FOLDER, `${name}.png`) });
    }

    it("/ says what this is, and leads to every other page", async () => {
      await page.goto("/");
      expect(await page.locator("h1").innerText()).to.equal("KESC");
      const main = page.locator("main a");
      const links = await Promise.all((await main.all()).map((link) => link.getAttribute("href")));
      expect(links).to.deep.equal(["/docs/guides", "/docs", "/openapi.json", "/errors", "/readyz", "/livez"]);
      for (const link of links) expect((await page.goto(link ?? ""))?.status(), link ?? "").to.equal(200);
      expectQuiet();
    });

    it("/ is readable without scripts", async () => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const plain = await context.newPage();
      await plain.goto(`http://${service.address}/`);
      expect(await plain.locator("main").innerText()).to.include("stablecoin");
      await plain.goto(`http://${service.address}/docs`);
      expect(await plain.locator("body").innerText()).to.include("/openapi.json");
      await context.close();
    });

    it("the page of the Daraja simulator shows what it holds", async () => {
      const client = await Client.start({ seed: "a picture" });
      try {
        await client.push("254712345600", { AccountReference: "order-7" });
        await client.clock.advance(60_000);
        await client.payOut("254712345605", { Amount: 250, OriginatorConversationID: "payout-1" });
        await client.daraja.deposit({ msisdn: "254112345678", amountCents: 70_00, accountReference: "shop 7" });
        await client.clock.advance(5_000);
        await page.goto(client.daraja.url);
        expect(await page.locator("body").innerText()).to.include("success, and the callback is lost");
        expect(watched.complaints).to.deep.equal([]);
        await picture("daraja");
      } finally {
        await client.close();
      }
    });

    it("/errors leads to a page for each reason", async () => {
      await page.goto("/errors");
      await page.getByRole("link", { name: "/errors/insufficient-funds" }).click();
      await page.waitForURL(/insufficient-funds/);
      expect(await page.locator("h1").innerText()).to.equal("Insufficient funds");
      expectQuiet();
    });

    it("/docs/guides leads to each guide, from which one goes on to the next and to /docs", async () => {
      await page.goto("/docs/guides");
      await page.getByRole("link", { name: "Integrate" }).click();
      await page.waitForURL(/integrate/);
      expect(await page.locator("h1").innerText()).to.equal("Integrate KESC");
      await page.locator('main a[href$="#repeating-a-call"]').first().click();
      await page.waitForURL(/#repeating-a-call$/);
      expect(new URL(page.url()).hash).to.equal("#repeating-a-call");
      expect(await page.locator("h2#repeating-a-call").innerText()).to.equal("Repeating a call");
      const overflows = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
      expect(overflows).to.equal(false);
      await page.getByRole("navigation").getByRole("link", { name: "Errors" }).click();
      // A count does not wait for the next page.
      await page.locator('[id="409-already_exists"]').waitFor();
      await page.getByRole("link", { name: "Calls", exact: true }).click();
      await page.locator("#operations-First_calls-ListAccounts").waitFor();
      expectQuiet();
    });

    it("/docs/guides is readable on a telephone", async () => {
      await page.setViewportSize({ width: 390, height: 800 });
      for (const guide of ["integrate", "errors", "api"]) {
        await page.goto(`/docs/guides/${guide}`);
        const overflows = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
        expect(overflows, guide).to.equal(false);
      }
      expectQuiet();
    });

    it("/docs opens on the first calls and a request that runs, and tries one out with a key", async () => {
      await page.setViewportSize({ width: 1_440, height: 900 });
      await page.goto("/docs");
      const operation = page.locator("#operations-First_calls-ListAccounts");
      await operation.waitFor();
      const shown = await page.locator(".opblock-summary-path").allInnerTexts();
      expect(shown.map((path) => path.replaceAll("\u200b", ""))).to.deep.equal([
        ...["/accounts", "/accounts", "/accounts/{account_id}"],
        ...["/transactions/mint", "/transactions/redeem", "/transactions/{transaction_id}"],
      ]);
      const request = (await page.locator("#request").innerText()).replace("kesc_…", service.a.key);
      const [account = ""] = await pasted([request], { http: service.address, grpc: "" }, process.env);
      expect(JSON.parse(account)).to.include({ user_id: "achieng" });
      await picture("docs");
      await page.getByRole("button", { name: "Authorize" }).click();
      await page.locator("#api_key_value").fill(service.a.key);
      await page.getByLabel("Apply credentials").first().click();
      await page.locator(".btn-done").first().click();
      await operation.locator(".opblock-summary-control").click();
      await operation.getByRole("button", { name: "Execute" }).click();
      const live = operation.locator(".live-responses-table");
      await live.waitFor();
      expect(await live.locator(".response-col_status").last().innerText()).to.match(/^200/);
      expect(await live.locator(".response-col_description").last().innerText()).to.include('"accounts"');
      expectQuiet();
    });

    it("/docs has each call in a group, and fits a telephone", async () => {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto("/docs");
      await page.locator("#operations-First_calls-ListAccounts").waitFor();
      expect(await page.locator(".opblock-tag").allInnerTexts()).to.deep.equal([
        ...["First calls", "Money and its payments", "Accounts and destinations", "Deposits", "Events and webhooks"],
        ...["Statements and proofs", "Your key and its limits", "The sandbox"],
      ]);
      await page.evaluate(AXE);
      // Swagger puts a link into the button of each call.
      const options = { rules: { "nested-interactive": { enabled: false } } };
      const { violations } = await page.evaluate<{ readonly violations: readonly { readonly id: string }[] }>(
        `axe.run(${JSON.stringify(options)})`,
      );
      expect(violations.map(({ id }) => id)).to.deep.equal([]);
      const overflows = await page.evaluate("document.documentElement.scrollWidth > window.innerWidth");
      expect(overflows).to.equal(false);
      const closed = page.locator(".opblock-tag[data-is-open=false]");
      await closed.evaluateAll((groups) => {
        for (const group of groups) group.dispatchEvent(new Event("click", { bubbles: true }));
      });
      const ids = await page
        .locator(".opblock")
        .evaluateAll((blocks) => blocks.map(({ id }) => id.replace(/^.*-/, "")));
      expect(new Set(ids)).to.deep.equal(new Set(OPERATIONS.map(({ operation }) => operation.operationId)));
      expectQuiet();
    });
  },
);
