import { expect } from "chai";

import type { Rail } from "../../src/domain/transaction.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { setPayouts } from "../../src/storage/rails/change-rail-accounts.js";
import { eventually } from "../support/eventually.js";
import { describeEachEngine, newKey, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

const EVERY_AMOUNT = { min: 0.01, max: 9_999_999_999_999.99, step: 0.01 };
const DIRECT = { name: "direct", mint: EVERY_AMOUNT, redeem: EVERY_AMOUNT, payouts_closed: false };

describeEachEngine("GetOrganization", (service) => {
  it("tells any key whose it is and what it may do, whatever its scopes", async () => {
    const expiresAt = toUnixMillis(Date.now() + 3_600_000);
    const { id, secret } = await newKey(service(), { scopes: ["transactions:write"], expiresAt });
    const { status, json } = await service().rest("GET", "/organization", { key: secret });
    expect(status).to.equal(200);
    expect(json).to.deep.include({
      id: service().a.organizationId,
      sandbox: false,
      suspended: false,
      default_rail: "direct",
      rails: [DIRECT],
    });
    expect(json["api_key"]).to.deep.include({
      id,
      name: "test",
      scopes: ["transactions:write"],
      expires_at: new Date(expiresAt).toISOString(),
    });
    const { response } = await service().grpc.call("GetOrganization", {}, { key: secret });
    expect(response["organization"]).to.deep.include({ id: json["id"], name: json["name"], default_rail: "direct" });
  });

  it("shows each organization itself alone, and nobody without a key", async () => {
    const { a, b } = service();
    const ids = await Promise.all(
      [a, b].map(async ({ key }) => (await service().rest("GET", "/organization", { key })).json["id"]),
    );
    expect(ids).to.deep.equal([a.organizationId, b.organizationId]);
    expect(problemOf(await service().rest("GET", "/organization", { key: "" }))).to.include({
      status: 401,
      code: "MISSING_API_KEY",
    });
  });
});

describe("GetOrganization of an organization with rails", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const organization = async () => (await service.get("/organization")).json;

  it("shows each rail that can be used now with its amounts, and the default one", async () => {
    const shillings = { min: 1, max: 250_000, step: 1 };
    expect(await organization()).to.deep.include({
      sandbox: true,
      default_rail: "direct",
      rails: [DIRECT, { name: "sandbox", mint: shillings, redeem: { ...shillings, min: 10 }, payouts_closed: false }],
    });
    await service.setSandbox({ isDefault: true });
    await eventually(async () => (await organization())["default_rail"] === "sandbox");
    const { organizationId, running } = service;
    const rail = "sandbox" as Rail;
    const closed = { payouts: "closed", reason: "locked", now: toUnixMillis(Date.now()) } as const;
    await setPayouts(running.database.cells[0], { organizationId, rail }, closed);
    await eventually(async () => {
      const [, sandbox] = (await organization())["rails"] as { payouts_closed: boolean }[];
      return sandbox?.payouts_closed === true;
    });
  });
});
