import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";

import { expect } from "chai";

import type { RailName } from "../../src/domain/destination.js";
import { type ListedText, parseListed } from "../../src/domain/payout-list.js";
import { type Cents, toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  AdminServiceService as Rpcs,
  type PayFileRequest,
  PayoutRowState,
  PayoutsState,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { keys } from "../../src/storage/keys.js";
import { payoutLists } from "../../src/storage/payouts/payout-lists.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { valid } from "../support/names.js";
import { createAccount, createDestination, setLimits } from "../support/operations/accounts.js";
import { setPayoutList } from "../support/operations/payouts.js";
import { mint } from "../support/operations/transactions.js";
import { setSandbox } from "../support/service/with-rails.js";
import { changeSuspension } from "../support/suspend.js";
import { approved, type GivenOperator, type OperatorService, proposalOf, startOperatorService } from "./given.js";

const now = () => toUnixMillis(Date.now());
const NOTE = "merchants, November";
const NOTHING: PayFileRequest = { rail: "", file: Buffer.alloc(0), preview: false, leave_out: 0, note: "" };

for (const engine of ENGINES) {
  describe(`a file of payouts (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let fin: GivenOperator;
    let ann: GivenOperator;
    let organization: OrganizationId;
    const ids = new Map<string, AccountId>();
    let tillId = "";

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      ann = await service.operator("Ann", "admin");
      const { database, cell } = service.opened;
      ({ id: organization } = await keys(database, now).createOrganization("Shops", { isSandbox: true }));
      await setSandbox(database, { organizationId: organization, isDefault: true, destinations: ["phone", "till"] });
      const accounts = ["amina", "brian", "carol", "airtel"].map((user, index) =>
        createAccount(organization, user, {
          phoneNumber: (user === "airtel" ? "+254733000100" : `+25471234560${String(index)}`) as never,
        }),
      );
      for (const { userId, newAccountId } of accounts) ids.set(userId, newAccountId);
      const funds = accounts.map(({ newAccountId: accountId }, index) =>
        mint({ organizationId: organization, accountId, amount: "100.00", reference: `funds ${String(index)}` }),
      );
      const till = createDestination(organization, idOf("brian"), {
        coolingMillis: 0,
        railName: "NAIVAS LTD" as RailName,
      });
      tillId = till.newDestinationId;
      const results = await cell.committer.commit([...accounts, ...funds, till], now());
      expect(results.map(({ kind }) => kind)).to.deep.equal(Array<string>(results.length).fill("done"));
      await eventually(async () => (await preview("amount,user_id\n1,amina\n")).code === 0);
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const idOf = (user: string): AccountId => ids.get(user) ?? ("none" as AccountId);
    const pay = (text: string, given: Partial<PayFileRequest> = {}, by = fin) =>
      admin.call(
        Rpcs.payFile,
        { ...NOTHING, file: Buffer.from(text), note: NOTE, ...given },
        { key: by.key, organization },
      );
    const preview = (text: string, given: Partial<PayFileRequest> = {}) =>
      pay(text, { preview: true, note: "", ...given });
    const shaOf = (text: string): string => createHash("sha256").update(text).digest("hex");
    const get = (sha256: string, count_rows = false) =>
      admin.call(Rpcs.getPayouts, { sha256, count_rows }, { key: ann.key, organization });
    const suspended = (isSuspended: boolean) =>
      changeSuspension(service.opened.cell, {
        organizationId: organization,
        isSuspended,
        reason: "case 17",
        now: now(),
      });
    const stop = (sha256: string, by = fin) =>
      admin.call(Rpcs.stopFile, { sha256, note: "a wrong month" }, { key: by.key, organization });
    const rowsOf = async (sha256: string, page_size?: number, page_token = "") => {
      const request = { sha256, page_size, page_token };
      return (await admin.call(Rpcs.listPayoutRows, request, { key: ann.key, organization })).response;
    };
    const isDone = async (sha256: string) => {
      return (await get(sha256)).response?.payouts?.state === PayoutsState.PAYOUTS_STATE_DONE;
    };
    const redemptions = async (): Promise<number> => {
      const sql = "SELECT count(*) AS count FROM transactions WHERE type = 'REDEEM'";
      const [row] = (await execute(service.opened.address, sql)) as readonly { readonly count: number }[];
      return Number(row?.count);
    };

    it("is read whole: a preview names each error and each double, and stores nothing", async () => {
      const text = [
        "User ID,Amount,Reference,Description,Destination",
        'amina,"1,010.00",,,',
        "amina,60.00,r1,first,",
        "amina,40.00,r1,same reference,",
        "amina,50.00,r2,too much together,",
        "nobody,10.00,,,",
        "brian,15.00,,,5432321",
        "brian,15.00,,,0712345601",
        "brian,15.00,,,999",
        "brian,0,,,",
        "airtel,15.00,,,",
        "carol,10,,,",
        "carol,10,,,",
      ].join("\n");
      const { response, message } = await preview(text);
      expect(message).to.equal("OK");
      const { errors = [], warnings, totals, ...found } = response?.preview ?? {};
      expect(found).to.deep.include({ rail: "sandbox", count: 5, amount: "110.00", left_out: 7, warned: 3 });
      expect(totals).to.deep.equal([
        { kind: "phone", count: 4, amount: "95.00" },
        { kind: "till", count: 1, amount: "15.00" },
      ]);
      const words = errors.map(({ line, text: said }) => `${String(line)} ${said}`);
      expect(words.map((each) => each.split(/[:;]/)[0])).to.deep.equal([
        "2 amount",
        "4 reference",
        "5 amount",
        "6 user_id",
        "8 destination",
        "9 destination",
        "10 amount",
      ]);
      expect(words[2]).to.equal("5 amount: the account has 40.00 KES available, after the rows before");
      expect(warnings).to.deep.equal([
        { line: 7, text: "destination: the rail's name for it differs from its label" },
        { line: 11, text: "account: the phone number may be of another network" },
        { line: 13, text: "amount: line 12 pays the same to the same number" },
      ]);
      expect((await get(shaOf(text))).reason).to.equal("PAYOUTS_NOT_FOUND");
    });

    it("counts the rows before against the limits of the day, as each account has used them", async () => {
      const limit = (HELD_DAY: Cents | "NONE") =>
        setLimits(organization, { tier: "default", type: "REDEEM", changes: { HELD_DAY } });
      await service.opened.cell.committer.commit([limit(toCents(30_00))], now());
      const { response } = await preview("user_id,amount\namina,20\namina,11\nbrian,20\n");
      expect(response?.preview?.warnings).to.deep.equal([{ line: 3, text: "amount: a person must release it (day)" }]);
      await service.opened.cell.committer.commit([limit("NONE")], now());
    });

    it("is refused with the line and the field, if the rows with an error are not left out by their number", async () => {
      const { fields } = await pay("account,amount\nnobody,10\n" + `${idOf("amina")},10\n`);
      expect(fields?.map(({ field }) => field)).to.deep.equal(["leave_out"]);
      expect(fields?.[0]?.message).to.match(/^must be 1: .* line 2 \(account: there is no such account\)$/);
    });

    for (const [what, text, given, problem] of [
      ["without columns", "a,b\n1,2\n", {}, /file .* has a column that is none of account/],
      ["without rows", "account,amount\n", {}, /file .* no rows below the header/],
      ["without bytes", "", {}, /file is required/],
      ["over direct", "user_id,amount\namina,1\n", { rail: "direct" }, /rail must be a rail that pays/],
      ["over a rail without an account", "user_id,amount\namina,1\n", { rail: "mpesa" }, /rail mpesa/],
      ["without words", "user_id,amount\namina,1\n", { note: "" }, /note is required/],
      ["with a negative number of rows", "user_id,amount\namina,1\n", { leave_out: -1 }, /leave_out must be a whole/],
      ["whose rows all have an error", "user_id,amount\nx,1\n", { leave_out: 1 }, /file must have a row/],
      ["of 50,001 rows", `user_id,amount\n${"x,1\n".repeat(50_001)}`, {}, /file .* more than 50000 rows/],
    ] as const) {
      it(`is refused ${what}`, async () => {
        expect((await pay(text, given)).message).to.match(problem);
      });
    }

    it("is paid once another person has approved it, each row once, and ends with the outcomes", async () => {
      const text = `user_id,amount,reference,destination\namina,10,,\nbrian,20,r-brian,${tillId}\nghost,5,,\n`;
      const sha256 = shaOf(text);
      const before = await redemptions();
      const proposed = await pay(text, { leave_out: 1 });
      expect(proposed.message).to.equal("OK");
      const proposal = await proposalOf(admin, proposed.proposalId, ann);
      expect(proposal?.changes.map(({ after }) => after)).to.deep.equal([
        sha256,
        "2 over sandbox, together 30.00 KES",
        "1",
        NOTE,
      ]);
      // The second person sees what the first one saw.
      const shown = await get(sha256);
      expect(shown.response?.preview).to.deep.equal(proposed.response?.preview);
      expect(shown.response?.payouts?.state).to.equal(PayoutsState.PAYOUTS_STATE_PROPOSED);
      expect(await redemptions()).to.equal(before);
      expect(await approved(admin, proposal?.id, fin)).to.equal("ROLE_REQUIRED");
      expect(await approved(admin, proposal?.id, ann)).to.equal(undefined);
      await eventually(() => isDone(sha256));
      await eventually(async () => {
        const { rows = [] } = (await rowsOf(sha256)) ?? {};
        return rows.every(({ state }) => state !== PayoutRowState.PAYOUT_ROW_STATE_ACCEPTED);
      });
      const { rows = [] } = (await rowsOf(sha256)) ?? {};
      expect(rows.map(({ line, state, amount, reference }) => [line, state, amount, reference])).to.deep.equal([
        [2, PayoutRowState.PAYOUT_ROW_STATE_PAID, "10.00", `kesc:payout:${sha256.slice(0, 32)}:2`],
        [3, PayoutRowState.PAYOUT_ROW_STATE_PAID, "20.00", "r-brian"],
        [4, PayoutRowState.PAYOUT_ROW_STATE_LEFT_OUT, undefined, undefined],
      ]);
      expect(rows[2]?.reason).to.equal("user_id: no open account has it");
      expect(await redemptions()).to.equal(before + 2);
      // The same file again is what was approved, and its preview says so.
      expect((await preview(text)).response?.payouts?.state).to.equal(PayoutsState.PAYOUTS_STATE_DONE);
      const again = await pay(text, { leave_out: 1 }, ann);
      expect(again.response?.payouts?.state).to.equal(PayoutsState.PAYOUTS_STATE_DONE);
      expect(again.replayed).to.equal(true);
      expect(await redemptions()).to.equal(before + 2);
      const listed = await admin.call(
        Rpcs.listPayouts,
        { page_size: 1, page_token: "" },
        { key: ann.key, organization },
      );
      expect(listed.response?.payouts.map((each) => [each.sha256, each.decided, each.refused])).to.deep.equal([
        [sha256, 2, 0],
      ]);
      const first = await rowsOf(sha256, 2);
      const second = await rowsOf(sha256, 2, first?.next_page_token);
      expect([first, second].map((page) => page?.rows.length)).to.deep.equal([2, 1]);
      expect(second?.next_page_token).to.equal(undefined);
      expect((await preview("user_id,amount\namina,10\n")).response?.preview?.warnings[0]?.text).to.match(
        /^amount: txn_\w+ paid the same on \d{4}-\d\d-\d\d$/,
      );
    });

    it("pays no row that the ledger refuses later, and says why", async () => {
      const text = "user_id,amount\namina,50\n";
      const proposal = await proposalOf(admin, (await pay(text)).proposalId, ann);
      await pay("user_id,amount\namina,60\n").then(async (reply) => {
        expect(await approved(admin, (await proposalOf(admin, reply.proposalId, ann))?.id, ann)).to.equal(undefined);
      });
      await eventually(() => isDone(shaOf("user_id,amount\namina,60\n")));
      expect(await approved(admin, proposal?.id, ann)).to.equal(undefined);
      await eventually(() => isDone(shaOf(text)));
      const { rows = [] } = (await rowsOf(shaOf(text))) ?? {};
      expect(rows[0]?.state).to.equal(PayoutRowState.PAYOUT_ROW_STATE_REFUSED);
      expect(rows[0]?.reason).to.match(/30\.00 available/);
      expect((await get(shaOf(text))).response?.payouts?.refused).to.equal(1);
    });

    it("is approved by the same file of another person who may approve", async () => {
      const text = "user_id,amount\nbrian,10\n";
      await proposalOf(admin, (await pay(text)).proposalId, ann);
      const done = await pay(text, {}, ann);
      expect(done.response?.payouts?.state).to.equal(PayoutsState.PAYOUTS_STATE_RUNNING);
      await eventually(() => isDone(shaOf(text)));
    });

    it("says that its rows wait for a rail account that is gone, and ends once a person stops it", async () => {
      const text = "user_id,amount\nbrian,11\nghost,11\ncarol,11\n";
      const sha256 = shaOf(text);
      // Servers read the accounts again once a revision has changed.
      const sets = (rail: string, more: number) =>
        execute(
          service.opened.address,
          `UPDATE rail_accounts SET rail = '${rail}', revision = revision + ${String(more)}`,
        );
      const proposal = await proposalOf(admin, (await pay(text, { leave_out: 1 })).proposalId, ann);
      const refused = await stop(sha256);
      expect(refused.reason, "only proposed").to.equal("PAYOUTS_NOT_FOUND");
      expect(refused.message).to.contain("If one waits, reject its proposal");
      await sets("another", 1);
      await eventually(async () => (await preview(text, { rail: "sandbox" })).reason === "RAIL_NOT_CONFIGURED");
      expect(await approved(admin, proposal?.id, ann)).to.equal(undefined);
      const before = await redemptions();
      await eventually(async () => (await get(sha256)).response?.payouts?.problem !== undefined);
      const problem = "The organization has no account at the rail sandbox that can be used. Set it, or stop the file.";
      const request = { page_size: undefined, page_token: "" };
      const [listed, waiting] = await Promise.all([
        admin.call(Rpcs.listPayouts, request, { key: ann.key, organization }),
        admin.call(Rpcs.listNeedsAttention, request, { key: ann.key, organization }),
      ]);
      const found = [listed.response?.payouts[0], waiting.response?.waiting_payouts[0]];
      expect(found.map((file) => [file?.sha256, file?.problem])).to.deep.equal([
        [sha256, problem],
        [sha256, problem],
      ]);
      const stopped = await stop(sha256);
      expect(stopped.response?.payouts?.state, stopped.message).to.equal(PayoutsState.PAYOUTS_STATE_STOPPED);
      await eventually(async () => (await get(sha256)).response?.payouts?.refused === 2);
      await sets("sandbox", -1);
      const { response } = await get(sha256, true);
      const { problem: none, decided, stopped_at: at } = response?.payouts ?? {};
      expect([none, decided, at !== undefined]).to.deep.equal([undefined, 2, true]);
      expect(response?.row_counts).to.have.deep.members([
        { state: PayoutRowState.PAYOUT_ROW_STATE_REFUSED, count: 2 },
        { state: PayoutRowState.PAYOUT_ROW_STATE_LEFT_OUT, count: 1 },
      ]);
      const { rows = [] } = (await rowsOf(sha256)) ?? {};
      expect(rows[0]?.reason).to.match(/^A person has stopped the file/);
      expect(await redemptions()).to.equal(before);
      expect((await stop(sha256)).replayed).to.equal(true);
      const left = await admin.call(Rpcs.listNeedsAttention, request, { key: ann.key, organization });
      expect(left.response?.waiting_payouts).to.deep.equal([]);
      // The same file again is what was stopped.
      await eventually(async () => (await preview("user_id,amount\nbrian,11\n")).code === 0);
      expect((await preview(text)).reason).to.equal("PAYOUTS_STOPPED");
    });

    it("says that its rows wait while the organization is suspended", async () => {
      const text = "user_id,amount\nbrian,12\n";
      const proposal = await proposalOf(admin, (await pay(text)).proposalId, ann);
      await suspended(true);
      expect(await approved(admin, proposal?.id, ann)).to.equal(undefined);
      await eventually(async () => /suspended/.test((await get(shaOf(text))).response?.payouts?.problem ?? ""));
      await suspended(false);
      await eventually(() => isDone(shaOf(text)));
      expect((await stop(shaOf(text))).reason).to.equal("PAYOUTS_ENDED");
      expect((await get(shaOf(text), true)).response?.row_counts).to.have.length(1);
    });

    it("says that its rows wait while the list is not as it was set, and refuses alone those of a changed account", async () => {
      const text = "user_id,amount\namina,13\ncarol,13\n";
      const { sql, cell } = { sql: (change: string) => execute(service.opened.address, change), ...service.opened };
      const proposal = await proposalOf(admin, (await pay(text)).proposalId, ann);
      const list = [{ kind: "number", text: valid(parseListed("number", "+254712345699"))[0] as ListedText }] as const;
      const store = () => payoutLists(service.opened.database).store({ id: organization, cell: 0 }, list, now());
      const set = setPayoutList(organization, await store());
      await sql("DELETE FROM payout_lists");
      expect(await cell.committer.commit([set], now())).to.have.nested.property("[0].kind", "done");
      expect(await approved(admin, proposal?.id, ann)).to.equal(undefined);
      await eventually(async () => /the list/.test((await get(shaOf(text))).response?.payouts?.problem ?? ""));
      await sql(`UPDATE accounts SET available_cents = available_cents + 1 WHERE id = '${idOf("carol")}'`);
      await setTimeout(1_500);
      expect((await get(shaOf(text))).response?.payouts).to.include({ decided: 0, refused: 0 });
      await store();
      await eventually(() => isDone(shaOf(text)));
      await sql(`UPDATE accounts SET available_cents = available_cents - 1 WHERE id = '${idOf("carol")}'`);
      const { rows = [] } = (await rowsOf(shaOf(text))) ?? {};
      expect(
        rows.map(({ reason }) => reason !== undefined && /was changed past the service/.test(reason)),
      ).to.deep.equal([false, true]);
    });

    for (const [what, role, reason] of [
      ["support", "support", "PAYOUTS_NOT_FOUND"],
      ["an approver", "approver", "ROLE_REQUIRED"],
      ["a viewer", "viewer", "ROLE_REQUIRED"],
    ] as const) {
      it(`is stopped by ${what}, or not: ${reason}`, async () => {
        expect((await stop("c".repeat(64), await service.operator(`Stops as ${role}`, role))).reason).to.equal(reason);
      });
    }

    it("has no personal data where it is stored", async () => {
      const rows = await execute(service.opened.address, "SELECT content FROM proposals");
      expect(JSON.stringify(rows)).not.to.match(/\b\+?2547\d|\b0712|amina|brian/);
    });
  });
}
