import { expect } from "chai";

import type { Account } from "../../../src/domain/account.js";
import { DEPOSIT_REASONS } from "../../../src/domain/deposit.js";
import type { Rail } from "../../../src/domain/transaction.js";
import { DepositReason, DepositStatus } from "../../../src/gen/kesc/v1/deposit.js";
import { DepositServiceService as rpcs, type ListDepositsRequest } from "../../../src/gen/kesc/v1/deposit_service.js";
import type { DepositFilters, DepositRail } from "../../../src/ledger/ports/reads.js";
import { MPESA_SETTINGS } from "../../operators/given.js";
import { depositReference, receiptNamed } from "../../support/names.js";
import { account, ACCOUNT_ID, deposit, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

describe("grpc: DepositService/ListDeposits", () => {
  const asked: DepositFilters[] = [];
  let under: ServerUnderTest;
  before(async () => {
    under = await serve({
      reads: {
        deposits: (_, filters) => {
          asked.push(filters);
          const ofBank = deposit({ rail: "direct" as Rail, receipt: receiptNamed("kcb-1:7"), reason: "BY_HAND" });
          return Promise.resolve({ rows: [ofBank], nextBeforeSeq: 7, lookedAt: 1 });
        },
      },
    });
  });
  after(() => under.close());

  const list = (given: Partial<ListDepositsRequest>) => under.grpc.call(rpcs.listDeposits, given);

  it("hands the filters on, and shows a receipt as the person gave it", async () => {
    const { response } = await list({
      account_id: ACCOUNT_ID,
      statuses: [DepositStatus.DEPOSIT_STATUS_UNALLOCATED],
      reasons: [DepositReason.DEPOSIT_REASON_BY_HAND],
      min_amount: "1.00",
      max_amount: "2.00",
      receipt: "kcb-1:7",
    });
    expect(asked.at(-1)).to.deep.equal({
      accountId: ACCOUNT_ID,
      status: ["UNALLOCATED"],
      reason: ["BY_HAND"],
      minAmountCents: 100,
      maxAmountCents: 200,
      receipt: "kcb-1:7",
    });
    const [first] = response?.deposits ?? [];
    expect([first?.receipt, first?.rail_receipt]).to.deep.equal([{ source: "kcb-1", number: "7" }, undefined]);
    expect(response?.next_page_token).to.be.a("string");
  });

  it("takes all statuses for none, and all reasons for a filter: a deposit need not have one", async () => {
    await list({ statuses: valuesOf(DepositStatus), reasons: valuesOf(DepositReason) });
    expect(asked.at(-1)).to.deep.equal({ reason: DEPOSIT_REASONS });
  });

  for (const [field, given] of [
    ["statuses", { statuses: [0] }],
    ["reasons", { reasons: [99] }],
    ["receipt", { receipt: "a b" }],
    ["end", { start: "2026-01-02", end: "2026-01-01" }],
    ["max_amount", { min_amount: "2.00", max_amount: "1.00" }],
    ["page_size", { page_size: 1_001 }],
  ] as const) {
    it(`names the bad field: ${field}`, async () => {
      const { fields } = await list(given as unknown as Partial<ListDepositsRequest>);
      expect(fields?.map((each) => each.field)).to.deep.equal([field]);
    });
  }
});

describe("grpc: DepositService/GetDepositInstructions", () => {
  const number = depositReference(7);
  const MPESA: DepositRail = { rail: "mpesa" as Rail, settings: JSON.stringify(MPESA_SETTINGS) };
  const paybill = { rail: "mpesa", business_number: "174379", deposit_reference: number };

  for (const [what, changes, rails, instructions] of [
    ["the paybill and the number of the account", {}, [MPESA], [paybill]],
    ["nothing while no rail takes deposits", {}, [], []],
    ["nothing for a closed account", { status: "CLOSED" }, [MPESA], []],
    ["nothing for an account without a number", { depositReference: undefined }, [MPESA], []],
    [
      "nothing for a rail of another version, for broken settings, and for a rail without a number",
      {},
      [
        { rail: "carrier-pigeon" as Rail, settings: "{}" },
        { ...MPESA, settings: "{" },
        { rail: "sandbox" as Rail, settings: "{}" },
      ],
      [],
    ],
  ] as readonly (readonly [string, Partial<Account>, readonly DepositRail[], readonly unknown[]])[]) {
    it(`returns ${what}`, async () => {
      const under = await serve({
        reads: {
          account: () => Promise.resolve(account({ depositReference: number, ...changes })),
          depositRails: () => Promise.resolve(rails),
        },
      });
      try {
        const { response } = await under.grpc.call(rpcs.getDepositInstructions, { account_id: ACCOUNT_ID });
        expect(response?.instructions).to.deep.equal(instructions);
      } finally {
        await under.close();
      }
    });
  }
});

/** The values of an enum but UNSPECIFIED. */
function valuesOf<Value>(of: Readonly<Record<string, Value | string>>): Value[] {
  return Object.values(of).filter((value): value is Value => typeof value === "number" && value > 0);
}
