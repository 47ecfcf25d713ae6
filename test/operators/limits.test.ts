import { expect } from "chai";

import { AdminServiceService as Rpcs, type SetLimitsRequest } from "../../src/gen/kesc/admin/v1/admin_service.js";
import type { LimitChange } from "../../src/gen/kesc/admin/v1/resources.js";
import { LimitPeriod } from "../../src/gen/kesc/v1/organization.js";
import { TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE, execute } from "../support/databases.js";
import { changeSuspension } from "../support/suspend.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
const UNKNOWN_ACCOUNT = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
const MINTS = TransactionType.TRANSACTION_TYPE_MINT;
const REDEMPTIONS = TransactionType.TRANSACTION_TYPE_REDEEM;
const { LIMIT_PERIOD_TRANSACTION: ONE, LIMIT_PERIOD_DAY: DAY, LIMIT_PERIOD_MONTH: MONTH } = LimitPeriod;

/** A new limit, or none. */
function limitOf(type: TransactionType, period: LimitPeriod, max_amount: string | undefined): LimitChange {
  return { type, period, max_amount, lift: max_amount === undefined };
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`the limits that operators set (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let organization_id: string;
    let account_id: string;
    let fay: GivenOperator;
    let vera: GivenOperator;

    before(async () => {
      service = await startOperatorService(engine, { environment: { KESC_FOUR_EYES: "operators" } });
      [admin] = service.admin;
      organization_id = service.tenant.organizationId;
      fay = await service.operator("Fay", "finance");
      vera = await service.operator("Vera", "viewer");
      const account = { user_id: "amina", phone_number: "0712345678" };
      const { response } = await service.publicly.call("CreateAccount", account, service.tenant);
      account_id = (response["account"] as { id: string }).id;
    });
    // Rejects if the books do not hold: the row, its actor and the sums are verified there.
    after(() => service.dispose());

    const set = (request: Partial<SetLimitsRequest> & { readonly organization_id?: string }, by = fay) =>
      admin.call(
        Rpcs.setLimits,
        { organization_id, tier: "", changes: [], remove: false, note: "licence", ...request },
        by,
      );
    const get = async (account = "") =>
      (await admin.call(Rpcs.getLimits, { organization_id, account_id: account }, vera)).response;
    const mint = (amount: string, reference: string) =>
      service.publicly.call("Mint", { account_id, amount, reference }, service.tenant);

    it("are none at first", async () => {
      expect(await get()).to.deep.equal({
        limits: { account_id: undefined, tier: undefined, counted_since: undefined, limits: [] },
        tiers: [],
      });
      expect((await set({ remove: true })).replayed).to.equal(true);
    });

    it("hold for the next mint on the public address, and the book names the operator", async () => {
      const { response, replayed, message } = await set({ changes: [limitOf(MINTS, DAY, "100.00")] });
      expect(replayed, message).to.equal(false);
      expect(response?.limits?.limits.map(({ period, max_amount }) => [period, max_amount])).to.deep.equal([
        [LimitPeriod.LIMIT_PERIOD_DAY, "100.00"],
      ]);
      expect((await set({ changes: [limitOf(MINTS, DAY, "100.00")] })).replayed).to.equal(true);
      expect((await mint("60.00", "in-1")).code).to.equal(0);
      const { reason, facts } = await mint("40.01", "in-2");
      expect(reason).to.equal("LIMIT_EXCEEDED");
      expect(facts).to.include({ max_amount: "100.00", remaining: "40.00" });
      const [limit] = (await get())?.limits?.limits ?? [];
      expect(limit).to.include({ max_amount: "100.00", used: "60.00", remaining: "40.00" });
      const { response: acts } = await admin.call(Rpcs.listJournal, { organization_id, own: true }, vera);
      const rows = acts?.entries.filter(({ line }) => line?.type === "limits.set") ?? [];
      expect(rows.map(({ line, operator_names }) => [line?.actor, operator_names, line?.note])).to.deep.equal([
        [fay.operator.id, ["Fay"], "licence"],
      ]);
      const [row] = await execute<{ detail: string }>(
        service.opened.address,
        "SELECT detail FROM journal WHERE kind = 'limits.set'",
      );
      expect(JSON.parse(row?.detail ?? "[]")).to.have.property("0", fay.operator.id);
    });

    it("are changed one by one, lifted, and removed", async () => {
      await set({ changes: [limitOf(MINTS, MONTH, "500.00"), limitOf(REDEMPTIONS, ONE, "0")] });
      const lifted = await set({ changes: [limitOf(MINTS, DAY, undefined)] });
      expect(lifted.response?.limits?.limits.map(({ max_amount }) => max_amount)).to.deep.equal(["500.00", "0.00"]);
      expect((await set({ remove: true })).response?.limits?.limits).to.deep.equal([]);
    });

    it("of a tier hold for its accounts", async () => {
      const { response } = await set({ tier: "default", changes: [limitOf(MINTS, ONE, "5.00")] });
      const tiers = [{ tier: "default", limits: [{ type: MINTS, period: ONE, max_amount: "5.00" }] }];
      expect(response?.tiers).to.deep.equal(tiers);
      const own = await get(account_id);
      expect(own?.limits).to.deep.include({ account_id, tier: "default" });
      expect(own?.limits?.limits.map(({ max_amount }) => max_amount)).to.deep.equal(["5.00"]);
      expect((await mint("5.01", "in-3")).facts?.["account_id"]).to.equal(account_id);
      expect((await set({ tier: "default", remove: true })).response?.tiers).to.deep.equal([]);
      expect((await mint("5.01", "in-3")).code).to.equal(0);
    });

    it("may be set while the organization is suspended", async () => {
      const organizationId = service.tenant.organizationId;
      const given = { organizationId, reason: "case 17", now: Date.now() as never };
      await changeSuspension(service.opened.cell, { ...given, isSuspended: true });
      expect((await set({ changes: [limitOf(REDEMPTIONS, MONTH, "900.00")] })).code).to.equal(0);
      expect((await mint("1.00", "in-4")).reason).to.equal("ORGANIZATION_SUSPENDED");
      await changeSuspension(service.opened.cell, { ...given, isSuspended: false });
    });

    it("are at most 20 tiers: TOO_MANY_TIERS", async () => {
      for (let number = 1; number <= 20; number += 1) {
        await set({ tier: `t${String(number)}`, changes: [limitOf(MINTS, DAY, "1.00")] });
      }
      const { reason, facts } = await set({ tier: "t21", changes: [limitOf(MINTS, DAY, "1.00")] });
      expect([reason, facts]).to.deep.equal(["TOO_MANY_TIERS", { limit: "20" }]);
    });

    it("refuse what is unknown, and name each bad field", async () => {
      const changes = [limitOf(MINTS, DAY, "1.00")];
      expect((await set({ organization_id: UNKNOWN_ORG, changes })).reason).to.equal("ORGANIZATION_NOT_FOUND");
      const noAccount = await admin.call(Rpcs.getLimits, { organization_id, account_id: UNKNOWN_ACCOUNT }, vera);
      expect([noAccount.reason, noAccount.facts]).to.deep.equal(["ACCOUNT_NOT_FOUND", { account_id: UNKNOWN_ACCOUNT }]);
      const fieldsOf = async (request: Parameters<typeof set>[0]) =>
        (await set(request)).fields?.map(({ field }) => field);
      expect(
        await fieldsOf({
          tier: "Full",
          changes: [
            limitOf(MINTS, ONE, "-1"),
            limitOf(TransactionType.TRANSACTION_TYPE_UNSPECIFIED, LimitPeriod.UNRECOGNIZED, "1.00"),
            { type: MINTS, period: DAY, max_amount: undefined, lift: false },
            { type: MINTS, period: DAY, max_amount: "1.00", lift: true },
          ],
          remove: true,
          note: " ",
        }),
      ).to.deep.equal([
        "tier",
        "changes",
        "note",
        "changes[0].max_amount",
        "changes[1].type",
        "changes[1].period",
        "changes[2].max_amount",
        "changes[3].max_amount",
      ]);
      expect(await fieldsOf({ organization_id: "" })).to.deep.equal(["kesc-organization"]);
      expect(await fieldsOf({})).to.deep.equal(["changes"]);
      expect(await fieldsOf({ changes: [...changes, ...changes] })).to.deep.equal(["changes[1]"]);
    });

    it("refuse while the book is moved: BOOK_MOVING", async () => {
      const state = (value: string) =>
        execute(
          service.opened.address,
          `UPDATE books SET state = '${value}' WHERE organization_id = '${organization_id}'`,
        );
      await state("MOVING");
      expect((await set({ changes: [limitOf(MINTS, DAY, "2.00")] })).reason).to.equal("BOOK_MOVING");
      await state("OPEN");
    });
  });
}
