import { StatementError } from "../statement-error.js";
import { childrenAt, readXml, valueAt } from "./xml.js";

const FIRST_VERSION = 2;
const LAST_VERSION = 15;
/** Those whose schemas agree on what is read here. */
const NAMESPACES = Array.from(
  { length: LAST_VERSION - FIRST_VERSION + 1 },
  (_, index) => `urn:iso:std:iso:20022:tech:xsd:pain.002.001.${String(index + FIRST_VERSION).padStart(2, "0")}`,
);
const PATH = ["Document", "CstmrPmtStsRpt"];
/** A payment file has no more. */
const PAYMENTS_MAX = 1_000;

/** What a bank says about the payments of a file, before it has made them. */
export interface BankReport {
  /** The id of the file (OrgnlMsgId). */
  readonly fileId: string;
  /** The status of the file as a whole, such as RJCT. Undefined if the report has none. */
  readonly status: string | undefined;
  readonly payments: readonly ReportedPayment[];
}

export interface ReportedPayment {
  /** The reference that the payment has in the file. */
  readonly reference: string;
  /** Such as RJCT or ACSP. */
  readonly status: string;
  /** The bank's words. May be empty. */
  readonly reason: string;
}

/**
 * Reads a status report, pain.002 of versions 02 to 15.
 *
 * Throws a StatementError for another file, and for a report that says two things of one payment.
 */
export function bankReport(xml: string): BankReport {
  let fileId: string | undefined;
  let status: string | undefined;
  const payments = new Map<string, ReportedPayment>();
  readXml(xml, {
    namespaces: NAMESPACES,
    path: PATH,
    onElement: (element) => {
      if (element.name === "OrgnlGrpInfAndSts") {
        fileId = valueAt(element, "OrgnlMsgId");
        status = valueAt(element, "GrpSts");
      }
      if (element.name !== "OrgnlPmtInfAndSts") return;
      // A file of ours has one group of payments, so what is said of it is said of the file.
      status = valueAt(element, "PmtInfSts") ?? status;
      for (const each of childrenAt(element, ["TxInfAndSts"])) {
        const reference = valueAt(each, "OrgnlEndToEndId") ?? "";
        const own = valueAt(each, "TxSts") ?? "";
        const before = payments.get(reference);
        if (before !== undefined && before.status !== own) {
          throw new StatementError(`It says ${before.status} and ${own} of the payment ${reference}.`);
        }
        if (payments.size === PAYMENTS_MAX) {
          throw new StatementError(`It has more than ${String(PAYMENTS_MAX)} payments.`);
        }
        const reasons = childrenAt(each, ["StsRsnInf"]).flatMap((reason) => [
          ...childrenAt(reason, ["Rsn", "Cd"]),
          ...childrenAt(reason, ["AddtlInf"]),
        ]);
        payments.set(reference, { reference, status: own, reason: reasons.map(({ text }) => text.trim()).join(" ") });
      }
    },
  });
  if (fileId === undefined)
    throw new StatementError("It is no status report of a bank, pain.002: it has no OrgnlMsgId.");
  return { fileId, status, payments: [...payments.values()] };
}
