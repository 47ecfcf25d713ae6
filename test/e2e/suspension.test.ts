import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import { readContract } from "../../src/grpc/messages/contract.js";
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
  .map(({ name }) => name.split("/")[1] ?? "")
  // An order of the sandbox moves no money: its rail is a suspended organization's, too.
  // Shillings that a rail has received are booked all the same.
  // A test event changes nothing of a book.
  .filter(
    (name) => !["BatchCreateTransactions", "AdvanceTransaction", "CreateDeposit", "SendTestEvent"].includes(name),
  );

describeEachEngine("a suspended organization", (service) => {
  let tenant: Tenant;
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
    const { code, stderr } = await service().kesc("org", "suspend", tenant.organizationId, ...NOTE, "--yes");
    expect(code, stderr).to.equal(0);
  });
  after(() => {
    place.remove();
  });

  it("gets ORGANIZATION_SUSPENDED from each rpc that writes, a repeat among them", async () => {
    const move = { account_id, amount: "1.00", reference: fresh("late") };
    const requests: Readonly<Record<string, object>> = {
      CreateAccount: { user_id: "amina", phone_number: "0712345678" },
      UpdateAccount: { account_id, phone_number: "0733111222" },
      FreezeAccount: { account_id, reason: 3 },
      UnfreezeAccount: { account_id, freeze_id: "frz_none" },
      CloseAccount: { account_id },
      CreateDestination: { account_id, kind: 2, number: "5432321" },
      RemoveDestination: { account_id, destination_id: "dst_none" },
      Mint: { ...move, amount: "10.00", reference: "first" },
      Redeem: move,
      ReverseTransaction: { transaction_id: minted["id"] },
      CancelTransaction: { transaction_id: minted["id"] },
      ResolveTransaction: { transaction_id: minted["id"], failed: {} },
      ClearFlag: { transaction_id: minted["id"], flag: 1 },
      CreateWebhookEndpoint: { url: "https://localhost/suspended" },
      UpdateWebhookEndpoint: { webhook_endpoint_id: "whe_none", description: "new" },
      DeleteWebhookEndpoint: { webhook_endpoint_id: "whe_none" },
      RotateWebhookSecret: { webhook_endpoint_id: "whe_none" },
      ResendWebhookDelivery: { webhook_endpoint_id: "whe_none", sequence: 1 },
      ReplayWebhookEvents: { webhook_endpoint_id: "whe_none", start_sequence: 1, end_sequence: 2 },
    };
    const reasons = await Promise.all(
      WRITING.map(async (name) => {
        const { code, reason } = await service().grpc.call(name, { ...requests[name] }, { key: tenant.key });
        return [name, code, reason];
      }),
    );
    expect(reasons).to.deep.equal(WRITING.map((name) => [name, 7, "ORGANIZATION_SUSPENDED"]));
    expect(problemOf(await post("/transactions/redeem", move))).to.include({
      status: 403,
      code: "ORGANIZATION_SUSPENDED",
    });
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
