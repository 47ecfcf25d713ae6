import { createHash } from "node:crypto";

import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { LimitPeriod } from "../../src/gen/kesc/v1/organization.js";
import { PaymentState } from "../../src/gen/kesc/v1/payment.js";
import {
  FailureReason,
  HoldReason,
  type Transaction,
  TransactionStatus,
  TransactionType,
} from "../../src/gen/kesc/v1/transaction.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { createAccount } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";
import { makeKey } from "../support/service/tenants.js";
import { setSandbox } from "../support/service/with-rails.js";
import { approved, type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const now = () => toUnixMillis(Date.now());
const PENDING = TransactionStatus.TRANSACTION_STATUS_PENDING;

for (const engine of ENGINES) {
  describe(`payouts that wait for a person (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let fin: GivenOperator;
    let ann: GivenOperator;
    let organization: OrganizationId;
    let accountId: AccountId;
    let key: string;
    let references = 0;

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      ann = await service.operator("Ann", "approver");
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
      expect(await hold("10.00")).to.equal("OK");
      let message = "";
      await eventually(async () => ({ message } = await redeem("10.00")).message === "OK", {
        what: () => message,
        millisMax: 6000,
      });
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const by = (who: GivenOperator) => ({ key: who.key, organization });
    const hold = async (max_amount: string | undefined, period = LimitPeriod.LIMIT_PERIOD_HELD_AMOUNT) => {
      const type = TransactionType.TRANSACTION_TYPE_REDEEM;
      const changes = [{ type, period, max_amount, lift: max_amount === undefined }];
      return (await admin.call(Rpcs.setLimits, { tier: "", changes, remove: false, note: "rule" }, by(fin))).message;
    };
    const redeem = async (amount: string) => {
      references += 1;
      const request = { account_id: accountId, amount, reference: `r${String(references)}`, rail: "sandbox" };
      return service.publicly.call(Transactions.redeem, request, { key });
    };
    const held = async (): Promise<Transaction> => {
      const { transaction } = (await redeem("25.00")).response ?? {};
      if (transaction === undefined) throw new Error("not accepted");
      return transaction;
    };
    const read = async (transaction_id: string) =>
      (await service.publicly.call(Transactions.getTransaction, { transaction_id }, { key })).response?.transaction;
    const payment = async (transaction_id: string) =>
      (await service.publicly.call(Transactions.getPayment, { transaction_id }, { key })).response?.payment;
    const release = (transaction_id: string, who = ann) =>
      admin.call(Rpcs.releaseTransaction, { transaction_id, note: "called" }, by(who));
    const refuse = (transaction_id: string, who = ann) =>
      admin.call(Rpcs.refuseTransaction, { transaction_id, note: "unknown" }, by(who));

    it("are accepted beyond the amount, say why, and are in the list of what needs a person", async () => {
      const { id, status, held_for, needs_attention } = await held();
      expect([status, held_for, needs_attention]).to.deep.equal([PENDING, [HoldReason.HOLD_REASON_AMOUNT], true]);
      expect(await payment(id)).to.include({ state: PaymentState.PAYMENT_STATE_HELD, next_check_at: undefined });
      const asked = { page_size: undefined, page_token: "" };
      const { response } = await admin.call(Rpcs.listNeedsAttention, asked, by(fin));
      expect(response?.transactions.map((each) => each.id)).to.include(id);
      const below = (await redeem("10.00")).response?.transaction;
      expect(below?.held_for).to.deep.equal([]);
    });

    it("are paid once a person has released them, whoever repeats it", async () => {
      const { id } = await held();
      const { response, replayed } = await release(id);
      expect([response?.transaction?.held_for, replayed]).to.deep.equal([[], false]);
      expect((await release(id, fin)).replayed).to.equal(true);
      expect((await refuse(id)).reason).to.match(/INVALID_TRANSITION|TRANSACTION_ALREADY_ENDED/);
      await eventually(async () => (await read(id))?.status === TransactionStatus.TRANSACTION_STATUS_COMPLETED);
    });

    it("fail once a person has refused them, and their KESC is available again", async () => {
      const { id } = await held();
      const { failure, status_note, held_for } = (await refuse(id)).response?.transaction ?? {};
      expect(failure?.reason).to.equal(FailureReason.FAILURE_REASON_REFUSED_BY_PERSON);
      expect([status_note, held_for]).to.deep.equal(["unknown", []]);
      expect((await refuse(id, fin)).replayed).to.equal(true);
      expect((await release(id)).reason).to.equal("TRANSACTION_ALREADY_ENDED");
      expect((await read(id))?.failure?.reason).to.equal(FailureReason.FAILURE_REASON_REFUSED_BY_PERSON);
    });

    it("can be canceled by their caller", async () => {
      const { id } = await held();
      const canceled = await service.publicly.call(
        Transactions.cancelTransaction,
        { transaction_id: id, note: "" },
        { key },
      );
      expect(canceled.response?.transaction?.status).to.equal(TransactionStatus.TRANSACTION_STATUS_CANCELED);
      expect((await release(id)).reason).to.equal("TRANSACTION_ALREADY_ENDED");
    });

    it("are not released by who proposed their file, but by who approved it", async () => {
      const file = Buffer.from("user_id,amount\namina,30\n");
      const sha256 = createHash("sha256").update(file).digest("hex");
      const request = { rail: "", file, preview: false, leave_out: 0, note: "merchants" };
      const proposed = await admin.call(Rpcs.payFile, request, by(fin));
      expect(await approved(admin, proposed.proposalId, ann)).to.equal(undefined);
      const rows = async () =>
        (await admin.call(Rpcs.listPayoutRows, { sha256, page_size: undefined, page_token: "" }, by(ann))).response
          ?.rows;
      await eventually(async () => (await rows())?.[0]?.transaction_id !== undefined);
      const [row] = (await rows()) ?? [];
      expect(row?.reason).to.equal("held: amount");
      const id = row?.transaction_id ?? "";
      expect((await release(id, fin)).reason).to.equal("OWN_PAYOUT");
      expect((await refuse(id, fin)).reason).to.equal("OWN_PAYOUT");
      expect((await release(id, ann)).message).to.equal("OK");
    });

    it("stay held, and are never sent, if somebody makes them free in the database", async () => {
      const { id } = await held();
      const { address } = service.opened;
      await execute(address, `UPDATE transactions SET held_for = NULL WHERE id = '${id}'`);
      await execute(address, `UPDATE payments SET due_at = 0 WHERE transaction_id = '${id}'`);
      await eventually(async () => (await payment(id))?.last_code === "ROW_CHANGED");
      await execute(address, `UPDATE transactions SET held_for = 'AMOUNT' WHERE id = '${id}'`);
      expect((await refuse(id)).message).to.equal("OK");
    });

    it("wait to a new number, and beyond the sum of a day: to lift that takes a second person", async () => {
      expect(await hold("0.00", LimitPeriod.LIMIT_PERIOD_HELD_NEW_DESTINATION)).to.equal("OK");
      // The rail has paid this number before.
      expect((await redeem("10.00")).response?.transaction?.held_for).to.deep.equal([]);
      expect(await hold("1.00", LimitPeriod.LIMIT_PERIOD_HELD_DAY)).to.equal("OK");
      const ofDay = async () => (await redeem("10.00")).response?.transaction?.held_for;
      expect(await ofDay()).to.deep.equal([HoldReason.HOLD_REASON_DAY]);
      expect(await hold(undefined, LimitPeriod.LIMIT_PERIOD_HELD_DAY)).to.equal("OK");
      expect(await ofDay()).to.deep.equal([HoldReason.HOLD_REASON_DAY]);
    });

    it("are none of mints: no such amount can be set", async () => {
      const type = TransactionType.TRANSACTION_TYPE_MINT;
      const change = { type, period: LimitPeriod.LIMIT_PERIOD_HELD_DAY, max_amount: "1.00", lift: false };
      const request = { tier: "", changes: [change], remove: false, note: "rule" };
      const { fields } = await admin.call(Rpcs.setLimits, request, by(fin));
      expect(fields?.map(({ field }) => field)).to.deep.equal(["changes[0].period"]);
    });
  });
}
