import type { Rail } from "../domain/transaction.js";
import type { PhoneNumber } from "../domain/values/phone-number.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { RailOwner } from "./rail-changes.js";

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
  /** Called before the rail is. False ends the registration. */
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
  /** With the code of the rail. Nothing was stored. */
  | { readonly kind: "failed"; readonly code: string };
