import { Turns } from "../../runtime/turns.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { Reads } from "./ports/reads.js";
import { StoreError } from "./ports/store.js";

/**
 * Lets reads by id take turns by organization, at most `underWayMax` at a time. Without turns the
 * reads of one caller take all connections of the database, and the look-ups of keys wait behind
 * them. Lists have turns of their own.
 */
export function readsInTurns(reads: Reads, underWayMax: number): Reads {
  if (underWayMax === Infinity) return reads;
  const turns = new Turns<OrganizationId>({
    runningMax: underWayMax,
    // The number of calls in flight bounds it.
    waitingMax: Infinity,
    failsAll: (error) => error instanceof StoreError && error.kind === "unavailable",
  });
  const inTurn = async <Result>(organizationId: OrganizationId, read: () => Promise<Result>): Promise<Result> => {
    const reading = turns.run(organizationId, read);
    if (reading === undefined) throw new Error("a queue without a bound refused a read");
    return reading;
  };

  return {
    ...reads,
    organization: (organizationId) => inTurn(organizationId, () => reads.organization(organizationId)),
    account: (organizationId, id) => inTurn(organizationId, () => reads.account(organizationId, id)),
    limits: (organizationId) => inTurn(organizationId, () => reads.limits(organizationId)),
    transaction: (organizationId, id) => inTurn(organizationId, () => reads.transaction(organizationId, id)),
    deposit: (organizationId, id) => inTurn(organizationId, () => reads.deposit(organizationId, id)),
    depositRails: (organizationId) => inTurn(organizationId, () => reads.depositRails(organizationId)),
    destination: (organizationId, id) => inTurn(organizationId, () => reads.destination(organizationId, id)),
  };
}
