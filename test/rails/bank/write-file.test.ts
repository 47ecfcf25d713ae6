import { expect } from "chai";

import { bankNumber } from "../../../src/domain/destination.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import type { NairobiDay } from "../../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { type BankSettings, SETTINGS } from "../../../src/rails/bank/settings.js";
import { writtenFile } from "../../../src/rails/bank/write-file.js";
import { readXml, type XmlElement } from "../../../src/reconcile/banks/xml.js";

const GIVEN = {
  place: "KCB 1234",
  bankCode: "01",
  branchCode: "100",
  account: "1100998877",
  holder: "Acme & Sons Ltd",
  bic: "KCBLKENX",
  customerId: "ACME-1",
  form: "pain.001.001.09",
  limits: { min: "100.00", max: "20000000.00" },
};
const settings = (given: object = {}): BankSettings => SETTINGS.parse({ ...GIVEN, ...given });

const PAYMENTS = [
  {
    transactionId: "txn_01jd2r6p5vf8ksw3xhb1z7q4yf" as TransactionId,
    amountCents: toCents(1_200_000_000),
    number: bankNumber({ bankCode: "68", branchCode: "000", account: "0170123456789", holder: "Jane Doe" }),
  },
  {
    transactionId: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId,
    amountCents: toCents(10_005),
    number: bankNumber({ bankCode: "01", branchCode: "175", account: "1104567890", holder: "A & B Ltd" }),
  },
];
const FILE = {
  id: "KB0123456789ABCDEF01234567",
  createdAt: toUnixMillis(Date.UTC(2026, 11, 1, 6, 30)),
  day: "2026-12-01" as NairobiDay,
  payments: PAYMENTS,
};
const SUM = "12000100.05";

/** The texts at each path, such as "GrpHdr/MsgId". */
function textsIn(xml: string, version: string): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, string[]>();
  const walk = (element: XmlElement, path: string): void => {
    if (element.children.length === 0) texts.set(path, [...(texts.get(path) ?? []), element.text]);
    for (const child of element.children) walk(child, `${path}/${child.name}`);
  };
  readXml(xml, {
    namespaces: [`urn:iso:std:iso:20022:tech:xsd:${version}`],
    path: ["Document", "CstmrCdtTrfInitn"],
    onElement: (element) => {
      walk(element, element.name);
    },
  });
  return texts;
}

for (const [form, bic, day] of [
  ["pain.001.001.09", "BICFI", "PmtInf/ReqdExctnDt/Dt"],
  ["pain.001.001.03", "BIC", "PmtInf/ReqdExctnDt"],
] as const) {
  describe(`a payment file in ${form}`, () => {
    const xml = writtenFile(FILE, settings({ form })).toString("utf8");
    const texts = textsIn(xml, form);
    const transfer = "PmtInf/CdtTrfTxInf";

    it("has its name, the count and the sum in both heads", () => {
      for (const head of ["GrpHdr", "PmtInf"]) {
        expect(texts.get(`${head}/NbOfTxs`)).to.deep.equal(["2"]);
        expect(texts.get(`${head}/CtrlSum`)).to.deep.equal([SUM]);
      }
      expect([texts.get("GrpHdr/MsgId"), texts.get("PmtInf/PmtInfId")]).to.deep.equal([[FILE.id], [FILE.id]]);
      expect(texts.get("GrpHdr/CreDtTm")).to.deep.equal(["2026-12-01T06:30:00"]);
      expect(texts.get(day)).to.deep.equal(["2026-12-01"]);
    });

    it("names the payer by account and bank, and asks to book each payment by itself", () => {
      expect(texts.get("PmtInf/Dbtr/Nm")).to.deep.equal(["Acme & Sons Ltd"]);
      expect(texts.get("PmtInf/DbtrAcct/Id/Othr/Id")).to.deep.equal(["1100998877"]);
      expect(texts.get(`PmtInf/DbtrAgt/FinInstnId/${bic}`)).to.deep.equal(["KCBLKENX"]);
      expect(texts.get("PmtInf/DbtrAgt/FinInstnId/ClrSysMmbId/MmbId")).to.deep.equal(["01100"]);
      expect(texts.get("GrpHdr/InitgPty/Id/OrgId/Othr/Id")).to.deep.equal(["ACME-1"]);
      expect(texts.get("PmtInf/BtchBookg")).to.deep.equal(["false"]);
    });

    it("has each payment with our reference, amount, bank, account and holder", () => {
      expect(texts.get(`${transfer}/PmtId/EndToEndId`)).to.deep.equal([
        "F8KSW3XHB1Z7Q4YE01JD2R6P5V",
        "F8KSW3XHB1Z7Q4YF01JD2R6P5V",
      ]);
      expect(texts.get(`${transfer}/Amt/InstdAmt`)).to.deep.equal(["100.05", "12000000.00"]);
      expect(texts.get(`${transfer}/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId`)).to.deep.equal(["01175", "68000"]);
      expect(texts.get(`${transfer}/CdtrAcct/Id/Othr/Id`)).to.deep.equal(["1104567890", "0170123456789"]);
      expect(texts.get(`${transfer}/Cdtr/Nm`)).to.deep.equal(["A & B Ltd", "Jane Doe"]);
    });
  });
}

describe("a payment file", () => {
  const columns = [
    { name: "Beneficiary", value: "holder" },
    { name: "Bank", value: "bank_and_branch_code" },
    { name: "Account", value: "account" },
    { name: "Amount", value: "amount" },
    { name: "Ref", value: "reference" },
    { name: "Narration", text: "KESC" },
  ];
  const table = { form: "csv", columns, bic: undefined, customerId: undefined };

  it("in CSV has the columns of the bank, in their order", () => {
    expect(writtenFile(FILE, settings(table)).toString("utf8").split("\r\n")).to.deep.equal([
      "Beneficiary,Bank,Account,Amount,Ref,Narration",
      "A & B Ltd,01175,1104567890,100.05,F8KSW3XHB1Z7Q4YE01JD2R6P5V,KESC",
      "Jane Doe,68000,0170123456789,12000000.00,F8KSW3XHB1Z7Q4YF01JD2R6P5V,KESC",
      "",
    ]);
  });

  it("has the same bytes whatever the order of the payments", () => {
    const turned = { ...FILE, payments: PAYMENTS.toReversed() };
    for (const given of [{}, { form: "pain.001.001.03" }, table]) {
      expect(writtenFile(turned, settings(given)).equals(writtenFile(FILE, settings(given)))).to.equal(true);
    }
  });

  const [first] = PAYMENTS;
  for (const [what, payments] of [
    ["no payment", []],
    ["a payment twice", [first, first]],
    ["no amount", [{ ...first, amountCents: toCents(0) }]],
    ["no holder", [{ ...first, number: "68000 0170123456789" }]],
  ] as const) {
    it(`is never written with ${what}`, () => {
      expect(() => writtenFile({ ...FILE, payments: payments as never }, settings())).to.throw();
    });
  }
});
