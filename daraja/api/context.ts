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
import {
  expiredToken,
  firewallPage,
  INVALID_TOKEN,
  noProduct,
  Problem,
  spikeArrest,
  type TokenFamily,
  tooManyRequests,
} from "./problem.js";

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
  /** A text is a page. */
  readonly body: object | string;
  /** Undefined where the answer arrives whole. */
  readonly fault?: "lost" | "malformed" | undefined;
}

/** The answer to an accepted order, with the fault that its scenario has. */
export function answerOf({ scenario: { answer } }: Order, body: object): Answer {
  if (answer === "error") {
    const rule = "The scenario answers so after the request was accepted: the money moves";
    throw new Problem(500, "500.003.1001", "Internal Server Error", { rule });
  }
  if (answer === "cached") {
    return { body: { ...body, ResponseCode: "100000000", ResponseDescription: "The request is cached." } };
  }
  return { body, fault: answer === "after the callback" ? undefined : answer };
}

interface OrderRequest {
  readonly direction: Order["direction"];
  readonly family: TokenFamily;
  readonly organization: Organization;
  readonly msisdn: string;
  readonly scenario: Scenario;
}

/** Throws where the scenario has the gateway refuse the first request for a number, or each one. */
export function refuseAtGateway(
  { direction, family, organization, msisdn, scenario }: OrderRequest,
  { player, tokens }: Context,
): void {
  if (scenario.isWithoutProduct === true) throw noProduct();
  switch (player.refusal(direction, msisdn, scenario)) {
    case "spike arrest":
      throw spikeArrest();
    case "too many requests":
      throw tooManyRequests();
    case "invalid token":
      // The token really is invalid from now on: only a new one helps.
      tokens.invalidate(organization);
      throw INVALID_TOKEN[family]();
    case "expired token":
      tokens.invalidate(organization);
      throw expiredToken();
    case "firewall":
      throw firewallPage();
    case undefined:
  }
}
