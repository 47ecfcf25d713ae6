import type { RailReceipt } from "../../domain/payment.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { ReturnReport, Sent } from "../../rails/rail.js";
import { RETURN_WAIT_MILLIS_MAX, RETURN_WAITS_MILLIS } from "../limits.js";
import type { ReturnRequest } from "../ports/deposits.js";

/** What is known about the return of a deposit. */
export type ReturnVerdict =
  | { readonly kind: "returned"; readonly receipt: RailReceipt }
  | { readonly kind: "refused"; readonly code: string }
  /** The payer has the shillings, and nobody knows with which receipt. */
  | { readonly kind: "returned before"; readonly code: string }
  | { readonly kind: "open" };

/**
 * Says what the requests and the stored messages about them prove. A message with the name of a
 * request is the rail's: nobody else has the name, which came with the answer to that request.
 *
 * Any other message may be forged. It counts once the rail itself has said that the payment went
 * back before: then it says with which receipt. So no forged message makes a return end.
 *
 * A refusal ends the return only if each request is refused. One without an answer may have moved
 * the money, also if a later one is refused: the rail may check the password or the balance first.
 */
export function verdictOf(requests: readonly ReturnRequest[], reports: readonly ReturnReport[]): ReturnVerdict {
  const names = new Set(requests.flatMap(({ name }) => name ?? []));
  const ofRail = reports.filter(({ request }) => request !== undefined && names.has(request));
  const returned = ofRail.find((report) => report.kind === "returned");
  if (returned !== undefined) return { kind: "returned", receipt: returned.receipt };
  const before = ofRail.find((report) => report.kind === "returned before");
  if (before !== undefined) {
    const said = reports.find((report) => report.kind === "returned");
    return said === undefined
      ? { kind: "returned before", code: before.code }
      : { kind: "returned", receipt: said.receipt };
  }
  const refusals = ofRail.filter((report) => report.kind === "refused");
  const refused = new Set(refusals.map(({ request }) => request));
  const isRefused = ({ result, name }: ReturnRequest): boolean =>
    result === "rejected" || result === "unreached" || (name !== undefined && refused.has(name));
  const code = refusals.at(-1)?.code ?? requests.findLast(({ result }) => result === "rejected")?.code;
  return code !== undefined && requests.every(isRefused) ? { kind: "refused", code } : { kind: "open" };
}

/** Returns how long after the last request the next one follows. */
export function returnWaitMillis({ length }: readonly ReturnRequest[]): number {
  return RETURN_WAITS_MILLIS[length - 1] ?? RETURN_WAIT_MILLIS_MAX;
}

/** Returns what is stored of the answer to a request. */
export function requestOf(sent: Sent, at: UnixMillis): ReturnRequest {
  if (sent.kind !== "accepted") return { at, result: sent.kind, code: sent.code };
  const { railReference: name } = sent;
  return { at, result: sent.kind, ...(name === undefined ? {} : { name }) };
}
