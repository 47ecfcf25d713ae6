import { type Book, type Decision, type Operation, refuse, replay } from "../decision.js";
import type { Endpoint } from "../webhook-endpoint.js";
import { decideOnEndpoint, type EndpointCommand, lookupEndpoints, refusalOfEvent, unrecorded } from "./change.js";

export interface ReplayWebhookEvents extends EndpointCommand {
  readonly name: "replayWebhookEvents";
  readonly startSeq: number;
  /** The first one that is not sent again. Undefined: up to the newest one. */
  readonly endSeq: number | undefined;
}

export const replayWebhookEvents: Operation<ReplayWebhookEvents, Endpoint> = {
  lookup: lookupEndpoints,
  decide,
  inSuspension: "of operators",
};

/**
 * Sends the events of a range again. A range that is being sent is a replay.
 *
 * Refuses, in this order: those of `decideOnEndpoint`, EVENT_NOT_FOUND, WEBHOOK_ENDPOINT_BUSY.
 */
function decide(book: Book, command: ReplayWebhookEvents): Decision<Endpoint> {
  return decideOnEndpoint(book, command, (endpoint) => {
    const { organizationId, startSeq, endSeq } = command;
    const untilSeq = endSeq === undefined ? book.bookOf(organizationId).lastSeq : endSeq - 1;
    const refusal = refusalOfEvent(book, command, Math.max(startSeq, untilSeq));
    if (refusal !== undefined) return refuse(refusal);
    const { id: endpointId, replay: before } = endpoint;
    if (before === undefined) return unrecorded({ ...endpoint, replay: { settledSeq: startSeq - 1, untilSeq } });
    if (before.untilSeq === untilSeq && before.settledSeq >= startSeq - 1) return replay(endpoint);
    return refuse({ reason: "WEBHOOK_ENDPOINT_BUSY", endpointId });
  });
}
