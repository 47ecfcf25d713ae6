import type { RefusedCredential } from "../domain/rail-account.js";
import type { TransactionType } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import { toUnixMillis } from "../domain/values/time.js";
import type { RailFault } from "../rails/rail.js";
import { FAULT_LOGGED_MILLIS, QUIET_MILLIS, RESULT_MILLIS_MAX } from "./limits.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { SubmitWatch } from "./ports/runtime.js";
import type { OnEvent, SettlementTiming } from "./ports/runtime.js";

interface RailFaultsOptions {
  readonly submitWatch: SubmitWatch;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

type AccountInUse = Pick<RailAccount, "id" | "organizationId" | "rail" | "revision" | "refused">;

/**
 * Tells the ledger and the log of what no new request mends. A credential that the rail has refused
 * is not used again: a few more tries would lock it. The warning of the account says so to every
 * server. This one knows it at once.
 */
export class RailFaults {
  readonly #options: RailFaultsOptions;
  readonly #refused = new Map<RailAccount["id"], { revision: number; credential: RefusedCredential }>();
  /** When each fault was logged, by the monotonic clock. */
  readonly #logged = new Map<string, number>();
  /** When the rail last refused a kind of request, by the monotonic clock. */
  readonly #refusedAt = new Map<RailAccount["id"], number>();

  constructor(options: RailFaultsOptions) {
    this.#options = options;
  }

  /** Whether nothing may be sent or asked: of payouts, without a direction of all orders. */
  blocks({ id, revision, refused }: AccountInUse, direction?: TransactionType): boolean {
    const own = this.#refused.get(id);
    const seen = [refused, own !== undefined && own.revision === revision ? own.credential : undefined];
    return seen.includes("app") || (direction === "REDEEM" && seen.includes("initiator"));
  }

  /** Whether one question may use the credentials: they are good, or new and not tried yet. */
  mayTry(account: AccountInUse & Pick<RailAccount, "isUntried">): boolean {
    const isKnown = this.#refused.get(account.id)?.revision === account.revision;
    return !this.blocks(account, "REDEEM") || (account.isUntried && !isKnown);
  }

  /** Whether the rail has refused no kind of request for an hour, as far as this server knows. */
  isQuiet({ id }: Pick<RailAccount, "id">): boolean {
    return this.#options.timing.monotonicMillis() - (this.#refusedAt.get(id) ?? -Infinity) >= QUIET_MILLIS;
  }

  /** Does nothing without a fault. Never rejects: the next fault is told again. */
  async note(account: AccountInUse, fault: RailFault | undefined): Promise<void> {
    if (fault === undefined) return;
    const { submitWatch, timing, onEvent } = this.#options;
    const { id, organizationId, rail, revision } = account;
    if (fault.kind === "credentials") this.#refused.set(id, { revision, credential: fault.credential });
    else this.#refusedAt.set(id, timing.monotonicMillis());
    this.#log(account, fault);
    const { code } = fault;
    const found =
      fault.kind === "credentials"
        ? { refusedCredential: { credential: fault.credential, code } }
        : { refusedRequest: { request: fault.request, code } };
    const actor = rail.name as string as Actor;
    const command = { name: "watchRailAccount", organizationId, actor, rail: rail.name, revision, ...found } as const;
    try {
      await submitWatch(command, toUnixMillis(timing.now() + RESULT_MILLIS_MAX));
    } catch (error) {
      onEvent({ kind: "error", error });
    }
  }

  #log({ id: railAccountId, revision }: AccountInUse, fault: RailFault): void {
    const { timing, onEvent } = this.#options;
    const { code } = fault;
    const what = fault.kind === "credentials" ? fault.credential : fault.request;
    const key = [railAccountId, revision, what, code].join(" ");
    const now = timing.monotonicMillis();
    const isRequest = fault.kind === "request";
    // A credential is refused once: then nobody uses it until the account has another revision.
    if (now - (this.#logged.get(key) ?? -Infinity) < (isRequest ? FAULT_LOGGED_MILLIS : Infinity)) return;
    this.#logged.set(key, now);
    if (!isRequest) {
      onEvent({ kind: "credentials refused", railAccountId, credential: fault.credential, code });
    } else onEvent({ kind: "request refused", railAccountId, request: fault.request, code });
  }
}
