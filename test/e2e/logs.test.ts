import { expect } from "chai";

import { startService } from "./service.js";

describe("what the programs print", () => {
  it("has a line for each call in both programs, joined by the request id, and nobody's secrets", async () => {
    const service = await startService("sqlite");
    try {
      const headers = { "x-request-id": "monday-morning" };
      const phone_number = "+254722000111";
      const email = "private@example.com";
      const body = { user_id: "private-user", phone_number, email };
      await service.rest("POST", "/accounts", { body, headers });
      await service.rest("POST", "/accounts", { body: { ...body, phone_number: "bad 0733444555" } });
      await service.rest("GET", `/accounts?email=${email}&phone_number=0722000111`);
      await service.rest("GET", "/accounts", { key: "kesc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" });
      await service.grpc.call("CreateAccount", { ...body, user_id: "" });
      expect(await service.stop()).to.equal(0);

      const lines = service
        .printed()
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const ofOneCall = lines.filter((line) => line["request_id"] === "monday-morning");
      expect(ofOneCall.map((line) => line["method"])).to.have.members(["AccountService/CreateAccount", "POST"]);
      for (const secret of [phone_number.slice(4), "733444555", email, service.a.key, "kesc_aaaa", "private-user"]) {
        expect(service.printed()).to.not.include(secret);
      }
    } finally {
      await service.dispose();
    }
  });
});
