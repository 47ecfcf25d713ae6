import { expect } from "chai";

import { fresh, newAccount } from "../support/service/each-engine.js";
import { type Service, sharedService } from "../support/service/service.js";

// The callers of all tests expect the style of a detail. Here both transports say the same.
// The words do not depend on the database: one engine proves it.
describe("the words of a refusal", () => {
  let service: Service;
  let accountId = "";
  const reference = fresh("words");
  const userId = fresh("words");
  const none = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";

  before(async () => {
    service = await sharedService("sqlite");
    accountId = await newAccount(service);
    await service.grpc.call("Mint", { account_id: accountId, amount: "1.00", reference });
    await service.grpc.call("CreateAccount", { user_id: userId, phone_number: "0712345678" });
  });

  const movement = (change: object): object => ({
    account_id: accountId,
    amount: "1.00",
    reference: fresh("w"),
    ...change,
  });

  for (const [name, rpc, path, request] of [
    ["a missing account", "Mint", "/transactions/mint", () => movement({ account_id: none })],
    ["too little money", "Redeem", "/transactions/redeem", () => movement({ amount: "9.99" })],
    [
      "a reference that is used",
      "Mint",
      "/transactions/mint",
      () => movement({ reference, amount: "2.00", description: "x" }),
    ],
    [
      "several bad fields",
      "Mint",
      "/transactions/mint",
      () => movement({ amount: "1.005", reference: "", account_id: "" }),
    ],
    ["bad metadata", "Mint", "/transactions/mint", () => movement({ metadata: { "": "x" } })],
    ["a long value of metadata", "Mint", "/transactions/mint", () => movement({ metadata: { k: "v".repeat(501) } })],
    [
      "a user who has an account",
      "CreateAccount",
      "/accounts",
      () => ({ user_id: userId, phone_number: "0733000000" }),
    ],
    [
      "a bad phone number",
      "CreateAccount",
      "/accounts",
      () => ({ user_id: fresh("w"), phone_number: "1", email: "x" }),
    ],
    ["an empty batch", "BatchCreateTransactions", "/transactions/batch", () => ({ requests: [] })],
  ] as const) {
    it(`are the same over gRPC and REST for ${name}`, async () => {
      const body = request();
      const grpc = await service.grpc.call(rpc, body);
      const rest = await service.rest("POST", path, { body });
      expect(grpc.message).not.to.equal("");
      expect(rest.json["detail"]).to.equal(grpc.message);
    });
  }

  for (const [rpc, path, query, request] of [
    ["ListTransactions", "/transactions", "min_amount=2&max_amount=1", { min_amount: "2", max_amount: "1" }],
    ["ListTransactions", "/transactions", "page_size=1001", { page_size: 1_001 }],
    ["ListTransactions", "/transactions", "metadata[]=1", { metadata: { "": "1" } }],
    ["ListAccounts", "/accounts", "phone_number=1&page_token=x", { phone_number: "1", page_token: "x" }],
  ] as const) {
    it(`are the same over gRPC and REST for GET ${path}?${query}`, async () => {
      const grpc = await service.grpc.call(rpc, request);
      const rest = await service.rest("GET", `${path}?${query}`);
      expect(grpc.reason).to.equal("INVALID_FIELD");
      expect(rest.json["detail"]).to.equal(grpc.message);
    });
  }
});
