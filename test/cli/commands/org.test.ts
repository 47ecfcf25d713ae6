import { expect } from "chai";

import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { execute } from "../../support/databases.js";
import { kesc, kescJson, Place, RunningKesc } from "../../support/service/kesc.js";
import { makeTenant, type Tenant, withKeys } from "../../support/service/tenants.js";

const NOTE = ["--note", "case 17"];

interface OrganizationJson {
  readonly id: string;
  readonly sandbox: boolean;
  readonly suspended: boolean;
}

describe("kesc org, key and purge, beside a server", () => {
  let place: Place;
  let server: RunningKesc;
  let address: string;
  before(async () => {
    place = await Place.migrated();
    server = new RunningKesc(["server"], place.variables);
    ({ address } = await server.ready);
  });
  after(async () => {
    await server.end();
    place.remove();
  });

  async function reasonOf(key: string, method = "ListAccounts"): Promise<string | undefined> {
    const caller = new GrpcCaller(address, { key });
    try {
      return (await caller.call(method, {})).reason;
    } finally {
      caller.close();
    }
  }

  const tenantNamed = (name: string): Promise<Tenant> => withKeys(place.databaseUrl, (keys) => makeTenant(keys, name));

  it("suspend and resume an organization once, and say so", async () => {
    const { organizationId } = await tenantNamed("Suspended");
    const org = (...args: string[]): ReturnType<typeof kesc> => kesc(["org", ...args, ...NOTE], place.variables);
    const isSuspended = async (): Promise<boolean | undefined> => {
      const listed = await kescJson<readonly OrganizationJson[]>(["org", "list"], place.variables);
      return listed.find(({ id }) => id === organizationId)?.suspended;
    };
    const named = `${organizationId} ("Suspended")`;

    const intent = await org("suspend", "Suspended");
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.match(/^This would refuse .* Nothing was done\. To do it, add --yes\.\n$/);
    expect(await isSuspended()).to.equal(false);
    expect((await org("resume", "Suspended")).stdout).to.equal(`${named} is not suspended.\n`);

    expect((await org("suspend", "Suspended", "--yes")).stdout).to.equal(
      `Suspended ${named}. No server commits its calls any more.\n`,
    );
    expect(await isSuspended()).to.equal(true);
    expect((await kesc(["org", "list"], place.variables)).stdout).to.contain(`${organizationId}  live, suspended  `);
    expect((await org("suspend", organizationId, "--yes")).stdout).to.equal(`${named} was suspended before.\n`);

    expect((await org("resume", organizationId)).stdout).to.equal(
      `Resumed ${named}. Servers commit its calls again.\n`,
    );
    expect(await isSuspended()).to.equal(false);
  });

  for (const [what, args, code, words] of [
    ["an unknown organization", ["suspend", "nobody", ...NOTE, "--yes"], 1, "There is no organization"],
    ["a missing note", ["suspend", "nobody", "--yes"], 2, "required option '--note <text>' not specified"],
    ["an empty note", ["resume", "nobody", "--note", " "], 2, "It must not be empty."],
  ] as const) {
    it(`refuse ${what}`, async () => {
      const refused = await kesc(["org", ...args], place.variables);
      expect(refused).to.include({ code, stdout: "" });
      expect(refused.stderr).to.contain(words);
    });
  }

  it("make a sandbox, whose keys begin with kesc_test_ and work", async () => {
    const sandbox = await kescJson<OrganizationJson>(
      ["org", "create", "--name", "Tests", "--sandbox"],
      place.variables,
    );
    expect(sandbox).to.include({ sandbox: true, suspended: false });
    const create = ["key", "create", "--org", sandbox.id, "--name", "till", "--all-scopes", "--expires-in", "1h"];
    const { secret: key } = await kescJson<{ readonly secret: string }>(create, place.variables);
    expect(key).to.match(/^kesc_test_0_[A-Za-z0-9_-]{43}$/);
    expect(await reasonOf(key)).to.equal(undefined);
    expect(await reasonOf(key.replace("kesc_test_", "kesc_"))).to.equal("INVALID_API_KEY");
  });

  it("refuse to add a row to a book that is being moved", async () => {
    const { organizationId } = await tenantNamed("Moving");
    const database = { engine: "sqlite", filename: place.databaseFile } as const;
    await execute(database, `UPDATE books SET state = 'MOVING' WHERE organization_id = '${organizationId}'`);
    const refused = await kesc(["org", "suspend", organizationId, ...NOTE, "--yes"], place.variables);
    expect(refused).to.include({
      code: 1,
      stdout: "",
      stderr: "The accounts of the organization are being moved. Nothing was done. Send the request again.\n",
    });
  });

  it("remove no idempotency key that is young", async () => {
    const { code, stdout } = await kesc(["purge"], place.variables);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "Removed 0 idempotency keys.\n" });
    expect(await kescJson(["purge"], place.variables)).to.deep.equal({ idempotency_keys: 0 });
  });

  it("show the last use of a key once the server has stopped", async () => {
    const { organizationId, key } = await tenantNamed("Used");
    const list = ["key", "list", "--org", organizationId];
    const lastUse = async (): Promise<string | null | undefined> =>
      (await kescJson<readonly { readonly last_used_at: string | null }[]>(list, place.variables))[0]?.last_used_at;
    expect((await kesc(list, place.variables)).stdout).to.match(/ LAST USED .*\n.* never /);
    expect(await reasonOf(key)).to.equal(undefined);
    expect(await lastUse()).to.equal(null);
    expect(await server.end()).to.equal(0);
    expect(await lastUse()).to.match(/^\d{4}-\d\d-\d\dT/);
  });
});
