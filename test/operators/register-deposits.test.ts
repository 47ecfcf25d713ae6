import { expect } from "chai";

import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { RegisterDepositsRequest, RegisterDepositsResponse } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { runForMachine } from "../../src/grpc/calls/operator-gate.js";
import { readOperatorsContract } from "../../src/grpc/messages/contract.js";
import type { HandlersOptions } from "../../src/grpc/services/operator-options.js";
import { registerDeposits } from "../../src/grpc/services/rails/register-deposits.js";
import type { DepositRegistered } from "../../src/operators/rails.js";
import { newOrganizationId } from "../support/names.js";

const RPC = readOperatorsContract()
  .services.flatMap(({ rpcs }) => rpcs)
  .find(({ localName }) => localName === "registerDeposits");
const GIVEN = { rail: "mpesa", contact_phone_number: "0700000001", note: "the bank agrees" };

describe("the rpc RegisterDeposits", () => {
  const organizationId: OrganizationId = newOrganizationId();

  /** Runs it for the machine, over a registration and a ledger that answer so. */
  async function run(
    registered: DepositRegistered,
    { given = {}, refuses }: { given?: Partial<typeof GIVEN>; refuses?: string } = {},
  ) {
    const submitted: unknown[] = [];
    const asked: unknown[] = [];
    const options = {
      now: () => 0,
      administration: {
        fourEyes: new Set(),
        organization: (id: OrganizationId) => Promise.resolve(id === organizationId ? { id, cell: 0 } : undefined),
        operators: () => Promise.resolve([]),
      },
      cellOf: () => ({
        ledger: {
          submit: ({ name, isRequired, note }: Record<string, unknown>) => {
            submitted.push({ name, isRequired, note });
            return Promise.resolve(
              refuses === undefined
                ? { kind: "done", resource: {}, replayed: false }
                : { kind: "refused", refusal: { reason: refuses } },
            );
          },
        },
      }),
      depositRegistration: {
        register: async (_organization: unknown, { mayBegin, ...rest }: { mayBegin: () => Promise<boolean> }) => {
          asked.push(rest);
          if (registered.kind === "no account") return registered;
          return (await mayBegin()) ? registered : { kind: "ended" };
        },
      },
    } as unknown as HandlersOptions;
    if (RPC === undefined) throw new Error("there is no such rpc");
    const request = Buffer.from(RegisterDepositsRequest.encode({ ...GIVEN, ...given }).finish());
    const messages = runForMachine(registerDeposits(options), RPC, { organizationId, request }, options);
    const first = await messages.next();
    const answer =
      first.done === true ? { refusal: first.value } : RegisterDepositsResponse.decode(Buffer.from(first.value));
    return { answer, submitted, asked };
  }

  it("requires receipts with the operator's words, then registers", async () => {
    const since = toUnixMillis(5_000);
    const { answer, submitted, asked } = await run({ kind: "registered", since, keptAddresses: true });
    expect(answer).to.deep.include({ kept_addresses: true });
    expect(submitted).to.deep.equal([{ name: "requireReceipts", isRequired: true, note: GIVEN.note }]);
    expect(asked).to.deep.equal([{ rail: "mpesa", contact: "+254700000001" }]);
  });

  for (const [name, registered, reason] of [
    ["an organization without the account", { kind: "no account" }, "RAIL_ACCOUNT_NOT_FOUND"],
    ["a rail without lists", { kind: "unusable", problem: "must be a rail" }, "INVALID_FIELD"],
    ["what the rail refuses", { kind: "failed", code: "401.003.01" }, "RAIL_REGISTRATION_FAILED"],
  ] as const) {
    it(`refuses ${name}`, async () => {
      expect((await run(registered)).answer).to.have.nested.property("refusal.reason", reason);
    });
  }

  it("registers nothing if the book does not take the row, and names a wrong field", async () => {
    const failed = { kind: "failed", code: "not asked" } as const;
    expect((await run(failed, { refuses: "BOOK_MOVING" })).answer).to.have.nested.property(
      "refusal.reason",
      "BOOK_MOVING",
    );
    const { answer, asked } = await run(failed, { given: { contact_phone_number: "12" } });
    expect(JSON.stringify(answer)).to.include("contact_phone_number");
    expect(asked).to.deep.equal([]);
  });
});
