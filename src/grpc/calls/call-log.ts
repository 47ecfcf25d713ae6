import { status as Status } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { traceOf } from "../../../runtime/error-trace.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { type RefusalStatus, statusOf } from "../errors/status.js";
import type { RpcContract } from "../messages/contract.js";
import type { CallRecord } from "./call-context.js";
import type { RpcMeter } from "./call-meter.js";

/** The end of a call. */
export type Ending = { readonly kind: "done"; readonly replayed: boolean } | Refused;

/** A refusal and its gRPC status. */
export interface Refused {
  readonly kind: "refused";
  readonly refusal: AnyRefusal;
  readonly status: RefusalStatus;
}

export function refused(refusal: AnyRefusal): Refused {
  return { kind: "refused", refusal, status: statusOf(refusal) };
}

/** Where the end of a call is noted: the log, and the metrics if they are on. */
export interface CallNotes {
  readonly logger: Logger;
  readonly meter: RpcMeter | undefined;
}

/** Writes the log line of a call, counts the call, and ends its span. */
export function logCall(
  { logger, meter }: CallNotes,
  contract: RpcContract,
  { record, ending, cancelled }: { record: CallRecord; ending: Ending; cancelled: boolean },
): void {
  const { requestId, traceId, span, startedAt, who, accountId, items } = record;
  const key = who?.kind === "key" ? who.key : undefined;
  const thrown = record.thrown ?? items?.thrown;
  // The line contains no text of the caller, so no phone number, e-mail address or secret reaches
  // the log. Pino omits properties that are undefined.
  const line = {
    request_id: requestId,
    trace_id: traceId,
    method: contract.name,
    code: ending.kind === "done" ? "OK" : Status[ending.status.code],
    reason: ending.kind === "done" ? undefined : ending.refusal.reason,
    ms: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
    organization_id: key?.organizationId,
    key_id: key?.id,
    operator_id: who?.operator?.id,
    account_id: accountId,
    replayed: ending.kind === "done" && ending.replayed ? true : undefined,
    items: items?.items,
    items_refused: items?.refused,
    cancelled: cancelled ? true : undefined,
    trace: thrown === undefined ? undefined : traceOf(thrown),
  };
  meter?.ended(line);
  span?.end(contract.path.slice(1), spanFactsOf(contract, line), thrown !== undefined || isOurFault(line.code));
  if (thrown === undefined) logger.info(line, "call");
  else logger.error(line, "call");
}

function spanFactsOf(
  { path }: RpcContract,
  { request_id: requestId, code }: { readonly request_id: string; readonly code: string },
): Readonly<Record<string, string>> {
  return {
    // As @opentelemetry/semantic-conventions 1.45 names them. Those before are deprecated there.
    "rpc.system.name": "grpc",
    "rpc.method": path.slice(1),
    "rpc.status_code": code,
    "kesc.code": code,
    "kesc.request_id": requestId,
  };
}

/** A refusal is an answer. Only these say that the service failed. */
function isOurFault(code: string): boolean {
  return code === "INTERNAL" || code === "UNAVAILABLE" || code === "UNKNOWN";
}
