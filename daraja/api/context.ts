import type { Tokens } from "../access/tokens.js";
import type { Clock } from "../clock.js";
import type { Ids } from "../mpesa/ids.js";
import type { Mpesa } from "../mpesa/mpesa.js";
import type { Order } from "../mpesa/order.js";
import type { Organization } from "../mpesa/organization.js";
import type { Scenario } from "../mpesa/scenarios.js";
import type { Callbacks } from "./callbacks.js";
import type { Fields } from "./fields.js";
import type { Player } from "./player.js";
import { INVALID_TOKEN, spikeArrest, type TokenFamily } from "./problem.js";

/** What the products work with. */
export interface Context {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly mpesa: Mpesa;
  readonly tokens: Tokens;
  readonly callbacks: Callbacks;
  readonly player: Player;
  /** How long the rail remembers an OriginatorConversationID. */
  readonly idMemoryMillis: number;
}

/** A request with a valid token. */
export interface Call {
  readonly organization: Organization;
  readonly fields: Fields;
}

export interface Answer {
  readonly body: object;
  /** Undefined where the answer arrives whole. */
  readonly fault?: "lost" | "malformed" | undefined;
}

/** The answer to an accepted order, with the fault that its scenario has. */
export function answerOf({ scenario: { answer } }: Order, body: object): Answer {
  return { body, fault: answer === "after the callback" ? undefined : answer };
}

interface OrderRequest {
  readonly direction: Order["direction"];
  readonly family: TokenFamily;
  readonly organization: Organization;
  readonly msisdn: string;
  readonly scenario: Scenario;
}

/** Throws where the scenario has the gateway refuse the first request for a number. */
export function refuseOnce(
  { direction, family, organization, msisdn, scenario }: OrderRequest,
  { player, tokens }: Context,
): void {
  switch (player.refusal(direction, msisdn, scenario)) {
    case "spike arrest":
      throw spikeArrest();
    case "invalid token":
      // The token really is invalid from now on: only a new one helps.
      tokens.invalidate(organization);
      throw INVALID_TOKEN[family]();
    case undefined:
  }
}
