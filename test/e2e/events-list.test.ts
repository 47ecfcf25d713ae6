import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, newKey } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

interface EventFields {
  readonly sequence: string;
  readonly id: string;
  readonly type: string;
  readonly transaction?: { readonly id: string; readonly status: string; readonly reference: string };
  readonly account?: Readonly<Record<string, unknown>>;
  readonly actor: string;
  readonly api_key_id?: string;
  readonly webhook_endpoint_id?: string;
  readonly available_balance: string;
}

interface EventPage {
  readonly events: readonly EventFields[];
  readonly next_sequence: string;
  readonly latest_sequence: string;
}

describeEachEngine("ListEvents", (service) => {
  async function list(request: object): Promise<EventPage> {
    const { code, message, response } = await service().grpc.call("ListEvents", request);
    expect(code, message).to.equal(0);
    return response as unknown as EventPage;
  }

  /** Returns the last sequence of the book. */
  async function latest(): Promise<number> {
    return Number((await list({ after_sequence: 0, page_size: 1 })).latest_sequence);
  }

  it("returns each row of the book once, in order and without gaps", async () => {
    await newAccount(service(), "5.00");
    const sequences: number[] = [];
    let next = 0;
    for (;;) {
      const page = await list({ after_sequence: next, page_size: 7 });
      expect(page.events).to.have.length.at.most(7);
      sequences.push(...page.events.map(({ sequence }) => Number(sequence)));
      next = Number(page.next_sequence);
      if (page.next_sequence === page.latest_sequence) break;
    }
    expect(sequences).to.deep.equal(Array.from({ length: next }, (_, index) => index + 1));
  });

  it("shows the transaction and the balances, and an account without personal data", async () => {
    const before = await latest();
    const accountId = await newAccount(service(), "12.50");
    const { events } = await list({ after_sequence: before, account_id: accountId });
    expect(events.map(({ type }) => type)).to.deep.equal(["account.created", "transaction.completed"]);
    const [created, minted] = events;
    expect(created?.account).to.include({ id: accountId, status: "ACCOUNT_STATUS_ACTIVE" });
    expect(created?.account).not.to.have.any.keys("user_id", "phone_number", "email");
    expect(created?.actor).to.match(/^key_/);
    expect(created?.available_balance).to.equal("0.00");
    expect(minted?.transaction?.status).to.equal("TRANSACTION_STATUS_COMPLETED");
    expect(minted?.available_balance).to.equal("12.50");
    const suffix = service().a.organizationId.slice("org_".length);
    expect(minted?.id).to.match(new RegExp(`^evt_${suffix}_${String(minted?.sequence)}_[0-9a-f]{8}$`));
  });

  it("names the key and the endpoint that an event is about", async () => {
    const before = await latest();
    const made = await newKey(service(), {});
    await withEndpoint(service(), {}, async (endpoint) => {
      const { events } = await list({ after_sequence: before, types: ["key.created", "webhook_endpoint.created"] });
      const [ofKey, ofEndpoint] = events;
      expect(ofKey).to.include({ type: "key.created", api_key_id: made.id, actor: "operator" });
      expect(ofEndpoint).to.include({ type: "webhook_endpoint.created", webhook_endpoint_id: endpoint.id });
      expect(ofEndpoint?.actor).to.match(/^key_/);
    });
  });

  it("returns only the types that were asked for, and goes on over what does not match", async () => {
    const before = await latest();
    const accountId = await newAccount(service());
    for (const amount of ["1.00", "2.00", "3.00"]) {
      await service().grpc.call("Mint", { account_id: accountId, amount, reference: fresh("typed") });
    }
    const { events, next_sequence, latest_sequence } = await list({
      after_sequence: before,
      types: ["account.created"],
    });
    expect(events.map(({ account }) => account?.["id"])).to.deep.equal([accountId]);
    expect(next_sequence).to.equal(latest_sequence);
  });

  it("takes a group of types, and * for all", async () => {
    const before = await latest();
    await newAccount(service(), "1.00");
    const typesOf = async (types: readonly string[]): Promise<readonly string[]> =>
      (await list({ after_sequence: before, types })).events.map(({ type }) => type);
    expect(await typesOf(["account.*"])).to.deep.equal(["account.created"]);
    expect(await typesOf(["*"])).to.deep.equal(["account.created", "transaction.completed"]);
  });

  it("cuts a page that has more matches than its size, and goes on after its last event", async () => {
    const before = await latest();
    const accountId = await newAccount(service(), "1.00");
    const first = await list({ after_sequence: before, account_id: accountId, page_size: 1 });
    expect(first.events.map(({ type }) => type)).to.deep.equal(["account.created"]);
    expect(first.next_sequence).to.equal(first.events[0]?.sequence);
    const second = await list({ after_sequence: first.next_sequence, account_id: accountId, page_size: 1 });
    expect(second.events.map(({ type }) => type)).to.deep.equal(["transaction.completed"]);
  });

  it("refuses a sequence that the book does not have, an unknown type and a page that is too large", async () => {
    const end = await latest();
    for (const [request, field] of [
      [{ after_sequence: end + 1_000_000 }, "after_sequence"],
      [{ after_sequence: -1 }, "after_sequence"],
      [{ types: ["transaction.completed", "transaction.complete"] }, "types"],
      [{ page_size: 201 }, "page_size"],
      [{ account_id: " " }, "account_id"],
    ] as const) {
      const { code, fields } = await service().grpc.call("ListEvents", request);
      expect([code, (fields ?? []).map((each) => each.field)], JSON.stringify(request)).to.deep.equal([3, [field]]);
    }
  });
});
