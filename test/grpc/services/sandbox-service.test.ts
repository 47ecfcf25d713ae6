import { expect } from "chai";

import { SandboxServiceService as rpcs } from "../../../src/gen/kesc/v1/sandbox_service.js";
import {
  ORGANIZATION,
  serve,
  type ServerUnderTest,
  transaction,
  TRANSACTION_ID,
} from "../../support/service/grpc-server.js";
import { MemoryRails, SANDBOX, storedPayment } from "../../support/service/memory-rails.js";

const PAYMENT = { transactionId: TRANSACTION_ID, organizationId: ORGANIZATION };

describe("grpc: SandboxService/AdvanceTransaction", () => {
  let rails: MemoryRails;
  let under: ServerUnderTest;
  let rail = SANDBOX;

  beforeEach(async () => {
    rail = SANDBOX;
    rails = new MemoryRails();
    rails.stored.set(TRANSACTION_ID, storedPayment(PAYMENT));
    under = await serve({
      rails,
      reads: {
        transaction: (organizationId, id) =>
          Promise.resolve(organizationId === ORGANIZATION && id === TRANSACTION_ID ? transaction({ rail }) : undefined),
      },
    });
  });
  afterEach(() => under.close());

  const advance = (transaction_id: string) => under.grpc.call(rpcs.advanceTransaction, { transaction_id });

  it("moves an open order on, and the settlement looks at it at once", async () => {
    const { response, replayed } = await advance(TRANSACTION_ID);
    expect([response?.transaction?.id, replayed]).to.deep.equal([TRANSACTION_ID, false]);
    expect([rails.advanced, rails.wakes]).to.deep.equal([[TRANSACTION_ID], 1]);
  });

  it("returns an order that has ended as a replay", async () => {
    rails.stored.set(TRANSACTION_ID, storedPayment(PAYMENT, { state: "ENDED" }));
    const { response, replayed } = await advance(TRANSACTION_ID);
    expect([response?.transaction?.id, replayed, rails.wakes]).to.deep.equal([TRANSACTION_ID, true, 0]);
  });

  it("refuses a transaction of any other rail, and one of nobody", async () => {
    rail = "mpesa" as typeof SANDBOX;
    const other = await advance(TRANSACTION_ID);
    expect(other).to.deep.include({
      reason: "RAIL_NOT_SANDBOX",
      facts: { transaction_id: TRANSACTION_ID, rail: "mpesa" },
    });
    expect((await advance("txn_7zzzzzzzzzzzzzzzzzzzzzzzzz")).reason).to.equal("TRANSACTION_NOT_FOUND");
    expect(rails.advanced).to.deep.equal([]);
  });
});
