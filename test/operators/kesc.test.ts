import { expect } from "chai";

import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { type Ended, kesc, type Variables } from "../support/service/kesc.js";
import { type GivenOperator, newKey, type OperatorService, startOperatorService } from "./given.js";

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
    const commands = [
      ["org", "list"],
      ["org", "list", "--json"],
      ["key", "list", "--org", tenant],
      ["org", "acts", tenant],
      ["operator", "list"],
      ["operator", "acts", "--json"],
    ];
    for (const args of commands) {
      const [there, here] = await Promise.all([as(alice, ...args), kesc(args, database)]);
      expect(there, args.join(" ")).to.deep.equal(here);
      expect(here.code).to.equal(0);
    }
  });

  it("propose, and another person approves", async () => {
    const tenant = service.tenant.organizationId;
    const made = await as(alice, "key", "create", "--org", tenant, "--name", "k", "--all-scopes", "--never-expires");
    expect(made.code, made.stderr).to.equal(0);
    const [id = ""] = /prp_\w+/.exec(made.stdout) ?? [];
    const [secret = ""] = /kesc_0_[A-Za-z0-9_-]{43}/.exec(made.stdout) ?? [];
    expect((await service.publicly.call("ListAccounts", {}, { key: secret })).reason).to.equal("INVALID_API_KEY");
    const own = await as(alice, "proposal", "approve", id);
    expect([own.code, own.stderr]).to.deep.equal([
      1,
      `The proposal ${id} is your own. Another person must approve it.\n`,
    ]);
    const approval = await as(bob, "proposal", "approve", id);
    expect(approval.stdout, approval.stderr).to.match(/^Done, as Alice proposed: \{"kind":"key\.create"/);
    expect((await service.publicly.call("ListAccounts", {}, { key: secret })).code).to.equal(0);
  });

  it("say what is missing, and never print a key", async () => {
    const stranger = await as(newKey(), "org", "list");
    expect([stranger.code, stranger.stderr]).to.deep.equal([
      1,
      "The key is not that of an operator, or it is no longer valid.\n",
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
});
