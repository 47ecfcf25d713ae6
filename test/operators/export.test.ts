import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  AdminServiceService as Rpcs,
  type ExportAccountRequest,
  type ExportAccountResponse,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcCaller, GrpcStream } from "../support/callers/grpc-caller.js";
import { ENGINES_OF_STAGE, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { newAccountId } from "../support/names.js";
import { createAccount, eraseAccount, freezeAccount, unfreezeAccount } from "../support/operations/accounts.js";
import { mint, redeem } from "../support/operations/transactions.js";
import { secretsIn } from "../support/service/secrets.js";
import { makeTenant, type Tenant } from "../support/service/tenants.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
const UNKNOWN_ACCOUNT = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
// More than the parts of two messages, and more bytes than the buffers of a connection take.
const MINTS = 230;
const METADATA = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`key${String(index)}`, "x".repeat(500)]));
const now = () => toUnixMillis(Date.now());

/** A request, and the organization that its metadata names. */
type Asked = ExportAccountRequest & { readonly organization_id: string };
type Stream = GrpcStream<ExportAccountRequest, ExportAccountResponse>;

for (const engine of ENGINES_OF_STAGE) {
  describe(`the export of an account by an operator (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let other: Tenant;
    let sam: GivenOperator;
    let request: Asked;
    const accountId = newAccountId();
    const strangerId = newAccountId();

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      sam = await service.operator("Sam", "support");
      other = await makeTenant(keys(service.opened.database, now), "Other");
      const { organizationId } = service.tenant;
      request = { organization_id: organizationId, account_id: accountId };
      const movement = { organizationId, accountId, amount: "1.00" };
      const mints = Array.from({ length: MINTS }, (_, index) =>
        mint({ ...movement, reference: `mint ${String(index)}`, metadata: METADATA }),
      );
      const [lifted, standing] = [freezeAccount(organizationId, accountId), freezeAccount(organizationId, accountId)];
      await commit(
        createAccount(organizationId, "amina", { newAccountId: accountId }),
        createAccount(other.organizationId, "amina", { newAccountId: strangerId }),
      );
      await commit(...mints);
      await commit(redeem({ ...movement, amount: "0.50", reference: "redeem" }));
      await commit(lifted, standing, unfreezeAccount(organizationId, accountId, lifted.newFreezeId));
    });
    // Rejects if the books do not hold.
    after(() => service.dispose());

    const commit = (...commands: Command[]) => service.opened.cell.committer.commit(commands, now());
    const open = (asked: Partial<Asked>, { key } = { key: sam.key }, caller = admin): Stream => {
      const { organization_id: organization, ...sent } = { ...request, ...asked };
      const stream = caller.open(Rpcs.exportAccount, { key, organization });
      stream.send(sent);
      stream.end();
      return stream;
    };
    const refusalOf = async (asked: Partial<Asked>, by?: { key: string }) => {
      const stream = open(asked, by);
      const { code, reason, facts, fields } = await stream.ended;
      expect(stream.responses).to.deep.equal([]);
      return { code, reason, facts, fields: fields?.map(({ field }) => field) };
    };
    /** An export that has begun, and whose client reads nothing. */
    async function unread(): Promise<Stream> {
      const stream = open({});
      stream.pause();
      await stream.headers;
      return stream;
    }

    it("has the person, and every freeze, transaction and row, newest first, in bounded messages", async () => {
      const { responses, ended } = open({});
      expect(await ended).to.include({ code: Status.OK });
      const [first, ...others] = responses;
      expect(first?.account).to.include({
        id: accountId,
        user_id: "amina",
        phone_number: "+254712345678",
        available_balance: `${String(MINTS - 1)}.50`,
      });
      expect(others.every(({ account }) => account === undefined)).to.equal(true);
      for (const { freezes, transactions, journal_rows: rows } of others) {
        expect([freezes, transactions, rows].filter(({ length }) => length > 0)).to.have.lengthOf(1);
        expect(Math.max(freezes.length, transactions.length, rows.length)).to.be.within(1, 100);
      }
      const freezes = responses.flatMap((each) => each.freezes);
      expect(freezes.map(({ lifted_at: at }) => at !== undefined)).to.deep.equal([false, true]);
      const references = responses.flatMap(({ transactions }) => transactions.map(({ reference }) => reference));
      const minted = Array.from({ length: MINTS }, (_, index) => `mint ${String(MINTS - 1 - index)}`);
      expect(references).to.deep.equal(["redeem", ...minted]);
    });

    it("has each row of the journal with the one before it, and ends with the row that made the account", async () => {
      const { responses, ended } = open({});
      await ended;
      const rows = responses.flatMap(({ journal_rows: each }) => each);
      const stored = await execute<{ seq: string }>(
        service.opened.address,
        `SELECT CAST(j.seq AS TEXT) AS seq FROM journal j WHERE j.account_id = '${accountId}' ORDER BY j.seq DESC`,
      );
      expect(rows.map(({ sequence }) => String(sequence))).to.deep.equal(stored.map(({ seq }) => seq));
      const before = rows.map(({ previous_sequence: previous }) => previous);
      expect(before).to.deep.equal([...rows.slice(1).map(({ sequence }) => sequence), undefined]);
      const last = rows.at(-1);
      expect(last).to.include({ type: "account.created", account_id: accountId, actor: "key_of_a_test" });
      expect(last).to.include({ available_balance: "0.00", held_balance: "0.00", amount: undefined, note: undefined });
      expect(responses.at(-1)?.journal_rows.at(-1)).to.equal(last);
      const paid = rows.find(
        ({ type, debit_account: debit }) => type === "transaction.completed" && debit === "reserve",
      );
      expect(paid).to.include({ credit_account: "available", amount: "1.00" });
      for (const { content_hash: hash } of rows) expect(hash).to.match(/^[0-9a-f]{64}$/);
    });

    // Who may call it is in access.test.ts.
    it("checks the role before the fields, and names each bad field", async () => {
      const early = await refusalOf({ account_id: "" }, await service.operator("The viewer", "viewer"));
      expect([early.reason, early.facts]).to.deep.equal(["ROLE_REQUIRED", { roles: "support,admin" }]);
      const unnamed = await refusalOf({ organization_id: "", account_id: " x" });
      expect([unnamed.reason, unnamed.fields]).to.deep.equal(["INVALID_FIELD", ["kesc-organization"]]);
      const bad = await refusalOf({ account_id: " x" });
      expect([bad.reason, bad.fields]).to.deep.equal(["INVALID_FIELD", ["account_id"]]);
    });

    it("refuses an unknown organization, and an account that is unknown or of another organization", async () => {
      const unknown = await refusalOf({ organization_id: UNKNOWN_ORG });
      expect(unknown).to.deep.include({ reason: "ORGANIZATION_NOT_FOUND", facts: { organization_id: UNKNOWN_ORG } });
      for (const account_id of [UNKNOWN_ACCOUNT, strangerId, "0712345678"]) {
        const { code, reason, facts } = await refusalOf({ account_id });
        expect([code, reason, facts]).to.deep.equal([Status.NOT_FOUND, "ACCOUNT_NOT_FOUND", { account_id }]);
      }
      const own = open({ organization_id: other.organizationId, account_id: strangerId });
      expect((await own.ended).code).to.equal(Status.OK);
    });

    it("is at most 2 streams of one operator, which do not count for others", async () => {
      const streams = [await unread(), await unread()];
      const third = await refusalOf({});
      expect(third).to.deep.include({ reason: "TOO_MANY_STREAMS", facts: { streams_max: "2" } });
      const ben = await service.operator("Ben", "support");
      expect((await open({}, ben).ended).code).to.equal(Status.OK);
      for (const stream of streams) {
        stream.cancel();
        stream.resume();
      }
      await Promise.all(streams.map(({ ended }) => ended));
      await eventually(async () => (await open({}).ended).code === 0);
    });

    it("does not end with OK if the book has moved to another place meanwhile", async () => {
      const stream = await unread();
      const { address } = service.opened;
      const [book] = await execute<{ number: number }>(
        address,
        `SELECT number FROM books WHERE organization_id = '${request.organization_id}'`,
      );
      const number = String(book?.number);
      await execute(
        address,
        `INSERT INTO book_moves (book, move_id, phase, rows_done, changed_at) VALUES (${number}, 'm', 'EMPTYING', 0, 0)`,
      );
      try {
        stream.resume();
        expect((await stream.ended).reason).to.equal("BOOK_MOVING");
      } finally {
        await execute(address, `DELETE FROM book_moves WHERE book = ${number}`);
      }
    });

    it("shows an erased person no more", async () => {
      const { organizationId } = other;
      await commit(eraseAccount(organizationId, strangerId));
      const { responses, ended } = open({ organization_id: organizationId, account_id: strangerId });
      await ended;
      expect(responses[0]?.account).to.include({ id: strangerId, user_id: undefined, phone_number: undefined });
    });

    it("is logged with the operator and the account that it shows, and without personal data", () => {
      const lines = service.lines.filter((line) => line.includes("AdminService/ExportAccount"));
      const whole = lines.find((line) => line.includes('"code":"OK"')) ?? "";
      expect(JSON.parse(whole)).to.include({ operator_id: sam.operator.id, account_id: accountId });
      const refused = lines.find((line) => line.includes("ACCOUNT_NOT_FOUND")) ?? "";
      expect(JSON.parse(refused)).to.include({ operator_id: sam.operator.id }).and.not.have.property("account_id");
      expect(secretsIn(service.lines.join(""))).to.deep.equal([]);
    });
  });
}
