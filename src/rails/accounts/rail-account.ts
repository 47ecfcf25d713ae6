import { fromUUID, toUUID, type TypeId } from "typeid-js";

import type { RailAccountId } from "../../domain/payment.js";
import type { CallbackPurpose } from "../callback-token.js";
import { parseFields } from "../fields.js";
import { MPESA_CAPABILITIES } from "../mpesa/limits.js";
import { type Clocks, MpesaRail } from "../mpesa/mpesa.js";
import type { PaymentRail } from "../rail.js";
import { SandboxRail } from "../sandbox/sandbox.js";
import {
  BASE_URLS,
  baseUrlOf,
  checkMpesaCredentials,
  checkMpesaSettings,
  isKnownAddress,
  mpesaCapabilitiesOf,
} from "./mpesa-account.js";

/** An organization's account at a rail, as it is stored. */
export interface RailAccountSource {
  /** A TypeID with the prefix `rail`. */
  readonly id: RailAccountId;
  /** Whether the organization is for tests. */
  readonly isSandbox: boolean;
  readonly rail: string;
  /** A JSON object. */
  readonly settings: string;
  /** A JSON object. Undefined if the rail needs none. */
  readonly credentials: string | undefined;
}

export interface RailDependencies extends Clocks {
  /** Undefined if the service does not know where rails can call back. */
  readonly callbackUrl: ((purpose: CallbackPurpose, uuid: string) => string) | undefined;
  /** The hosts beside Safaricom's at which a live account may be: "host" or "host:port". */
  readonly hosts: readonly string[];
}

/** The account cannot be used. The message has one line for each reason, and no secret. */
export class WrongRailAccountError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
    this.name = "WrongRailAccountError";
  }
}

/** Returns the id of the account with this UUID, which callbacks about a balance name. */
export function railAccountIdOf(uuid: string): RailAccountId {
  return fromUUID(uuid, "rail") as string as RailAccountId;
}

/** Makes the rail of an account. Throws a WrongRailAccountError. */
export function railOf(account: RailAccountSource, dependencies: RailDependencies): PaymentRail {
  switch (account.rail) {
    case "sandbox":
      return sandboxRailOf(account, dependencies);
    case "mpesa":
      return mpesaRailOf(account, dependencies);
    default:
      throw new WrongRailAccountError([`This version of KESC has no rail ${account.rail}.`]);
  }
}

function sandboxRailOf({ isSandbox }: RailAccountSource, { now }: RailDependencies): PaymentRail {
  if (!isSandbox) {
    throw new WrongRailAccountError(["The rail sandbox moves no shillings: only sandbox organizations can have it."]);
  }
  return new SandboxRail({ capabilities: MPESA_CAPABILITIES, now });
}

function mpesaRailOf(account: RailAccountSource, { callbackUrl, hosts, ...clocks }: RailDependencies): PaymentRail {
  const settings = checkMpesaSettings(parseFields(account.settings));
  const credentials = checkMpesaCredentials(parseFields(account.credentials ?? ""));
  const problems = [...(settings.ok ? [] : settings.problems), ...(credentials.ok ? [] : credentials.problems)];
  // Otherwise test shillings would become KESC, or KESC of a test would be paid out.
  const wrongEnvironment = account.isSandbox ? "production" : "sandbox";
  if (settings.ok && settings.value.environment === wrongEnvironment) {
    const kind = account.isSandbox ? "A sandbox organization" : "A live organization";
    problems.push(`${kind} cannot use the environment ${wrongEnvironment} of M-Pesa.`);
  }
  // Otherwise somebody who can set accounts could send the credentials anywhere.
  const given = settings.ok && !account.isSandbox ? settings.value.baseUrl : undefined;
  if (given !== undefined && !isKnownAddress(given, hosts)) {
    problems.push(`baseUrl must be ${BASE_URLS.production}, unless KESC_RAIL_HOSTS names its host.`);
  }
  if (callbackUrl === undefined) {
    problems.push("M-Pesa needs KESC_CALLBACK_BASE_URL and KESC_CALLBACK_SECRET_FILE, which are not set.");
  }
  if (!settings.ok || !credentials.ok || callbackUrl === undefined || problems.length > 0) {
    throw new WrongRailAccountError(problems);
  }
  const { collectShortcode, payOutShortcode, initiatorName, certificatePem } = settings.value;
  return new MpesaRail(
    {
      baseUrl: baseUrlOf(settings.value),
      ...credentials.value,
      collectShortcode,
      payOutShortcode,
      initiatorName,
      certificatePem,
      capabilities: mpesaCapabilitiesOf(settings.value),
      accountUuid: toUUID(account.id as string as TypeId<"rail">),
      callbackUrl,
    },
    clocks,
  );
}
