import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  AdminServiceService as Rpcs,
  CheckAnswer,
  CheckNoAnswer,
  type SetPayoutCheckRequest,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { FailureReason, HoldReason, TransactionStatus } from "../../src/gen/kesc/v1/transaction.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { createAccount } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";
import { makeKey } from "../support/service/tenants.js";
import { setSandbox } from "../support/service/with-rails.js";
import { Receiver, verifySignature } from "../support/webhooks/receiver.js";
import { approved, type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const now = () => toUnixMillis(Date.now());
const { TRANSACTION_STATUS_COMPLETED: COMPLETED, TRANSACTION_STATUS_FAILED: FAILED } = TransactionStatus;
const { HOLD_REASON_CHECK: CHECK, HOLD_REASON_CHECK_HELD: CHECK_HELD } = HoldReason;

for (const engine of ENGINES) {
  describe(`the check of payouts (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let ada: GivenOperator;
    let ann: GivenOperator;
    let rob: GivenOperator;
    let organization: OrganizationId;
    let accountId: AccountId;
    let key: string;
    let asked: Receiver;
    let references = 0;

    before(async () => {
      asked = await Receiver.start();
      service = await startOperatorService(engine, { environment: { KESC_WEBHOOKS_ALLOW: "127.0.0.1" } });
      [admin] = service.admin;
      ada = await service.operator("Ada", "admin");
      ann = await service.operator("Ann", "admin");
      rob = await service.operator("Rob", "viewer");
      const { database, cell } = service.opened;
      const made = keys(database, now);
      ({ id: organization } = await made.createOrganization("Shops", { isSandbox: true }));
      ({ secret: key } = await makeKey(made, organization));
      await setSandbox(database, { organizationId: organization, isDefault: true });
      const user = createAccount(organization, "amina", { phoneNumber: "+254712345600" as never });
      accountId = user.newAccountId;
      const funds = mint({ organizationId: organization, accountId, amount: "10000.00", reference: "funds" });
      const results = await cell.committer.commit([user, funds], now());
      expect(results.map(({ kind }) => kind)).to.deep.equal(["done", "done"]);
      // The servers have read the account at the rail.
      await eventually(
        () =>
          redeem().then(
            (made) => made.id !== "",
            () => false,
          ),
        { millisMax: 10_000 },
      );
    });
    // Rejects if the books do not hold.
    after(async () => {
      await service.dispose();
      await asked.close();
    });

    const by = (who: GivenOperator) => ({ key: who.key, organization });
    const set = (given: Partial<SetPayoutCheckRequest> = {}, who = ada) =>
      admin.call(
        Rpcs.setPayoutCheck,
        {
          url: asked.url,
          deadline_seconds: 60,
          no_answer: CheckNoAnswer.CHECK_NO_ANSWER_HOLD,
          note: "rules",
          new_secret: false,
          ...given,
        },
        by(who),
      );
    const shown = async (who = ada) => (await admin.call(Rpcs.getPayoutCheck, {}, by(who))).response?.payout_check;
    const says = (body: string): void => {
      asked.answer = (response) => response.end(body);
    };
    const redeem = async () => {
      references += 1;
      const request = { account_id: accountId, amount: "25.00", reference: `r${String(references)}`, rail: "sandbox" };
      const { response, message } = await service.publicly.call(Transactions.redeem, request, { key });
      if (response?.transaction === undefined) throw new Error(message);
      return response.transaction;
    };
    const read = async (transaction_id: string) =>
      (await service.publicly.call(Transactions.getTransaction, { transaction_id }, { key })).response?.transaction;
    const requestsAbout = (id: string) => asked.received.filter((each) => each.id === `check_${id}`);

    it("is none before somebody sets it, by an address that the server allows and that has no query", async () => {
      expect((await admin.call(Rpcs.getPayoutCheck, {}, by(ada))).reason).to.equal("PAYOUT_CHECK_NOT_FOUND");
      expect((await admin.call(Rpcs.testPayoutCheck, {}, by(ada))).reason).to.equal("PAYOUT_CHECK_NOT_FOUND");
      const wrong = async (given: Partial<SetPayoutCheckRequest>) =>
        (await set(given)).fields?.map(({ field }) => field);
      expect(await wrong({ url: `${asked.url}?token=1` })).to.deep.equal(["url"]);
      expect(await wrong({ url: "https://10.0.0.1/" })).to.deep.equal(["url"]);
      expect(await wrong({ deadline_seconds: 5, no_answer: CheckNoAnswer.CHECK_NO_ANSWER_UNSPECIFIED })).to.deep.equal([
        "deadline_seconds",
        "no_answer",
      ]);
    });

    it("shows its secret to admins alone, and asks for a test", async () => {
      says('{"decision":"hold","code":"TEST"}');
      const { proposalId } = await set();
      expect(await shown()).to.equal(undefined);
      expect(await approved(admin, proposalId, ada)).to.equal("OWN_PROPOSAL");
      expect(await approved(admin, proposalId, ann)).to.equal(undefined);
      expect((await set()).replayed).to.equal(true);
      const check = await shown();
      expect(check).to.include({ url: asked.url, deadline_seconds: 60 });
      expect(check?.secret).to.match(/^whsec_/);
      expect((await shown(rob))?.secret).to.equal(undefined);
      const { response } = await admin.call(Rpcs.testPayoutCheck, {}, by(ada));
      expect(response).to.include({ answer: CheckAnswer.CHECK_ANSWER_HOLD, code: "TEST", problem: undefined });
      says("no");
      const again = await admin.call(Rpcs.testPayoutCheck, {}, by(ada));
      expect(again.response).to.include({ answer: 0, problem: "its answer is none of the documented ones" });
    });

    it("pays what the service allows, by a request that its secret signs", async () => {
      says('{"decision":"allow"}');
      const { id, held_for } = await redeem();
      expect(held_for).to.deep.equal([CHECK]);
      await eventually(async () => (await read(id))?.status === COMPLETED);
      const [request] = requestsAbout(id);
      if (request === undefined) throw new Error("nobody was asked");
      verifySignature(request, (await shown())?.secret ?? "");
      expect(request.json.data).to.deep.include({ transaction_id: id, amount: "25.00" });
    });

    it("fails what the service denies, with its code, and makes the KESC available again", async () => {
      says('{"decision":"deny","code":"ON_A_LIST"}');
      const { id } = await redeem();
      await eventually(async () => (await read(id))?.status === FAILED);
      const { failure, status_note, held_for } = (await read(id)) ?? {};
      expect(failure?.reason).to.equal(FailureReason.FAILURE_REASON_CHECK_DENIED);
      expect([status_note, held_for]).to.deep.equal(["ON_A_LIST", []]);
    });

    it("leaves to persons what the service holds", async () => {
      says('{"decision":"hold","code":"NEW_NAME"}');
      const { id } = await redeem();
      await eventually(async () => (await read(id))?.held_for.includes(CHECK_HELD) === true);
      const release = { transaction_id: id, note: "called" };
      // A sandbox needs nobody else.
      expect((await admin.call(Rpcs.releaseTransaction, release, by(ada))).message).to.equal("OK");
      await eventually(async () => (await read(id))?.status === COMPLETED);
    });

    it("can be overruled while the service says nothing", async () => {
      asked.answer = () => undefined;
      const { id } = await redeem();
      await eventually(() => requestsAbout(id).length > 0);
      expect((await read(id))?.held_for).to.deep.equal([CHECK]);
      const refused = await admin.call(Rpcs.refuseTransaction, { transaction_id: id, note: "no" }, by(ann));
      expect(refused.message).to.equal("OK");
      expect((await read(id))?.failure?.reason).to.equal(FailureReason.FAILURE_REASON_REFUSED_BY_PERSON);
    });

    it("stays held, and is never sent, if somebody makes it free in the database", async () => {
      asked.answer = (response) => response.writeHead(500).end();
      const { id } = await redeem();
      const { address } = service.opened;
      await execute(address, `UPDATE transactions SET held_for = NULL WHERE id = '${id}'`);
      await execute(address, `UPDATE payments SET due_at = 0 WHERE transaction_id = '${id}'`);
      const payment = async () =>
        (await service.publicly.call(Transactions.getPayment, { transaction_id: id }, { key })).response?.payment;
      await eventually(async () => (await payment())?.last_code === "ROW_CHANGED");
      await execute(address, `UPDATE transactions SET held_for = 'CHECK' WHERE id = '${id}'`);
      says('{"decision":"deny"}');
      await eventually(async () => (await read(id))?.status === FAILED, { millisMax: 40_000 });
    });

    it("needs a second person for another address, for allow without an answer, and for its end, as for its beginning", async () => {
      const url = `${asked.url}/other`;
      const proposals = [
        (await set({ url })).proposalId,
        (await set({ no_answer: CheckNoAnswer.CHECK_NO_ANSWER_ALLOW })).proposalId,
        (await admin.call(Rpcs.clearPayoutCheck, { note: "over" }, by(ada))).proposalId,
      ];
      expect(proposals.map((id) => id?.slice(0, 4))).to.deep.equal(["prp_", "prp_", "prp_"]);
      expect(await shown()).to.include({ url: asked.url });
      const [, , end] = proposals;
      asked.answer = () => undefined;
      const { id } = await redeem();
      expect(await approved(admin, end, ada)).to.equal("OWN_PROPOSAL");
      expect(await approved(admin, end, ann)).to.equal(undefined);
      expect(await shown()).to.equal(undefined);
      // What waited for it waits for persons, and what comes later for nobody.
      await eventually(async () => (await read(id))?.held_for.includes(CHECK_HELD) === true, { millisMax: 10_000 });
      expect((await redeem()).held_for).to.deep.equal([]);
    });
  });
}
