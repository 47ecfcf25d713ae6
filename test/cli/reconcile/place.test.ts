import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";

import { expect } from "chai";

import type { AccountId } from "../../../src/domain/values/ids.js";
import { mt940 } from "../../support/bank-files.js";
import { recordReserve } from "../../support/operations/book.js";
import { mint, redeem } from "../../support/operations/transactions.js";
import { RailOrders } from "../../support/rails/rail-orders.js";
import { type Ended, kesc, Place } from "../../support/service/kesc.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";

const NAIROBI_MILLIS = 3 * 3_600_000;
/** Today in Nairobi, as the book and the bank have it. */
const DAY = new Date(Date.now() + NAIROBI_MILLIS).toISOString().slice(0, 10);
const YYMMDD = DAY.slice(2).replaceAll("-", "");

/** The day before and the day after: a test may run at midnight. */
const PERIOD = [
  "--from",
  new Date(Date.now() - 86_400_000).toISOString(),
  "--to",
  new Date(Date.now() + 86_400_000).toISOString(),
];

describe("kesc reconcile --place", () => {
  let place: Place;
  let tenant: Tenant;
  before(async () => {
    place = await Place.migrated();
    [tenant] = await withKeys(place.databaseUrl, makeTenants);
    const { organizationId } = tenant;
    await RailOrders.in(place.databaseUrl, organizationId, async (orders) => {
      const accountId: AccountId = await orders.account("amina");
      const moved = { organizationId, accountId };
      await orders.order(accountId, { amount: "77.00", proof: { receipt: "RKTQDM7W01" } });
      await orders.commit(mint({ ...moved, amount: "1500.00", reference: "m1", receipt: "kcb-1234:FT1" }));
      await orders.commit(mint({ ...moved, amount: "20.00", reference: "m2", receipt: "kcb-1234:FT2" }));
      await orders.commit(mint({ ...moved, amount: "30.00", reference: "m3", receipt: "kcb-1234:FT3" }));
      await orders.commit(mint({ ...moved, amount: "40.00", reference: "m4", receipt: "equity-9:FT4" }));
      await orders.commit(redeem({ ...moved, amount: "250.00", reference: "r1", receipt: "kcb-1234:OURS-1" }));
    });
  });
  after(() => {
    place.remove();
  });

  const reconcile = (file: string, text: string, ...args: readonly string[]): Promise<Ended> => {
    const path = join(place.folder, file);
    writeFileSync(path, text);
    const of = ["--org", tenant.organizationId, ...PERIOD];
    return kesc(["reconcile", "--place", "KCB 1234", path, ...of, ...args], place.variables);
  };
  const statement = (lines: readonly string[], closing: string): string =>
    mt940({
      opening: `C${YYMMDD}KES0,`,
      lines: lines.map((line) => `:61:${YYMMDD}${line}`),
      closing: `C${YYMMDD}KES${closing}`,
    });
  const AGREEING = ["C1500,NTRFRENT//FT1", "C20,NTRFRENT//FT2", "C30,NTRFRENT//FT3", "D250,NTRFOURS-1//FT7"];

  it("agrees where the bank and the book have each movement of the place, and says what to record", async () => {
    const first = await reconcile("1.sta", statement(AGREEING, "1300,"));
    expect({ code: first.code, stderr: first.stderr }).to.deep.equal({ code: 1, stderr: "" });
    expect(first.stdout).to.contain("matched            4 movements, 1550.00 in, 250.00 out\n");
    expect(first.stdout).to.contain("missing at bank    0\n").and.to.contain("All movements of this period agree.");
    expect(first.stdout).to.contain("KCB 1234, receipts of kcb-1234, account 01175/1234567890:\n");
    expect(first.stdout).to.contain(
      `  closes with 1300.00 on ${DAY}: recorded was nothing. If the statement is right:\n`,
    );
    expect(first.stdout).to.contain(
      `kesc reserve record ${tenant.organizationId} --place 'KCB 1234' --amount 1300.00 --as-of ${DAY} --evidence 'statement 365 of ${DAY}, 1.sta'`,
    );
    expect(first.stdout).to.contain(" --kind bank_kenya\n");
    expect(first.stdout).to.contain("No figure of this place was recorded yet. Places with figures: none.");
    await RailOrders.in(place.databaseUrl, tenant.organizationId, (orders) =>
      orders.commit(
        recordReserve(tenant.organizationId, "KCB 1234", { amountCents: 130_000 as never, asOfDay: DAY as never }),
      ),
    );
    const again = await reconcile("1.sta", statement(AGREEING, "1300,"));
    expect(again.code, again.stdout).to.equal(0);
    expect(again.stdout).to.contain(`closes with 1300.00 on ${DAY}: recorded so.\n`);
  });

  it("finds each difference once, with the act that ends it", async () => {
    const lines = [
      "C1500,NTRFRENT//FT1",
      "C1500,NTRFRENT//FT1",
      "C19,NTRFRENT//FT2",
      "C8,NTRFNONREF//FT8",
      "D9,NTRFNONREF//FT9",
      "RC1500,NTRFNONREF//FT1",
      "D250,NTRFOURS-1//FT7",
      "D2,NCHGNONREF//FT7",
    ];
    const text = statement(lines, "1,");
    const { code, stdout } = await reconcile("2.sta", text);
    expect(code).to.equal(1);
    for (const said of [
      "missing at bank    1\n",
      "missing at bank: kcb-1234:FT3, in the book 30.00 in",
      "this account. Then ask the bank about the receipt. If nothing moved: kesc book adjust --movement kcb-1234:FT3 --direction out --amount 30.00",
      "double: kcb-1234:FT1, at the bank 1500.00 in",
      "amount differs: kcb-1234:FT2, at the bank 19.00 in",
      "kesc book adjust --movement kcb-1234:FT2 --direction out --amount 1.00",
      "missing in ledger: kcb-1234:FT8, at the bank 8.00 in",
      "kesc deposit record --amount 8.00 --receipt kcb-1234:FT8",
      "To another place of yours, such as M-Pesa: kesc book transfer --direction out --amount 9.00 --receipt kcb-1234:FT9",
      "otherwise: kesc book paid --amount 9.00 --receipt kcb-1234:FT9",
      "missing in ledger: kcb-1234:FT1.reversal, at the bank 1500.00 out",
      "The bank took back the payment kcb-1234:FT1.",
      "missing in ledger: charge:kcb-1234:OURS-1, at the bank 2.00 out",
    ]) {
      expect(stdout).to.contain(said);
    }
    expect(stdout).not.to.match(/equity-9|RKTQDM7W01/);
    const json = JSON.parse((await reconcile("2.sta", text, "--json")).stdout) as Record<string, unknown>;
    expect(json["breaks"]).to.have.length(7);
    expect(json["place"]).to.deep.include({ name: "KCB 1234", source: "kcb-1234", account: "01175/1234567890" });
    expect((json["place"] as Record<string, unknown>)["closing"]).to.deep.include({
      state: "differs",
      recorded: "1300.00",
    });
  });

  it("books a charge beside its payment with --apply, once", async () => {
    const lines = [...AGREEING, "D2,NCHGNONREF//FT7"];
    const applied = await reconcile("3.sta", statement(lines, "1298,"), "--apply");
    expect(applied.stdout).to.contain("Booked 1 charges.\n").and.to.contain("2.00 out: 1 in the book\n");
    expect((await reconcile("3.sta", statement(lines, "1298,"), "--apply")).stdout).not.to.contain("Booked");
  });

  it("reads a table by the names that the command gives", async () => {
    const date = DAY.split("-").reverse().join("/");
    const rows = [`${date},MPS Rent FT1,,"1,500.00","1,500.00"`, `${date},Rent FT10,,1.00,"1,501.00"`];
    const text = ["Account,1234567890,,,", "Date,Details,Withdrawals,Deposits,Balance", ...rows].join("\n");
    const columns = "date=Date,text=Details,debit=Withdrawals,credit=Deposits,balance=Balance";
    const { stdout } = await reconcile(
      "4.csv",
      text,
      "--columns",
      columns,
      "--dates",
      "day-first",
      "--reference",
      "FT\\d+",
    );
    expect(stdout).to.contain("matched            1 movements, 1500.00 in, 0.00 out\n");
    expect(stdout).to.contain("missing in ledger: kcb-1234:FT10, at the bank 1.00 in");
    expect(stdout).to.contain(`closes with 1501.00 on ${DAY}: recorded was 1300.00`);
    expect((await reconcile("4.csv", text)).stderr).to.contain("Say how the bank calls the columns of its table.");
  });

  it("records the closing balance of a day without a figure, with the file as evidence", async () => {
    const table = (balance: string): string => `Date,Amount,Balance\n2025-11-27,10,${balance}\n`;
    const columns = ["--columns", "date=Date,amount=Amount,balance=Balance", "--source", "kcb-1234"];
    const record = (text: string, name: string, ...more: readonly string[]): Promise<Ended> => {
      const path = join(place.folder, "6.csv");
      writeFileSync(path, text);
      const of = ["--place", name, "--org", tenant.organizationId, ...columns, "--balance", ...more];
      return kesc(["reconcile", path, ...of], place.variables);
    };
    const words = "10.00 in NCBA 7 at the end of 2025-11-27, shown by statement of 2025-11-27, 6.csv.";
    const shown = await record(table("10"), "NCBA 7");
    expect(shown.stdout, shown.stderr).to.equal(`This would record ${words}\n`);
    expect(shown.stderr).to.contain("Nothing was done. To do it, add --note TEXT --yes.");
    const done = await record(table("10"), "NCBA 7", "--note", "first", "--yes");
    expect(done.stdout, done.stderr).to.equal(`Recorded ${words}\n`);
    expect((await record(table("10"), "NCBA 7", "--note", "first", "--yes")).stdout).to.contain("is 10.00 already");
    const list = await kesc(["reserve", "list", tenant.organizationId, "--json"], place.variables);
    expect(list.stdout)
      .to.contain(createHash("sha256").update(table("10")).digest("hex"))
      .and.contain('"bank_kenya"');
    for (const [text, name, problem] of [
      [table("11"), "NCBA 7", "The day has another figure."],
      [table("10"), "KCB 1234", "The place has a figure of a later day"],
      [table("-10"), "NCBA 8", "The account is overdrawn"],
      [table(""), "NCBA 8", "The file tells no closing balance"],
      [`${table("10")}2025-11-27,1,5\n`, "NCBA 8", "The file is doubtful, so its balance is not recorded."],
    ] as const) {
      const refused = await record(text, name, "--note", "x", "--yes");
      expect([refused.code, refused.stderr.includes(problem)], refused.stderr).to.deep.equal([2, true]);
    }
  });

  it("reads a table as kesc reserve place has kept it, without an option", async () => {
    const text = `Date,Words,Amount\n${DAY},A FT1 B,1500\n${DAY},A FT2,20\n`;
    const form = ["--columns", "date=Date,text=Words,amount=Amount", "--dates", "day-first", "--reference", "FT[0-9]"];
    const keep = (): Promise<Ended> =>
      kesc(["reserve", "place", tenant.organizationId, "--place", "KCB 1234", ...form], place.variables);
    const kept = await keep();
    expect(kept.stdout, kept.stderr).to.contain("Statements of KCB 1234 are read so.");
    expect((await keep()).stdout).to.contain("were read so before");
    const { stdout, stderr } = await reconcile("5.csv", text);
    expect(stdout, stderr).to.contain("matched            2 movements, 1520.00 in, 0.00 out\n");
  });

  it("reads the file in a thread whose memory and processor time are bounded, as a server does", async () => {
    const limits: (number | undefined)[] = [];
    const heard = ({ resourceLimits }: Worker): void => {
      limits.push(resourceLimits?.maxOldGenerationSizeMb);
    };
    process.on("worker", heard);
    await reconcile("7.sta", statement(AGREEING, "1300,"));
    process.off("worker", heard);
    expect(limits).to.include(768);
  });

  it("refuses options that do not fit, and names what is wrong", async () => {
    const of = async (...args: readonly string[]): Promise<string> => {
      const { code, stderr } = await kesc(["reconcile", ...args, "--org", tenant.organizationId], place.variables);
      expect(code, args.join(" ")).to.equal(2);
      return stderr;
    };
    expect(await of("kcb", "x.csv")).to.contain("Name a rail (mpesa), or the bank with --place.");
    expect(await of("mpesa", "x.csv", "--source", "kcb")).to.contain("are for --place only");
    expect(await of("mpesa", "x.csv", "--place", "KCB")).to.contain("--place takes one file, and no rail");
    expect(await of("--pull", "--place", "KCB")).to.contain("--place takes one file, and no rail");
    expect(await of("x.csv", "--pull", "--place", "KCB")).to.contain("--place takes no --pull");
    expect(await of("mpesa", "x.csv", "--balance")).to.contain("--balance is for --place only");
    expect(await of("x.csv", "--place", "KCB", "--dates", "day-first")).to.contain("are for --columns only");
    expect(await of("x.csv", "--place", "KCB", "--columns", "date=Date")).to.contain("amount or else debit and credit");
    expect(await of("x.csv", "--place", "KCB", "--columns", "day=Date")).to.contain(
      '"day=Date" must be one of date, amount',
    );
    expect(await of("x.csv", "--place", "KCB", "--reference", "(")).to.contain("must be a regular expression");
    writeFileSync(join(place.folder, "x.sta"), mt940());
    const file = join(place.folder, "x.sta");
    expect(await of(file, "--place", "Mpesa")).to.contain("--source must not be mpesa: that is a rail.");
    expect(await of(file, "--place", "KCB", "--source", "KCB")).to.contain("--source must be 1 to 32 of a to z");
    expect(await of(file, "--place", "Operator")).to.contain("--source must not be operator");
  });
});
