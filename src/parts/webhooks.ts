import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import { WEBHOOKS } from "../domain/values/actor.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { Endpoint } from "../domain/webhook-endpoint.js";
import type { DisableWebhookEndpoint } from "../domain/webhooks/disable-webhook-endpoint.js";
import type { EventReads } from "../events/ports.js";
import type { Event as EventMessage } from "../gen/kesc/v1/event.js";
import { toEventMessage } from "../grpc/messages/events/event.js";
import { toTimestamp } from "../grpc/messages/timestamp.js";
import type { CellWebhooks } from "../grpc/services/served-cell.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import { failureLog } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { deliveryStore } from "../storage/webhooks/delivery-store.js";
import { StoredWebhookEndpoints } from "../storage/webhooks/endpoints.js";
import type { Sender } from "../webhooks/deliver.js";
import type { DeliveryTiming, WebhookEvents } from "../webhooks/ports/delivery.js";
import { TestEvents } from "../webhooks/test-events.js";
import { type DisableEndpoint, Webhooks } from "../webhooks/webhooks.js";
import { cellLease, type Part, underLease } from "./lease.js";

/** The webhooks of one cell, with the deliveries. */
export type RunningWebhooks = CellWebhooks & Part;

interface CellWebhooksOptions {
  readonly reads: Pick<EventReads, "after">;
  readonly sender: Pick<Sender, "send">;
  readonly writeEvent: (event: EventMessage) => string;
  readonly ledger: Pick<Ledger, "submit">;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/** The deliveries wait so long for the ledger to disable an endpoint. */
const DISABLE_MILLIS = 10_000;

/** Puts the webhooks of one cell together. */
export function cellWebhooks(
  cell: Cell,
  { reads, sender, writeEvent, ledger, now, logger }: CellWebhooksOptions,
): RunningWebhooks {
  const timing: DeliveryTiming = { now, ...SYSTEM_TIMING, random: Math.random };
  const onError = failureLog(logger, cell.number, "the webhooks failed at a step, and try it again");
  const endpoints = new StoredWebhookEndpoints(cell);
  const lease = cellLease(cell, { name: "webhooks", onError, logger });
  const webhooks = new Webhooks({
    store: deliveryStore(cell),
    events: eventsOf(reads, writeEvent),
    lease,
    send: sender.send,
    timing,
    onError,
    disable: disablingBy((command) => ledger.submit(command, toUnixMillis(now() + DISABLE_MILLIS), { rail: true })),
    onDisabled: (id, reason) => {
      logger.warn({ cell: cell.number, webhook_endpoint_id: id, reason }, "webhooks: an endpoint was disabled");
    },
  });
  const tests = new TestEvents({
    endpoints,
    send: sender.send,
    timing,
    json: ({ seq, id, type, recordedAt }) =>
      writeEvent({
        sequence: BigInt(seq),
        id,
        type,
        recorded_at: toTimestamp(recordedAt),
        resource: undefined,
        row: undefined,
      }),
  });
  const leased = underLease(lease, webhooks);
  return {
    endpoints,
    tests,
    start: () => leased.start(),
    async stop(graceMillis) {
      await leased.stop(graceMillis);
      tests.stop();
    },
  };
}

/** Disables endpoints by a command. */
export function disablingBy(submit: (command: DisableWebhookEndpoint) => Promise<Outcome<Endpoint>>): DisableEndpoint {
  return async ({ id: endpointId, organizationId, revision }, disabledReason) => {
    const command = { name: "disableWebhookEndpoint", organizationId, actor: WEBHOOKS, endpointId, revision } as const;
    const outcome = await submit({ ...command, disabledReason });
    // If the book moves, the other cell disables an endpoint that still fails there.
    const isGone =
      outcome.kind === "refused" && /^(BOOK_MOVING|WEBHOOK_ENDPOINT_NOT_FOUND)$/.test(outcome.refusal.reason);
    if (outcome.kind === "done" || isGone) return;
    throw new Error(`${endpointId} was not disabled: ${outcome.refusal.reason}`);
  };
}

/** The events of the books, with the JSON that REST shows. */
function eventsOf(reads: Pick<EventReads, "after">, writeEvent: (event: EventMessage) => string): WebhookEvents {
  return {
    after: async (organizationId, seq, limit) => {
      const { events } = await reads.after({ organizationId, afterSequence: seq, limit });
      return events.map((event) => ({
        seq: event.sequence,
        id: event.id,
        type: event.type,
        recordedAt: event.recordedAt,
        json: () => writeEvent(toEventMessage(event)),
      }));
    },
  };
}
