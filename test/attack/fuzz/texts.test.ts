import type { JsonObject } from "@bufbuild/protobuf";
import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import fc from "fast-check";

import { bytesOf, jsonMethod, routeOf, textOf } from "../../support/callers/contract-requests.js";
import type { GrpcReply } from "../../support/callers/grpc-caller.js";
import { type InProcess, startInProcess } from "../../support/service/in-process.js";
import { done } from "./given-things.js";
import { amountText, centsOf, emailText, nearly, numberText, phoneText } from "./inputs/values.js";
import { PROPERTY_MILLIS_MAX, runs } from "./runs.js";

const RUNS = 50;
const ACCOUNT_CENTS_MAX = 999_999_999_999_999n;

describe("fuzz: amounts, ids, phone numbers and e-mail addresses", function () {
  this.timeout(PROPERTY_MILLIS_MAX);
  let service: InProcess;
  let accountId = "";
  let names = 0;
  const fresh = (): string => `name-${String((names += 1))}`;

  before(async () => {
    service = await startInProcess("sqlite");
    const account = await done(service, "CreateAccount", { user_id: fresh(), phone_number: "0712345678" }, service.a);
    accountId = textOf(account["id"]);
  });
  after(() => service.dispose());

  async function call(name: string, request: Record<string, string>): Promise<GrpcReply<JsonObject>> {
    const { rpc } = routeOf(name);
    const { key } = service.a;
    const reply = await service.grpc.call(jsonMethod(rpc), bytesOf(rpc.input, request), { key });
    return { ...reply, response: reply.response ?? {} };
  }

  function expectRefused({ code, fields }: GrpcReply<JsonObject>, field: string): void {
    expect(Status[code]).to.equal("INVALID_ARGUMENT");
    expect(fields?.map((each) => each.field)).to.deep.equal([field]);
  }

  it("a mint moves exactly the written amount, or is refused", async () => {
    let balance = 0n;
    const amounts = fc.oneof(amountText, numberText, nearly(amountText));
    const check = async (amount: string): Promise<void> => {
      const cents = centsOf(amount);
      const answer = await call("Mint", { account_id: accountId, amount, reference: fresh() });
      if (cents === undefined) expectRefused(answer, "amount");
      else if (balance + cents > ACCOUNT_CENTS_MAX) expect(answer.reason).to.equal("LIMIT_EXCEEDED");
      else {
        expect(answer.code, answer.message).to.equal(0);
        balance += cents;
      }
      const { response } = await call("GetAccount", { account_id: accountId });
      const { available_balance: available } = response["account"] as { available_balance: string };
      expect(available.replace(".", "")).to.equal(String(balance).padStart(3, "0"));
    };
    await fc.assert(fc.asyncProperty(amounts, check), runs(RUNS));
  });

  it("an id finds its account; any other text is not found, or refused when it is no name", async () => {
    const isName = (text: string): boolean =>
      text !== "" && text.trim() === text && Array.from(text).length <= 128 && !/[\p{C}\p{Zl}\p{Zp}\uFFFD]/u.test(text);
    const base32 = fc.stringMatching(/^[0-9a-z]{26}$/).map((suffix) => `acc_${suffix}`);
    const ids = fc.oneof(nearly(fc.constant(accountId)), nearly(base32), base32, fc.constant(accountId));
    const check = async (id: string): Promise<void> => {
      const answer = await call("GetAccount", { account_id: id });
      if (id === accountId) expect(answer.response["account"]).to.include({ id });
      else if (isName(id)) expect(answer.reason).to.equal("ACCOUNT_NOT_FOUND");
      else expectRefused(answer, "account_id");
    };
    await fc.assert(fc.asyncProperty(ids, check), runs(RUNS));
  });

  for (const [field, texts, stored] of [
    ["phone_number", phoneText, /^\+[1-9][0-9]{6,14}$/],
    ["email", emailText, /^[^@\s]+@[^@\sA-Z]+\.[^@\sA-Z]+$/],
  ] as const) {
    it(`a valid ${field} has one stored form, and is found in the form in which it was written`, async () => {
      let taken = 0;
      const check = async (text: string): Promise<void> => {
        const written = { user_id: fresh(), phone_number: "0712345678", [field]: text };
        const created = await call("CreateAccount", written);
        if (created.code !== 0 || text === "") {
          if (text !== "" || field !== "email") expectRefused(created, field);
          return;
        }
        taken += 1;
        const account = created.response["account"] as Record<string, string>;
        expect(account[field]).to.match(stored);
        const again = await call("CreateAccount", { ...written, [field]: account[field] ?? "" });
        expect(again).to.include({ code: 0, replayed: true });
        const listed = await call("ListAccounts", { [field]: text });
        const [newest] = listed.response["accounts"] as { id: string }[];
        expect(newest?.id).to.equal(account["id"]);
      };
      await fc.assert(fc.asyncProperty(fc.oneof(texts, nearly(texts)), check), runs(RUNS / 2));
      expect(taken).to.be.greaterThan(0);
    });
  }
});
