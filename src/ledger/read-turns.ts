import type { OrganizationId } from "../domain/values/ids.js";
import { FairQueue } from "./fair-queue.js";
import type { Reads } from "./ports/reads.js";
import { StoreError } from "./ports/store.js";

interface WaitingRead {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets reads by id take turns by organization, at most `underWayMax` at a time. Without turns the
 * reads of one caller take all connections of the database, and the look-ups of keys wait behind
 * them. Lists have turns of their own.
 */
export function readsInTurns(reads: Reads, underWayMax: number): Reads {
  if (underWayMax === Infinity) return reads;
  // The number of calls in flight bounds the queue.
  const waiting = new FairQueue<OrganizationId, WaitingRead>(Infinity);
  let underWay = 0;

  const begin = (): void => {
    while (underWay < underWayMax) {
      const next = waiting.shift();
      if (next === undefined) return;
      underWay += 1;
      void next
        .run()
        .catch((error: unknown) => {
          next.reject(error);
          if (error instanceof StoreError && error.kind === "unavailable") rejectAll(error);
        })
        .finally(() => {
          underWay -= 1;
          begin();
        });
    }
  };
  // The others would wait for the same error one after the other.
  const rejectAll = (error: StoreError): void => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) next.reject(error);
  };
  const inTurn = <Result>(organizationId: OrganizationId, read: () => Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push(organizationId, { run: () => read().then(resolve), reject });
      begin();
    });

  return {
    ...reads,
    organization: (organizationId) => inTurn(organizationId, () => reads.organization(organizationId)),
    account: (organizationId, id) => inTurn(organizationId, () => reads.account(organizationId, id)),
    limits: (organizationId) => inTurn(organizationId, () => reads.limits(organizationId)),
    transaction: (organizationId, id) => inTurn(organizationId, () => reads.transaction(organizationId, id)),
  };
}
