import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { newAccountId } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { type Ended, kesc, type Variables } from "../support/service/kesc.js";
import { TcpForwarder } from "../support/tcp-forwarder.js";
import { ALL_PROPOSALS, type GivenOperator, newKey, type OperatorService, startOperatorService } from "./given.js";

describe("kesc org, key, operator and proposal at a server", () => {
  let service: OperatorService;
  let alice: GivenOperator;
  let bob: GivenOperator;
  let database: Variables;

  before(async () => {
    service = await startOperatorService("sqlite");
    alice = await service.operator("Alice", "admin");
    bob = await service.operator("Bob", "approver");
    database = { DATABASE_URL: service.opened.url, KESC_MASTER_KEY_FILE: TEST_MASTER_KEY_FILE };
  });
  after(() => service.dispose());

  /** Runs a command as the operator. It has no database that it could use instead. */
  const as = ({ key }: Pick<GivenOperator, "key">, ...args: string[]): Promise<Ended> =>
    kesc(args, {
      DATABASE_URL: "sqlite:/nowhere/kesc.db",
      KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "",
      KESC_OPERATOR_KEY: key,
    });

  it("print the same as in the database", async () => {
    const tenant = service.tenant.organizationId;
    const accountId = newAccountId();
    const create = createAccount(tenant, "amina", { newAccountId: accountId });
    await service.opened.cell.committer.commit([create], toUnixMillis(Date.now()));
    const commands = [
      ["org", "list"],
      ["org", "list", "--json"],
      ["key", "list", "--org", tenant],
      ["org", "journal", tenant],
      ["org", "journal", tenant, "--own", "--json"],
      ["org", "find", tenant, "amina"],
      ["org", "find", tenant, "#1", "--json"],
      ["operator", "list"],
      ["operator", "acts", "--json"],
      ["operator", "sessions"],
      ["org", "attention", tenant],
      ["rail", "list"],
      ["rail", "status", "--org", tenant],
      ["supply"],
      ["book", "list"],
      ["reserve", "list", tenant, "--json"],
      ["seal", "list", "--json"],
      ["account", "export", accountId, "--org", tenant],
      ["account", "export", accountId, "--org", tenant, "--json"],
      ["org", "endpoints", tenant, "--json"],
      ["limits", "show", tenant, "--json"],
      ["proposal", "list", "--all"],
    ];
    for (const args of commands) {
      // One after the other: the export by an operator leaves a row, which both then show.
      const there = await as(alice, ...args);
      const here = await kesc(args, database);
      expect(there, args.join(" ")).to.deep.equal(here);
      expect(here.code).to.equal(0);
    }
  });

  it("find a customer and a row, and count what waits", async () => {
    const tenant = service.tenant.organizationId;
    expect((await as(alice, "org", "find", tenant, "0712345678")).stdout).to.match(/^account +acc_\w+ +active/im);
    expect((await as(alice, "org", "find", tenant, "row-1")).stdout).to.match(/^row +1 +organization\.created/m);
    expect((await as(alice, "org", "find", tenant, "nobody")).stdout).to.equal("Nothing has this text.\n");
    const { code, stdout } = await as(alice, "org", "overview", tenant);
    expect([code, stdout]).to.deep.include(0).and.to.have.nested.property("1").that.contains("waiting_deposits");
  });

  it("propose, and another person approves", async () => {
    const tenant = service.tenant.organizationId;
    const made = await as(alice, "key", "create", "--org", tenant, "--name", "k", "--all-scopes", "--never-expires");
    expect(made.code, made.stderr).to.equal(0);
    const [id = ""] = /prp_\w+/.exec(made.stdout) ?? [];
    const [secret = ""] = /kesc_0_[A-Za-z0-9_-]{43}/.exec(made.stdout) ?? [];
    expect((await service.publicly.call("ListAccounts", {}, { key: secret })).reason).to.equal("INVALID_API_KEY");
    expect((await as(bob, "proposal", "list")).stdout).to.contain(`Alice (${alice.operator.id})`);
    const own = await as(alice, "proposal", "approve", id);
    expect([own.code, own.stderr]).to.deep.equal([
      1,
      `You have made the proposal ${id}, or it is about yourself. Another person must approve it.\n`,
    ]);
    const approval = await as(bob, "proposal", "approve", id);
    expect(approval.stdout, approval.stderr).to.match(
      /^Done, as Alice \(opr_\w{26}\) proposed: createApiKey of org_\w+: API key: k, scopes: .+, expires: never/,
    );
    const shown = await as(bob, "proposal", "show", id);
    expect(shown.stdout, shown.stderr).to.match(
      /state: approved\n(.*\n)* {2}changes:\n {4}API key: k\n {4}scopes: .*accounts:write.*\n {4}expires: never\n/,
    );
    expect((await service.publicly.call("ListAccounts", {}, { key: secret })).code).to.equal(0);
  });

  it("propose in JSON, too, with the resource at the top", async () => {
    const { id } = await createOrganization("Resumed");
    const suspend = ["org", "suspend", id, "--note", "case 17", "--yes", "--json"];
    const suspended = await as(alice, ...suspend);
    expect(JSON.parse(suspended.stdout)).to.include({ id, suspended: true, unchanged: false });
    const proposed = await as(alice, "org", "resume", id, "--note", "closed", "--json");
    const { proposal, ...rest } = JSON.parse(proposed.stdout) as { readonly proposal: object };
    expect(proposal).to.include({ type: "resumeOrganization", state: "pending", proposer_name: "Alice" });
    expect(rest).to.deep.equal({ unchanged: false });
  });

  it("print links and codes with which people sign in", async () => {
    const invite = ["operator", "create", "Ivy", "--role", "viewer,approver", "--invite"];
    const asMachine = ["--on-database", "--note", "the first passkey"];
    const invited = await kesc([...invite, ...asMachine, "--json"], database);
    const { token = "", link = "" } = JSON.parse(invited.stdout) as { token?: string; link?: string };
    expect(link).to.equal(`http://localhost:8081/invitation#${token}`);
    const described = await service.admin[0].call(Sessions.getSignInToken, { token });
    expect(described.response?.operator_name).to.equal("Ivy");
    expect((await as(alice, ...invite)).stdout).to.match(/works once, until .*\n\n {2}http\S+\/invitation#kesc_inv_/);
    const both = await as(alice, ...invite, "--key-sha256", "a".repeat(64));
    expect([both.code, both.stderr]).to.deep.equal([
      2,
      "Give --invite or --key-sha256, not both: an invited person has a passkey.\n",
    ]);
    expect((await as(alice, "operator", "add-passkey", "Bob")).stdout).to.include("/invitation#kesc_inv_");

    const code = await as(bob, "operator", "code", "--json");
    const { code: text = "" } = JSON.parse(code.stdout) as { code?: string };
    const begun = await service.admin[0].call(Sessions.createSession, { response_json: "", code: text });
    const { session, token: sessionToken = "" } = begun.response ?? {};
    expect((await as(bob, "operator", "sessions")).stdout)
      .to.include(session?.id)
      .and.to.include("(code)");
    const end = ["operator", "end-session", session?.id ?? ""];
    expect((await as(alice, ...end)).stdout).to.equal("The session has ended.\n");
    expect((await as(alice, ...end)).stdout).to.equal("There is no such session.\n");
    const headers = { metadata: { authorization: `Bearer ${sessionToken}` } };
    expect((await service.admin[0].call(Rpcs.whoAmI, {}, headers)).reason).to.equal("INVALID_OPERATOR_KEY");
  });

  it("say what is missing, and never print a key", async () => {
    const stranger = await as(newKey(), "org", "list");
    expect([stranger.code, stranger.stderr]).to.deep.equal([
      1,
      "The key or the session is not that of an operator, or it is no longer valid.\n",
    ]);
    const tenant = await as({ key: service.tenant.key }, "org", "list");
    expect(tenant.code).to.equal(2);
    expect(tenant.stderr).not.to.include(service.tenant.key);
    const role = await as(bob, "org", "create", "--name", "Bob's");
    expect([role.code, role.stderr]).to.deep.equal([1, "You lack the role. This call takes one of: admin.\n"]);
    const shown = await as(alice, "operator", "create", "Eve", "--role", "viewer");
    expect(shown.code).to.equal(2);
    expect(shown.stderr).to.include("--key-sha256");
    const remote = { KESC_OPERATOR_SERVER: "192.0.2.1:50052", KESC_OPERATOR_KEY: alice.key, KESC_INSECURE: "true" };
    const plain = await kesc(["org", "list"], remote);
    expect([plain.code, plain.stderr.includes("TLS is off")]).to.deep.equal([2, true]);
  });

  it("are made on the database only if somebody means it, once there are operators", async () => {
    const count = async (): Promise<number> => (await service.stored.organizations()).length;
    const create = ["org", "create", "--name", "Emergency"];
    const before = await count();
    for (const args of [create, [...create, "--on-database"], [...create, "--note", "the server is down"]]) {
      const refused = await kesc(args, database);
      expect(refused, args.join(" ")).to.include({ code: 2, stdout: "" });
      expect(refused.stderr).to.match(/^This database has operators\. .*\n.*--on-database --note TEXT.*was done\.\n$/);
    }
    const tenant = service.tenant.organizationId;
    const certificate = ["key", "create", "--org", tenant, "--certificate", "DNS:a.example", "--all-scopes"];
    expect(await kesc([...certificate, "--never-expires"], database)).to.include({ code: 2, stdout: "" });
    expect(await count()).to.equal(before);

    const note = ["--on-database", "--note", "the server is down"];
    const made = await kesc([...create, ...note], { ...database, KESC_OPERATOR_SERVER: "127.0.0.1:1" });
    expect(made).to.include({ code: 0, stderr: "Done on the database. Note: the server is down\n" });
    expect(await count()).to.equal(before + 1);
    const both = await kesc([...create, ...note, "--server", "127.0.0.1:1"], database);
    expect(both).to.include({ code: 2, stderr: "Give --server or --on-database, not both.\n" });
  });

  it("write the note into the book where the call has one", async () => {
    const { id: organizationId } = await createOrganization("Noted");
    const suspend = ["org", "suspend", organizationId, "--on-database", "--note", "case 9", "--yes"];
    expect(await kesc(suspend, database)).to.include({ code: 0, stderr: "" });
    const acts = await as(alice, "org", "journal", organizationId, "--own", "--limit", "1", "--json");
    const [newest] = JSON.parse(acts.stdout) as readonly { line: object }[];
    expect(newest?.line).to.include({ type: "organization.suspended", actor: "operator", note: "case 9" });
    const elsewhere = await as(alice, "operator", "revoke", "Bob", "--note", "x");
    expect(elsewhere.code).to.equal(2);
    expect(elsewhere.stderr).to.include("--note belongs to --on-database here");
  });

  for (const args of [
    ["operator", "whoami"],
    ["proposal", "approve", "prp_01jd2r6p5vf8ksw3xhb1z7q4ye"],
    ["proposal", "reject", "prp_01jd2r6p5vf8ksw3xhb1z7q4ye"],
  ]) {
    it(`need a person with a key: ${args.join(" ")}`, async () => {
      const { code, stderr } = await kesc(args, database);
      expect(code).to.equal(2);
      expect(stderr).to.match(/ Name the server with --server or KESC_OPERATOR_SERVER\.\n$/);
    });
  }

  it("repeat a lost call once if the repeat changes nothing, and only then", async () => {
    const { id } = await createOrganization("Lost");
    const [, port = ""] = /:(\d+)$/.exec(service.servers[0].operatorAddress ?? "") ?? [];
    const network = await TcpForwarder.start(Number(port));
    const server = ["--server", `127.0.0.1:${String(network.port)}`];
    try {
      // The name of the organization, and then the field `suspended`.
      const suspension = network.loseAnswer(/Lost\x20\x01/);
      const suspended = await as(alice, "org", "suspend", id, "--note", "case 17", "--yes", ...server);
      await suspension;
      expect(suspended.stdout, suspended.stderr).to.equal(`${id} ("Lost") was suspended before.\n`);

      const secret = network.loseAnswer(/kesc_0_/);
      const before = (await service.stored.proposals(ALL_PROPOSALS)).length;
      const create = ["key", "create", "--org", id, "--name", "k", "--all-scopes", "--never-expires"];
      const lost = await as(alice, ...create, ...server);
      await secret;
      expect(lost).to.include({ code: 1, stdout: "" });
      expect(lost.stderr).to.match(/^UNAVAILABLE: .* Look whether it was done before you try again\.\n$/);
      expect(await service.stored.proposals(ALL_PROPOSALS)).to.have.length(before + 1);
    } finally {
      await network.stop();
    }
  });

  async function createOrganization(name: string): Promise<{ readonly id: string }> {
    const made = await as(alice, "org", "create", "--name", name, "--json");
    expect(made.code, made.stderr).to.equal(0);
    return JSON.parse(made.stdout) as { readonly id: string };
  }
});
