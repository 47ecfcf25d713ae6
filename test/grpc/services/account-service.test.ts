import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { AccountStatus } from "../../../src/gen/kesc/v1/account.js";
import { AccountServiceService as rpcs, type FreezeAccountRequest } from "../../../src/gen/kesc/v1/account_service.js";
import { FreezeReason } from "../../../src/gen/kesc/v1/freeze.js";
import { toTimestamp } from "../../../src/grpc/messages/timestamp.js";
import type { AccountFilters } from "../../../src/ledger/ports/reads.js";
import {
  account,
  ACCOUNT_ID,
  emptyReads,
  FREEZE_ID,
  KEY_ID,
  ORGANIZATION,
  serve,
  type ServerUnderTest,
} from "../../support/service/grpc-server.js";

const NEW_FREEZE_ID = "frz_01jd2r6p5vf8ksw3xhb1z7q400";
const CREATE = { user_id: "user-1", phone_number: "0712345678", email: "Wanjiku@Example.COM" };

describe("grpc: AccountService", () => {
  let under: ServerUnderTest;
  before(async () => {
    under = await serve();
  });
  after(() => under.close());
  beforeEach(() => {
    under.submitted.length = 0;
  });

  it("submits the parsed command and returns the account", async () => {
    const { response } = await under.grpc.call(rpcs.createAccount, CREATE, {
      metadata: { "idempotency-key": "try-1" },
    });
    expect(under.submitted[0]?.command).to.deep.equal({
      name: "createAccount",
      organizationId: ORGANIZATION,
      actor: KEY_ID,
      newAccountId: "acc_01jd2r6p5vf8ksw3xhb1z7q400",
      userId: "user-1",
      phoneNumber: "+254712345678",
      email: "Wanjiku@example.com",
      depositReferences: [],
      idempotencyKey: "try-1",
    });
    expect(response?.account).to.deep.equal({
      id: ACCOUNT_ID,
      user_id: "user-1",
      phone_number: "+254712345678",
      email: "wanjiku@example.com",
      status: AccountStatus.ACCOUNT_STATUS_ACTIVE,
      status_note: undefined,
      available_balance: "1234.56",
      held_balance: "0.05",
      currency: "KESC",
      tier: "default",
      deposit_reference: undefined,
      as_of_sequence: undefined,
      warnings: [],
      created_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678))),
      updated_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 3))),
      freezes: [],
      etag: "7",
    });
  });

  it("returns an account whose personal data was erased without these fields", async () => {
    const erased = await serve({ reads: { account: () => Promise.resolve(account({ person: undefined })) } });
    const { response } = await erased.grpc.call(rpcs.getAccount, { account_id: ACCOUNT_ID });
    await erased.close();
    expect(response?.account).to.include({
      id: ACCOUNT_ID,
      user_id: undefined,
      phone_number: undefined,
      email: undefined,
      available_balance: "1234.56",
    });
  });

  const [account_id, accountId] = [ACCOUNT_ID, ACCOUNT_ID];
  const COURT_ORDER = FreezeReason.FREEZE_REASON_COURT_ORDER;
  for (const [name, request, command] of [
    [
      "freezeAccount",
      { account_id, reason: COURT_ORDER, note: "order 12" },
      { newFreezeId: NEW_FREEZE_ID, accountId, reason: "COURT_ORDER", note: "order 12", idempotencyKey: undefined },
    ],
    [
      "unfreezeAccount",
      { account_id, freeze_id: FREEZE_ID, note: "found again" },
      { accountId, freezeId: FREEZE_ID, note: "found again" },
    ],
    ["closeAccount", { account_id, note: "moved away", etag: "7" }, { accountId, note: "moved away", etag: "7" }],
  ] as const) {
    it(`${name} submits the parsed command, and returns the account`, async () => {
      const rpc = rpcs[name] as typeof rpcs.freezeAccount;
      const { response } = await under.grpc.call(rpc, request as Partial<FreezeAccountRequest>);
      expect(response?.account?.id).to.equal(ACCOUNT_ID);
      expect(response?.freeze?.id).to.equal(name === "closeAccount" ? undefined : FREEZE_ID);
      const caller = { organizationId: ORGANIZATION, actor: KEY_ID };
      expect(under.submitted[0]?.command).to.deep.include({ name, ...caller, ...command });
    });
  }

  it("names every bad field of an account at once", async () => {
    const { fields } = await under.grpc.call(rpcs.createAccount, {
      user_id: "",
      phone_number: "12",
      email: "nobody",
    });
    expect(fields?.map(({ field }) => field)).to.deep.equal(["user_id", "phone_number", "email"]);
  });
});

describe("grpc: AccountService/ListAccounts", () => {
  const asked: AccountFilters[] = [];
  let under: ServerUnderTest;
  before(async () => {
    under = await serve({
      reads: {
        ...emptyReads,
        accounts: async (_organizationId, filters) => {
          asked.push(filters);
          return Promise.resolve({ rows: [account()], nextBeforeSeq: 7, lookedAt: 1 });
        },
      },
    });
  });
  after(() => under.close());
  beforeEach(() => {
    asked.length = 0;
  });

  it("passes every filter on in its stored form", async () => {
    const { response } = await under.grpc.call(rpcs.listAccounts, {
      user_id: "user-1",
      phone_number: "0712345678",
      email: "wanjiku@EXAMPLE.com",
      statuses: [AccountStatus.ACCOUNT_STATUS_FROZEN, AccountStatus.ACCOUNT_STATUS_ACTIVE],
      tier: "small",
      start: "2026-11-01",
      end: "2026-11-01T12:00:00.002Z",
    });
    expect(asked).to.deep.equal([
      {
        userId: "user-1",
        phoneNumber: "+254712345678",
        email: "wanjiku@example.com",
        status: ["ACTIVE", "FROZEN"],
        tier: "small",
        createdAfter: Date.UTC(2026, 9, 31, 21),
        createdBefore: Date.UTC(2026, 10, 1, 12, 0, 0, 2),
      },
    ]);
    expect(response?.accounts).to.have.length(1);
  });

  it("takes a token for the same phone number in another form", async () => {
    const first = await under.grpc.call(rpcs.listAccounts, { phone_number: "0712345678" });
    const { code } = await under.grpc.call(rpcs.listAccounts, {
      phone_number: "+254712345678",
      page_token: first.response?.next_page_token ?? "",
    });
    expect(code).to.equal(Status.OK);
  });

  it("refuses an unknown status, and a span that ends when it begins", async () => {
    const { fields } = await under.grpc.call(rpcs.listAccounts, {
      statuses: [AccountStatus.UNRECOGNIZED],
      start: "2026-11-02",
      end: "2026-11-01",
    });
    expect(fields).to.deep.equal([
      {
        field: "statuses",
        message: "must be one of ACCOUNT_STATUS_ACTIVE, ACCOUNT_STATUS_FROZEN, ACCOUNT_STATUS_CLOSED",
        code: "UNKNOWN_VALUE",
      },
      { field: "end", message: "must be later than the start", code: "OUT_OF_RANGE" },
    ]);
  });
});
