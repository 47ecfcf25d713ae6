import { expect } from "chai";

import { bankReport } from "../../../src/reconcile/banks/pain002.js";
import { StatementError } from "../../../src/reconcile/statement-error.js";

const about = (reference: string, status: string, more = ""): string =>
  `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${status}</TxSts>${more}</TxInfAndSts>`;
const report = (rows: readonly string[], { version = "03", head = "<OrgnlMsgId>KB1</OrgnlMsgId>" } = {}): string =>
  `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}"><CstmrPmtStsRpt>` +
  `<GrpHdr><MsgId>X</MsgId></GrpHdr><OrgnlGrpInfAndSts>${head}</OrgnlGrpInfAndSts>` +
  `<OrgnlPmtInfAndSts>${rows.join("")}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`;

describe("a status report of a bank", () => {
  it("says of which file it is, and of each payment its status and the bank's words", () => {
    const reason =
      "<StsRsnInf><Rsn><Cd>AC01</Cd></Rsn><AddtlInf>no such</AddtlInf><AddtlInf>account</AddtlInf></StsRsnInf>";
    const head = "<OrgnlMsgId>KB1</OrgnlMsgId><GrpSts>PART</GrpSts>";
    for (const version of ["02", "03", "15"]) {
      const given = report([about("A", "ACSP"), about("B", "RJCT", reason)], { version, head });
      expect(bankReport(given)).to.deep.equal({
        fileId: "KB1",
        status: "PART",
        payments: [
          { reference: "A", status: "ACSP", reason: "" },
          { reference: "B", status: "RJCT", reason: "AC01 no such account" },
        ],
      });
    }
  });

  it("may refuse the file as its only group of payments", () => {
    expect(bankReport(report(["<PmtInfSts>RJCT</PmtInfSts>"]))).to.deep.include({ status: "RJCT", payments: [] });
  });

  it("may have a payment twice, with one word about it", () => {
    expect(bankReport(report([about("A", "RJCT"), about("A", "RJCT")])).payments).to.have.length(1);
  });

  const rows = (count: number) => Array.from({ length: count }, (_, index) => about(String(index), "ACSP"));
  it("has at most 1,000 payments", () => {
    expect(bankReport(report(rows(1_000))).payments).to.have.length(1_000);
  });

  for (const [what, xml, problem] of [
    ["with 1,001 payments", report(rows(1_001)), /more than 1000 payments/],
    [
      "that says two things of a payment",
      report([about("A", "RJCT"), about("A", "ACSP")]),
      /RJCT and ACSP of the payment A/,
    ],
    ["without the file", report([], { head: "" }), /has no OrgnlMsgId/],
    ["of another version", report([], { version: "99" }), /no status report/],
    ["that is no XML", "{}", /./],
  ] as const) {
    it(`is refused ${what}`, () => {
      expect(() => bankReport(xml)).to.throw(StatementError, problem);
    });
  }
});
