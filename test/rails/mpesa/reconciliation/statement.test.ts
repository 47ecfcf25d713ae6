import { expect } from "chai";

import { CsvReader } from "../../../../runtime/csv-reader.js";
import { STATEMENT } from "../../../../src/rails/mpesa/reconciliation/statement.js";
import type { ReadStatement, StatementProblem, StatementRow, StatementWords } from "../../../../src/rails/statement.js";
import { separatorIn, STATEMENT_BOUNDS } from "../../../../src/reconcile/files/tables.js";

type Read = ReadStatement | StatementProblem;
type Cells = Partial<Record<string, string>>;

interface Given {
  readonly head?: readonly string[];
  readonly columns?: readonly string[];
  readonly separator?: string;
  readonly name?: string;
  readonly numbers?: readonly string[];
  readonly words?: StatementWords;
}

/** Writes a file of CSV, and reads it as the command does. */
function read(rows: readonly Cells[], { head = [], columns, separator = ",", ...file }: Given = {}): Read {
  const names = columns ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
  const lines = rows.map((row) => names.map((name) => quoted(row[name] ?? "")).join(separator));
  const text = [...head, names.join(separator), ...lines].join("\r\n");
  const csv = new CsvReader({ ...STATEMENT_BOUNDS, separator: separatorIn(Buffer.from(text), STATEMENT) });
  const reader = STATEMENT.reader({ name: "statement.csv", numbers: [], ...file });
  for (const { cells, line } of [...csv.read(Buffer.from(text)), ...csv.end()]) {
    const problem = reader.add(cells, line);
    if (problem !== undefined) return problem;
  }
  return reader.end();
}

function rowsOf(found: Read): readonly StatementRow[] {
  if ("problem" in found) throw new Error(found.problem);
  return found.rows;
}

function doubtsOf(found: Read): readonly string[] {
  if ("problem" in found) throw new Error(found.problem);
  return found.doubts;
}

function problemOf(found: Read): string {
  return "problem" in found ? found.problem : "";
}

const PAY_IN: Cells = {
  "Receipt No.": "UKOQDM7W6S",
  "Completion Time": "24-11-2026 10:05:33",
  Details: "Pay Bill from 25470****149 - JOHN EXAMPLE Acc. 0K5N3QWXYZ12",
  "Transaction Status": "Completed",
  "Paid In": "1,500.00",
  Withdrawn: "",
  "Other Party Info": "254708***149 - JOHN EXAMPLE",
  "A/C No.": "0K5N3QWXYZ12",
};

/** The columns of each form that was seen, in its own words. */
const F4 = ["Receipt No.", "Completion Time", "Details", "Transaction Status", "Paid In", "Withdrawn", "Balance"];
const F2 = [
  ...["Receipt No.", "Completion Time", "Initiation Time", "Details", "Transaction Status", "Paid In", "Withdrawn"],
  ...["Balance", "Balance Confirmed", "Reason Type", "Other Party Info", "Linked Transaction ID", "A/C No."],
];
const HEAD = [
  "Account Holder,EXAMPLE SACCO",
  "Short Code,600996",
  "Account,Utility Account",
  "Time Period,From 01-11-2026 00:00:00 To 30-11-2026 23:59:59",
  "Operator,example.operator",
  "Opening Balance,100.00,Closing Balance,1594.50,Total Paid In,1500.00,Total Withdrawn,5.50",
];
const FORMS: Readonly<Record<string, Pick<Given, "head" | "columns">>> = {
  F1: { head: HEAD, columns: [...F2, "Currency"] },
  F2: { head: HEAD, columns: F2 },
  F3: {
    columns: [
      ...["Receipt No", "Completion Time", "Details", "Transaction Status"],
      ...["Paid In (KSHs)", "Withdrawn (KSHs)", "Balance (KSHs)"],
    ],
  },
  F4: { columns: F4 },
  F5: { columns: ["Receipt No", ...F4.slice(1), "Reason Type", "Other Party Info"] },
  F6: {
    columns: [
      ...["STORE_NAME", "RECEIPT_NUMBER", "ACCOUNT_TYPE_NAME", "TRANSACTION_TYPE", "START_TIMESTAMP"],
      ...["TRANSACTION_PARTY_DETAILS", "CREDIT_AMOUNT", "DEBIT_AMOUNT", "BALANCE", "LINKED_TRANSACTION_ID"],
    ],
  },
  F7: {
    columns: [
      ...["Receipt", "Date", "Details", "Status", "Withdrawn", "Paid In", "Balance", "Balance Confirmed"],
      ...["Transaction Type", "Other Party Info", "Transaction Party Details"],
    ],
  },
  F8: { columns: ["Receipt No.", "Completion Time", "Initiation Time", ...F4.slice(2), "Other Party Info"] },
  F9: { columns: [...F4, "Account No.", "Other Party Info"] },
};

/** The times of 24 November 2026, 14:30 in Nairobi, as files and spreadsheets write them. */
const TIMES = [
  "24-11-2026 14:30:00",
  "24/11/2026 14:30:00",
  "2026-11-24 14:30:00",
  "24-11-2026 14:30",
  "24/11/2026 2:30 PM",
  "11/24/2026 14:30",
];
const AT = Date.parse("2026-11-24T14:30:00+03:00");

/** A value for each column of a form, by what its name begins with. */
function filled(columns: readonly string[], values: Cells): Cells {
  const known: readonly (readonly [RegExp, string])[] = [
    [/^receipt/i, "receipt"],
    [/^(completion|initiation|date|start)/i, "time"],
    [/^details/i, "details"],
    [/^reason|transaction.type/i, "reason"],
    [/status/i, "status"],
    [/^(paid in|credit)/i, "paidIn"],
    [/^(withdrawn|debit)/i, "withdrawn"],
    [/^balance( \(|$)/i, "balance"],
    [/party/i, "party"],
    [/^currency/i, "currency"],
  ];
  return Object.fromEntries(
    columns.map((column) => [column, values[known.find(([words]) => words.test(column))?.[1] ?? ""] ?? ""]),
  );
}

describe("the statement of M-Pesa's portal", () => {
  for (const [form, { head = [], columns = [] }] of Object.entries(FORMS)) {
    for (const [name, separator] of [
      ["commas", ","],
      ["semicolons", ";"],
      ["tabs", "\t"],
    ] as const) {
      it(`reads form ${form} with ${name}, with each way to write a time`, () => {
        for (const time of TIMES) {
          const of = { time, status: "Completed", currency: "KES" };
          const paid = {
            details: "Pay Bill from 25470****149 - JOHN EXAMPLE",
            reason: "Pay Bill",
            party: "2547****8149",
          };
          const charge = { details: "Pay Bill Charge", reason: "Pay Utility", party: "SP", withdrawn: "-5.50" };
          // The feed has no other words.
          if (form === "F6") charge.reason = charge.details;
          const found = read(
            [
              filled(columns, { ...of, ...charge, receipt: "UKOQDM7W6S", balance: "1,594.50" }),
              filled(columns, { ...of, ...paid, receipt: "ukoqdm7w6s", paidIn: "1,500.00", balance: "1600.0" }),
            ],
            { columns, separator, head: head.map((line) => line.replaceAll(",", separator)), numbers: ["600996"] },
          );
          expect(doubtsOf(found), time).to.deep.equal([]);
          const rows = rowsOf(found).map(({ kind, completedAt, amountCents }) => [kind, completedAt, amountCents]);
          expect(rows, `${form} ${time}`).to.have.deep.members([
            ["pay_in", AT, 150_000],
            ["charge", AT, 550],
          ]);
        }
      });
    }

    it(`names the column that form ${form} lacks`, () => {
      const needed =
        form === "F6" ? ["receipt", "START", "TRANSACTION_TYPE", "CREDIT"] : ["receipt", "withdrawn", "paid"];
      for (const beginning of needed) {
        const lacking = columns.filter((column) => !column.toLowerCase().startsWith(beginning.toLowerCase()));
        expect(problemOf(read([{}], { columns: lacking })), beginning).to.match(
          /no line has the names of its columns\. Line 1 lacks the columns? (Receipt No\.|Withdrawn|Paid In|Completion Time|Reason Type)$/,
        );
      }
    });
  }

  it("reads what a row says", () => {
    const linked = { ...PAY_IN, "Linked Transaction ID": "UKOQDM7W00" };
    expect(rowsOf(read([linked]))).to.deep.equal([
      {
        receipt: "UKOQDM7W6S",
        completedAt: Date.parse("2026-11-24T10:05:33+03:00"),
        direction: "in",
        amountCents: 150_000,
        kind: "pay_in",
        transactionId: undefined,
        idEnd: "0k5n3qwxyz12",
        reference: "0K5N3QWXYZ12",
        phone: "254******149",
        linkedReceipt: "UKOQDM7W00",
      },
    ]);
  });

  it("reads shillings that went out, and the transaction that they name", () => {
    const id = "txn_01k5n3qwxyz12abcdefghjkmnp";
    const Details = `Business Payment to 254708***149 - JOHN D via API. Original conversation ID is ${id}.`;
    for (const Withdrawn of ["-300.00", "300", "(300.00)", "300.0"]) {
      const [row] = rowsOf(read([{ ...PAY_IN, "Paid In": "0.00", Withdrawn, Details, "A/C No.": "" }]));
      expect(row).to.include({ direction: "out", amountCents: 30_000, transactionId: id, kind: "payout" });
    }
  });

  const NOBODY = { "Other Party Info": "", "A/C No.": "", "Paid In": "", Withdrawn: "-22.40" };
  for (const [what, given, kind] of [
    ["a charge by M-Pesa's words for it", { ...NOBODY, Details: "Business Payment Charge" }, "charge"],
    ["a charge by its reason", { ...NOBODY, Details: "Fee 7", "Reason Type": "Business Payment Charge" }, "charge"],
    ["no charge where a name has the word", { ...NOBODY, Details: "Business Payment to BRIAN CHARGE" }, "payout"],
    ["nothing where the remarks have the word", { ...NOBODY, Details: "Fuel and bus charge" }, "unknown"],
    [
      "nothing where the reason is another",
      { ...NOBODY, Details: "Pay Bill Charge", "Reason Type": "Pay Bill" },
      "unknown",
    ],
    ["no charge with a name", { ...NOBODY, Details: "Pay Bill Charge", "Other Party Info": "JOHN D" }, "payout"],
    ["no charge with an account number", { ...NOBODY, Details: "Pay Bill Charge", "A/C No.": "bus charge" }, "payout"],
    ["a settlement to the bank", { ...NOBODY, Details: "Organization Settlement to bank" }, "own_transfer"],
    ["a settlement that came in", { "Reason Type": "Organization Settlement" }, "own_transfer"],
    ["a transfer from the account itself", { "Other Party Info": "600996 - EXAMPLE SACCO" }, "own_transfer"],
    ["a payment of a business", { "Other Party Info": "600997 - EXAMPLE SHOP" }, "pay_in"],
    ["a reversal", { ...NOBODY, "Reason Type": "Transaction Reversal" }, "reversal"],
    ["a payer who types another kind", { "A/C No.": "Organization Settlement" }, "pay_in"],
    ["a row that says nothing", { Details: "Something new", "Other Party Info": "", "A/C No.": "" }, "unknown"],
  ] as const) {
    it(`knows ${what}`, () => {
      const [row] = rowsOf(read([{ ...PAY_IN, ...given }], { numbers: ["600996"] }));
      expect(row?.kind).to.equal(kind);
    });
  }

  const NO_WORDS = { reversal: [], charge: [], own_transfer: [], pay_in: [], payout: [] };
  for (const [what, given, words, kind] of [
    ["a charge", { ...NOBODY, Details: "Levy  Of Float" }, { charge: ["levy of float"] }, "charge"],
    [
      "no charge behind its word",
      { ...NOBODY, Details: "Levy of float, twice" },
      { charge: ["levy of float"] },
      "unknown",
    ],
    [
      "an own transfer",
      { ...NOBODY, Details: "Sweep to trust 12" },
      { own_transfer: ["sweep to trust"] },
      "own_transfer",
    ],
    [
      "a longer word first",
      { Details: "Pay Bill to own till" },
      { own_transfer: ["pay bill to own till"] },
      "own_transfer",
    ],
    ["a reversal", { ...NOBODY, "Reason Type": "Undo" }, { reversal: ["undo"] }, "reversal"],
    ["a payment", { Details: "Kibanda", "Other Party Info": "", "A/C No.": "" }, { pay_in: ["kibanda"] }, "pay_in"],
    ["built-in words as before", {}, { own_transfer: ["sweep to trust"] }, "pay_in"],
  ] as const) {
    it(`knows ${what} by the words that an account adds`, () => {
      const [row] = rowsOf(read([{ ...PAY_IN, ...given }], { words: { ...NO_WORDS, ...words } }));
      expect(row?.kind).to.equal(kind);
    });
  }

  it("tells a charge by the payment with its receipt, whichever stands first", () => {
    const charge = {
      ...PAY_IN,
      ...NOBODY,
      Details: "Pay Bill Charge",
      "Reason Type": "Pay Utility",
      "Other Party Info": "SP",
    };
    for (const rows of [
      [charge, PAY_IN],
      [PAY_IN, charge],
    ]) {
      const kinds = rowsOf(read(rows)).map(({ kind }) => kind);
      expect([...kinds].sort()).to.deep.equal(["charge", "pay_in"]);
    }
    const larger = { ...charge, Withdrawn: "-1,500.01" };
    expect(rowsOf(read([larger, PAY_IN])).map(({ kind }) => kind)).to.deep.equal(["pay_in", "unknown"]);
  });

  it("lets the receipts and the period decide which number is the day", () => {
    const at = (receipt: string, time: string, head: readonly string[] = []): Read =>
      read([{ ...PAY_IN, "Receipt No.": receipt, "Completion Time": time }], { head });
    const fifth = Date.parse("2026-11-05T10:00:00+03:00");
    const may = Date.parse("2026-05-11T10:00:00+03:00");
    const of = (found: Read): number | undefined => rowsOf(found)[0]?.completedAt;
    expect(of(at("UK5QDM7W6S", "11/05/2026 10:00"))).to.equal(fifth);
    expect(of(at("UK5QDM7W6S", "05/11/2026 10:00"))).to.equal(fifth);
    expect(of(at("UEBQDM7W6S", "11/05/2026 10:00"))).to.equal(may);
    const period = ["Time Period,From 01-11-2026 00:00:00 To 30-11-2026 23:59:59"];
    expect(of(at("0000000000", "11/05/2026 10:00", period))).to.equal(fifth);
    expect(problemOf(at("0000000000", "11/05/2026 10:00"))).to.match(/may have the day or the month first/);
    expect(of(at("0000000000", "11/11/2026 10:00"))).to.equal(Date.parse("2026-11-11T10:00:00+03:00"));
    expect(problemOf(at("UK5QDM7W6S", "2026-05-11 10:00"))).to.match(/^Day and month are swapped/);
    const mixed = [
      { ...PAY_IN, "Completion Time": "24/11/2026 10:00" },
      { ...PAY_IN, "Completion Time": "11/24/2026 10:00" },
    ];
    expect(problemOf(read(mixed))).to.match(/^Line 2 has the day before the month, and line 3 the month before/);
  });

  const BALANCED: readonly Cells[] = [
    { ...PAY_IN, "Receipt No.": "UKOQDM7W03", "Paid In": "30.00", Balance: "160.00" },
    { ...PAY_IN, "Receipt No.": "UKOQDM7W02", "Paid In": "", Withdrawn: "-20.00", Balance: "130.00" },
    { ...PAY_IN, "Receipt No.": "UKOQDM7W01", "Paid In": "50.00", Balance: "150.00" },
  ];
  const FOOTED = ["Opening Balance,100.00,Closing Balance,160.00", "Total Paid In: 80.00,Total Withdrawn: 20.00"];

  it("has no doubt about a file whose rows bear out its head and its last line, in any order", () => {
    const totals = { "Receipt No.": "Total", "Paid In": "80.00", Withdrawn: "-20.00" };
    for (const rows of [BALANCED, [...BALANCED].reverse(), [...BALANCED.slice(1), ...BALANCED.slice(0, 1)]]) {
      const columns = Object.keys({ ...PAY_IN, Balance: "" });
      expect(doubtsOf(read([...rows, totals], { head: FOOTED, columns }))).to.deep.equal([]);
    }
  });

  it("says which sum does not foot, and where a row is missing", () => {
    const columns = Object.keys({ ...PAY_IN, Balance: "" });
    const missing = BALANCED.filter((_, index) => index !== 1);
    expect(doubtsOf(read(missing, { columns }))).to.deep.equal([
      "A row is missing, or an amount was changed: the balances do not follow from each other: look beside line 2, 3.",
    ]);
    expect(doubtsOf(read(BALANCED.slice(1), { head: FOOTED, columns }))).to.deep.equal([
      "The head says that 80.00 was paid in, and the rows have 50.00.",
      "A row is missing, or an amount was changed: the balances do not follow from each other.",
    ]);
    const totals = { Details: "Total", "Paid In": "81.00", Withdrawn: "-20.00" };
    expect(doubtsOf(read([...BALANCED, totals], { columns }))).to.deep.equal([
      "Line 5 says that 81.00 was paid in, and the rows have 80.00.",
    ]);
  });

  it("doubts a time that most receipts contradict", () => {
    const rows = [...[...BALANCED], { ...PAY_IN, "Receipt No.": "UEOQDM7W04", Balance: "1,660.00" }];
    expect(doubtsOf(read(rows))).to.deep.equal([
      "Line 5 has a time that is not of the day in its receipt: M-Pesa wrote another time.",
    ]);
  });

  it("refuses the statement of another account, by its head or by the name of the file", () => {
    const words = "It is the statement of shortcode 600997, and the account has 600996 and 600995";
    const numbers = ["600996", "600995"];
    expect(problemOf(read([PAY_IN], { numbers, head: ["Short Code,600997"] }))).to.equal(words);
    expect(problemOf(read([PAY_IN], { numbers, name: "Statements for 600997 from 1 to 2.csv" }))).to.equal(words);
    expect(rowsOf(read([PAY_IN], { numbers, head: ["Short Code: 600995"] }))).to.have.length(1);
  });

  it("passes over what is not completed, but for a reversed payment whose reversal is in the file", () => {
    for (const status of ["Declined", "Cancelled", "Pending", "Failed", "Reversed", ""]) {
      const found = read([{ ...PAY_IN, "Transaction Status": status }]);
      expect(found, status).to.deep.include({ rows: [], notCompleted: 1 });
    }
    const reversal = {
      ...PAY_IN,
      ...{ "Receipt No.": "UKOQDM7W6T", Details: "Transaction Reversal", "Paid In": "", Withdrawn: "-1,500.00" },
      "Linked Transaction ID": "UKOQDM7W6S",
    };
    const reversed = { ...PAY_IN, "Transaction Status": "Reversed", "Linked Transaction ID": "" };
    expect(rowsOf(read([reversal, reversed])).map(({ kind }) => kind)).to.deep.equal(["reversal", "pay_in"]);
  });

  it("names the column that it cannot read", () => {
    const bad: Cells = {
      "Receipt No.": "rk tq",
      "Completion Time": "31-11-2026 10:00",
      "Paid In": "12,50",
      Withdrawn: "about 5",
      Currency: "USD",
    };
    for (const [column, text] of Object.entries(bad)) {
      expect(problemOf(read([{ ...PAY_IN, [column]: text ?? "" }])), column).to.match(
        new RegExp(`^Line 2: "${column}" `),
      );
    }
    for (const given of [{ Withdrawn: "5.00" }, { "Paid In": "" }, { "Paid In": "-5.00" }, { "Paid In": "1.053,00" }]) {
      expect(problemOf(read([{ ...PAY_IN, ...given }]))).to.match(/^Line 2: "Paid In" /);
    }
  });
});
