import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { AccountStatus } from "../../../src/gen/kesc/v1/account.js";
import { AccountServiceService as rpcs, type ListAccountsRequest } from "../../../src/gen/kesc/v1/account_service.js";
import { toTimestamp } from "../../../src/grpc/messages/timestamp.js";
import type { AccountFilters } from "../../../src/ledger/ports/reads.js";
import {
  account,
  ACCOUNT_ID,
  emptyReads,
  KEY_ID,
  ORGANIZATION,
  serve,
  type ServerUnderTest,
} from "../../support/service/grpc-server.js";

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
      idempotencyKey: "try-1",
    });
    expect(response?.account).to.deep.equal({
      id: ACCOUNT_ID,
      user_id: "user-1",
      phone_number: "+254712345678",
      email: "wanjiku@example.com",
      status: AccountStatus.ACCOUNT_STATUS_ACTIVE,
      status_reason: "",
      available_balance: "1234.56",
      held_balance: "0.05",
      currency: "KESC",
      created_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 2, 3, 4, 5, 678))),
      updated_at: toTimestamp(toUnixMillis(Date.UTC(2026, 0, 3))),
    });
  });

  it("returns an account whose personal data was erased with empty texts", async () => {
    const erased = await serve({ reads: { account: () => Promise.resolve(account({ person: undefined })) } });
    const { response } = await erased.grpc.call(rpcs.getAccount, { account_id: ACCOUNT_ID });
    await erased.close();
    expect(response?.account).to.include({
      id: ACCOUNT_ID,
      user_id: "",
      phone_number: "",
      email: "",
      available_balance: "1234.56",
    });
  });

  for (const name of ["freezeAccount", "unfreezeAccount", "closeAccount"] as const) {
    it(`${name} submits the account and the reason`, async () => {
      const { response } = await under.grpc.call(rpcs[name], { account_id: ACCOUNT_ID, reason: "lost phone" });
      expect(response?.account?.id).to.equal(ACCOUNT_ID);
      expect(under.submitted[0]?.command).to.deep.equal({
        name,
        organizationId: ORGANIZATION,
        actor: KEY_ID,
        accountId: ACCOUNT_ID,
        reason: "lost phone",
      });
    });
  }

  it("returns an account that it can read, and refuses any other with ACCOUNT_NOT_FOUND", async () => {
    const found = await under.grpc.call(rpcs.getAccount, { account_id: ACCOUNT_ID });
    expect(found.response?.account?.id).to.equal(ACCOUNT_ID);

    const other = "acc_7zzzzzzzzzzzzzzzzzzzzzzzzz";
    const refused = await under.grpc.call(rpcs.getAccount, { account_id: other });
    expect(refused).to.deep.include({
      code: Status.NOT_FOUND,
      reason: "ACCOUNT_NOT_FOUND",
      facts: { account_id: other },
    });
  });

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
  const LIST: ListAccountsRequest = {
    user_id: "",
    phone_number: "",
    email: "",
    status: [],
    created_after: undefined,
    created_before: undefined,
    page_size: 0,
    page_token: "",
  };
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
      ...LIST,
      user_id: "user-1",
      phone_number: "0712345678",
      email: "wanjiku@EXAMPLE.com",
      status: [AccountStatus.ACCOUNT_STATUS_FROZEN, AccountStatus.ACCOUNT_STATUS_ACTIVE],
      created_after: { seconds: 1n, nanos: 1 },
      created_before: { seconds: 1n, nanos: 2_000_000 },
    });
    expect(asked).to.deep.equal([
      {
        userId: "user-1",
        phoneNumber: "+254712345678",
        email: "wanjiku@example.com",
        status: ["ACTIVE", "FROZEN"],
        createdAfter: 1_001,
        createdBefore: 1_002,
      },
    ]);
    expect(response?.accounts).to.have.length(1);
  });

  it("takes a token for the same phone number in another form", async () => {
    const first = await under.grpc.call(rpcs.listAccounts, { ...LIST, phone_number: "0712345678" });
    const { code } = await under.grpc.call(rpcs.listAccounts, {
      ...LIST,
      phone_number: "+254712345678",
      page_token: first.response?.next_page_token ?? "",
    });
    expect(code).to.equal(Status.OK);
  });

  it("refuses an unknown status, and a span that ends when it begins", async () => {
    const { fields } = await under.grpc.call(rpcs.listAccounts, {
      ...LIST,
      status: [AccountStatus.UNRECOGNIZED],
      created_after: { seconds: 7n, nanos: 0 },
      created_before: { seconds: 7n, nanos: 0 },
    });
    expect(fields).to.deep.equal([
      { field: "status", message: "must be one of ACTIVE, FROZEN, CLOSED", code: "UNKNOWN_VALUE" },
      { field: "created_before", message: "must be later than created_after", code: "OUT_OF_RANGE" },
    ]);
  });
});
