import { readFileSync } from "node:fs";

import { expect } from "chai";

import { readContract } from "../../contract/contract.js";
import { fillPath } from "../../contract/path-template.js";
import { readContract as readRpcs } from "../../src/grpc/messages/contract.js";
import { fresh, problemOf } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";

type Body = Readonly<Record<string, unknown>>;

/** How a creation is called, and another value of each of its fields. */
interface Creation {
  /** Returns a new request. Its fields that stand in the path are filled in there. */
  readonly request: () => Promise<Body>;
  /** `beside` are the values of other fields in both calls, `also` in the second one. */
  readonly others: Readonly<
    Record<string, { readonly value: unknown; readonly beside?: () => Body; readonly also?: Body }>
  >;
  /** The fields that make the natural key: with another value it is another resource. */
  readonly natural: readonly string[];
  /** The refusal of a natural key whose other content differs. */
  readonly refusal: string | undefined;
  /** What a repeat without an idempotency key does not compare. */
  readonly notCompared?: readonly string[];
}

const { routes } = readContract(readFileSync("dist/proto/kesc.binpb"));
const keyed = new Set(
  readRpcs()
    .services.flatMap(({ rpcs }) => rpcs)
    .filter(({ idempotencyKey }) => idempotencyKey === "taken")
    .map(({ name }) => name),
);
const creating = routes.filter(({ location }) => location !== undefined);

/** The fields of a destination at a bank. */
const atBank = () => ({
  kind: "bank",
  number: "1104567890",
  bank_code: "01",
  branch_code: "175",
  holder_name: "Jane Doe",
});

describe("each creation of the contract", () => {
  let service: WithRails;
  before(async () => {
    service = await WithRails.start();
  });
  after(() => service.dispose());

  const nobody = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye";
  const newReceipt = (): string => fresh("R").replace("-", "000000");
  const withReceipt = (): Body => ({ receipt: { source: "kcb", number: newReceipt() } });
  const movement = async (): Promise<Body> => {
    const account_id = await service.newAccount();
    const receipt = { source: "kcb", number: newReceipt() };
    await service.post("/transactions/mint", { account_id, amount: 100, reference: fresh("ref"), receipt });
    return { account_id, amount: 10, reference: fresh("ref"), rail: "direct" };
  };
  const ofMovements = {
    account_id: { value: nobody.replace("txn", "acc") },
    amount: { value: 11 },
    reference: { value: "another reference" },
    description: { value: "another" },
    metadata: { value: { till: "7" } },
    rail: { value: "sandbox" },
    receipt: { value: { source: "kcb", number: "1" }, beside: withReceipt },
  };
  const ofReference = { natural: ["reference"], refusal: "REFERENCE_ALREADY_USED" };

  const CREATIONS: Readonly<Record<string, Creation>> = {
    "AccountService/CreateAccount": {
      request: () => Promise.resolve({ user_id: fresh("user"), phone_number: "0712345601" }),
      others: {
        user_id: { value: "another user" },
        phone_number: { value: "0712345602" },
        email: { value: "amina@example.com" },
      },
      natural: ["user_id"],
      refusal: "ACCOUNT_ALREADY_EXISTS",
    },
    "AccountService/FreezeAccount": {
      request: async () => ({ account_id: await service.newAccount(), reason: "fraud" }),
      others: {
        account_id: { value: nobody.replace("txn", "acc") },
        reason: { value: "court_order" },
        note: { value: "another" },
      },
      // Two freezes with the same words are two freezes.
      natural: ["account_id", "reason", "note"],
      refusal: undefined,
    },
    "AccountService/CreateDestination": {
      request: async () => ({ account_id: await service.newAccount(), kind: "till", number: "543210" }),
      others: {
        account_id: { value: nobody.replace("txn", "acc") },
        kind: { value: "paybill", also: { account_number: "1" } },
        number: { value: "543211" },
        account_number: { value: "2", beside: () => ({ kind: "paybill", number: "247247", account_number: "1" }) },
        label: { value: "another" },
        bank_code: { value: "68", beside: atBank },
        branch_code: { value: "000", beside: atBank },
        holder_name: { value: "John Doe", beside: atBank },
      },
      natural: ["account_id", "kind", "number", "account_number", "bank_code", "branch_code", "holder_name"],
      refusal: undefined,
      notCompared: ["label"],
    },
    "TransactionService/Mint": {
      request: movement,
      others: {
        ...ofMovements,
        payer_phone_number: {
          value: "0712345602",
          beside: () => ({ rail: "sandbox", payer_phone_number: "0712345613" }),
        },
      },
      ...ofReference,
    },
    "TransactionService/Redeem": {
      request: movement,
      others: {
        ...ofMovements,
        destination_id: { value: nobody.replace("txn", "dst"), beside: () => ({ rail: "sandbox" }) },
      },
      ...ofReference,
    },
    "TransactionService/ReverseTransaction": {
      request: async () => {
        const body = { account_id: await service.newAccount(), amount: 10, reference: fresh("ref"), rail: "direct" };
        return { transaction_id: (await service.post("/transactions/mint", body)).json["id"] };
      },
      others: {
        transaction_id: { value: nobody },
        description: { value: "another" },
        metadata: { value: { till: "7" } },
        receipt: { value: { source: "kcb", number: "1" }, beside: withReceipt },
      },
      natural: ["transaction_id"],
      refusal: "TRANSACTION_ALREADY_REVERSED",
    },
    "WebhookService/CreateWebhookEndpoint": {
      request: () => Promise.resolve({ url: `https://example.com/${fresh("hook")}`, types: ["account.created"] }),
      others: {
        url: { value: "https://example.com/another" },
        types: { value: ["account.closed"] },
        description: { value: "another" },
      },
      natural: ["url"],
      refusal: "WEBHOOK_ENDPOINT_ALREADY_EXISTS",
    },
    "SandboxService/CreateDeposit": {
      request: () => Promise.resolve({ amount: 77, receipt: newReceipt() }),
      others: {
        amount: { value: 78 },
        typed_reference: { value: "another" },
        payer_phone_number: { value: "0712345602" },
        receipt: { value: "ANOTHER1" },
      },
      natural: ["receipt"],
      refusal: "RECEIPT_ALREADY_USED",
    },
  };

  function call(name: string, request: Body, key?: string) {
    const route = routes.find(({ rpc }) => nameOf(rpc) === name);
    if (route === undefined) throw new Error(`no route of ${name}`);
    const inPath = route.pathFields.map((field) => field.name);
    const path = fillPath(
      route.path,
      inPath.map((field) => String(request[field])),
    );
    const body = Object.fromEntries(Object.entries(request).filter(([field]) => !inPath.includes(field)));
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return service.running.rest.send("POST", path, { key: service.key, headers, body });
  }

  it("takes an idempotency key, and stands in this test", () => {
    const names = creating.map(({ rpc }) => nameOf(rpc));
    expect(names.filter((name) => !keyed.has(name))).to.deep.equal([]);
    // A freeze has no address of its own. A new secret is no resource.
    const withoutAddress = ["AccountService/FreezeAccount", "WebhookService/RotateWebhookSecret"];
    expect([...keyed]).to.have.members([...names, ...withoutAddress]);
    expect([...names, "AccountService/FreezeAccount"]).to.have.members(Object.keys(CREATIONS));
  });

  for (const [name, { request, others, natural, refusal, notCompared = [] }] of Object.entries(CREATIONS)) {
    describe(name, () => {
      if (name !== "AccountService/FreezeAccount") {
        it("is 201 with the address of what it has created, and 200 for a repeat", async () => {
          const body = await request();
          const { status, headers, json } = await call(name, body);
          expect(status, JSON.stringify(json)).to.equal(201);
          expect((await service.get(String(headers["location"]))).json["id"]).to.equal(json["id"]);
          const again = await call(name, body);
          const shown = [again.status, again.headers["idempotent-replayed"], again.json["id"]];
          expect(shown).to.deep.equal([200, "true", json["id"]]);
        });
      }

      it("has another value of each field of its request in this test", () => {
        const route = routes.find(({ rpc }) => nameOf(rpc) === name);
        expect(Object.keys(others)).to.have.members(route?.rpc.input.fields.map((field) => field.name) ?? []);
      });

      for (const [field, { value, beside, also }] of Object.entries(others)) {
        it(`compares ${field} under an idempotency key`, async () => {
          const [body, key] = [{ ...(await request()), ...beside?.() }, fresh("key")];
          const first = await call(name, body, key);
          expect(first.status, first.text).to.be.oneOf([200, 201]);
          const other = problemOf(await call(name, { ...body, [field]: value, ...also }, key));
          expect(other).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
        });

        if (natural.includes(field)) continue;
        const isCompared = !notCompared.includes(field);
        it(`${isCompared ? "compares" : "does not compare"} ${field} without one`, async () => {
          const body = { ...(await request()), ...beside?.() };
          const first = await call(name, body);
          expect(first.status, first.text).to.be.oneOf([200, 201]);
          const other = await call(name, { ...body, [field]: value, ...also });
          if (isCompared) expect(problemOf(other)).to.include({ status: 409, code: refusal });
          else expect([other.status, other.json["id"]]).to.deep.equal([200, first.json["id"]]);
        });
      }
    });
  }
});

/** "AccountService/CreateAccount" */
function nameOf({ path }: { readonly path: string }): string {
  return path.slice("/kesc.v1.".length);
}
