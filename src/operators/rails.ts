import type { Organization } from "../domain/api-key.js";
import type { Proposal } from "../domain/proposal.js";
import type { SetRailAccount } from "../domain/rails/change-rail-accounts.js";
import type { Refusal } from "../domain/refusal.js";
import type { Rail } from "../domain/transaction.js";
import type { Cents } from "../domain/values/cents.js";
import type { TransactionId } from "../domain/values/ids.js";
import type { PhoneNumber } from "../domain/values/phone-number.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { RailAccountState } from "./ports.js";

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

/** What a rail has said to credentials. */
export const TRIAL_RESULTS = ["accepted", "app_accepted", "refused", "unanswered"] as const;

export interface CredentialsTrial {
  /** `app_accepted`: only the app's credential was tried. */
  readonly result: (typeof TRIAL_RESULTS)[number];
  /** The code of the rail, or of the network. */
  readonly code?: string;
}

/** An account that was set, with what the rail has said to its credentials. */
export type TriedRailAccount = RailAccountState & { readonly trial?: CredentialsTrial | undefined };

/** What a change of an account at a rail needs beside the ledger. Only a trial calls the rail. */
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
  ): Promise<Outcome | { readonly kind: "refused"; readonly refusal: Refusal | { readonly reason: "QUEUE_FULL" } }>;
  /**
   * Tries the credentials of an account that was set, once. Resolves with undefined if nothing can
   * be tried: the rail has none, or it could not call back.
   */
  tryCredentials(organization: RailOwner, rail: Rail): Promise<CredentialsTrial | undefined>;
  /** Whether the secret that a proposal has is the one that was proposed. */
  isWhole(organization: RailOwner, proposal: Proposal): Promise<boolean>;
}

/** An account at a rail with its state now, without its credentials. */
export interface RailAccountStatus {
  readonly account: RailAccountState;
  /** A JSON object without secrets. Undefined if nobody can use the settings. */
  readonly settings: string | undefined;
  readonly credentialsExpireSoon: boolean;
  readonly openPayments: number;
  /** The payouts that the rail may have, and whose outcome is unknown. */
  readonly unknownPayouts: number;
  readonly oldestUnknownAt: UnixMillis | undefined;
  /** The transactions of some of them. */
  readonly unknownTransactionIds: readonly TransactionId[];
  readonly beginsPayouts: boolean;
  /** Why this server cannot use the account. Undefined if it can. */
  readonly problem: string | undefined;
  /** From when on payments without an order are deposits. */
  readonly depositsSince: UnixMillis | undefined;
  /** When the rail's list of received payments was read to its end last. */
  readonly depositsReadAt: UnixMillis | undefined;
}

/** What a question that moves nothing has shown of one product of an account at a rail. */
export interface ProbedProduct {
  readonly product: string;
  readonly result: (typeof PROBED_RESULTS)[number];
  readonly code: string | undefined;
  /** The path at the rail. Undefined for what the service knows by itself. */
  readonly place: string | undefined;
  readonly advice: string | undefined;
}

export const PROBED_RESULTS = ["WORKS", "LACKING", "WRONG", "UNANSWERED", "NOT_ASKED"] as const;

/** Asks a rail about each product of an account, in ways that move nothing. */
export interface RailProbes {
  /** Resolves with undefined if there is no such account. No question is asked again. */
  probe(organization: RailOwner, rail: Rail): Promise<readonly ProbedProduct[] | undefined>;
}

/**
 * What operators read of accounts at rails. Every call rejects with a StoreError if the database
 * fails. Calls no rail.
 */
export interface RailReads {
  /** Resolves with undefined if the organization has no account at the rail. */
  railAccount(organization: RailOwner, rail: Rail): Promise<RailAccountStatus | undefined>;
}

/** Lets an organization take deposits at a rail. It calls the rail. */
export interface DepositRegistration {
  /**
   * Registers the account for the list of received payments and for confirmations. From then on,
   * payments without an order become deposits. A second time keeps the moment of the first.
   */
  register(organization: RailOwner, asked: AskedRegistration): Promise<DepositRegistered>;
}

export interface AskedRegistration {
  readonly rail: Rail;
  /** The number of a person that the rail knows for the account. */
  readonly contact: PhoneNumber;
  /** Called once the rail has registered the account. False ends it: nothing is a deposit. */
  readonly mayBegin: () => Promise<boolean>;
}

export type DepositRegistered =
  | {
      readonly kind: "registered";
      readonly since: UnixMillis;
      /**
       * Whether the rail keeps addresses that it was given before. If they are those of another
       * program, only the list tells what came in.
       */
      readonly keptAddresses: boolean;
    }
  | { readonly kind: "no account" }
  /** `mayBegin` said so. */
  | { readonly kind: "ended" }
  /** A rail that lists no payments, or a server without callbacks. The text ends a sentence. */
  | { readonly kind: "unusable"; readonly problem: string }
  /** With the code of the rail. Nothing was stored, and `mayBegin` was not called. */
  | { readonly kind: "failed"; readonly code: string };
