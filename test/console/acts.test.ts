import { readFileSync } from "node:fs";

import { expect } from "chai";

import type { KescClient } from "../../client/kesc-client.js";
import { isAskedAtOnce, knownActs } from "../../console/acts/act-contract.js";
import { ACTS } from "../../console/acts/acts.js";
import { ConsoleContract, CONTRACT_URLS } from "../../console/upstream/contract.js";
import type { DestinationNumber, RailName } from "../../src/domain/destination.js";
import { ROLES } from "../../src/domain/operator.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { Description } from "../../src/domain/values/text.js";
import { now } from "../../src/startup/clock.js";
import { keys } from "../../src/storage/keys.js";
import { MAY_CALL } from "../support/documents/roles.js";
import { eventually } from "../support/eventually.js";
import { NO_DEADLINE } from "../support/names.js";
import { createDestination } from "../support/operations/accounts.js";
import { makeTenant } from "../support/service/tenants.js";
import { setSandbox } from "../support/service/with-rails.js";
import { ask as browse, fieldsIn, signInWith, textOf } from "./browser-like.js";
import { type ConsoleService, startConsoleService } from "./given.js";

const contract = new ConsoleContract(CONTRACT_URLS.map((url) => readFileSync(url)));
const acts = knownActs(contract);

/** A page as a person sees it, and the fields of its forms. */
interface Got {
  readonly status: number;
  readonly html: string;
  readonly text: string;
  formTo(action: string): Record<string, string>;
}

interface Person {
  get(path: string): Promise<Got>;
  post(path: string, form: Readonly<Record<string, string>>, headers?: Record<string, string>): Promise<Got>;
}

/** A person with a browser without script. An operator's key is a session that does not end. */
function personWith(origin: string, token: string): Person {
  const got = async (path: string, given: Parameters<typeof browse>[2]): Promise<Got> => {
    const { status, html } = await browse(origin, path, { token, ...given });
    return { status, html, text: textOf(html), formTo: (action) => fieldsIn(html, action) };
  };
  return { get: (path) => got(path, {}), post: (path, form, headers = {}) => got(path, { form, headers }) };
}

describe("the acts of the console", () => {
  let service: ConsoleService;
  let client: KescClient;
  let amina: Person;
  let brian: Person;
  let organization: string;
  let account: string;

  before(async () => {
    service = await startConsoleService();
    ({ client } = service);
    amina = personWith(service.origin, service.keys.amina);
    brian = personWith(service.origin, service.keys.brian);
    organization = service.demo.organizationId;
    const made = await client.accounts.createAccount({
      user_id: "wanjiku",
      phone_number: "0712345600",
      email: "w@example.com",
    });
    account = made.account.id;
  });
  after(() => service.dispose());

  const path = (act: string, query = ""): string => `/${organization}/acts/${act}${query}`;
  /** Opens the form, fills it in, and goes on to the question, which some forms are themselves. */
  const ask = async (who: Person, of: string, query: string, given: Record<string, string>): Promise<Got> => {
    const form = await who.get(of + query);
    const fields = { ...form.formTo(of), ...given };
    return fields["step"] === "do" ? { ...form, formTo: () => fields } : who.post(of, fields);
  };
  /** Fills the form of an act in, and says yes to the question. */
  const act = async (who: Person, of: string, query: string, given: Record<string, string>): Promise<Got> => {
    const asked = await ask(who, of, query, given);
    return who.post(of, asked.formTo(of));
  };
  const proposalIn = ({ text }: Got): string => /prp_[0-9a-z]{26}/.exec(text)?.[0] ?? "";
  /** Freezes the account for good. Returns the id of the freeze. */
  const freeze = async (): Promise<string> =>
    (await client.accounts.freezeAccount({ account_id: account, reason: "fraud", note: "" })).freeze.id;
  /** Amina proposes to lift a freeze. */
  const lift = (freeze_id: string): Promise<Got> =>
    act(amina, path("unfreeze"), `?account_id=${account}&freeze_id=${freeze_id}`, { note: "x" });
  const statusOf = async (): Promise<unknown> =>
    (await client.accounts.getAccount({ account_id: account })).account.status;

  it("asks before it acts, shows before and after, and does it once, however often the button is pressed", async () => {
    const asked = await ask(amina, path("freeze"), `?account_id=${account}`, { reason: "fraud", note: "case 17" });
    expect(asked.text)
      .to.contain("Freeze the account?")
      .and.to.match(/Status active frozen/);
    expect(asked.text).to.match(/wanjiku ● active/);
    expect(await statusOf()).to.equal("active");
    const again = await Promise.all([1, 2].map(() => amina.post(path("freeze"), asked.formTo(path("freeze")))));
    expect(again.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(again.map(({ text }) => /Done|Already done/.exec(text)?.[0]).sort()).to.deep.equal(["Already done", "Done"]);
    for (const { text } of again) expect(text).to.match(/wanjiku ▲ frozen/);
    const { account: frozen } = await client.accounts.getAccount({ account_id: account });
    expect(frozen.freezes.map(({ note }) => note)).to.deep.equal(["case 17"]);
  });

  it("labels a field of a message that the request can lack with both names", () => {
    const labels = acts.get("reverse")?.fields.map(({ label }) => label);
    expect(labels).to.deep.equal(["Receipt source", "Receipt number", "Description"]);
  });

  it("asks on one page only if nothing that is filled in changes what the act does, or cannot be undone", () => {
    for (const act of acts.values()) {
      const names = act.fields.map(({ name }) => name);
      const saysWhy = names.every((name) => ["note", "reason"].includes(name));
      expect(isAskedAtOnce(act), act.name).to.equal(names.length === 0 || (saysWhy && act.isFinal !== true));
    }
    for (const name of ["reserve", "moved", "adjust", "close", "erase"]) {
      const act = acts.get(name);
      expect(act && isAskedAtOnce(act), name).to.equal(false);
    }
  });

  it("refuses each form with 400 and the names of the fields that are missing or malformed", async () => {
    for (const act of acts.values()) {
      const at = act.isOfOrganization ? path(act.name) : `/acts/${act.name}`;
      const form = await amina.get(at);
      expect(form.status, `GET ${at}`).to.equal(200);
      const send = (given: Readonly<Record<string, string>>) => amina.post(at, { ...form.formTo(at), ...given });
      const { linked } = act;
      // Without a person the same rpc invites somebody new.
      const named = act.name === "invite-passkey" ? ["name"] : linked;
      const needed = [...named, ...act.fields.filter((field) => field.isRequired).map(({ name }) => name)];
      const none = await send({});
      if (needed.length > 0) expect(none.status, `${at} without a field`).to.equal(400);
      for (const name of needed) expect(none.text, `${at} without a field`).to.match(new RegExp(`\\b${name}\\b`));
      for (const name of [...linked, ...act.fields.map((field) => field.name)]) {
        const kind = act.fields.find((field) => field.name === name)?.kind;
        const { enum: choices } = contract.methodOf(act.rpc).input.field[name] ?? {};
        const got = await send({ [name]: "x-no-value ☃" });
        // The server takes any text for an id: nothing has it.
        if (choices === undefined && (kind ?? "text") === "text")
          expect(got.status, `${at} with ${name}`).to.be.below(500);
        else {
          expect(got.status, `${at} with another ${name}`).to.equal(400);
          expect(got.text, `${at} with another ${name}`).to.match(new RegExp(`Invalid request: .*\\b${name}\\b`));
        }
      }
    }
  });

  it("says what the server refuses, in its words, and keeps what was filled in", async () => {
    const missing = await act(amina, path("freeze"), `?account_id=${account}`, { reason: "fraud", note: " " });
    expect(missing.text).to.match(/note is required/);
    const sent = await act(amina, path("tier"), `?account_id=${account}`, { tier: "gold", note: "a slip" });
    expect(sent.text).to.match(/must be one of default/);
    expect(sent.html).to.contain('value="gold"');
  });

  it("proposes what needs a second person, who approves it here", async () => {
    const { account: frozen } = await client.accounts.getAccount({ account_id: account });
    const query = `?account_id=${account}&freeze_id=${frozen.freezes[0]?.id ?? ""}`;
    // A note that begins as an id is no link.
    const asked = await ask(amina, path("unfreeze"), query, { note: "acc_ of case 17" });
    expect(asked.text).to.contain("this makes a proposal");
    const proposed = await amina.post(path("unfreeze"), asked.formTo(path("unfreeze")));
    expect(proposed.status).to.equal(303);
    const proposal = proposalIn(proposed);
    const own = await amina.get(`/${organization}/approvals/${proposal}`);
    expect(own.text).to.contain("Another person must approve").and.not.to.contain("Approve needs");
    const standing = await amina.get(`/${organization}/accounts/${account}`);
    expect(standing.text).to.match(
      /Waiting for approval Unfreeze account: freeze fraud: case 17 → lifted, account frozen → active , proposed by Amina/,
    );
    const [today, ownToday] = [await brian.get(`/${organization}`), await amina.get(`/${organization}`)];
    expect(today.html).to.contain(`/approvals/${proposal}"`);
    expect(ownToday.html).not.to.contain(`/approvals/${proposal}"`);
    const page = await brian.get(`/${organization}/approvals/${proposal}`);
    expect(page.html).to.contain(`/acts/approve?proposal_id=${proposal}`);
    expect(page.text)
      .to.match(/When requested After freeze fraud: case 17 lifted account frozen active/)
      .and.match(/Why acc_ of case 17/)
      .and.to.contain(account);
    const approve = await ask(brian, "/acts/approve", `?proposal_id=${proposal}`, { note: "compared" });
    expect(approve.text)
      .to.match(/Unfreeze account: .*wanjiku/)
      .and.match(/account frozen active/);
    const [refused, done] = [
      await act(amina, "/acts/approve", `?proposal_id=${proposal}`, {}),
      await brian.post("/acts/approve", approve.formTo("/acts/approve")),
    ];
    expect(refused.text).to.match(/another person/i);
    expect(done.text).to.contain("Done");
    expect(await statusOf()).to.equal("active");
  });

  it("says to an approver what stood and what stands, where it has changed since the proposal", async () => {
    const freeze_id = await freeze();
    const proposal = proposalIn(await lift(freeze_id));
    const page = (): Promise<Got> => brian.get(`/${organization}/approvals/${proposal}`);
    expect((await page()).text)
      .to.contain("You can be that person")
      .and.not.to.contain("would be refused");
    const later = await freeze();
    expect((await page()).text)
      .to.contain("An approval would be refused")
      .and.match(/other freezes none ▲ changed fraud/)
      .and.not.contain("/acts/approve");
    const refused = await act(brian, path("approve"), `?proposal_id=${proposal}`, { note: "compared" });
    expect(refused.text)
      .to.match(/older than another change: "other freezes" was "" and is "fraud" now/)
      .and.contain("PROPOSAL_OUTDATED");
    expect(await statusOf()).to.equal("frozen");
    await client.accounts.unfreezeAccount({ account_id: account, freeze_id, note: "by the API" });
    await client.accounts.unfreezeAccount({ account_id: account, freeze_id: later, note: "by the API" });
  });

  it("says to an approver that it is so already", async () => {
    const freeze_id = await freeze();
    const proposal = proposalIn(await lift(freeze_id));
    await client.accounts.unfreezeAccount({ account_id: account, freeze_id, note: "by the API" });
    const sent = await act(brian, path("approve"), `?proposal_id=${proposal}`, { note: "compared" });
    expect(sent.text).to.contain("Already done").and.to.contain("waits until somebody rejects it");
    expect(await statusOf()).to.equal("active");
  });

  it("shows a phone number in the response alone, after a reason, and the page of the account stays masked", async () => {
    const whole = /254712345600|w@example\.com/;
    const query = `?account_id=${account}`;
    const asked = await ask(amina, path("reveal"), query, { reason: "customer_called", note: "case 20" });
    expect(asked.text)
      .to.match(/masked shown to you/)
      .and.not.to.match(whole);
    const shown = await amina.post(path("reveal"), asked.formTo(path("reveal")));
    expect(shown.text).to.contain("+254712345600").and.to.contain("w@example.com");
    const page = await amina.get(`/${organization}/accounts/${account}`);
    expect(page.text).to.contain("customer_called: case 20").and.not.to.match(whole);
  });

  it("offers no act that a role lacks", async () => {
    const page = await brian.get(`/${organization}/accounts/${account}`);
    expect(page.text).to.contain("Reveal phone number and e-mail needs support");
    expect(page.html).not.to.contain(path("reveal"));
  });

  for (const role of ROLES) {
    it(`lets the role ${role} do what docs/admin.md says, by URL and by POST, and nothing else`, async () => {
      const person = personWith(service.origin, service.roleKeys[role]);
      const doable: string[] = [];
      for (const { name } of ACTS) {
        const form = await person.get(path(name));
        const lacks = form.text.includes("This needs the role");
        const { form_token = "" } = form.formTo(path(name));
        // Without its fields no act is done, whatever the role.
        const sent = await person.post(path(name), { form_token, step: "do" });
        expect(sent.text.includes("This needs the role"), name).to.equal(lacks);
        expect(sent.text, name).not.to.include("Done");
        if (!lacks) doable.push(name);
      }
      const expected = ACTS.filter(
        ({ rpc, roles }) => MAY_CALL.get(rpc.split("/")[1] ?? "")?.has(role) && roles?.includes(role) !== false,
      );
      expect(doable).to.deep.equal(expected.map(({ name }) => name));
    });
  }

  it("does nothing for a form of another site, of another session, or of another act", async () => {
    const asked = await ask(amina, path("freeze"), `?account_id=${account}`, { reason: "fraud", note: "case 19" });
    const form = asked.formTo(path("freeze"));
    const tries = [
      await amina.post(path("freeze"), form, { "sec-fetch-site": "cross-site" }),
      await amina.post(path("freeze"), form, { origin: "https://example.com" }),
      await brian.post(path("freeze"), form),
      await amina.post(path("freeze"), { ...form, form_token: "" }),
      await amina.post(path("erase"), form),
    ];
    expect(tries.map(({ status }) => status)).to.deep.equal([403, 403, 403, 403, 403]);
    expect(await statusOf()).to.equal("active");
  });

  it("keeps what was filled in for a person who goes back to the form", async () => {
    const figure = { place: "KCB 1", kind: "bank_kenya", as_of_day: "2026-01-31", evidence: "statement 1" };
    const asked = await ask(amina, path("reserve"), "", { ...figure, amount: "5.00", note: "case 21" });
    const back = await amina.post(path("reserve"), { ...asked.formTo(path("reserve")), step: "edit" });
    expect(back.html).to.match(/<option (value="bank_kenya" selected|selected value="bank_kenya")/);
    expect(back.formTo(path("reserve"))).to.include({ place: "KCB 1", note: "case 21", step: "confirm" });
  });

  it("takes a user_id in place of the id of an account, and names the customer at each step", async () => {
    const receipt = "RKT7000001";
    await client.sandbox.createDeposit({ amount: "700.00", receipt, payer_phone_number: "+254712009999" });
    const [deposit] = (await client.deposits.listDeposits({ receipt: `sandbox:${receipt}` })).deposits;
    const query = `?deposit_id=${deposit?.id ?? ""}`;
    const unknown = await ask(amina, path("assign"), query, { account_id: "nobody", note: "case 22" });
    expect(unknown.text).to.contain("ACCOUNT_NOT_FOUND");
    const asked = await ask(amina, path("assign"), query, { account_id: "wanjiku", note: "case 22" });
    expect(asked.text).to.match(/wanjiku ● active/);
    const proposal = proposalIn(await amina.post(path("assign"), asked.formTo(path("assign"))));
    expect((await brian.get(`/${organization}/approvals/${proposal}`)).text).to.match(/account none wanjiku ● active/);
    const again = await amina.get(path("assign") + query);
    expect(again.text).to.contain("Waiting for approval");
    const approve = await ask(brian, path("approve"), `?proposal_id=${proposal}`, {});
    expect(approve.text)
      .to.match(/Assign deposit: .*wanjiku/)
      .and.match(/deposit unallocated: unknown reference|deposit unallocated: no reference/);
    expect((await brian.post(path("approve"), approve.formTo(path("approve")))).text).to.contain("Done");
  });

  it("shows what a place had before, and takes an amount as the pages write it", async () => {
    const form = await amina.get(path("reserve"));
    const [, kind = ""] = /<option value="([a-z_]+)"/.exec(form.html) ?? [];
    const figure = { place: "KCB 1", kind, as_of_day: "2026-01-31", evidence: "statement 1", note: "case 23" };
    const record = async (amount: string): Promise<[asked: string, sent: string]> => {
      const asked = await ask(amina, path("reserve"), "", { ...figure, amount });
      return [asked.text, (await amina.post(path("reserve"), asked.formTo(path("reserve")))).text];
    };
    const [first, proposed] = await record("1,200.00");
    expect(first)
      .to.match(/Place none with this name KCB 1/)
      .and.match(/Amount none 1,200\.00/);
    // One person alone could hide that shillings are missing.
    expect(proposed).to.match(/\/approvals\/prp_/);
    await service.approveAll();
    const [second] = await record("1300");
    expect(second)
      .to.match(/Amount 1,200\.00 1,300/)
      .and.not.contain("none with this name");
    expect((await amina.get(path("reserve"))).html).to.match(/<datalist id="list-place"><option value="KCB 1">/);
  });

  it("invites a person, and shows the link once", async () => {
    const asked = await ask(amina, path("invite"), "", { name: "Wambui", roles: "support,finance" });
    expect(asked.text).to.contain("support,finance").and.not.contain("kesc_inv_");
    const done = await amina.post(path("invite"), asked.formTo(path("invite")));
    expect(done.text).to.match(/\/invitation#kesc_inv_\S+/);
  });

  it("shows a payment that differs beside its order, and a payout that is held with its reason, and the acts", async () => {
    const own = await client.accounts.createAccount({ user_id: "differs", phone_number: "0712345601" });
    const mint = { account_id: own.account.id, rail: "sandbox", amount: "100.00", reference: "differs" };
    const { transaction } = await client.transactions.mint({ ...mint, payer_phone_number: "0712345616" });
    const { id } = transaction;
    await eventually(async () => {
      const { payment } = await client.transactions.getPayment({ transaction_id: id });
      return payment.open_flags.includes("report_differs");
    });
    const differs = await amina.get(`/${organization}/transactions/${id}`);
    expect(differs.text)
      .to.match(
        /What Ordered Reported .* Amount, KES 100\.00 101\.00 ▲ differs Phone \+254\S+616 \+254\S+616 Receipt none/,
      )
      .and.match(/What to do: Compare .* Mark as completed Mark as failed Record another amount/)
      .and.not.contain("{")
      .and.not.contain("docs/");

    const closed = { note: "the rail is down" };
    expect((await act(amina, path("close-payouts"), "?rail=sandbox", closed)).text).to.contain("Done");
    await client.transactions.mint({ ...mint, rail: "direct", reference: "funds" });
    const held = await client.transactions.redeem({ ...mint, amount: "10.00", reference: "held" });
    expect((await amina.get(`/${organization}/transactions/${held.transaction.id}`)).text)
      .to.contain("This payout is held: payouts closed")
      .and.contain("the rail is down")
      .and.match(/Actions Cancel the payment Open payouts/);
    for (const page of ["", "/attention"]) {
      expect((await amina.get(`/${organization}${page}`)).text, page).to.contain("the rail is down");
    }
  });

  it("shows the rail's name of a destination beside its label, before a person decides about the payout", async () => {
    const own = await client.accounts.createAccount({ user_id: "named", phone_number: "0712345602" });
    const account_id = own.account.id as AccountId;
    const { database, ledger } = service.running;
    await setSandbox(database, { organizationId: organization as OrganizationId, isDefault: false });
    const paid = { kind: "PHONE", number: "+254722000413" as DestinationNumber, coolingMillis: 0 } as const;
    const named = { ...paid, label: "Mary Doe" as Description, railName: "JANE S****** <b>D**" as RailName };
    const command = createDestination(organization as OrganizationId, account_id, named);
    expect(await ledger.submit(command, NO_DEADLINE)).to.include({ kind: "done" });
    const money = { account_id, amount: "100.00", reference: "named" };
    await client.transactions.mint({ ...money, rail: "direct" });
    const destination_id = command.newDestinationId;
    const payout = { ...money, amount: "10.00", reference: "to a name", rail: "sandbox", destination_id };
    let id = "";
    // The server reads the setting of the rail within two seconds.
    await eventually(async () => {
      id = await client.transactions.redeem(payout).then(
        ({ transaction }) => transaction.id,
        () => "",
      );
      return id !== "";
    });
    const shown = await amina.get(`/${organization}/transactions/${id}`);
    expect(shown.text).to.match(
      /Paid to phone \+254\S+413 Label Mary Doe Name at the rail JANE S\*{6} <b>D\*\* ▲ differs/,
    );
    expect(shown.html).not.to.include("<b>D");
  });

  it("has no page for an act that is not in its list", async () => {
    expect((await amina.get(path("launch"))).status).to.equal(404);
  });

  it("asks a session that is not fresh for a passkey, and does nothing before, but in a sandbox", async () => {
    const ofSandbox = proposalIn(await lift(await freeze()));
    await service.act();
    const list = await brian.get("/approvals");
    const [, proposal = ""] =
      /\/approvals\/(prp_[0-9a-z]{26})"[^>]*><bdi class="text long">Make an/.exec(list.html) ?? [];
    const links = await service.links();
    const link = links.find(({ name }) => name === "Brian")?.link;
    const session = personWith(service.origin, await signInWith(service.origin, link));
    const refused = await act(session, "/acts/approve", `?proposal_id=${proposal}`, { note: "seen" });
    expect(refused.text).to.contain("VERIFICATION_REQUIRED").and.contain("Use your passkey: Approve");
    const forged = { ...refused.formTo("/acts/approve"), response_json: "{}" };
    expect((await session.post("/acts/approve", forged)).text).to.contain("SIGN_IN_REFUSED");
    expect((await brian.get(`/approvals/${proposal}`)).text).to.contain("pending");
    expect(await statusOf()).to.equal("frozen");
    const free = await act(session, "/acts/approve", `?proposal_id=${ofSandbox}`, { note: "seen" });
    expect(free.text).to.contain("Done");
    expect(await statusOf()).to.equal("active");
  });

  it("asks for a passkey to find a person, and for none to find a payment", async () => {
    const { organizationId: live } = await makeTenant(keys(service.running.database, now), "Live");
    const link = (await service.links()).find(({ name }) => name === "Amina")?.link;
    const session = personWith(service.origin, await signInWith(service.origin, link));
    const find = async (text: string, given: object = {}) => {
      const form = (await session.get(`/${live}`)).formTo(`/${live}/find`);
      return session.post(`/${live}/find`, { ...form, text, ...given });
    };
    const refused = await find("0712345678");
    expect(refused.text).to.contain("VERIFICATION_REQUIRED").and.contain("Use your passkey: Find");
    const forged = { ...refused.formTo(`/${live}/find`), response_json: "{}" };
    expect((await session.post(`/${live}/find`, forged)).text).to.contain("SIGN_IN_REFUSED");
    expect((await find("RKTQDM7W99")).text).to.contain("No match for");
  });
});
