import { expect } from "chai";

import { kesc, kescJson } from "../../support/service/kesc.js";
import { type Service, sharedService } from "../../support/service/service.js";
import { makeTenant, type Tenant, withKeys } from "../../support/service/tenants.js";

describe("kesc org suspend and resume, and kesc purge", () => {
  let service: Service;
  let tenant: Tenant;
  before(async () => {
    service = await sharedService("sqlite");
    tenant = await withKeys(service.databaseUrl, (keys) => makeTenant(keys, "Suspended"));
  });

  const create = (userId: string): ReturnType<Service["rest"]> => {
    const body = { user_id: userId, phone_number: "0712345678" };
    return service.rest("POST", "/accounts", { key: tenant.key, body });
  };

  it("refuse the calls that write while a server runs, and let it read", async () => {
    const created = await create("amina");
    expect(created.status).to.equal(201);
    const reason = ["--reason", "case 17"];
    const intent = await service.kesc("org", "suspend", "Suspended", ...reason);
    expect(intent).to.include({ code: 2, stdout: "" });
    expect(intent.stderr).to.match(/^This would refuse .* Nothing was done\. To suspend it, add --yes\.\n$/);
    expect((await create("brian")).status).to.equal(201);

    const suspended = await service.kesc("org", "suspend", "Suspended", ...reason, "--yes");
    expect(suspended.stdout).to.match(/^Suspended org_\S+ \("Suspended"\)\. Servers obey at once\.\n$/);
    const refused = await create("carol");
    expect(refused.status).to.equal(403);
    expect(refused.json).to.include({ code: "ORGANIZATION_SUSPENDED" });
    const account = `/accounts/${String(created.json["id"])}`;
    expect((await service.rest("GET", account, { key: tenant.key })).status).to.equal(200);
    const listed = await kescJson<readonly { id: string; suspended: boolean }[]>(["org", "list"], service.variables);
    expect(listed.find(({ id }) => id === tenant.organizationId)).to.include({ suspended: true });

    const resumed = await service.kesc("org", "resume", tenant.organizationId, ...reason);
    expect(resumed.stdout).to.match(/^Resumed org_/);
    expect((await create("carol")).status).to.equal(201);
  });

  it("remove no idempotency key that is young", async () => {
    const { code, stdout } = await kesc(["purge"], service.variables);
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "Removed 0 idempotency keys.\n" });
  });
});
