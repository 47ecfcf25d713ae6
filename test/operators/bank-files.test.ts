import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { endToEndIdOf } from "../../src/domain/bank-file.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { BANK_RAIL } from "../../src/domain/transaction.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import { nairobiDayOf } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { AdminServiceService as Rpcs, type BankFile } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { TransactionServiceService as Transactions } from "../../src/gen/kesc/v1/transaction_service.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import type { GrpcCaller } from "../support/callers/grpc-caller.js";
import { ENGINES } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { depositReference } from "../support/names.js";
import { createAccount, createDestination } from "../support/operations/accounts.js";
import { PAYEE } from "../support/operations/bank-files.js";
import { cancel, mint, redeem } from "../support/operations/transactions.js";
import { type Ended, kesc } from "../support/service/kesc.js";
import { approved, type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

const now = () => toUnixMillis(Date.now());
const RAIL_ACCOUNT = "rail_01jd2r6p5vf8ksw3xhb1z7q4yb" as RailAccountId;
const SETTINGS = {
  place: "KCB 1234",
  bankCode: "01",
  branchCode: "100",
  account: "1100998877",
  holder: "Acme Ltd",
  form: "pain.001.001.09",
  limits: { min: "100.00", max: "20000000.00" },
};

for (const engine of ENGINES) {
  describe(`payment files for a bank (${engine})`, () => {
    let service: OperatorService;
    let admin: GrpcCaller;
    let [fin, ann, eve, sue] = [] as unknown as readonly GivenOperator[] as GivenOperator[];
    let organization: OrganizationId;
    let accountId: AccountId;
    let destinationId: string;
    let file: BankFile | undefined;
    let large = "" as TransactionId;
    let small: readonly TransactionId[] = [];
    const folder = mkdtempSync(join(tmpdir(), "kesc-bank-"));

    before(async () => {
      service = await startOperatorService(engine);
      [admin] = service.admin;
      fin = await service.operator("Fin", "finance");
      ann = await service.operator("Ann", "approver");
      eve = await service.operator("Eve", "approver");
      sue = await service.operator("Sue", "support");
      organization = service.tenant.organizationId;
      const account = createAccount(organization, "treasury", { depositReferences: [depositReference(5)] });
      accountId = account.newAccountId;
      const payee = createDestination(organization, accountId, { kind: "BANK", number: PAYEE, coolingMillis: 0 });
      destinationId = payee.newDestinationId;
      await setBank({});
      await commit(
        account,
        mint({ organizationId: organization, accountId, amount: "20000000.00", reference: "in" }),
        payee,
      );
    });
    // Rejects if the books do not hold.
    after(async () => {
      rmSync(folder, { recursive: true });
      await service.dispose();
    });

    async function setBank(given: object): Promise<void> {
      const { database, cell } = service.opened;
      const setting = {
        id: RAIL_ACCOUNT,
        organizationId: organization,
        rail: BANK_RAIL,
        settings: JSON.stringify({ ...SETTINGS, ...given }),
        credentials: undefined,
        credentialsExpireAt: undefined,
        isDefault: false,
        beginWithinMillis: 120_000,
        confirmAboveCents: 0,
        resolveAloneMaxCents: toCents(10_000_000_000),
        floatMinCents: 0,
      } as const;
      await saveRailAccount(database, { cell, now: now(), setting });
    }

    async function commit(...commands: Parameters<OperatorService["opened"]["cell"]["committer"]["commit"]>[0]) {
      const results = await service.opened.cell.committer.commit(commands, now());
      for (const result of results) expect(result.kind, JSON.stringify(result)).to.equal("done");
    }

    const by = ({ key }: GivenOperator) => ({ key, organization });
    const redeemed = (amount: string, reference: string) => {
      const terms = {
        railAccountId: RAIL_ACCOUNT,
        destinations: { BANK: { minCents: toCents(1), maxCents: toCents(2_000_000_000), stepCents: toCents(1) } },
      };
      const order = redeem({ organizationId: organization, accountId, amount, reference, rail: BANK_RAIL, terms });
      return { ...order, destinationId: destinationId as never };
    };
    const propose = (who = fin as GivenOperator, day = "") =>
      admin.call(Rpcs.collectBankFile, { day, note: "Tuesday" }, by(who));
    const download = (who: GivenOperator, bank_file_id = file?.id ?? "") =>
      admin.call(Rpcs.downloadBankFile, { bank_file_id }, by(who));
    const list = async () =>
      (await admin.call(Rpcs.listBankFiles, { page_size: undefined, page_token: "" }, by(sue as GivenOperator)))
        .response;
    const transaction = async (transaction_id: TransactionId) => {
      const reply = await service.publicly.call(
        Transactions.getTransaction,
        { transaction_id },
        { key: service.tenant.key },
      );
      return reply.response?.transaction;
    };
    const cli = (args: readonly string[]): Promise<Ended> => run([...args, "--org", organization]);
    const run = (args: readonly string[]): Promise<Ended> =>
      kesc(args, {
        DATABASE_URL: "sqlite:/nowhere/kesc.db",
        KESC_OPERATOR_SERVER: service.servers[0].operatorAddress ?? "",
        KESC_OPERATOR_KEY: (fin as GivenOperator).key,
      });

    it("get no mint: a bank collects nothing, so the refusal names another rail", async () => {
      const { requestDeserialize } = Transactions.mint;
      const movement = { account_id: accountId, amount: "5.00", reference: "by bank", rail: "bank" };
      const request = { ...requestDeserialize(Buffer.alloc(0)), ...movement };
      const { key } = service.tenant;
      const minted = () => service.publicly.call(Transactions.mint, request, { key });
      await eventually(async () => (await minted()).reason === "RAIL_NOT_CONFIGURED");
    });

    it("have nothing before a redemption to a bank waits", async () => {
      await eventually(async () => (await propose()).reason === "BANK_PAYMENTS_NOT_FOUND");
      expect((await download(fin as GivenOperator, "KB0123456789ABCDEF01234567")).reason).to.equal(
        "BANK_FILE_NOT_FOUND",
      );
    });

    it("take no redemption by themselves: 12,000,000.00 wait, and can be canceled", async () => {
      const reply = await service.publicly.call(
        Transactions.redeem,
        {
          account_id: accountId,
          amount: "12000000.00",
          reference: "large",
          rail: "bank",
          destination_id: destinationId,
          description: "",
          metadata: new Map(),
          idempotency_key: "",
        } as never,
        { key: service.tenant.key },
      );
      expect(reply.message).to.equal("OK");
      large = (reply.response as { transaction?: { id: string } }).transaction?.id as TransactionId;
      const others = [redeemed("100.00", "small"), redeemed("250.50", "other"), redeemed("300.00", "canceled")];
      await commit(...others);
      const [, , canceled] = others.map(({ newTransactionId }) => newTransactionId);
      small = others.slice(0, 2).map(({ newTransactionId }) => newTransactionId);
      await commit(cancel(organization, canceled as TransactionId));
      expect((await list())?.waiting).to.deep.equal({ count: 3n, amount: "12000350.50" });
    });

    for (const [what, day, problem] of [
      [
        "of yesterday",
        nairobiDayOf(toUnixMillis(Date.now() - 86_400_000)),
        /day must be today or at most 31 days later/,
      ],
      ["of the next quarter", nairobiDayOf(toUnixMillis(Date.now() + 90 * 86_400_000)), /day must be today/],
      ["of no day", "tomorrow", /day must be a day such as/],
    ] as const) {
      it(`are refused for the pay ${what}`, async () => {
        expect((await propose(fin, day)).message).to.match(problem);
      });
    }

    it("wait for another person, who sees number, sum and hash", async () => {
      const proposed = await propose();
      expect(proposed.message).to.equal("OK");
      expect(proposed.response?.bank_file).to.equal(undefined);
      expect((await list())?.bank_files).to.deep.equal([]);
      expect(await approved(admin, proposed.proposalId, fin as GivenOperator)).to.equal("ROLE_REQUIRED");
      expect(await approved(admin, proposed.proposalId, ann as GivenOperator)).to.equal(undefined);
      [file] = (await list())?.bank_files ?? [];
      expect(file).to.deep.include({ count: 3, amount: "12000350.50", open_payments: 3, downloads: 0, is_lost: false });
    });

    it("hold their payments: none can be canceled, and none is in a second file", async () => {
      for (const id of [large, ...small]) {
        expect((await transaction(id))?.status, id).to.equal((await transaction(large))?.status);
        const [result] = await service.opened.cell.committer.commit([cancel(organization, id)], now());
        expect(result).to.have.nested.property("refusal.reason", "INVALID_TRANSITION");
      }
      expect((await propose()).reason).to.equal("BANK_PAYMENTS_NOT_FOUND");
      expect((await list())?.waiting).to.deep.equal({ count: 0n, amount: "0.00" });
    });

    it("are downloaded by finance and by those who decided, always with the same bytes, each time with a row", async () => {
      const first = await download(fin as GivenOperator);
      expect(first.message).to.equal("OK");
      const second = await download(ann as GivenOperator);
      const { content = Buffer.alloc(0), file_name } = first.response ?? {};
      expect(createHash("sha256").update(content).digest("hex")).to.equal(file?.sha256);
      expect(Buffer.from(second.response?.content ?? []).equals(Buffer.from(content))).to.equal(true);
      expect(file_name).to.equal(`${file?.id ?? ""}.xml`);
      const found = async (text: string) => {
        const { response } = await admin.call(Rpcs.lookUp, { text }, by(fin as GivenOperator));
        return response?.matches.map(({ match }) => match);
      };
      const [row] = (await found((file?.id ?? "").toLowerCase())) ?? [];
      expect(row?.$case === "entry" && row.value.line?.type).to.equal("bank_file.approved");
      const [named] = (await found(endToEndIdOf(large))) ?? [];
      expect(named?.$case === "transaction" && named.value.id).to.equal(large);
      expect(await found("KB0123456789ABCDEF01234567")).to.deep.equal([]);
      expect(Buffer.from(content).toString()).to.include('<InstdAmt Ccy="KES">12000000.00</InstdAmt>');
      expect((await download(eve as GivenOperator)).reason).to.equal("ROLE_REQUIRED");
      expect((await download(sue as GivenOperator)).reason).to.equal("ROLE_REQUIRED");
      expect((await list())?.bank_files[0]?.downloads).to.equal(2);
    });

    it("are written by kesc bank-file download, and never over another file", async () => {
      const out = join(folder, "file.xml");
      const run = () => cli(["bank-file", "download", file?.id ?? "", "--out", out]);
      const { stdout, stderr } = await run();
      expect(stdout, stderr).to.equal(
        `Wrote ${out}: 3 payments, together 12000350.50 KES. SHA-256 ${file?.sha256 ?? ""}\n`,
      );
      expect(createHash("sha256").update(readFileSync(out)).digest("hex")).to.equal(file?.sha256);
      expect((await run()).code).to.not.equal(0);
    });

    it("are not given once the settings are others: the bytes would be, too", async () => {
      await setBank({ holder: "Acme Limited" });
      await eventually(async () => (await download(fin as GivenOperator)).reason === "BANK_FILE_CLOSED");
      await setBank({});
      await eventually(async () => (await download(fin as GivenOperator)).code === 0);
    });

    it("have payments that the bank refuses: its status report ends them, and no others", async () => {
      const report = join(folder, "pain002.xml");
      const about = (reference: string, status: string, reason = ""): string =>
        `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${status}</TxSts>` +
        `<StsRsnInf><Rsn><Cd>NARR</Cd></Rsn><AddtlInf>${reason}</AddtlInf></StsRsnInf></TxInfAndSts>`;
      const written = (fileId: string, ...rows: readonly string[]) => {
        writeFileSync(
          report,
          `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.03"><CstmrPmtStsRpt><OrgnlGrpInfAndSts>` +
            `<OrgnlMsgId>${fileId}</OrgnlMsgId><GrpSts>PART</GrpSts></OrgnlGrpInfAndSts>` +
            `<OrgnlPmtInfAndSts>${rows.join("")}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`,
        );
      };
      const status = (...more: string[]) => cli(["bank-file", "status", report, ...more]);
      const [, other = "" as TransactionId] = small;
      written("KB0123456789ABCDEF01234567", about(endToEndIdOf(other), "RJCT"));
      expect((await status()).stdout).to.include("left as it is: not in the file KB0123456789ABCDEF01234567");
      written(
        file?.id ?? "",
        about(endToEndIdOf(large), "ACSP"),
        about(endToEndIdOf(other), "RJCT", "no such account"),
      );
      const shown = await status();
      expect(shown.stdout, shown.stderr).to.include("(PART): 1 ACSP, 1 RJCT.");
      expect(shown.stdout).to.include(`${other}  refused: NARR no such account`);
      expect(shown.stderr).to.include("Nothing was done.");
      const done = await status("--note", "pain.002", "--yes");
      expect(done.stdout, done.stderr).to.include(`${other}: failed. Its KESC is available again.`);
      expect(await transaction(other)).to.deep.include({ rail_receipt: undefined });
      expect((await status("--note", "again", "--yes")).stdout).to.include("left as it is: has ended before");
      expect((await list())?.bank_files[0]?.open_payments).to.equal(2);
    });

    it("end by the bank's statement: a payment with its reference and amount is completed", async () => {
      const statement = join(folder, "statement.xml");
      const entry = (id: TransactionId, amount: string, bankReference: string): string =>
        `<Ntry><Amt Ccy="KES">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>` +
        `<BookgDt><Dt>${nairobiDayOf(now())}</Dt></BookgDt><AcctSvcrRef>${bankReference}</AcctSvcrRef>` +
        `<NtryDtls><TxDtls><Refs><EndToEndId>${endToEndIdOf(id)}</EndToEndId></Refs></TxDtls></NtryDtls></Ntry>`;
      writeFileSync(
        statement,
        `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>` +
          `<Id>S1</Id><Acct><Id><Othr><Id>1100998877</Id></Othr></Id></Acct>` +
          entry(large, "12000000.00", "FT1") +
          entry(small[0] as TransactionId, "99.00", "FT2") +
          `</Stmt></BkToCstmrStmt></Document>`,
      );
      const reconcile = (...more: string[]) => cli(["reconcile", statement, "--place", "KCB 1234", ...more]);
      const own = readFileSync(statement, "utf8");
      writeFileSync(statement, own.replace("1100998877", "1100998878"));
      const { address } = service.opened;
      const DATABASE_URL = address.engine === "sqlite" ? `sqlite:${address.filename}` : address.url;
      const alone = ["reconcile", statement, "--place", "KCB 1234", "--org", organization];
      const local = await kesc(alone, { DATABASE_URL, KESC_MASTER_KEY_FILE: address.masterKeyFile });
      for (const { code, stderr } of [await reconcile("--resolve"), local]) {
        expect(stderr).to.match(/It is of the account 1100998878, and not of 1100998877\./);
        expect(code).to.be.above(0);
      }
      writeFileSync(statement, own);
      const { stdout } = await kesc(alone, { DATABASE_URL, KESC_MASTER_KEY_FILE: address.masterKeyFile });
      expect(stdout).to.include(
        `It is the outcome. In one act: this command with --resolve. Alone: kesc transaction resolve ${large}`,
      );
      // A misspelled place would be another source of the same numbers.
      expect((await reconcile("--resolve")).stdout).to.include("receipt of other rail");
      const figure = ["--place", "KCB 1234", "--amount", "1.00", "--as-of", nairobiDayOf(now()), "--evidence", "S0"];
      const recorded = await run(["reserve", "record", organization, ...figure]);
      const proposalId = /prp_\w+/.exec(recorded.stdout)?.[0];
      expect(await approved(admin, proposalId, ann as GivenOperator), recorded.stderr).to.equal(undefined);
      const shown = await reconcile("--resolve");
      expect(shown.stdout, shown.stderr).to.include(`${large}    12000000.00  kcb-1234:FT1 of`);
      expect(shown.stdout).to.include("This would complete 1 of together 12000000.00 KES");
      expect(shown.stdout).to.match(/kcb-1234:FT2 +-99\.00 +names an order/);
      const done = await reconcile("--resolve", "--note", "statement S1", "--yes");
      expect(done.stdout, done.stderr).to.include("Completed 1 of together 12000000.00 KES");
      expect(await transaction(large)).to.deep.include({ rail_receipt: "kcb-1234:FT1" });
      // The same statement again finds nothing to do, and agrees about the payment.
      expect((await reconcile("--resolve")).stdout).to.include("No open order has a row of its own.");
      expect((await reconcile("--server", service.servers[0].operatorAddress ?? "")).stdout).to.include(
        "matched: 1, in 0.00, out 12000000.00",
      );
    });

    it("stand beside shillings that came in: a pay-in becomes a deposit, once, by the reference of an account", async () => {
      const statement = join(folder, "in.xml");
      const entry = (amount: string, bankReference: string, typed: string): string =>
        `<Ntry><Amt Ccy="KES">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>` +
        `<BookgDt><Dt>${nairobiDayOf(now())}</Dt></BookgDt><AcctSvcrRef>${bankReference}</AcctSvcrRef>` +
        `<NtryDtls><TxDtls><RmtInf><Ustrd>${typed}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`;
      writeFileSync(
        statement,
        `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>` +
          `<Id>S2</Id><Acct><Id><Othr><Id>1100998877</Id></Othr></Id></Acct>` +
          entry("500.00", "FT8", depositReference(5)) +
          entry("70.00", "FT9", "Wanjiku rent") +
          `</Stmt></BkToCstmrStmt></Document>`,
      );
      const record = (...more: string[]) => cli(["reconcile", statement, "--place", "KCB 1234", "--record", ...more]);
      const shown = await record();
      expect(shown.stdout, shown.stderr).to.match(new RegExp(`kcb-1234:FT8 +500\\.00 +${accountId}`));
      expect(shown.stdout).to.match(/kcb-1234:FT9 +70\.00 +waits: unknown reference/);
      const done = await record("--note", "statement S2", "--yes");
      expect(done.stdout, done.stderr).to.include(
        "Recorded 2 of together 570.00 KES: 1 of together 500.00 KES for accounts",
      );
      expect((await record("--note", "again", "--yes")).stdout).to.include("The book has every pay-in of a customer.");
    });

    it("are no longer given once a payment has ended", async () => {
      expect((await download(fin as GivenOperator)).reason).to.equal("BANK_FILE_CLOSED");
      expect((await list())?.bank_files[0]?.open_payments).to.equal(1);
    });

    it("are lost by two persons, and leave their payments open", async () => {
      const lose = () =>
        admin.call(Rpcs.reportBankFileLost, { bank_file_id: file?.id ?? "", note: "gone" }, by(fin as GivenOperator));
      const proposed = await lose();
      expect((await list())?.bank_files[0]?.is_lost).to.equal(false);
      expect(await approved(admin, proposed.proposalId, ann as GivenOperator)).to.equal(undefined);
      expect((await list())?.bank_files[0]).to.deep.include({ is_lost: true, open_payments: 1 });
      expect((await propose()).reason).to.equal("BANK_PAYMENTS_NOT_FOUND");
    });

    it("are listed by kesc bank-file list", async () => {
      const { stdout } = await cli(["bank-file", "list"]);
      expect(stdout)
        .to.match(/^ID +DAY +PAYMENTS/)
        .and.match(new RegExp(`${file?.id ?? ""} .* lost`));
    });
  });
}
