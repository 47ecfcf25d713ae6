import type { BankSettings } from "./settings.js";
import type { WrittenFile, WrittenPayment } from "./written.js";

type Debtor = Pick<BankSettings, "bankCode" | "branchCode" | "account" | "holder" | "bic" | "customerId">;

/** How the two versions differ, as far as the file has it. */
const VERSIONS = {
  "pain.001.001.09": { bic: "BICFI", dayOf: (day: string) => element("Dt", day) },
  "pain.001.001.03": { bic: "BIC", dayOf: (day: string) => day },
} as const;

/**
 * Writes pain.001, ISO 20022's order to a bank. Kenya has no IBAN and no clearing code of ISO, so
 * accounts stand in Othr, and banks as the member of a clearing system that is not named. The bank
 * is asked to book each payment by itself (BtchBookg), so that the statement names each.
 */
export function painFile(
  { id, createdAt, day, payments, sum }: WrittenFile,
  { form, ...debtor }: Debtor & Pick<BankSettings, "form">,
): string {
  const version = form === "pain.001.001.03" ? form : "pain.001.001.09";
  const { dayOf, bic: bicElement } = VERSIONS[version];
  const totals = element("NbOfTxs", String(payments.length)) + element("CtrlSum", sum);
  const { holder, customerId, bic } = debtor;
  const initiator =
    element("Nm", text(holder)) +
    (customerId === undefined ? "" : nested(["Id", "OrgId", "Othr", "Id"], text(customerId)));
  const head =
    element("MsgId", id) +
    element("CreDtTm", new Date(createdAt).toISOString().slice(0, -".000Z".length)) +
    totals +
    element("InitgPty", initiator);
  const information =
    element("PmtInfId", id) +
    element("PmtMtd", "TRF") +
    element("BtchBookg", "false") +
    totals +
    element("ReqdExctnDt", dayOf(day)) +
    nested(["Dbtr", "Nm"], text(holder)) +
    element("DbtrAcct", nested(["Id", "Othr", "Id"], debtor.account) + element("Ccy", "KES")) +
    nested(["DbtrAgt", "FinInstnId"], (bic === undefined ? "" : element(bicElement, bic)) + memberOf(debtor)) +
    element("ChrgBr", "DEBT");
  const body = `${element("GrpHdr", `\n${head}\n`)}\n<PmtInf>\n${information}\n${payments.map(transferOf).join("\n")}\n</PmtInf>`;
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}">\n` +
    `<CstmrCdtTrfInitn>\n${body}\n</CstmrCdtTrfInitn>\n</Document>\n`
  );
}

function transferOf(payment: WrittenPayment): string {
  const { reference, amount, account, holder } = payment;
  return element(
    "CdtTrfTxInf",
    element("PmtId", element("InstrId", reference) + element("EndToEndId", reference)) +
      element("Amt", `<InstdAmt Ccy="KES">${amount}</InstdAmt>`) +
      nested(["CdtrAgt", "FinInstnId"], memberOf(payment)) +
      nested(["Cdtr", "Nm"], text(holder)) +
      nested(["CdtrAcct", "Id", "Othr", "Id"], account),
  );
}

/** The codes of bank and branch together, as files in Kenya have them. */
function memberOf({ bankCode, branchCode }: Pick<WrittenPayment, "bankCode" | "branchCode">): string {
  return nested(["ClrSysMmbId", "MmbId"], bankCode + branchCode);
}

function nested(path: readonly string[], content: string): string {
  return path.reduceRight((inner, name) => element(name, inner), content);
}

function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

/** The parsers of settings and destinations let no other character through that XML reserves. */
function text(unescaped: string): string {
  return unescaped.replaceAll("&", "&amp;");
}
