import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { EventReads } from "../events/ports.js";
import type { Event as EventMessage } from "../gen/kesc/v1/event.js";
import { toEventMessage } from "../grpc/messages/events/event.js";
import { toTimestamp } from "../grpc/messages/timestamp.js";
import type { CellWebhooks } from "../grpc/services/served-cell.js";
import { failureLog } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { deliveryStore } from "../storage/webhooks/delivery-store.js";
import { StoredWebhookEndpoints } from "../storage/webhooks/endpoints.js";
import type { Sender } from "../webhooks/deliver.js";
import type { DeliveryTiming, WebhookEvents } from "../webhooks/ports/delivery.js";
import { TestEvents } from "../webhooks/test-events.js";
import { Webhooks } from "../webhooks/webhooks.js";
import { cellLease, type Part, underLease } from "./lease.js";

/** The webhooks of one cell, with the deliveries. */
export type RunningWebhooks = CellWebhooks & Part;

interface CellWebhooksOptions {
  readonly reads: Pick<EventReads, "after">;
  readonly sender: Pick<Sender, "send">;
  readonly writeEvent: (event: EventMessage) => string;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/** Puts the webhooks of one cell together. */
export function cellWebhooks(
  cell: Cell,
  { reads, sender, writeEvent, now, logger }: CellWebhooksOptions,
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
