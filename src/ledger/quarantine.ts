import type { OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";

const QUARANTINE_MILLIS = 60_000;

/**
 * The organizations of which the database rejected a command within the last minute. Their commands
 * must share a batch with no others: one rejected command fails its whole batch.
 */
export class Quarantine {
  readonly #now: () => UnixMillis;
  readonly #until = new Map<OrganizationId, UnixMillis>();

  constructor(now: () => UnixMillis) {
    this.#now = now;
  }

  add(organizationId: OrganizationId): void {
    this.#until.set(organizationId, toUnixMillis(this.#now() + QUARANTINE_MILLIS));
  }

  has(organizationId: OrganizationId): boolean {
    const until = this.#until.get(organizationId);
    if (until === undefined) return false;
    if (until > this.#now()) return true;
    this.#until.delete(organizationId);
    return false;
  }
}
