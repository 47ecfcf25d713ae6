import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { readContract } from "../../src/grpc/messages/contract.js";
import { bytesOf, jsonMethod, routeOf } from "../support/callers/contract-requests.js";
import { makeThings, rpcRequest } from "../support/callers/rpc-requests.js";
import type { Things } from "../support/operations/things.js";
import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";
import { kesc, Place } from "../support/service/kesc.js";
import { makeTenant, type Tenant, withKeys } from "../support/service/tenants.js";

const NOTE = ["--note", "case 17"];

/** The rpcs that write to the book, and return one resource. */
const WRITING = readContract()
  .services.flatMap(({ rpcs }) => rpcs)
  .filter(
    ({ requiredScope, streams }) =>
      streams === "none" && requiredScope !== undefined && !requiredScope.endsWith(":read"),
  )
  .map(({ name }) => name)
  // An order of the sandbox moves no money: its rail is a suspended organization's, too.
  // Shillings that a rail has received are booked all the same.
  // A test event changes nothing of a book.
  .filter((name) => !/\/(BatchCreateTransactions|AdvanceTransaction|CreateDeposit|SendTestEvent)$/.test(name));

describeEachEngine("a suspended organization", (service) => {
  let tenant: Tenant;
  let things: Things;
  let account_id = "";
  let minted: Readonly<Record<string, unknown>> = {};
  let place: Place;

  const post = (path: string, body: object): ReturnType<ReturnType<typeof service>["rest"]> =>
    service().rest("POST", path, { key: tenant.key, body });

  before(async () => {
    place = new Place();
    tenant = await withKeys(service().databaseUrl, (keys) => makeTenant(keys, fresh("Suspended")));
    account_id = String((await post("/accounts", { user_id: "amina", phone_number: "0712345678" })).json["id"]);
    minted = (await post("/transactions/mint", { account_id, amount: 10, reference: "first" })).json;
    things = await makeThings(service().rest.bind(service()), tenant.key);
    const { code, stderr } = await service().kesc("org", "suspend", tenant.organizationId, ...NOTE, "--yes");
    expect(code, stderr).to.equal(0);
  });
  after(() => {
    place.remove();
  });

  it("gets ORGANIZATION_SUSPENDED from each rpc that writes, a repeat among them", async () => {
    const reasons = await Promise.all(
      WRITING.map(async (name) => {
        const { rpc } = routeOf(name);
        const request = bytesOf(rpc.input, rpcRequest(name).request(things));
        const { code, reason } = await service().grpc.call(jsonMethod(rpc), request, { key: tenant.key });
        return [name, code, reason];
      }),
    );
    expect(reasons).to.deep.equal(WRITING.map((name) => [name, 7, "ORGANIZATION_SUSPENDED"]));
    for (const reference of ["first", fresh("late")]) {
      const refused = await post("/transactions/mint", { account_id, amount: 10, reference });
      expect(problemOf(refused)).to.include({ status: 403, code: "ORGANIZATION_SUSPENDED" });
    }
  });

  it("gets it for each row of a batch and of an import", async () => {
    const requests = ["one", "two"].map((reference) => ({ mint: { account_id, amount: 1, reference } }));
    const { status, json } = await post("/transactions/batch", { requests });
    const results = json["results"] as readonly { readonly error: { readonly code: string } }[];
    expect([status, ...results.map(({ error }) => error.code)]).to.deep.equal([
      200,
      "ORGANIZATION_SUSPENDED",
      "ORGANIZATION_SUSPENDED",
    ]);

    const file = join(place.folder, "file.csv");
    writeFileSync(file, `type,account_id,amount,reference\nmint,${account_id},1.00,row\n`);
    const imported = await kesc(["import", file], { ...service().variables, KESC_API_KEY: tenant.key });
    expect(imported).to.include({ code: 1, stdout: "1 lines: 0 new, 0 done before.\n" });
    expect(imported.stderr).to.contain(`${file}:2: ORGANIZATION_SUSPENDED: The operator has suspended`);
  });

  it("reads as before, and works again once it is resumed", async () => {
    const get = (path: string): ReturnType<typeof post> => service().rest("GET", path, { key: tenant.key });
    const { json } = await get(`/transactions?account_id=${account_id}`);
    expect(json["transactions"]).to.deep.equal([minted]);
    expect((await get(`/accounts/${account_id}`)).json).to.include({ status: "active", available_balance: 10 });
    expect((await get("/organization")).json).to.include({ suspended: true });
    const resumed = await service().kesc("org", "resume", tenant.organizationId, ...NOTE);
    expect(resumed.code, resumed.stderr).to.equal(0);
    const again = await post("/transactions/mint", { account_id, amount: 10, reference: "first" });
    expect([again.status, again.json]).to.deep.equal([200, minted]);
    expect((await post("/transactions/redeem", { account_id, amount: 10, reference: "all" })).status).to.equal(201);
  });
});
