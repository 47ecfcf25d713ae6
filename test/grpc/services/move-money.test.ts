import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import { DIRECT_RAIL } from "../../../src/domain/transaction.js";
import {
  type MintRequest,
  type TransactionRequest,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import type { Outcome } from "../../../src/ledger/ports/outcome.js";
import { MINT, ORGANIZATION, serve, type ServerUnderTest, transaction } from "../../support/service/grpc-server.js";
import {
  CAPABILITIES,
  MemoryRails,
  railAccount,
  SANDBOX,
  SANDBOX_ACCOUNT_ID,
} from "../../support/service/memory-rails.js";

const { phoneNumbers, ...payable } = CAPABILITIES;
const TERMS = {
  railAccountId: SANDBOX_ACCOUNT_ID,
  payable,
  phoneNumbers,
  payerPhoneNumber: undefined,
  phoneCoolingMillis: 3_600_000,
  destinations: {},
};

describe("grpc: the rail of a movement", () => {
  let rails: MemoryRails;
  let under: ServerUnderTest;
  let outcome: Outcome<ReturnType<typeof transaction>>;

  beforeEach(async () => {
    rails = new MemoryRails();
    rails.accounts.push(railAccount(ORGANIZATION));
    outcome = { kind: "done", resource: transaction({ status: "PENDING", rail: SANDBOX }), replayed: false };
    under = await serve({ rails, submit: () => Promise.resolve(outcome) });
  });
  afterEach(() => under.close());

  const submitted = (): MoveMoney[] => under.submitted.map(({ command }) => command as MoveMoney);

  for (const name of ["mint", "redeem"] as const) {
    it(`is the named one, with its terms, in a ${name}`, async () => {
      const { code } = await under.grpc.call(rpcs[name] as typeof rpcs.mint, { ...MINT, rail: "sandbox" });
      expect(code).to.equal(Status.OK);
      expect(submitted()).to.have.lengthOf(1);
      expect(submitted()[0]).to.deep.include({ name, rail: SANDBOX, isRailNamed: true, railTerms: TERMS });
      expect(rails.wakes).to.equal(1);
    });

    it(`is the organization's default one if a ${name} names none`, async () => {
      rails.default.set(ORGANIZATION, SANDBOX);
      await under.grpc.call(rpcs[name] as typeof rpcs.mint, MINT);
      expect(submitted()[0]).to.deep.include({ rail: SANDBOX, isRailNamed: false, railTerms: TERMS });
    });
  }

  it("is direct if the request says so, whatever is the default, and nobody wakes the settlement", async () => {
    rails.default.set(ORGANIZATION, SANDBOX);
    await under.grpc.call(rpcs.mint, { ...MINT, rail: "direct" });
    expect(submitted()[0]).to.deep.include({ rail: DIRECT_RAIL, isRailNamed: true, railTerms: undefined });
    expect(rails.wakes).to.equal(0);
  });

  it("is never direct because the default one cannot be used: the ledger refuses a command without terms", async () => {
    rails.accounts.length = 0;
    rails.default.set(ORGANIZATION, SANDBOX);
    await under.grpc.call(rpcs.mint, MINT);
    expect(submitted()[0]).to.deep.include({ rail: SANDBOX, isRailNamed: false, railTerms: undefined });
  });

  it("has the terms of another organization's account for nobody", async () => {
    rails.accounts.splice(0, 1, railAccount("org_other" as typeof ORGANIZATION));
    await under.grpc.call(rpcs.mint, { ...MINT, rail: "sandbox" });
    expect(submitted()[0]).to.deep.include({ rail: SANDBOX, railTerms: undefined });
  });

  it("may have a payer, in any usual form of a phone number", async () => {
    await under.grpc.call(rpcs.mint, { ...MINT, rail: "sandbox", payer_phone_number: "0733 111 222" });
    expect(submitted()[0]?.railTerms).to.deep.equal({ ...TERMS, payerPhoneNumber: "+254733111222" });
  });

  for (const [what, changes, fields] of [
    ["a payer on the named direct rail", { rail: "direct", payer_phone_number: "0733111222" }, ["payer_phone_number"]],
    ["a payer on the usual direct rail", { payer_phone_number: "0733111222" }, ["payer_phone_number"]],
    ["a payer that is no phone number", { rail: "sandbox", payer_phone_number: "17" }, ["payer_phone_number"]],
    ["a rail that is no name", { rail: "M-Pesa!" }, ["rail"]],
    ["a rail with a name that is too long", { rail: "r".repeat(33) }, ["rail"]],
  ] as const) {
    it(`is a problem of a field with ${what}, alone and in a batch`, async () => {
      const request: MintRequest = { ...MINT, ...changes };
      const single = await under.grpc.call(rpcs.mint, request);
      expect(single).to.include({ code: Status.INVALID_ARGUMENT, reason: "INVALID_FIELD" });
      expect(single.fields?.map(({ field }) => field)).to.deep.equal(fields);
      const requests: TransactionRequest[] = [{ movement: { $case: "mint", value: request }, idempotency_key: "" }];
      const { response } = await under.grpc.call(rpcs.batchCreateTransactions, { requests });
      expect(response?.results.map(({ outcome: end }) => end?.$case)).to.deep.equal(["error"]);
      expect(submitted()).to.deep.equal([]);
    });
  }

  it("is in a batch what it is in a single call, because the gateway combines single calls", async () => {
    rails.default.set(ORGANIZATION, SANDBOX);
    const requests: TransactionRequest[] = ["", "direct", "sandbox"].map((rail) => ({
      movement: { $case: "mint", value: { ...MINT, rail } },
      idempotency_key: "",
    }));
    await under.grpc.call(rpcs.batchCreateTransactions, { requests });
    expect(submitted().map(({ rail, isRailNamed }) => [rail, isRailNamed])).to.deep.equal([
      ["sandbox", false],
      ["direct", true],
      ["sandbox", true],
    ]);
    expect(rails.wakes).to.equal(2);
  });

  it("wakes nobody for a replay or a refusal", async () => {
    outcome = { ...outcome, replayed: true } as typeof outcome;
    await under.grpc.call(rpcs.mint, { ...MINT, rail: "sandbox" });
    outcome = { kind: "refused", refusal: { reason: "RAIL_NOT_CONFIGURED", rail: SANDBOX } };
    const refused = await under.grpc.call(rpcs.mint, { ...MINT, rail: "sandbox" });
    expect(refused).to.deep.include({ code: Status.FAILED_PRECONDITION, facts: { rail: "sandbox" } });
    expect(rails.wakes).to.equal(0);
  });
});
