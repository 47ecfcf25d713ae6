import { X509Certificate } from "node:crypto";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Cell } from "../../../src/storage/database.js";
import { payments } from "../../../src/storage/rails/payments.js";
import { CERTIFICATE_FILE } from "../../daraja/given.js";
import { execute, openDatabaseAt } from "../../support/databases.js";
import { createAccount } from "../../support/operations/accounts.js";
import { beginPayment, failPayment, mint, redeem } from "../../support/operations/transactions.js";
import { type Ended, kesc, kescJson, Place } from "../../support/service/kesc.js";
import { tellBalance } from "../../support/service/with-rails.js";

const SECRET = "x-very-secret-x";
const DAY_MILLIS = 86_400_000;
const NOTE = ["--note", "case 17"];
const FINGERPRINT = new X509Certificate(readFileSync(CERTIFICATE_FILE)).fingerprint256;

interface AccountJson {
  readonly id: RailAccountId;
  readonly organization_id: OrganizationId;
  readonly rail: string;
  readonly is_default: boolean;
  readonly payouts: string;
}

describe("kesc rail", () => {
  let place: Place;
  let settingsFile: string;
  let credentialsFile: string;
  beforeEach(async () => {
    place = await Place.migrated();
    copyFileSync(CERTIFICATE_FILE, join(place.folder, "cert.pem"));
    settingsFile = join(place.folder, "settings.json");
    credentialsFile = join(place.folder, "credentials.json");
    writeSettings();
    writeCredentials();
  });
  afterEach(() => {
    place.remove();
  });

  function writeSettings(given: object = {}): void {
    const settings = {
      baseUrl: "http://127.0.0.1:8090",
      collectShortcode: "174379",
      payOutShortcode: "600992",
      initiatorName: "testapi",
      certificateFile: "cert.pem",
      ...given,
    };
    writeFileSync(settingsFile, JSON.stringify(settings));
  }

  function writeCredentials(given: object = {}): void {
    const names = ["consumerKey", "consumerSecret", "passkey", "initiatorPassword"];
    const credentials = { ...Object.fromEntries(names.map((name) => [name, `${SECRET}${name}`])), ...given };
    writeFileSync(credentialsFile, JSON.stringify(credentials), { mode: 0o600 });
  }

  const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MILLIS).toISOString().slice(0, 10);
  /** The simulator is none of Safaricom's hosts. */
  const variables = (): Place["variables"] => ({ ...place.variables, KESC_RAIL_HOSTS: "127.0.0.1" });
  const rail = (...args: readonly string[]): Promise<Ended> => kesc(["rail", ...args], variables());
  const create = async (name: string, ...args: readonly string[]): Promise<OrganizationId> =>
    (await kescJson<{ id: OrganizationId }>(["org", "create", "--name", name, ...args], place.variables)).id;
  const mpesaOf = (org: string, { days = 90 } = {}): readonly string[] => {
    const files = ["--settings", settingsFile, "--credentials", credentialsFile];
    return ["set", "mpesa", "--org", org, ...files, ...NOTE, "--credentials-expire", dayIn(days)];
  };
  const list = (): Promise<readonly AccountJson[]> => kescJson(["rail", "list"], place.variables);
  const statusOf = async (org: string): Promise<Readonly<Record<string, unknown>>> => {
    const [status] = await kescJson<readonly Record<string, unknown>[]>(["rail", "status", "--org", org], variables());
    return status ?? {};
  };

  async function inCell<Result>(work: (cell: Cell) => Promise<Result>): Promise<Result> {
    const database = await openDatabaseAt(place.databaseUrl);
    try {
      return await work(database.cells[0]);
    } finally {
      await database.close();
    }
  }

  it("sets the sandbox for a sandbox organization, and direct again", async () => {
    const organizationId = await create("Tests", "--sandbox");
    expect((await rail("list")).stdout).to.match(/^No accounts at rails/);
    const set = await rail("set", "sandbox", "--org", "Tests", ...NOTE);
    expect(set).to.include({ code: 0, stderr: "" });
    expect(set.stdout).to.contain(`Set the account of ${organizationId} ("Tests") at the rail sandbox.`);
    expect(set.stdout).to.contain("Calls must name it.");
    expect(await list()).to.have.lengthOf(1);

    expect((await rail("set", "sandbox", "--org", "Tests", "--default", ...NOTE)).stdout).to.contain(
      "It is the default rail",
    );
    const [account] = await list();
    expect(account).to.include({ organization_id: organizationId, rail: "sandbox", is_default: true, payouts: "auto" });
    expect((await rail("list")).stdout).to.contain(`${organizationId}  sandbox  yes      auto     never`);

    const to = (name: string): Promise<Ended> => rail("default", name, "--org", "Tests", ...NOTE);
    expect((await to("direct")).stdout).to.match(/^Calls of org_\w+ \("Tests"\) that name no rail use direct\./);
    expect((await to("direct")).stdout).to.match(/that name no rail used direct before\.\n$/);
    expect((await list())[0]?.is_default).to.equal(false);
    expect((await to("sandbox")).stdout).to.match(/that name no rail use sandbox\./);
    expect((await list())[0]?.is_default).to.equal(true);
    expect((await to("mpesa")).stderr).to.equal(
      "The organization has no account at the rail mpesa. To list the accounts at rails: kesc rail list\n",
    );
    expect(await kesc(["verify"], place.variables)).to.include({ code: 0 });
  });

  it("sets M-Pesa, shows nothing secret, and keeps what a new password does not name", async () => {
    await create("Duka");
    const set = await rail(...mpesaOf("Duka"), "--default", "--begin-within", "5m", "--confirm-above", "100.50");
    expect(set.code, set.stderr).to.equal(0);
    expect((await rail("close", "--org", "Duka", "--rail", "mpesa", "--note", "8006")).code).to.equal(0);

    writeCredentials({ initiatorPassword: `${SECRET}new` });
    const again = await kescJson(["rail", ...mpesaOf("Duka"), "--resolve-alone-max", "7"], variables());
    expect(again).to.deep.include({ is_default: true, payouts: "closed", payouts_note: "8006" });
    const terms = "begin_within_millis AS begin, confirm_above_cents AS confirm, resolve_alone_max_cents AS alone";
    expect(await inCell((cell) => cell.reader.rows(`SELECT ${terms} FROM rail_accounts`))).to.deep.equal([
      { begin: 300_000, confirm: 10_050, alone: 700 },
    ]);
    const outputs = [set, await rail("list"), await rail("status", "--org", "Duka")];
    const all = outputs.map(({ stdout, stderr }) => stdout + stderr).join() + JSON.stringify(again);
    expect(all).not.to.contain(SECRET);
    const stored = await inCell((cell) => cell.reader.rows<{ settings: string }>("SELECT settings FROM rail_accounts"));
    expect(stored[0]?.settings).to.contain("BEGIN CERTIFICATE").and.not.contain(SECRET);
  });

  it("opens, closes and leaves payouts to the breaker", async () => {
    await create("Tests", "--sandbox");
    await rail("set", "sandbox", "--org", "Tests", ...NOTE);
    const account = ["--org", "Tests", "--rail", "sandbox"];
    for (const [command, payouts, words] of [
      ["close", "closed", "do not begin"],
      ["open", "open", "begin, whatever is unknown"],
      ["auto", "auto", "begin, unless too many"],
    ] as const) {
      const set = (): Promise<Ended> => rail(command, ...account, "--note", `to ${command}`);
      expect((await set()).stdout).to.contain(words);
      expect((await set()).stdout).to.contain(`were ${payouts} before, with this note.`);
      expect(await statusOf("Tests")).to.nested.include({
        "account.payouts": payouts,
        "account.payouts_note": `to ${command}`,
        begins_payouts: payouts !== "closed",
      });
    }
    const unknown = await rail("close", "--org", "Tests", "--rail", "mpesa", ...NOTE);
    expect(unknown).to.include({ code: 1, stdout: "" });
    expect(unknown.stderr).to.contain("has no account at the rail mpesa");
  });

  it("shows what is open and unknown, the balance, and credentials that expire soon", async () => {
    const organizationId = await create("Duka");
    expect((await rail(...mpesaOf("Duka", { days: 10 }), "--default")).code).to.equal(0);
    const [account] = await list();
    const railAccountId = account?.id ?? ("" as RailAccountId);
    const balance = { accounts: [{ name: "Utility Account", currency: "KES", availableCents: 123_456 }] };
    const now = toUnixMillis(Date.now());
    const unknownId = await inCell(async (cell) => {
      const made = createAccount(organizationId, "amina");
      const of = { organizationId, accountId: made.newAccountId, amount: "10.00" };
      const onRail = { ...of, rail: "mpesa" as never, terms: { railAccountId } };
      const [old, waiting] = [redeem({ ...onRail, reference: "old" }), redeem({ ...onRail, reference: "waiting" })];
      const funds = mint({ ...of, amount: "100.00", reference: "funds" });
      await cell.committer.commit([made, funds, old, waiting], now);
      const begun = beginPayment(organizationId, old.newTransactionId, 1);
      await cell.committer.commit([begun], now);
      const state = { transactionId: old.newTransactionId, state: "SENDING", checks: 0 } as const;
      await payments(cell).reschedule(state, { dueAt: now, checks: 1, code: "OPEN" });
      await tellBalance(cell, railAccountId, { json: JSON.stringify(balance), at: toUnixMillis(now - 3 * 60_000) });
      return old.newTransactionId;
    });

    const aged = `UPDATE payments SET begun_at = ${String(now - 16 * 60_000)} WHERE begun_at IS NOT NULL`;
    await execute({ engine: "sqlite", filename: place.databaseFile }, aged);

    const { stdout } = await rail("status", "--org", "Duka");
    expect(stdout).to.contain(`mpesa of ${organizationId} ("Duka"), ${railAccountId}`);
    for (const line of [
      /usable +yes/,
      /base url +http:\/\/127\.0\.0\.1:8090/,
      /collect shortcode +174379\n +pay out shortcode +600992/,
      new RegExp(`certificate sha256 +${FINGERPRINT}`),
      /default rail +yes/,
      /payouts +auto: HELD, because too many outcomes are unknown/,
      /open payments +2/,
      /unknown payouts +1, the oldest begun 1[67] minutes ago/,
      /credentials +expire .*: SOON\. Set a new password/,
      /balance +Utility Account KES 1234\.56 \([34] minutes ago\)/,
      /Payouts of unknown outcome:\n +txn_\w+\n +Ask the rail .* kesc transaction resolve txn_… .* --org org_/,
    ]) {
      expect(stdout).to.match(line);
    }
    const status = await statusOf("Duka");
    expect(status).to.deep.include({
      problem: null,
      credentials_expire_soon: true,
      open_payments: "2",
      unknown_payouts: "1",
      unknown_transaction_ids: [unknownId],
      begins_payouts: false,
    });
    expect(status).to.nested.include({ "balances[0].name": "Utility Account", "balances[0].available": "1234.56" });
    expect(JSON.parse(String(status["settings"]))).to.include({ collectShortcode: "174379" });
    const other = await rail("status", "--org", "Duka", "--rail", "sandbox");
    expect(other).to.include({ code: 0 });
    expect(other.stdout).to.match(/^No accounts at rails/);

    // The new shortcodes would not know the payment that is under way.
    writeSettings({ payOutShortcode: "600993" });
    const moved = await rail(...mpesaOf("Duka"));
    expect(moved).to.include({ code: 1, stdout: "" });
    expect(moved.stderr).to.match(/^Payments over mpesa are under way: 1\. .* kesc rail status --org ORG\n$/);
    writeSettings();
    expect((await rail(...mpesaOf("Duka"))).code).to.equal(0);
    await inCell((cell) => cell.committer.commit([failPayment(organizationId, unknownId)], now));
    writeSettings({ payOutShortcode: "600993" });
    expect((await rail(...mpesaOf("Duka"))).code).to.equal(0);
  });

  it("says that settings were changed in the database: status, doctor and verify find it", async () => {
    const organizationId = await create("Duka");
    expect((await rail(...mpesaOf("Duka"))).code).to.equal(0);
    const [account] = await list();
    const forged = "replace(settings, '127.0.0.1:8090', '127.0.0.1:8192')";
    await execute(
      { engine: "sqlite", filename: place.databaseFile },
      `UPDATE rail_accounts SET settings = ${forged}, updated_at = updated_at + 1`,
    );

    const words = `The account ${String(account?.id)} was changed in the database`;
    expect((await rail("status", "--org", "Duka")).stdout).to.match(/ {2}usable +NO: The account rail_/);
    expect((await statusOf("Duka"))["problem"]).to.contain(words);
    const doctor = await kesc(["doctor"], variables());
    expect(doctor.stdout).to.contain(`fail  rails`).and.contain(words);
    const after = await kesc(["verify"], place.variables);
    expect(after.code).to.equal(1);
    expect(after.stdout + after.stderr)
      .to.contain("rail_accounts")
      .and.contain(organizationId);
  });

  it("refuses a shortcode that another organization has at the same service", async () => {
    const first = await create("First");
    await create("Second");
    expect((await rail(...mpesaOf("First"))).code).to.equal(0);
    writeSettings({ collectShortcode: "600992", payOutShortcode: "111111" });
    const refused = await rail(...mpesaOf("Second"));
    expect(refused).to.include({
      code: 1,
      stdout: "",
      stderr: `The shortcode 600992 at http://127.0.0.1:8090 belongs to ${first} already.\n`,
    });
    expect(await list()).to.have.lengthOf(1);
    writeSettings({ baseUrl: "http://127.0.0.1:8091" });
    expect((await rail(...mpesaOf("Second"))).code).to.equal(0);
  });

  it("sets a bank, which has settings and no credentials", async () => {
    const organizationId = await create("Bank");
    const file = join(place.folder, "bank.json");
    const payer = { place: "KCB 1234", bankCode: "01", branchCode: "100", account: "1100998877", holder: "Acme Ltd" };
    const settings = { ...payer, form: "pain.001.001.09", limits: { min: "100.00", max: "20000000.00" } };
    writeFileSync(file, JSON.stringify(settings));
    const set = await rail("set", "bank", "--org", "Bank", "--settings", file, ...NOTE);
    expect(set, set.stderr).to.include({ code: 0, stderr: "" });
    expect(set.stdout).to.contain(`Set the account of ${organizationId} ("Bank") at the rail bank.`);
    expect((await rail("status", "--org", "Bank")).stdout).to.match(/usable +yes\n +place +KCB 1234\n/);
    writeFileSync(file, JSON.stringify({ ...settings, bankCode: "99" }));
    expect((await rail("set", "bank", "--org", "Bank", "--settings", file, ...NOTE)).stderr).to.contain(
      "bankCode must be the 2 digits of a bank of Kenya",
    );
  });

  it("refuses wrong options and files, one sentence for each problem", async () => {
    await create("Duka");
    await create("Tests", "--sandbox");
    const refuse = async (args: readonly string[], words: RegExp): Promise<void> => {
      const refused = await rail(...args);
      expect(refused, args.join(" ")).to.include({ code: 2, stdout: "" });
      expect(refused.stderr).to.match(words).and.not.contain(SECRET);
    };
    for (const [args, words] of [
      [["set", "sandbox", "--org", "Duka"], /'--note <text>' not specified/],
      [["set", "sandbox", "--org", "Duka", ...NOTE], /only sandbox organizations can have it\.\n$/],
      [
        ["set", "mpesa", "--org", "Duka", ...NOTE],
        /settings is required .*; credentials is required .*; credentials_expire_at is required /,
      ],
      [
        ["set", "direct", "--org", "Duka", ...NOTE],
        /^There is no rail direct\. There are: sandbox, mpesa, bank\. .* kesc rail default direct --org ORG --note TEXT\n$/,
      ],
      [
        ["set", "sandbox", "--org", "Tests", ...NOTE, "--credentials-expire", dayIn(9)],
        /credentials_expire_at must be empty: the rail sandbox has none\.\n$/,
      ],
      [["set", "bank", "--org", "Duka", ...NOTE], /settings is required for this rail\.\n$/],
      [mpesaOf("Duka", { days: -2 }), /credentials_expire_at must be in the future\.\n$/],
      [[...mpesaOf("Duka").slice(0, -1), "2027-02-31"], /It must be a day such as 2027-01-31/],
      [[...mpesaOf("Duka"), "--confirm-above", "-1"], /It must be more than zero/],
    ] as const)
      await refuse(args, words);

    chmodSync(credentialsFile, 0o644);
    await refuse(mpesaOf("Duka"), /Others may read .*credentials\.json, which holds secrets\. Run: chmod 600 /);
    chmodSync(credentialsFile, 0o600);
    writeCredentials({ passkey: undefined, consumerKey: "" });
    await refuse(
      mpesaOf("Duka"),
      /credentials\.json is wrong:\n {2}consumerKey must be .*\n {2}passkey is missing\.\n/,
    );
    writeCredentials();
    for (const [settings, words] of [
      [
        { certificateFile: undefined, passkey: SECRET },
        /settings\.json is wrong:\n {2}certificateFile is missing\.\n {2}passkey is not a field that is known\.\n/,
      ],
      [{ certificateFile: "none.pem" }, /The file .*none\.pem cannot be read \(ENOENT\)/],
      [
        { baseUrl: undefined, environment: "sandbox" },
        /A live organization cannot use the environment sandbox of M-Pesa/,
      ],
      [
        { baseUrl: "https://proxy.example.com" },
        /baseUrl must be https:\/\/api\.safaricom\.co\.ke, unless KESC_RAIL_HOSTS names its host\./,
      ],
    ] as const) {
      writeSettings(settings);
      await refuse(mpesaOf("Duka"), words);
    }
    writeFileSync(settingsFile, "[]");
    await refuse(mpesaOf("Duka"), /settings\.json must hold a JSON object/);
    expect(await list()).to.deep.equal([]);
  });
});
