import { typeidUnboxed } from "typeid-js";

import { type RevealAccount, REVEALS_MAX, REVEALS_MILLIS } from "../../../domain/accounts/reveal-account.js";
import type { Organization } from "../../../domain/api-key.js";
import type { Operator } from "../../../domain/operator.js";
import type { AccountId } from "../../../domain/values/ids.js";
import type { StatusReason } from "../../../domain/values/text.js";
import type { CallingOperator } from "../../../operators/session.js";
import { actorOf, type Caller } from "../../calls/call-context.js";
import { isStale } from "../../calls/freshness.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { rolesOfCommand } from "../../messages/contract.js";
import type { HandlersOptions } from "../operator-options.js";
import type { ServedCell } from "../served-cell.js";

/** Why an rpc other than RevealAccount tells something about a person. */
type Told = Pick<RevealAccount, "organizationId" | "accountId"> & {
  readonly reason: Extract<RevealAccount["reason"], "look_up" | "export">;
  readonly note: string;
};

/**
 * Writes the row of a reveal into the book, in the name of the operator. Refuses as RevealAccount
 * does, and as the queue does.
 */
export async function noteReveal(
  { ledger }: Pick<ServedCell, "ledger">,
  { note, ...told }: Told,
  { who, deadline, trace }: Pick<Caller, "who" | "deadline" | "trace">,
): Promise<AnyRefusal | undefined> {
  const command = { name: "revealAccount", ...told, note: note as StatusReason, actor: actorOf(who) } as const;
  const outcome = await ledger.submit(command, deadline, { trace, operator: true });
  return outcome.kind === "refused" ? outcome.refusal : undefined;
}

/**
 * Writes into the book that the operator has found accounts by their `note`. A miss asks for an
 * account that is not there: so somebody beyond the limit cannot tell it from a hit.
 */
export async function noteFound(
  cell: Pick<ServedCell, "ledger">,
  {
    organizationId,
    found,
    note = "",
  }: Pick<Told, "organizationId"> & { found: readonly string[]; note: string | undefined },
  caller: Parameters<typeof noteReveal>[2],
): Promise<AnyRefusal | undefined> {
  for (const id of found.length === 0 ? [typeidUnboxed("acc")] : found) {
    const told = { organizationId, accountId: id as AccountId, reason: "look_up", note } as const;
    const refusal = await noteReveal(cell, told, caller);
    if (refusal !== undefined && (found.length > 0 || refusal.reason !== "ACCOUNT_NOT_FOUND")) return refusal;
  }
  return undefined;
}

/**
 * Admits the look-ups of whole phone numbers and e-mail addresses. Whoever tries all that fit a
 * mask finds the one behind it. A miss has no row in a book, so each server counts by itself.
 */
export class PersonLookUps {
  readonly #now: () => number;
  readonly #times = new Map<Operator["id"], readonly number[]>();

  constructor({ now }: Pick<HandlersOptions, "now">) {
    this.#now = now;
  }

  /**
   * Counts a look-up. It needs what RevealAccount needs. Refuses, in this order: ROLE_REQUIRED,
   * VERIFICATION_REQUIRED, TOO_MANY_REVEALS.
   */
  admit(operator: CallingOperator, { isSandbox }: Pick<Organization, "isSandbox">): AnyRefusal | undefined {
    const { id, roles: own } = operator;
    const now = this.#now();
    const roles = rolesOfCommand("revealAccount");
    if (!own.some((role) => roles.includes(role))) return { reason: "ROLE_REQUIRED", roles };
    if (!isSandbox && isStale({ needsFresh: true }, operator, this.#now)) return { reason: "VERIFICATION_REQUIRED" };
    const times = (this.#times.get(id) ?? []).filter((at) => at + REVEALS_MILLIS > now);
    const [oldest = now] = times;
    if (times.length >= REVEALS_MAX) {
      return { reason: "TOO_MANY_REVEALS", limit: REVEALS_MAX, retryMillis: oldest + REVEALS_MILLIS - now };
    }
    this.#times.set(id, [...times, now]);
    return undefined;
  }
}
