import type { TransactionType } from "../../domain/transaction.js";
import type { AddressPurpose } from "../callback-token.js";
import type { Capabilities } from "../rail.js";
import type { DarajaSettings } from "./daraja/client.js";

/** An organization's account at M-Pesa, with the secrets that open it. */
export interface MpesaSettings extends DarajaSettings {
  /** The paybill number to which payers pay. */
  readonly collectShortcode: string;
  /** The secret of `collectShortcode` for STK pushes. */
  readonly passkey: string;
  /** The shortcode from which payouts go. It may be the same number. */
  readonly payOutShortcode: string;
  /** The user of the M-Pesa portal in whose name payouts and queries are made. */
  readonly initiatorName: string;
  readonly initiatorPassword: string;
  /** Safaricom's certificate for the sandbox or for production. */
  readonly certificatePem: string;
  /** Of the path that registers for deposits: that of the app's product at Safaricom. */
  readonly c2bVersion: 1 | 2;
  /** What M-Pesa does with a payment by hand while it cannot ask whether to take it. */
  readonly whenUnreachable: "Completed" | "Cancelled";
  readonly capabilities: Readonly<Record<TransactionType, Capabilities>>;
  /** The UUID of this account, which callbacks about deposits name. */
  readonly accountUuid: string;
  /** Returns the address to which Daraja sends a message. It holds a token for what it is about. */
  readonly callbackUrl: (purpose: AddressPurpose, uuid: string) => string;
}

/** The settings, with the encrypted password, which every request in the initiator's name has. */
export interface MpesaAccount extends MpesaSettings {
  readonly securityCredential: string;
}
