import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  AdminServiceService as Rpcs,
  ClosingState,
  type ReconcileStatementRequest,
} from "../../src/gen/kesc/admin/v1/admin_service.js";
import { DateOrder, ReserveKind } from "../../src/gen/kesc/v1/supply.js";
import { toTimestamp } from "../../src/grpc/messages/timestamp.js";
import { mt940 } from "../support/bank-files.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { eventually } from "../support/eventually.js";
import { kesc } from "../support/service/kesc.js";
import {
  approved,
  type GivenOperator,
  MPESA_CREDENTIALS,
  MPESA_SETTINGS,
  type OperatorService,
  proposalOf,
  startOperatorService,
  textOf,
} from "./given.js";

const CSV = Buffer.from(
  "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn\n" +
    "RKTQDM7W01,2026-11-22 10:05:33,Pay Bill,Completed,1.00,\n",
);
const MEBIBYTE = Buffer.alloc(1_024 * 1_024, "x");
const NOTHING: ReconcileStatementRequest = {
  rail: "",
  file_name: "",
  statement: Buffer.alloc(0),
  place: "",
  form: undefined,
};

describe("a statement that a client streams", () => {
  let service: OperatorService;
  let admin: GrpcCaller;
  let vera: GivenOperator;
  let first: ReconcileStatementRequest;
  let organization: string;
  before(async () => {
    service = await startOperatorService("sqlite", { environment: { KESC_FOUR_EYES: "rails" } });
    [admin] = service.admin;
    vera = await service.operator("Vera", "viewer");
    organization = service.tenant.organizationId;
    first = { ...NOTHING, rail: "mpesa" };
  });
  after(() => service.dispose());

  const open = (key = vera.key) => admin.open(Rpcs.reconcileStatement, { key, organization });
  const linesOf = (part: string) => service.lines.filter((line) => line.includes(part)).length;

  it("is compared once its last piece has come, whatever the pieces are", async () => {
    const stream = open();
    stream.send(first);
    for (const byte of CSV) stream.send({ ...NOTHING, statement: Buffer.of(byte) });
    stream.end();
    expect((await stream.ended).code).to.equal(0);
    expect(stream.responses.map(({ on_rail }) => String(on_rail?.count))).to.deep.equal(["1"]);
  });

  it("may be one message", async () => {
    const { response } = await admin.call(
      Rpcs.reconcileStatement,
      { ...first, statement: CSV },
      { key: vera.key, organization },
    );
    expect(response?.differences.map(({ count }) => String(count))).to.deep.equal(["1"]);
  });

  it("is sent by kesc reconcile --server, which prints what differs and exits with 1", async () => {
    const folder = await mkdtemp(join(tmpdir(), "kesc-statement-"));
    const file = join(folder, "statement.csv");
    await writeFile(file, CSV);
    const run = (...more: string[]) => {
      const { operatorAddress = "" } = service.servers[0];
      const args = ["reconcile", "mpesa", file, "--org", "Tenant", "--server", operatorAddress, ...more];
      return kesc(args, { DATABASE_URL: "sqlite:/nowhere/kesc.db", KESC_OPERATOR_KEY: vera.key });
    };
    const { code, stdout } = await run();
    expect(code).to.equal(1);
    expect(stdout)
      .to.include("RKTQDM7W01 (pay_in): the rail has 1.00, the book nothing")
      .and.include("No tie: the rail has not reported a balance yet.");
    expect(JSON.parse((await run("--json")).stdout)).to.have.nested.include({ "on_rail.amount_in": "1.00" });
    expect((await run("--apply")).stderr).to.include("--server takes a file");
    await writeFile(file, Buffer.from([0xd0, 0xcf, 0x11, 0xe0]));
    expect((await run()).stderr).to.include("save it as .xlsx");
    await rm(folder, { recursive: true });
  });

  it("names another account by the name of its file", async () => {
    const file_name = "Statements for 600111 from 1 to 2.csv";
    const request = { ...first, file_name, statement: CSV };
    const compared = await admin.call(Rpcs.reconcileStatement, request, { key: vera.key, organization });
    // The organization has no account, so no number is another one.
    expect(compared.code).to.equal(0);
    const long = await admin.call(
      Rpcs.reconcileStatement,
      { ...request, file_name: "x".repeat(256) },
      { key: vera.key, organization },
    );
    expect(long.message).to.include("file_name must have at most 255 characters");
  });

  it("is cut at 32 MiB, while the client goes on", async () => {
    const stream = open();
    stream.send(first);
    for (let sent = 0; sent < 40; sent += 1) stream.send({ ...NOTHING, statement: MEBIBYTE });
    // Nobody ends the stream: the server does.
    const ended = await stream.ended;
    expect(ended).to.include({ reason: "INVALID_FIELD" });
    expect(ended.message).to.include("statement must have at most 33554432 bytes");
  });

  it("is refused before its first piece without a key, and for another role", async () => {
    const sam = await service.operator("Sam", "support");
    for (const [key, reason] of [
      ["", "MISSING_OPERATOR_KEY"],
      [sam.key, "ROLE_REQUIRED"],
    ] as const) {
      const stream = open(key);
      expect(await stream.ended, reason).to.include({ reason });
    }
  });

  it("is one at a time of a person, and another person's beside it", async () => {
    const stream = open();
    stream.send(first);
    await stream.headers;
    expect(await open().ended).to.include({ reason: "TOO_MANY_STREAMS" });
    const other = await service.operator("Olga", "viewer");
    const request = { ...first, statement: CSV };
    expect((await admin.call(Rpcs.reconcileStatement, request, { key: other.key, organization })).code).to.equal(0);
    stream.cancel();
    await stream.ended;
    // Another one may begin once the server has seen the end.
    await eventually(
      async () => (await admin.call(Rpcs.reconcileStatement, request, { key: vera.key, organization })).code === 0,
    );
  });

  it("is dropped if the client stops in the middle", async () => {
    const before = linesOf('"cancelled":true');
    const stream = open();
    stream.send(first);
    stream.send({ ...NOTHING, statement: CSV });
    await stream.headers;
    stream.cancel();
    await stream.ended;
    await eventually(() => Promise.resolve(linesOf('"cancelled":true') > before));
    expect(stream.responses).to.deep.equal([]);
    expect(linesOf("bug")).to.equal(0);
  });

  it("has the kinds of rows that two persons have added to the account", async () => {
    const [fin, app] = [await service.operator("Fin", "finance"), await service.operator("App", "approver")];
    const line = "RKTQDM7W02,2026-11-22 10:05:34,Sweep to trust 12,Completed,,5.00\n";
    const request = { ...first, statement: Buffer.concat([CSV, Buffer.from(line)]) };
    const kindOf = async () => {
      const { response } = await admin.call(Rpcs.reconcileStatement, request, { key: vera.key, organization });
      const rows = response?.differences.flatMap(({ differences }) => differences) ?? [];
      return rows.find(({ receipt }) => receipt === "RKTQDM7W02")?.row_kind;
    };
    expect(await kindOf()).to.equal("unknown");
    const settings = JSON.stringify({ ...MPESA_SETTINGS, statementWords: { own_transfer: ["Sweep to trust"] } });
    const credentials = JSON.stringify(MPESA_CREDENTIALS);
    const asked = { rail: "mpesa", settings, credentials, note: "a new word" };
    const { proposalId } = await admin.call(
      Rpcs.setRailAccount,
      { ...asked, credentials_expire_at: toTimestamp(toUnixMillis(Date.now() + 1e9)) },
      { key: fin.key, organization },
    );
    expect(await kindOf()).to.equal("unknown");
    const proposal = await proposalOf(admin, proposalId, fin);
    expect(textOf(proposal)).to.include("statementWords").and.include("Sweep to trust");
    expect(await approved(admin, proposalId, app)).to.equal(undefined);
    expect(await kindOf()).to.equal("own_transfer");
    const { response } = await admin.call(Rpcs.getRailAccount, { rail: "mpesa" }, { key: vera.key, organization });
    const words = response?.status?.statement_words.find(({ kind }) => kind === "own_transfer");
    expect(words?.own).to.deep.equal(["sweep to trust"]);
    expect(words?.built_in).to.include("business deposit");
  });

  it("names the account in its first message only, and needs one", async () => {
    const twice = open();
    twice.send(first);
    twice.send(first);
    expect((await twice.ended).message).to.include("rail must be in the first message only");
    const none = open();
    none.end();
    expect((await none.ended).message).to.include("request is required");
  });

  describe("of a bank", () => {
    const KCB = { place: "KCB 1234", rail: "" };
    const TABLE = {
      source: "kcb",
      account: "",
      columns: { date: "Date", amount: "Amount", debit: "", credit: "", balance: "", reference: "", text: "Text" },
      date_order: DateOrder.DATE_ORDER_DAY_FIRST,
      reference_pattern: "FT[0-9]+",
    };
    const compare = async (text: string, more: Partial<ReconcileStatementRequest> = {}) => {
      const request = { ...first, ...KCB, statement: Buffer.from(text), ...more };
      return admin.call(Rpcs.reconcileStatement, request, { key: vera.key, organization });
    };
    /** The kind, the receipt and the acts of each difference. */
    const found = ({ response }: Awaited<ReturnType<typeof compare>>) =>
      response?.differences.flatMap(({ differences }) =>
        differences.map(({ receipt, row_kind, remedies }) => [receipt, row_kind, ...remedies].join(" ")),
      );

    it("is compared with the receipts of its place, and says how it closes", async () => {
      const text = mt940({ lines: [":61:2611271127C1500,00NTRFNONREF//FT1"], closing: "C261127KES1500,00" });
      const compared = await compare(text);
      expect(found(compared)).to.deep.equal(["kcb-1234:FT1 pay_in RecordDeposit ExplainTransfer"]);
      expect(compared.response?.doubts).to.deep.equal([]);
      expect(compared.response?.place).to.deep.equal({
        place: "KCB 1234",
        source: "kcb-1234",
        account: "01175/1234567890",
        statement: "365 of 2026-11-27",
        document_sha256: createHash("sha256").update(text).digest("hex"),
        closing: {
          amount: "1500.00",
          day: "2026-11-27",
          state: ClosingState.CLOSING_STATE_UNRECORDED,
          recorded: undefined,
        },
        is_new: true,
      });
      const doubtful = await compare(mt940({ closing: "C261127KES1,00" }));
      expect(doubtful.response?.doubts.join()).to.include("an entry is missing, or was changed");
    });

    it("may be a table whose columns the request names", async () => {
      const compared = await compare("Acme\nDate,Text,Amount\n27/11/2026,Rent FT7 A,-20.00\n", { form: TABLE });
      expect(found(compared)).to.deep.equal(["kcb:FT7 payout ExplainTransfer BookPayment"]);
      const table = await compare("Date,Text,Amount\n27/11/2026,A,-20.00\n");
      expect(table.message).to.include("Say how the bank calls the columns of its table");
    });

    it("is refused with the fields of the form that are wrong", async () => {
      const form = {
        ...TABLE,
        source: "mpesa",
        columns: { ...TABLE.columns, amount: "date" },
        reference_pattern: "(",
      };
      const { message } = await compare("x", { form, rail: "mpesa" });
      expect(message)
        .to.include("rail must be empty with place")
        .and.include("form.source must not be mpesa: that is a rail")
        .and.include('form.columns must name each column once, and "date" stands twice')
        .and.include("form.reference_pattern must be a regular expression such as FT[0-9A-Z]+");
      expect((await compare("x", { place: "", rail: "mpesa", form: TABLE })).message).to.include(
        "form must be absent without place",
      );
      expect((await compare("x", { form: { ...TABLE, source: "operator" } })).message).to.include(
        "form.source must not be operator",
      );
    });

    it("is read as the place keeps it, and needs no form then", async () => {
      const fin = await service.operator("Rita", "finance");
      const of = { key: fin.key, organization };
      const kept = { place: "Equity 9", form: { ...TABLE, source: "eq" }, note: "the table of Equity" };
      const early = await admin.call(Rpcs.setReservePlace, kept, of);
      expect(early).to.include({ reason: "RESERVE_PLACE_NOT_FOUND" });
      const text = "Date,Text,Amount\n27/11/2026,Rent FT7 A,-20.00\n";
      expect((await compare(text, { place: "Equity 9" })).message).to.include("Say how the bank calls the columns");
      const figure = { place: "Equity 9", amount: "1.00", as_of_day: "2026-11-01", evidence: "statement 1" };
      const nothing = { note: "", kind: ReserveKind.RESERVE_KIND_OTHER, document_sha256: "", matures_on: "" };
      expect((await admin.call(Rpcs.recordReserve, { ...figure, ...nothing }, of)).code).to.equal(0);
      const { response } = await admin.call(Rpcs.setReservePlace, kept, of);
      expect(response?.reserve_holding?.statement_form).to.deep.equal(kept.form);
      const compared = await compare(text, { place: "Equity 9" });
      expect(found(compared)).to.deep.equal(["eq:FT7 payout ExplainTransfer BookPayment"]);
      expect(compared.response?.place).to.include({ source: "eq", is_new: false });
      const other = await compare(text, { place: "Equity 9", form: { ...TABLE, source: "other" } });
      expect(other.response?.place?.source, "a form that is given is used whole").to.equal("other");
      expect((await compare("x", { place: "Operator" })).message).to.include(
        "place must not be operator. Another source can be given in form.source",
      );
      const { message } = await admin.call(Rpcs.setReservePlace, { ...kept, form: undefined }, of);
      expect(message).to.include("form is required");
      const second = { ...figure, ...nothing, place: "KCB 7" };
      expect((await admin.call(Rpcs.recordReserve, second, of)).code).to.equal(0);
      const taken = await admin.call(Rpcs.setReservePlace, { ...kept, place: "KCB 7" }, of);
      expect([taken.reason, taken.message]).to.deep.equal([
        "RESERVE_SOURCE_TAKEN",
        "The place Equity 9 has the source that form.source names, and each place has its own. Give another one.",
      ]);
    });

    it("is sent by kesc reconcile --place --server, which exits with 1 until the balance is recorded", async () => {
      const folder = await mkdtemp(join(tmpdir(), "kesc-statement-"));
      const file = join(folder, "statement.sta");
      await writeFile(file, "Date,Text,Amount\n27/11/2026,Rent FT7 A,-20.00\n");
      const { operatorAddress = "" } = service.servers[0];
      const run = (...more: string[]) =>
        kesc(["reconcile", "--place", "KCB 1234", file, "--org", "Tenant", "--server", operatorAddress, ...more], {
          DATABASE_URL: "sqlite:/nowhere/kesc.db",
          KESC_OPERATOR_KEY: vera.key,
        });
      const table = ["--columns", "date=Date,amount=Amount,text=Text", "--dates", "day-first"];
      const { code, stdout, stderr } = await run(...table, "--source", "kcb", "--reference", "FT[0-9]+");
      expect(code, stderr).to.equal(1);
      expect(stdout)
        .to.include("kcb:FT7 (payout): the rail has -20.00, the book nothing")
        .and.include("KCB 1234, receipts of kcb:")
        .and.include("The file tells no closing balance");
      await writeFile(file, mt940());
      const empty = await run();
      expect(empty.stdout, empty.stderr).to.include(
        "closes with 0.00 on 2026-11-27 (unrecorded): recorded was nothing",
      );
      expect(empty.code, empty.stderr).to.equal(1);
      await rm(folder, { recursive: true });
    });
  });
});
