import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { HoldReason, TransactionStatus } from "../../src/gen/kesc/v1/transaction.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { createAccount, createDestination } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";
import { makeKey } from "../support/service/tenants.js";
import { setSandbox } from "../support/service/with-rails.js";
import { approved, type GivenOperator, type OperatorService, startOperatorService, textOf } from "./given.js";

const now = () => toUnixMillis(Date.now());
const LISTED = [HoldReason.HOLD_REASON_LISTED];

for (const engine of ENGINES) {
  describe(`a list of payouts that are held (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let fin: GivenOperator;
    let ann: GivenOperator;
    let organization: OrganizationId;
    let key: string;
    let amina: AccountId;
    let brian: AccountId;
    let tillId = "";
    let references = 0;

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      ann = await service.operator("Ann", "admin");
      const { database, cell } = service.opened;
      const made = keys(database, now);
      ({ id: organization } = await made.createOrganization("Shops", { isSandbox: true }));
      ({ secret: key } = await makeKey(made, organization));
      await setSandbox(database, { organizationId: organization, isDefault: true, destinations: ["phone", "till"] });
      const users = ["amina", "brian"].map((user, index) =>
        createAccount(organization, user, { phoneNumber: `+25471234560${String(index)}` as never }),
      );
      [amina, brian] = users.map(({ newAccountId }) => newAccountId) as [AccountId, AccountId];
      const funds = [amina, brian].map((accountId, index) =>
        mint({ organizationId: organization, accountId, amount: "1000.00", reference: `funds ${String(index)}` }),
      );
      const till = createDestination(organization, brian, { coolingMillis: 0 });
      tillId = till.newDestinationId;
      const results = await cell.committer.commit([...users, ...funds, till], now());
      expect(results.map(({ kind }) => kind)).to.deep.equal(Array<string>(results.length).fill("done"));
      await eventually(async () => (await redeem(brian)).message === "OK");
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const by = (who: GivenOperator) => ({ key: who.key, organization });
    const set = (text: string, who = fin, note = "list of November") =>
      admin.call(Rpcs.setPayoutList, { file: Buffer.from(text), note }, { ...by(who), deadlineMillis: 60_000 });
    const get = async () => (await admin.call(Rpcs.getPayoutList, {}, by(ann))).response?.payout_list;
    const redeem = (account_id: AccountId, destination_id?: string) => {
      references += 1;
      const request = { account_id, amount: "10.00", reference: `r${String(references)}`, rail: "sandbox" };
      return service.publicly.call(
        Transactions.redeem,
        { ...request, ...(destination_id === undefined ? {} : { destination_id }) },
        { key },
      );
    };
    const heldFor = async (...given: Parameters<typeof redeem>) => {
      const { response, message } = await redeem(...given);
      return response?.transaction?.held_for ?? message;
    };
    const decide = (rpc: "releaseTransaction" | "refuseTransaction", transaction_id: string, who: GivenOperator) =>
      admin.call(Rpcs[rpc] as typeof Rpcs.releaseTransaction, { transaction_id, note: "checked" }, by(who));

    it("is none at first", async () => {
      expect(await get()).to.equal(undefined);
      expect(await heldFor(amina)).to.deep.equal([]);
    });

    it("is refused whole for a row with an error, which it names without the entry", async () => {
      const { fields, message } = await set("number\n0712345600\n07123x\n");
      expect(fields?.[0]).to.include({ field: "file", code: "FORMAT" });
      expect(fields?.[0]?.message).to.match(/line 3: number: must be/);
      expect(JSON.stringify([fields, message])).to.not.contain("07123x");
      expect(await get()).to.equal(undefined);
    });

    it("holds payouts to its numbers and accounts from then on, and says no entry of it", async () => {
      expect((await set("number\n0712 345 600\n5432321\n")).message).to.equal("OK");
      const list = await get();
      expect(list).to.include({ accounts: 0, numbers: 2, names: 0, set_by: fin.operator.id });
      expect(await heldFor(amina)).to.deep.equal(LISTED);
      expect(await heldFor(brian)).to.deep.equal([]);
      expect(await heldFor(brian, tillId)).to.deep.equal(LISTED);
      const rows = await execute(service.opened.address, "SELECT * FROM payout_lists");
      expect(rows).to.have.length(1);
      expect(JSON.stringify(rows)).to.not.match(/712345600|5432321/);
    });

    it("is a replay with the same entries in another order", async () => {
      const { replayed, response } = await set("kind,value\nnumber,5432321\nnumber,+254712345600\n", ann);
      expect([replayed, response?.payout_list?.set_by]).to.deep.equal([true, fin.operator.id]);
    });

    it("waits for a person to let it go or to refuse it: a sandbox needs no second one", async () => {
      for (const [rpc, status] of [
        ["releaseTransaction", TransactionStatus.TRANSACTION_STATUS_COMPLETED],
        ["refuseTransaction", TransactionStatus.TRANSACTION_STATUS_FAILED],
      ] as const) {
        const id = (await redeem(amina)).response?.transaction?.id ?? "";
        const read = async () =>
          (await service.publicly.call(Transactions.getTransaction, { transaction_id: id }, { key })).response
            ?.transaction;
        expect((await read())?.held_for).to.deep.equal(LISTED);
        expect(await decide(rpc, id, ann)).to.include({ message: "OK", proposalId: undefined });
        await eventually(async () => (await read())?.status === status);
      }
    });

    it("is shown before a file of payouts is proposed, with the lines", async () => {
      const file = Buffer.from("user_id,amount\nbrian,10\namina,10\n");
      const request = { rail: "", file, preview: true, leave_out: 0, note: "" };
      const { response } = await admin.call(Rpcs.payFile, request, { ...by(fin), deadlineMillis: 60_000 });
      expect(response?.preview).to.deep.include({ count: 2, listed: 1, listed_lines: [3] });
    });

    it("needs a second person to end entries, who sees how many", async () => {
      const { proposalId, response } = await set("number\n5432321\n");
      expect(response?.payout_list).to.equal(undefined);
      expect(await heldFor(amina)).to.deep.equal(LISTED);
      const { response: shown } = await admin.call(Rpcs.getProposal, { proposal_id: proposalId ?? "" }, by(ann));
      expect(textOf(shown?.proposal)).to.contain("entries that end");
      expect(await approved(admin, proposalId, ann)).to.equal(undefined);
      expect(await heldFor(amina)).to.deep.equal([]);
      expect((await get())?.set_by).to.equal(`${fin.operator.id},${ann.operator.id}`);
    });

    it("is not replaced by a list that was compared with an older one", async () => {
      const { proposalId } = await set("number\n0712345699\n");
      expect((await set(`number,account\n5432321,${amina}\n`)).message).to.equal("OK");
      expect(await approved(admin, proposalId, ann)).to.equal("PAYOUT_LIST_CHANGED");
      expect(await heldFor(amina)).to.deep.equal(LISTED);
    });
  });
}
