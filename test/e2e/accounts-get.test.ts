import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("GetAccount", (service) => {
  it("returns the account with its balances, the same over REST and gRPC", async () => {
    const id = await newAccount(service(), "1234.50");
    const rest = await service().rest("GET", `/accounts/${id}`);
    expect(rest.status).to.equal(200);
    expect(rest.text).to.include('"available_balance":1234.50');
    const grpc = await service().grpc.call("GetAccount", { account_id: id });
    expect(grpc.response["account"]).to.include({ id, available_balance: "1234.50", held_balance: "0.00" });
  });

  for (const id of ["acc_xyz789", "txn_01jd2r6p5vf8ksw3xhb1z7q4ye", "10.00", "wanjiku's", "é".repeat(128)]) {
    it(`does not find an id that no one gave out: ${id.slice(0, 40)}`, async () => {
      const rest = await service().rest("GET", `/accounts/${encodeURIComponent(id)}`);
      expect(problemOf(rest)).to.deep.equal({ status: 404, code: "ACCOUNT_NOT_FOUND", fields: [] });
      expect(rest.json).to.include({ account_id: id });
      const grpc = await service().grpc.call("GetAccount", { account_id: id });
      expect(grpc).to.include({ code: Status.NOT_FOUND, reason: "ACCOUNT_NOT_FOUND" });
    });
  }

  for (const [what, id, code] of [
    ["129 characters", "x".repeat(129), "TOO_LONG"],
    ["a control character", "acc_\u0007", "FORMAT"],
  ] as const) {
    it(`refuses an id with ${what}`, async () => {
      const rest = await service().rest("GET", `/accounts/${encodeURIComponent(id)}`);
      expect(problemOf(rest)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["account_id"] });
      expect((rest.json["errors"] as { code: string }[])[0]).to.include({ code });
      const grpc = await service().grpc.call("GetAccount", { account_id: id });
      expect(grpc).to.include({ code: Status.INVALID_ARGUMENT });
      expect(grpc.fields?.[0]).to.include({ field: "account_id", code: code.toUpperCase() });
    });
  }
});
