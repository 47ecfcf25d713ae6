import { transactionOfEndToEndId } from "../../domain/bank-file.js";
import type { BankReport, ReportedPayment } from "../../reconcile/banks/pain002.js";
import { UsageError } from "../../startup/operator-error.js";
import { referenceTo } from "../administration/references.js";
import type { MessageJson } from "../administration/row.js";
import { type AdminSession, serverOf, withSession } from "../administration/session.js";
import { printLine, textOf } from "../commands/output.js";
import { ofStatement, readAlone } from "../reconcile/statement-file.js";

export interface StatusOptions {
  readonly org: string;
  readonly note?: string;
  readonly yes?: true;
  readonly server?: string;
}

const REJECTED = "RJCT";

/** What becomes of a payment that the bank refuses. */
interface RefusedPayment extends ReportedPayment {
  readonly transactionId: string;
  /** Why nothing can be done. Undefined: it can end as failed. */
  readonly left: string | undefined;
}

/**
 * Reads what the bank says of a file, and ends the payments that it refuses as failed, each as
 * `kesc transaction resolve` would. What the bank accepts is not paid yet: its statement says that.
 * Without --yes it shows what it would do, and throws a UsageError.
 */
export async function endRefused(file: string, { org, note, yes, ...place }: StatusOptions): Promise<void> {
  if (serverOf(place) === undefined) {
    throw new UsageError("Only a server knows the payments. Name it with --server or KESC_OPERATOR_SERVER.");
  }
  if (yes === true && note === undefined) throw new UsageError("--yes needs --note TEXT: the words for the book.");
  const report = await ofStatement(file, (bytes) =>
    readAlone((reading, options) => reading.ofReport("", Uint8Array.from(bytes), options)),
  );
  await withSession(place, async (session) => {
    const { id: organization_id } = await referenceTo(session, "organization", org);
    const refused = await refusedIn(session, organization_id, report);
    for (const line of reportLines(report, refused)) printLine(line);
    const ending = refused.filter(({ left }) => left === undefined);
    if (ending.length === 0) return;
    if (yes !== true) throw new UsageError("Nothing was done. To end them as failed, add --note TEXT --yes.");
    for (const { transactionId: transaction_id } of ending) {
      const request = { organization_id, transaction_id, failed: {}, note };
      const { proposal } = await session.call("ResolveTransaction", request);
      printLine(`${transaction_id}: ${endWords(proposal)}`);
    }
  });
}

async function refusedIn(
  session: AdminSession,
  organization_id: string,
  { fileId, payments }: BankReport,
): Promise<readonly RefusedPayment[]> {
  const refused: RefusedPayment[] = [];
  for (const payment of payments.filter(({ status }) => status === REJECTED)) {
    const transaction_id = transactionOfEndToEndId(payment.reference);
    if (transaction_id === undefined) {
      refused.push({ ...payment, transactionId: payment.reference, left: "no reference of ours" });
      continue;
    }
    const found = (await session.call("GetPayment", { organization_id, transaction_id }))["payment"] as MessageJson;
    const left =
      found["rail_reference"] !== fileId
        ? `not in the file ${fileId}`
        : found["state"] === "ended"
          ? "has ended before"
          : undefined;
    refused.push({ ...payment, transactionId: transaction_id, left });
  }
  return refused;
}

function reportLines({ fileId, status, payments }: BankReport, refused: readonly RefusedPayment[]): readonly string[] {
  const counts = Map.groupBy(payments, (each) => each.status);
  const all = [...counts].map(([name, { length }]) => `${String(length)} ${name}`).join(", ");
  const whole = status === undefined ? "" : ` (${status})`;
  return [
    `The bank about the file ${fileId}${whole}: ${all === "" ? "no word about a payment" : all}.`,
    ...refused.map(({ transactionId, reason, left }) => {
      return `  ${transactionId}  refused${reason === "" ? "" : `: ${reason}`}${left === undefined ? "" : `, left as it is: ${left}`}`;
    }),
    ...(status === REJECTED && payments.length === 0
      ? ["It refuses the whole file. End each payment: kesc transaction resolve TXN --outcome failed"]
      : []),
  ];
}

function endWords(proposal: unknown): string {
  if (proposal === null || proposal === undefined) return "failed. Its KESC is available again.";
  const id = textOf((proposal as MessageJson)["id"]);
  return `proposed as ${id}. Another person runs: kesc proposal approve ${id}`;
}
