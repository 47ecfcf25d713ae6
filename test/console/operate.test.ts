import { expect } from "chai";

import { ROLES } from "../../src/domain/operator.js";
import { Receiver } from "../support/webhooks/receiver.js";
import { ask, fieldsIn, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const MARKUP = `"><img src=x onerror=alert(1)>`;
const PAGES = ["rails", "webhooks", "limits", "keys", "audit", "people"];

describe("the pages for those who operate the service", () => {
  let service: ConsoleService;
  let receiver: Receiver;
  let org: string;
  let endpoint: string;
  before(async () => {
    service = await startConsoleService();
    receiver = await Receiver.start();
    receiver.answer = (response) => response.writeHead(503).end();
    org = service.demo.organizationId;
    const { webhooks, accounts } = service.client;
    const { webhook_endpoint: made } = await webhooks.createWebhookEndpoint({ url: receiver.url, description: MARKUP });
    endpoint = made.id;
    await accounts.createAccount({ user_id: "wanjiku", phone_number: "0712345600" });
  });
  after(async () => {
    await service.dispose();
    await receiver.close();
  });

  const page = async (path: string, token = service.keys.amina): Promise<string> => {
    const { status, html } = await ask(service.origin, path, { token });
    expect(status, path).to.equal(200);
    return html;
  };
  /** Fills in the form of an act, and says yes to its question. Returns both texts. */
  const act = async (
    name: string,
    query: string,
    given: Readonly<Record<string, string>>,
    token = service.keys.amina,
  ) => {
    const path = `/${org}/acts/${name}`;
    const html = await page(path + query, token);
    const form = { ...fieldsIn(html, path), lift: "", ...given };
    // The form of an act that asks only why is its question, too.
    const isAsked = html.includes('value="do"');
    const asked = isAsked ? html : (await ask(service.origin, path, { token, form })).html;
    const done = await ask(service.origin, path, { token, form: isAsked ? form : fieldsIn(asked, path) });
    return { asked: textOf(asked), done: done.headers.location ?? textOf(done.html) };
  };
  /** Approves what an act of a sandbox did not do at once. */
  const settled = async (sent: Promise<{ readonly asked: string; readonly done: string }>): Promise<string> => {
    const { asked, done } = await sent;
    if (done.includes("prp_")) await service.approveAll();
    else expect(done).to.contain("Done");
    return asked;
  };

  it("are open to each role, without markup of others, secrets and whole numbers", async () => {
    for (const role of ROLES) {
      for (const path of [...PAGES, `webhooks/${endpoint}`]) {
        const html = await page(`/${org}/${path}`, service.roleKeys[role]);
        expect(html, path).not.to.match(/<img|whsec_|kesc_[a-z0-9]+_[A-Za-z0-9_-]{20}|712345600/);
      }
    }
    expect(await page(`/${org}/webhooks/${endpoint}`)).to.include("&lt;img");
    const unknown = endpoint.replace(/.{4}$/, "0000");
    for (const path of [`webhooks/${unknown}`, "webhooks/x"]) {
      expect((await ask(service.origin, `/${org}/${path}`, { token: service.keys.amina })).status, path).to.equal(404);
    }
  });

  it("rails: says whether payouts begin and why, and closes and opens them with now and then", async () => {
    expect(textOf(await page(`/${org}/rails`))).to.match(/sandbox .*works .*Payouts auto: they begin, unless/);
    expect(textOf(await page(`/${org}/rails?probe=sandbox`))).to.contain("This rail has nothing to ask about");
    const support = service.roleKeys.support;
    const closed = await act("close-payouts", "?rail=sandbox", { note: "case 31" }, support);
    expect(closed.asked).to.match(/Payouts auto closed/);
    expect(closed.done).to.contain("Done");
    const html = await page(`/${org}/rails`, support);
    expect(textOf(html)).to.match(/payouts closed .*Why payouts are so case 31/);
    expect(textOf(html)).to.contain("without the automatic hold needs finance or admin");
    const sent = await act("open-payouts", "?rail=sandbox", { note: "case 31 is over" });
    expect(sent.asked).to.match(/Payouts closed open/);
    if (sent.done.includes("prp_")) {
      expect(textOf(await page(`/${org}/rails`))).to.match(/Waits for a second person .*proposed by Amina/);
      await service.approveAll();
    }
    expect(textOf(await page(`/${org}/rails`))).to.contain("open: they begin, also while many");
    const usual = await settled(act("default-rail", "?rail=sandbox", { note: "tests passed" }));
    expect(usual).to.match(/Default rail direct sandbox/);
    expect(textOf(await page(`/${org}/rails`))).to.contain("A call that names no rail goes to sandbox");
  });

  it("webhooks: shows what failed with the response, and sends it again", async () => {
    const path = `/${org}/webhooks/${endpoint}`;
    const test = await act("test-endpoint", `?webhook_endpoint_id=${endpoint}`, {}, service.roleKeys.support);
    expect(test.done).to.match(/Delivered no Response HTTP 503/);
    while (receiver.received.length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    let html = await page(path);
    while (!/failed only.*account created/s.test(textOf(html).replaceAll(".", " "))) html = await page(path);
    expect(textOf(html))
      .to.match(/webhook\.test ▲ failed it responded with 503/)
      .and.to.match(/Every delivery has failed for/);
    expect(textOf(await page(`/${org}/webhooks`))).to.match(/hooks ● active \d+ second/);
    const [, sequence = ""] = /acts\/resend\?webhook_endpoint_id=whe_\w+&amp;sequence=(\d+)/.exec(html) ?? [];
    receiver.answer = (response) => response.writeHead(204).end();
    const query = `?webhook_endpoint_id=${endpoint}&sequence=${sequence}`;
    expect((await act("resend", query, {}, service.roleKeys.support)).done).to.contain("Done");
    const replayed = await act("replay", `?webhook_endpoint_id=${endpoint}`, { start_sequence: "1" });
    expect(replayed.done).to.contain("Done");
    const paused = await act("pause-endpoint", `?webhook_endpoint_id=${endpoint}`, {});
    expect(paused.asked).to.match(/Status active paused/);
    const enabled = await act("enable-endpoint", `?webhook_endpoint_id=${endpoint}`, {});
    expect(enabled.asked).to.match(/Status paused active/);
    const all = textOf(await page(`${path}?failed=yes`));
    expect(all).not.to.contain("● delivered");
  });

  it("limits: shows each tier in words, and changes one with now and then", async () => {
    expect(textOf(await page(`/${org}/limits`))).to.match(/Redemptions in a day no limit/);
    const own = await settled(
      act("limit", "?tier=&type=redeem&period=day", { max_amount: "70,000.00", note: "case 32" }),
    );
    expect(own)
      .to.match(/the organization itself/)
      .and.to.match(/Redemptions in a day no limit 70,000\.00/);
    const given = { tier: "full", type: "mint", period: "transaction", max_amount: "5000", note: "case 32" };
    expect(await settled(act("tier-limit", "", given))).to.match(/Each mint no limit 5,000/);
    const raised = { max_amount: "6000", note: "case 33" };
    const asked = await settled(act("limit", "?tier=full&type=mint&period=transaction", raised));
    expect(asked).to.match(/Each mint 5,000\.00 6,000/);
    const text = textOf(await page(`/${org}/limits`));
    expect(text).to.match(/Redemptions in a day 70,000\.00 0\.00 70,000\.00/);
    expect(text).to.match(/Each account of the tier full .*Each mint 6,000\.00/);
    const removed = await settled(act("remove-limits", "?tier=full", { note: "case 34" }));
    expect(removed).to.match(/Each mint 6,000\.00 no limit/);
    expect(textOf(await page(`/${org}/limits`))).to.contain("No tier has limits of its own");
  });

  it("keys: shows the scopes and the end of each, and revokes one", async () => {
    const html = await page(`/${org}/keys`);
    expect(textOf(html)).to.contain("transactions:write").and.to.contain("last use".replace("l", "L"));
    const [, id = ""] = /revoke-key\?api_key_id=(key_\w+)/.exec(html) ?? [];
    expect(textOf(await page(`/${org}/acts/revoke-key?api_key_id=${id}`))).to.contain("● active");
  });

  it("audit: lists the changes of operators by person and kind, and who is signed in", async () => {
    const all = await page("/audit");
    expect(textOf(all))
      .to.match(/operator created Njeri/)
      .and.to.contain("Signed in now");
    const [, brian = ""] = /<option value="(opr_\w+)">Brian/.exec(all) ?? [];
    const his = textOf((await page(`/audit?person=${brian}&kind=created`)).replace(/<form.*<\/form>/s, ""));
    expect(his).to.contain("operator created Brian").and.not.to.contain("Njeri");
    expect(textOf(await page("/audit?kind=revoked"))).to.contain("No change has all of this");
    expect(textOf(await page("/audit", service.roleKeys.support))).to.contain("Your sessions");
  });
});
