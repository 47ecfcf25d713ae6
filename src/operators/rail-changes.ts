import type { Organization } from "../domain/api-key.js";
import type { Proposal } from "../domain/proposal.js";
import type { SetRailAccount } from "../domain/rails/change-rail-accounts.js";
import type { Refusal } from "../domain/refusal.js";
import type { Rail } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { OperatorRefusal } from "./refusal.js";

/** An account at a rail, as an operator asks for it. */
export interface AskedRailAccount {
  readonly rail: Rail;
  /** A JSON object. Empty for a rail that has none. */
  readonly settings: string;
  /** A JSON object with the secrets. Empty for a rail that has none. */
  readonly credentials: string;
  readonly credentialsExpireAt: UnixMillis | undefined;
  /** Undefined leaves it as it is, as with the limits. */
  readonly isDefault: boolean | undefined;
  readonly beginWithinMillis: number | undefined;
  readonly confirmAboveCents: Cents | undefined;
  readonly resolveAloneMaxCents: Cents | undefined;
  readonly floatMinCents: Cents | undefined;
}

/** What is wrong with an account that is asked for. No text repeats a value. */
export interface RailAccountProblem {
  readonly field: "rail" | "settings" | "credentials" | "credentials_expire_at";
  /** The end of a sentence that begins with the name of the field. */
  readonly problem: string;
  readonly isMissing?: true;
}

/** The fields of a command that sets an account. Its credentials are encrypted. */
export type RailAccountFields = Omit<SetRailAccount, "organizationId" | "actor" | "authority" | "facts" | "note">;

/** The organization whose account changes. */
export type RailOwner = Pick<Organization, "id" | "cell" | "isSandbox">;

/** What a change of an account at a rail needs beside the ledger. Calls no rail. */
export interface RailChanges {
  /** Checks an account as a server that uses it does, and makes the fields of the command. */
  prepare(
    organization: RailOwner,
    asked: AskedRailAccount,
  ): Promise<
    | { readonly ok: true; readonly value: RailAccountFields }
    | { readonly ok: false; readonly problems: readonly RailAccountProblem[] }
  >;
  /**
   * Commits the command by `submit`, while nobody else sets an account. Refuses RAIL_PLACE_TAKEN,
   * if another organization has the place at the rail, and QUEUE_FULL, if many other changes wait.
   * Repeats it a few times if the accounts have changed meanwhile.
   */
  submit<Outcome extends { readonly kind: string; readonly refusal?: { readonly reason: string } }>(
    organization: RailOwner,
    command: Omit<SetRailAccount, "facts">,
    submit: (command: SetRailAccount) => Promise<Outcome>,
  ): Promise<
    | Outcome
    | { readonly kind: "refused"; readonly refusal: OperatorRefusal | Refusal | { readonly reason: "QUEUE_FULL" } }
  >;
  /** Whether the secret that a proposal has is the one that was proposed. */
  isWhole(organization: RailOwner, proposal: Proposal): Promise<boolean>;
}
