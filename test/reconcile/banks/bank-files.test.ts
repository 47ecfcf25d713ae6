import { expect } from "chai";

import type { BankColumns, StatementForm } from "../../../src/domain/statement-form.js";
import { type JoinedStatement } from "../../../src/reconcile/banks/bank-statement.js";
import { readBankFile } from "../../../src/reconcile/banks/read-bank-file.js";
import { camt053, detail, entry, formOf, mt940 } from "../../support/bank-files.js";

function read(text: string | Buffer, form: Partial<StatementForm> = {}): Promise<JoinedStatement> {
  return readBankFile(Buffer.from(text), formOf(form));
}

async function problemOf(text: string, form?: Partial<StatementForm>): Promise<string> {
  return read(text, form).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );
}

/** The entries as texts: day, direction, amount, marks and references. */
function entriesOf({ entries }: JoinedStatement): readonly string[] {
  return entries.map(({ day, direction, amountCents, references, isReversal, isCharge }) =>
    [
      day,
      direction,
      amountCents,
      ...references,
      ...(isReversal ? ["reversal"] : []),
      ...(isCharge ? ["charge"] : []),
    ].join(" "),
  );
}

describe("a statement in MT940", () => {
  const ofEntry = async (line: string, closing = "0,"): Promise<string | undefined> =>
    entriesOf(await read(mt940({ lines: [`:61:${line}`], closing: `C261127KES${closing}` })))[0];

  for (const [why, line, expected] of [
    ["a credit", "2611271127C1500,00NTRFNONREF//FT26331A1", "2026-11-27 in 150000 FT26331A1"],
    ["a whole amount without decimals", "2611271127D250,NTRFTOP-1//FT26331A2", "2026-11-27 out 25000 FT26331A2 TOP-1"],
    ["a credit that was taken back: out", "2611271127RC10,00NTRFX//FT1", "2026-11-27 out 1000 FT1 X reversal"],
    ["a debit that was taken back: in", "2611271127RD10,00NTRFX//FT1", "2026-11-27 in 1000 FT1 reversal"],
    ["RC with a funds code, and not R with CR", "2611271127RCR10,00NTRFX", "2026-11-27 out 1000 X reversal"],
    ["a funds code", "2611271127DS10,5NTRFX", "2026-11-27 out 1050 X"],
    ["an entry in the year after its value date", "2612310102C1,00NTRF//F", "2027-01-02 in 100 F"],
    ["an entry in the year before its value date", "2701021231C1,00NTRF//F", "2026-12-31 in 100 F"],
    ["an entry without a date of its own", "261127C1,00NTRF//F", "2026-11-27 in 100 F"],
    ["an entry on 29 February of another year", "2803010229C1,00NTRF//F", "2028-02-29 in 100 F"],
    ["a charge", "2611271127D50,00NCHGNONREF//FT1", "2026-11-27 out 5000 FT1 charge"],
    [
      "a long reference, whole",
      "2611271127D1,00NTRFABCDEFGHIJKLMNOPQRSTUV//F",
      "2026-11-27 out 100 F ABCDEFGHIJKLMNOPQRSTUV",
    ],
    ["the payer's words, where the bank has no number", "2611271127C1,00NTRFFT26331A1", "2026-11-27 in 100 FT26331A1"],
    ["no reference", "2611271127C1,00NMSCNONREF", "2026-11-27 in 100"],
  ] as const) {
    it(`has ${why}`, async () => {
      expect(await ofEntry(line)).to.equal(expected);
    });
  }

  const LINES = [
    ":61:2611271127C1500,00NTRFNONREF//FT1",
    "JOHN EXAMPLE",
    ":86:Rent",
    "-of November",
    ":61:2611271127D250,NTRFA//FT2",
  ];
  const WHOLE = { lines: LINES, opening: "C261126KES1000,", closing: "C261127KES2250,00" };

  it("may stand in blocks, end in - or not, and go on in lines below a field", async () => {
    const plain = mt940(WHOLE);
    const forms = [
      plain,
      plain.replace(/-$/, ""),
      `{1:F01X}{2:O9400000}{4:\r\n${plain.replace(/-$/, "-}{5:{CHK:1}}")}`,
    ];
    for (const form of forms) {
      const { entries, closing, days, doubts, account } = await read(form);
      expect(entries).to.have.length(2);
      expect({ closing, days, doubts, account }).to.deep.equal({
        closing: { cents: 2_250_00, day: "2026-11-27" },
        days: { first: "2026-11-27", last: "2026-11-27" },
        doubts: [],
        account: "01175/1234567890",
      });
    }
  });

  it("adds its entries to its opening balance, and is doubtful if that is not its closing balance", async () => {
    const { doubts } = await read(mt940({ ...WHOLE, closing: "D261127KES2250,00" }));
    expect(doubts).to.deep.equal([
      "Statement 365 of 2026-11-27 closes with -2250.00, and its opening balance and entries make 2250.00: an entry is missing, or was changed.",
    ]);
  });

  it("may have pages, and other statements behind them", async () => {
    const first = mt940({ ...WHOLE, number: "365/1" }).replace(":62F:", ":62M:");
    const second = mt940({ number: "365/2", opening: "C261127KES2250,00", closing: "C261127KES2250,00" }).replace(
      ":60F:",
      ":60M:",
    );
    const next = mt940({ number: "366", opening: "C261127KES2250,00", closing: "C261128KES2250,00" });
    const joined = await read([first, second, next].join("\n"));
    expect(joined).to.deep.include({ id: "365 of 2026-11-27, 366 of 2026-11-28", doubts: [] });
    expect(joined.days).to.deep.equal({ first: "2026-11-27", last: "2026-11-28" });
    expect(await problemOf(first)).to.match(/line 1 begins a statement whose last page is missing/);
    expect(await problemOf(second)).to.match(/line 1 begins with :60M:, and no page stands before/);
    expect(await problemOf([first, next].join("\n"))).to.match(/line 12 lacks :62F: before it/);
    expect(await problemOf([first, second.replace("365", "364")].join("\n"))).to.match(/line 12 is not the next page/);
    expect(await problemOf([next, next].join("\n"))).to.equal("It has the statement 366 of 2026-11-28 twice.");
    const gap = await read(
      [mt940(WHOLE), next.replace("C261127KES2250,00", "C261127KES1,00").replace("2250,00", "1,00")].join("\n"),
    );
    expect(gap.doubts.join()).to.match(/opens with 1\.00, and the one before closes with 2250\.00/);
  });

  it("is of one account", async () => {
    const other = mt940({ account: "999" });
    expect(await problemOf([mt940(), other].join("\n"))).to.match(
      /has the accounts 01175\/1234567890, 999\. Name the account/,
    );
    expect((await read([mt940(), other].join("\n"), { account: "1234567890" })).account).to.equal("01175/1234567890");
    const problem = await problemOf(mt940(), { account: "567890" });
    expect(problem).to.match(/^It is of the account 01175\/1234567890, and not of 567890\. If the bank/);
    expect(await problemOf([mt940(), other].join("\n"), { account: "5" })).to.match(/, 999, and not one account 5\.$/);
    for (const account of ["1234567890", "001234567890", "01175/1234567890"]) {
      const written = mt940({ account: "01175/12-3456 7890" });
      expect((await read(written, { account })).account, account).to.equal("01175/12-3456 7890");
    }
  });

  it("is refused with the number of a line that cannot be read, and nothing of it is read", async () => {
    const ofLine = (line: string): Promise<string> => problemOf(mt940({ lines: [line] }));
    for (const line of [
      "2611271127C1500.00NTRFX",
      "2611271127X1,NTRFX",
      "261127",
      "2611271127C1,234NTRFX",
      "2611311131C1,NTRFX",
    ]) {
      expect(await ofLine(`:61:${line}`), line).to.match(/^It is not valid MT940: line 5 \(:61:\) has /);
    }
    expect(await ofLine(":61:2611271127C1234567890123,00NTRFX")).to.match(/no amount such as/);
    expect(await problemOf(mt940({ opening: "C261126USD1," }))).to.match(/line 4 \(:60F:\) has the currency USD/);
    expect(await problemOf(mt940({ opening: "X" }))).to.match(/line 4 \(:60F:\) has no balance/);
    expect(await problemOf(mt940().replace(":25:01175/1234567890\n", ""))).to.match(
      /line 1 begins a statement without :25:/,
    );
    expect(await problemOf(`:20:X\n-\nnothing`)).to.match(/line 3 is no field/);
    expect(await problemOf(`{1:F01X}{4:\n:25:1\n`)).to.match(/line 2 \(:25:\) stands before the field :20:/);
  });
});

for (const version of ["02", "08"] as const) {
  describe(`a statement in camt.053.001.${version}`, () => {
    const of = (entries: readonly string[], more: Parameters<typeof camt053>[0] = {}): string =>
      camt053({ version, entries, ...more });
    const one = async (...given: Parameters<typeof entry>): Promise<readonly string[]> =>
      entriesOf(await read(of([entry(given[0], { version, ...given[1] })])));

    it("has the sign of the account, also for a reversal", async () => {
      expect(await one("DBIT 10.00", { reversal: true, bank: "FT1" })).to.deep.equal([
        "2026-11-27 out 1000 FT1 reversal",
      ]);
      expect(await one("CRDT 10.00", { reversal: true, bank: "FT1" })).to.deep.equal([
        "2026-11-27 in 1000 FT1 reversal",
      ]);
    });

    it("counts what is booked alone", async () => {
      const statuses = ["BOOK", "PDNG", "INFO"].map((status) => entry("CRDT 1.00", { version, status }));
      const joined = await read(of(statuses, { closing: "CRDT 1.00" }));
      expect(joined).to.deep.include({ notBooked: 2, doubts: [] });
      expect(joined.entries).to.have.length(1);
    });

    it("takes the bank's numbers, and those of the owner if the owner paid", async () => {
      const given = { bank: "FT1", details: [detail({ bank: "D1", endToEnd: "OURS" })] };
      expect(await one("DBIT 1.00", given)).to.deep.equal(["2026-11-27 out 100 FT1 D1 OURS"]);
      expect(await one("CRDT 1.00", given), "a payer wrote OURS").to.deep.equal(["2026-11-27 in 100 FT1 D1"]);
      const none = { details: [detail({ endToEnd: "NOTPROVIDED" })] };
      expect(await one("DBIT 1.00", none)).to.deep.equal(["2026-11-27 out 100"]);
    });

    it("has the payments of a batch, if they add up to its entry", async () => {
      const batch = (first: string): string =>
        entry("DBIT 30.00", {
          version,
          bank: "FT1",
          details: [
            detail({ version, amount: first, bank: "D1" }),
            detail({ version, amount: "20.00", endToEnd: "E2" }),
          ],
        });
      const [found] = (await read(of([batch("10.00")]))).entries;
      expect(found?.parts.map(({ amountCents, references }) => [amountCents, ...references])).to.deep.equal([
        [1_000, "D1"],
        [2_000, "E2"],
      ]);
      const { entries, doubts } = await read(of([batch("10.01")], { closing: "DBIT 30.00" }));
      expect(entries[0]).to.deep.include({ amountCents: 3_000, parts: [] });
      expect(doubts).to.deep.equal(["Statement S1, entry 1 has -30.00, and its details -30.01: the entry counts."]);
      const silent = entry("DBIT 30.00", { version, details: [detail({}), detail({})] });
      expect(
        (await read(of([silent], { closing: "DBIT 30.00" }))).doubts,
        "only the entry's amount is known",
      ).to.deep.equal([]);
    });

    it("takes the opening and the closing balance, wherever they stand, and no other", async () => {
      const balances = ["CLAV DBIT 9.00", "CLBD CRDT 7.00", "ITBD DBIT 5.00", "PRCD CRDT 5.00"];
      const joined = await read(of([entry("CRDT 2.00", { version })], { balances }));
      expect(joined).to.deep.include({ closing: { cents: 700, day: "2026-11-27" }, doubts: [] });
      expect((await read(of([], { balances: ["OPBD CRDT 5.00", "CLBD DBIT 5.00"] }))).doubts.join()).to.match(
        /closes with -5\.00/,
      );
      expect(await problemOf(of([], { balances: ["CLBD CRDT 1.00", "CLBD CRDT 2.00"] }))).to.match(
        /balance CLBD stands twice/,
      );
    });

    it("has amounts of up to five decimals, and no part of a cent", async () => {
      for (const [written, cents] of [
        ["250", 25_000],
        ["0.29000", 29],
        ["0010.5", 1_050],
        ["9999999999999.99", 999_999_999_999_999],
      ] as const) {
        expect(await one(`CRDT ${written}`)).to.deep.equal([`2026-11-27 in ${String(cents)}`]);
      }
      for (const written of ["0.001", "1e3", "1,00", "-1.00", ""]) {
        expect(await problemOf(of([entry(`CRDT ${written}`, { version })])), written).to.equal(
          "It is not valid camt.053: statement S1, entry 1 has an Amt that is no amount such as 1000.00.",
        );
      }
    });
  });
}

describe("XML of a bank", () => {
  it("may have prefixes, CDATA, references and another encoding", async () => {
    const xml = camt053({ entries: [entry("CRDT 1.00", { bank: "<![CDATA[F&]]>&lt;&#49;" })] });
    const prefixed = xml
      .replaceAll(/<(\/?)(?=[A-Z])(?!!)/g, "<$1c:")
      .replace("xmlns=", "xmlns:c=")
      .replace("<![c:", "<![");
    for (const form of [
      xml,
      prefixed,
      Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${xml}<!-- \u00e9 -->`, "latin1"),
    ]) {
      expect(entriesOf(await read(form))).to.deep.equal(["2026-11-27 in 100 F&<1"]);
    }
  });

  it("is refused with its line or element, before anything is expanded", async () => {
    const xml = camt053({ entries: [entry("CRDT 1.00", {})] });
    const bomb = `<?xml version="1.0"?>\n<!DOCTYPE lol [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n${xml}`;
    for (const [text, problem] of [
      [bomb, "It is not valid XML: line 2: a document type, which no statement needs."],
      [xml.replace("S1", "&a;"), /line \d+: an entity that XML does not have/],
      [xml.slice(0, -20), /line \d+: unexpected end of file|line \d+: unclosed tag/],
      [xml.replace("</Ntry>", "</Entry>"), /line \d+: closing tag mismatch/],
      [`${xml}${xml}`, /line \d+: a second document/],
      [`${xml}more`, /line \d+: non-whitespace outside of root node/],
      [xml.replace('Ccy="KES"', 'Ccy="KES" Ccy="USD"'), /line \d+: attribute <Ccy> already defined/],
      [xml.replace("<Ntry>", `<Ntry>${"<A>".repeat(50)}${"</A>".repeat(50)}`), /more than 40 elements in each other/],
      [xml.replaceAll("camt.053.001.02", "camt.054.001.02"), /no statement of camt\.053/],
      [xml.replaceAll('Ccy="KES"', 'Ccy="USD"'), /balance OPBD has Amt in USD, and not in KES/],
      [xml.replace("<Sts>BOOK</Sts>", ""), /statement S1, entry 1 lacks Sts/],
      [xml.replaceAll(/<BookgDt>.*?<\/BookgDt>/g, ""), /entry 1 has no day in BookgDt or ValDt/],
      [xml.replaceAll(/<CdtDbtInd>CRDT/g, "<CdtDbtInd>C"), /balance OPBD lacks CdtDbtInd/],
      [xml.replaceAll(/<Acct>.*?<\/Acct>/gs, ""), /a statement lacks Acct\/Id/],
      [`<?xml version="1.0" encoding="none"?>${xml}`, /cannot be read as none/],
      [xml.replace("S1", "&#27;[2J"), /line \d+: a character that XML does not have/],
      [xml.replace("S1", "<![CDATA[\u001b[2J]]>"), /line \d+: a character that XML does not have/],
    ] as const) {
      const found = await problemOf(text);
      if (typeof problem === "string") expect(found).to.equal(problem);
      else expect(found).to.match(problem);
    }
  });

  it("has days in Nairobi, whether a day or a time stands there", async () => {
    const at = async (day: string): Promise<string> =>
      (await read(camt053({ entries: [entry("CRDT 1.00", { day })] }))).entries[0]?.day ?? "";
    expect(await at("<DtTm>2026-11-26T22:30:00Z</DtTm>")).to.equal("2026-11-27");
    expect(await at("<DtTm>2026-11-26T22:30:00</DtTm>")).to.equal("2026-11-26");
    expect(await at("<Dt>2026-11-26+03:00</Dt>")).to.equal("2026-11-26");
  });
});

describe("a table of a bank", () => {
  const table = (columns: BankColumns, given: Partial<StatementForm> = {}): Partial<StatementForm> => ({
    columns,
    dateOrder: "DAY_FIRST",
    ...given,
  });
  const KCB = table(
    { date: "Transaction Date", text: "Description", debit: "Debit", credit: "Credit", balance: "Running Balance" },
    { referencePattern: "FT[0-9A-Z]+" },
  );
  const HEAD = [
    "Account Name,ACME LTD",
    "Account,1234567890",
    "",
    '"TRANSACTION DATE",Value Date,Description,Debit,Credit,Running  Balance',
  ];
  const ROWS = [
    '26/11/2026,26/11/2026,Balance B/F,,,"1,000.00"',
    '26/11/2026,27/11/2026,MPS 254712345678 UKOQDM7W01 FT26331A1,,"15,000.00","16,000.00"',
    '01/12/2026,01/12/2026,FT26331A2 Rent,"(2,000.00)",0.00,"14,000.00"',
  ];
  const ENTRIES = ["2026-11-26 in 1500000 FT26331A1", "2026-12-01 out 200000 FT26331A2"];
  const kcb = (rows: readonly string[]): string => [...HEAD, ...rows].join("\r\n");

  it("has the columns that an operator names, below other lines, and its footer is no row", async () => {
    const joined = await read(kcb([...ROWS, 'Total,,,"2,000.00","15,000.00",', "*** End of statement ***,,,,,"]), KCB);
    expect(entriesOf(joined)).to.deep.equal(ENTRIES);
    expect(joined).to.deep.include({
      closing: { cents: 14_000_00, day: "2026-12-01" },
      days: { first: "2026-11-26", last: "2026-12-01" },
      doubts: [],
    });
  });

  it("may have the newest row first, also within one day", async () => {
    const { entries, closing, doubts } = await read(kcb(ROWS.toReversed()), KCB);
    expect([entries.at(-1)?.references, closing?.cents, doubts]).to.deep.equal([["FT26331A2"], 14_000_00, []]);
    const ofDay = ROWS.map((row) => row.replaceAll("01/12", "26/11"));
    expect((await read(kcb(ofDay.toReversed()), KCB)).closing?.cents).to.equal(14_000_00);
    const either = ["26/11/2026,,A,,100.00,100.00", "26/11/2026,,B,100.00,,0.00"];
    expect((await read(kcb(either), KCB)).closing, "both orders are right").to.equal(undefined);
  });

  it("is doubtful if a balance does not follow", async () => {
    const { doubts } = await read(kcb(ROWS.filter((_, index) => index !== 1)), KCB);
    expect(doubts).to.deep.equal([
      "A row is missing, or an amount was changed: the balance of line 6 does not follow from the row before it.",
    ]);
  });

  it("may have one column of amounts, a column of references, semicolons and no balance", async () => {
    const of = table({ date: "Date", amount: "Amount", reference: "Ref" }, { dateOrder: undefined });
    const text = "Date;Amount;Ref\n2026-11-27;-20;A1\n11/11/2026;30.5;\n";
    expect(entriesOf(await read(text, of))).to.deep.equal(["2026-11-11 in 3050", "2026-11-27 out 2000 A1"]);
    const inside = table(
      { date: "Date", amount: "Amount", reference: "Ref" },
      { referencePattern: String.raw`Ref (\S+)` },
    );
    expect(entriesOf(await read("Date,Amount,Ref\n27/11/2026,1,Ref A9 x", inside))).to.deep.equal([
      "2026-11-27 in 100 A9",
    ]);
  });

  for (const [why, rows, problem, given] of [
    [
      "no order of dates",
      [ROWS[2]],
      'Line 5: "Transaction Date" may have the day or the month first: say which.',
      { dateOrder: undefined },
    ],
    [
      "a date of another order",
      [ROWS[1]],
      'Line 5: "Transaction Date" is no date with the month first.',
      { dateOrder: "MONTH_FIRST" },
    ],

    ["an empty date", [",,A,,1.00,"], 'Line 5: "Transaction Date" is no date such as 27/11/2026 or 2026-11-27.', {}],
    ["no amount", ["27/11/2026,,A,,,"], 'Line 5: "Debit" has no amount.', {}],
    ["two amounts", ["27/11/2026,,A,1,2,"], 'Line 5: "Debit" and the credit have an amount both.', {}],
    ["a comma for a point", ['27/11/2026,,A,,"12,50",'], 'Line 5: "Credit" is no amount such as 1,053.00.', {}],
    ["a negative credit", ["27/11/2026,,A,,-1,"], 'Line 5: "Credit" is negative.', {}],
  ] as const) {
    it(`is refused for a row with ${why}`, async () => {
      const of = { ...KCB, ...given };
      expect(await problemOf(kcb(rows.map(String)), of)).to.equal(problem);
    });
  }

  it("is refused without its columns, with one twice, and if nobody said them", async () => {
    const missing =
      /^No line has all of the columns "Transaction Date", "Description", "Debit", "Credit", "Running Balance"\.$/;
    expect(await problemOf("Transaction Date,Debit\n", KCB)).to.match(missing);
    expect(await problemOf("a\n".repeat(60), KCB)).to.match(missing);
    expect(await problemOf(kcb([]).replace("Value Date", "Debit"), KCB)).to.equal(
      "Line 4 has the column for debit twice.",
    );
    expect(await problemOf(kcb(ROWS))).to.equal(
      "It is neither MT940 nor camt.053. Say how the bank calls the columns of its table.",
    );
  });
});

describe("the bounds of a bank's file", () => {
  const COLUMNS = { date: "Date", amount: "Amount" };
  const many = (count: number, text: string): string => text.repeat(count);
  const statement = (index: number): string => mt940({ number: String(index) });
  for (const [why, text, problem] of [
    [
      "namespaces, which are slow to read",
      camt053().replace(
        "<Document",
        `<Document ${Array.from({ length: 10_000 }, (_, at) => `xmlns:a${String(at)}="b"`).join(" ")}`,
      ),
      "It declares more than 10000 namespaces.",
    ],
    [
      "entries in XML, with their details",
      camt053({ entries: [entry("CRDT 1.00", { details: Array.from({ length: 50_001 }, () => "<TxDtls/>") })] }),
      "It has more than 50000 entries and details.",
    ],
    [
      "statements in XML",
      camt053().replace(/<Stmt>.*<\/Stmt>/s, many(1_001, "<Stmt><Id>S</Id></Stmt>")),
      "It has more than 1000 statements.",
    ],
    [
      "characters of an id",
      camt053().replace("S1", "S".repeat(101)),
      "It is not valid camt.053: statement 1, Id has more than 100 characters.",
    ],
    [
      "entries in MT940",
      mt940({ lines: Array.from({ length: 50_001 }, () => ":61:261127C1,NTRFX") }),
      "It has more than 50000 entries.",
    ],
    [
      "statements in MT940",
      Array.from({ length: 1_001 }, (_, index) => statement(index)).join("\n"),
      "It has more than 1000 statements.",
    ],
    [
      "characters of an account",
      mt940({ account: "1".repeat(101) }),
      "It is not valid MT940: line 2 (:25:) has more than 100 characters.",
    ],
    ["rows of a table", `Date,Amount\n${many(50_000, "2026-11-27,1\n")}`, "It has more than 50000 rows."],
  ] as const) {
    it(`refuse more ${why}`, async () => {
      expect(await problemOf(text, { columns: COLUMNS })).to.equal(problem);
    });
  }

  // Each of these took hours: an expression tried every way to divide the text.
  for (const [what, xml, problem] of [
    ["zeros", (text: string) => camt053().replace("0.00", `${text}x`), /has an Amt that is no amount/],
    ["decimals", (text: string) => camt053().replace("0.00", `0.${text}x`), /has an Amt that is no amount/],
    [
      "times",
      (text: string) => camt053().replace(/<Dt><Dt>.*?<\/Dt><\/Dt>/, `<Dt><DtTm>${text}</DtTm></Dt>`),
      /has no day/,
    ],
  ] as const) {
    it(`refuse a megabyte of ${what} within two seconds of the processor`, async () => {
      const begun = process.cpuUsage();
      expect(await problemOf(xml((what === "times" ? "T" : "0").repeat(1_000_000)))).to.match(problem);
      expect(process.cpuUsage(begun).user / 1_000).to.be.below(2_000);
    });
  }

  it("take a line of megabytes, of which no message repeats more than a few words", async () => {
    const begun = process.cpuUsage();
    const long = "x".repeat(8_000_000);
    for (const line of [`:61:261127C1,NTRF${long}`, `:86:${long}`, `:61:${"0".repeat(8_000_000)}`, `:28C:${long}`]) {
      expect((await problemOf(mt940({ lines: [line] }))).length, line.slice(0, 20)).to.be.below(200);
    }
    expect(process.cpuUsage(begun).user / 1_000).to.be.below(2_000);
  });

  it("name 10 accounts and 100 doubts, and the first and last of many statements", async () => {
    const accounts = Array.from({ length: 12 }, (_, index) => mt940({ account: String(index) }));
    expect(await problemOf(accounts.join("\n"))).to.match(/accounts 0, .* 9 and 2 more\. Name the account/);
    const wrong = Array.from({ length: 102 }, (_, index) => mt940({ number: String(index), closing: "C261127KES1," }));
    const { doubts, id } = await read(wrong.join("\n"));
    // Each statement closes wrongly, and each but the first opens with another balance.
    expect([doubts.length, doubts.at(-1)]).to.deep.equal([101, "103 more of its entries are doubtful."]);
    expect(id).to.equal("0 of 2026-11-27 to 101 of 2026-11-27");
  });
});
