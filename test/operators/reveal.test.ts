import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { RevealReason } from "../../src/gen/kesc/admin/v1/resources.js";
import type { UpdateAccountResponse } from "../../src/gen/kesc/v1/account_service.js";
import { ENGINES, execute } from "../support/databases.js";
import { createAccount, eraseAccount } from "../support/operations/accounts.js";
import { actAs, type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const PHONE = "+254712345678";
const EMAIL = "wanjiku@example.com";
const PHONE_CHANGED = "+254733111222";
const EMAIL_CHANGED = "njeri@example.com";
const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`a phone number in full (${engine})`, () => {
    let service: OperatorService;
    let sue: GivenOperator;
    let organizationId: OrganizationId;
    let accountId: AccountId;
    // PostgreSQL refuses a server whose clock is ahead of its own.
    let clock = Date.now() - 2 * HOUR_MILLIS - 60_000;

    before(async () => {
      service = await startOperatorService(engine, { now: () => toUnixMillis(clock) });
      sue = await service.operator("Sue", "support");
      ({ organizationId } = service.tenant);
      const account = createAccount(organizationId, "wanjiku", { phoneNumber: PHONE as never, email: EMAIL as never });
      ({ newAccountId: accountId } = account);
      await service.opened.cell.committer.commit([account], toUnixMillis(clock));
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const reveal = (given: object = {}, by = sue, at = 0) => {
      const reason = RevealReason.REVEAL_REASON_PAYMENT_DELIVERY;
      const request = { organization_id: organizationId, account_id: accountId, reason, note: "case 17", ...given };
      return (service.admin[at] ?? service.admin[0]).call(Rpcs.revealAccount, request, by);
    };

    it("is in the response, and the book says who looked and why", async () => {
      const { response } = await reveal();
      expect(response).to.deep.equal({ phone_number: PHONE, email: EMAIL });
      const list = { organization_id: organizationId, account_id: accountId };
      const listed = await service.admin[0].call(Rpcs.listJournal, { ...list, page_size: 1 }, sue);
      const [row] = listed.response?.entries ?? [];
      expect(row?.line).to.include({
        type: "account.revealed",
        actor: sue.operator.id,
        note: "payment_delivery: case 17",
      });
      expect(row?.operator_names).to.deep.equal(["Sue"]);
    });

    it("is an event of the organization, without the data", async () => {
      const filter = { after_sequence: 0, types: ["account.revealed"], page_size: 10 };
      const { response } = await service.publicly.call("ListEvents", filter, { key: service.tenant.key });
      expect(response["events"]).to.have.lengthOf(1);
      const text = JSON.stringify(response["events"]);
      expect(text).to.include(sue.operator.id).and.to.include("account.revealed");
      for (const data of [PHONE, PHONE.slice(1), EMAIL]) expect(text).not.to.include(data);
    });

    it("is masked in the response to a change by an operator, which one person does", async () => {
      const { response, code, replayed } = await actAs<UpdateAccountResponse>(
        service.admin[0],
        "updateAccount",
        { organization_id: organizationId, account_id: accountId, phone_number: PHONE_CHANGED, email: EMAIL_CHANGED },
        { by: sue },
      );
      expect([code, replayed]).to.deep.equal([0, false]);
      expect(response?.account).to.include({ phone_number: "+254******222", email: "n***@example.com" });
      expect((await reveal()).response).to.deep.equal({ phone_number: PHONE_CHANGED, email: EMAIL_CHANGED });
      const none = await actAs<UpdateAccountResponse>(
        service.admin[0],
        "updateAccount",
        { organization_id: organizationId, account_id: accountId },
        { by: sue },
      );
      expect(none.fields?.map(({ field }) => field)).to.deep.equal(["phone_number"]);
    });

    it("is in no row and no proposal of the book, and in no line of the log", async () => {
      const rows = await Promise.all(
        ["journal", "proposals"].map((table) => execute(service.opened.address, `SELECT * FROM ${table}`)),
      );
      const text = JSON.stringify(rows) + service.lines.join("");
      for (const data of [PHONE.slice(1), EMAIL, PHONE_CHANGED.slice(1), EMAIL_CHANGED])
        expect(text).not.to.include(data);
    });

    it("needs a reason of the list, and words", async () => {
      for (const [given, field] of [
        [{ reason: RevealReason.REVEAL_REASON_UNSPECIFIED }, "reason"],
        [{ reason: 99 }, "reason"],
        [{ note: " " }, "note"],
      ] as const) {
        expect((await reveal(given)).fields?.map((each) => each.field)).to.deep.equal([field]);
      }
    });

    it("is refused for an account that is not there, or was erased", async () => {
      const empty = createAccount(organizationId, "empty");
      const { cell } = service.opened;
      await cell.committer.commit([empty, eraseAccount(organizationId, empty.newAccountId)], toUnixMillis(clock));
      expect((await reveal({ account_id: empty.newAccountId })).reason).to.equal("ACCOUNT_ERASED");
      const stranger = createAccount(organizationId, "stranger").newAccountId;
      expect((await reveal({ account_id: stranger })).reason).to.equal("ACCOUNT_NOT_FOUND");
    });

    it("is shown 60 times an hour to a person, whatever the server, and then again", async () => {
      const rest = await Promise.all(Array.from({ length: 61 }, (_, index) => reveal({}, sue, index % 2)));
      const refused = rest.filter(({ code }) => code !== 0);
      expect(refused).to.have.lengthOf(3);
      for (const each of refused) {
        const facts = { limit: "60" };
        expect(each).to.deep.include({ reason: "TOO_MANY_REVEALS", facts, response: undefined });
      }
      expect(refused[0]?.code).to.equal(Status.RESOURCE_EXHAUSTED);
      const ann = await service.operator("Ann", "admin");
      expect((await reveal({}, ann)).code).to.equal(Status.OK);
      clock += HOUR_MILLIS;
      expect((await reveal()).code).to.equal(Status.OK);
    });

    it("counts the organizations of a person together", async () => {
      const { response } = await service.admin[0].call(
        Rpcs.createOrganization,
        { name: "Other" },
        { ...(await service.operator("Zoe", "admin")) },
      );
      const other = response?.organization?.id as OrganizationId;
      const account = createAccount(other, "amina");
      await service.opened.cell.committer.commit([account], toUnixMillis(clock));
      const given = { organization_id: other, account_id: account.newAccountId };
      for (let index = 0; index < 59; index += 1) expect((await reveal(given)).code).to.equal(Status.OK);
      expect((await reveal(given)).reason).to.equal("TOO_MANY_REVEALS");
      expect((await reveal()).reason).to.equal("TOO_MANY_REVEALS");
    });

    const lookUp = (text: string, by: GivenOperator, at = 0) =>
      (service.admin[at] ?? service.admin[0]).call(Rpcs.lookUp, { organization_id: organizationId, text }, by);

    it("is found by nobody who tries all that fit the mask: a person looks 60 times an hour", async () => {
      const by = await service.operator("Tim", "support");
      const tries = Array.from({ length: 61 }, (_, index) => `0733${String(111_162 + index)}`);
      const replies = [];
      for (const text of tries) replies.push(await lookUp(text, by));
      expect(replies.slice(0, 60).flatMap(({ response }) => response?.matches)).to.deep.equal([]);
      // The 61st is the number.
      const facts = { limit: "60" };
      expect(replies[60]).to.deep.include({ reason: "TOO_MANY_REVEALS", facts, response: undefined });
      clock += HOUR_MILLIS;
      expect((await lookUp(PHONE_CHANGED, by)).response?.matches).to.have.lengthOf(1);
    });

    it("leaves a row in the book when somebody finds the account by it, and none when nobody does", async () => {
      const by = await service.operator("Una", "support");
      for (const text of [EMAIL_CHANGED, "0733111222", "0733111223"]) await lookUp(text, by);
      const filter = { organization_id: organizationId, operator_id: by.operator.id };
      const { response } = await service.admin[0].call(Rpcs.listJournal, { ...filter }, by);
      const rows = response?.entries.map(({ line }) => [line?.type, line?.account_id, line?.note]);
      expect(rows).to.deep.equal([
        ["account.revealed", accountId, "look_up: phone_number"],
        ["account.revealed", accountId, "look_up: email"],
      ]);
    });

    it("is looked for beyond the limit in vain: a hit and a miss are refused alike, on all servers", async () => {
      const by = await service.operator("Pam", "support");
      const asked = Array.from({ length: 60 }, (_, index) => reveal({}, by, index % 2));
      expect((await Promise.all(asked)).map(({ code }) => code)).to.deep.equal(Array(60).fill(Status.OK));
      for (const text of [PHONE_CHANGED, "0733111223", EMAIL_CHANGED, "nobody@example.com"]) {
        for (const at of [0, 1]) expect((await lookUp(text, by, at)).reason, text).to.equal("TOO_MANY_REVEALS");
      }
      expect((await lookUp("wanjiku", by)).response?.matches).to.have.lengthOf(1);
    });

    it("is looked for by those alone who may reveal it", async () => {
      for (const role of ["viewer", "finance", "approver"] as const) {
        const by = await service.operator(`The ${role}`, role);
        for (const text of [PHONE_CHANGED, "0733111223", EMAIL_CHANGED, "njer\u0131@example.com", "\uFF10733111222"]) {
          const { reason, response } = await lookUp(text, by);
          expect([reason, response], `${role}: ${text}`).to.deep.equal(["ROLE_REQUIRED", undefined]);
        }
        expect((await lookUp(accountId, by)).response?.matches).to.have.lengthOf(1);
      }
    });

    it("is confirmed by no change: the same values are a look, and beyond the limit all changes are refused", async () => {
      const by = await service.operator("Ned", "support");
      const update = (phone_number: string, etag?: string) => {
        const request = { organization_id: organizationId, account_id: accountId, phone_number, etag };
        return actAs<UpdateAccountResponse>(service.admin[0], "updateAccount", request, { by });
      };
      for (const guess of [PHONE_CHANGED, "0733111223"]) {
        expect((await update(guess, "1")).reason, guess).to.equal("ETAG_MISMATCH");
      }
      const same = await update(PHONE_CHANGED);
      expect([same.code, same.replayed]).to.deep.equal([Status.OK, false]);
      const filter = { organization_id: organizationId, operator_id: by.operator.id };
      const { response } = await service.admin[0].call(Rpcs.listJournal, filter, by);
      const rows = response?.entries.map(({ line }) => [line?.type, line?.note]);
      expect(rows).to.deep.equal([["account.revealed", "update: phone_number"]]);
      for (let index = 0; index < 59; index += 1) expect((await reveal({}, by)).code).to.equal(Status.OK);
      for (const guess of [PHONE_CHANGED, "0733111223"]) {
        expect((await update(guess)).reason, guess).to.equal("TOO_MANY_REVEALS");
      }
    });

    it("is exported as often as it is revealed, and with a row", async () => {
      const by = await service.operator("Eve", "support");
      const exported = async () => {
        const stream = service.admin[0].open(Rpcs.exportAccount, { key: by.key, organization: organizationId });
        stream.send({ account_id: accountId });
        stream.end();
        return { reason: (await stream.ended).reason, account: stream.responses[0]?.account };
      };
      expect((await exported()).account?.phone_number).to.equal(PHONE_CHANGED);
      for (let index = 0; index < 59; index += 1) expect((await reveal({}, by)).code).to.equal(Status.OK);
      expect(await exported()).to.deep.equal({ reason: "TOO_MANY_REVEALS", account: undefined });
      const sql = `SELECT reason FROM journal WHERE kind = 'account.revealed' AND reason LIKE 'export%'`;
      expect(await execute(service.opened.address, sql)).to.deep.equal([{ reason: "export: all that is stored" }]);
    });
  });
}
