import type { EndpointSecret } from "../../domain/webhook-endpoint.js";
import type { Event } from "../../gen/kesc/v1/event.js";
import { WatchEventsResponse } from "../../gen/kesc/v1/event_service.js";
import { parseMoment } from "../../grpc/messages/timestamp.js";
import { eventWriter } from "../../parts/event-json.js";
import { now } from "../../startup/clock.js";
import { UsageError } from "../../startup/operator-error.js";
import { THIS_MACHINE } from "../../webhooks/allowed.js";
import { senderTo } from "../../webhooks/deliver.js";
import { DELIVERY_MILLIS_MAX } from "../../webhooks/limits.js";
import { signedDelivery } from "../../webhooks/sign.js";
import type { CallSession } from "../call/session.js";
import { printLine } from "../commands/output.js";

const ORGANIZATION_METHOD = "kesc.v1.OrganizationService/GetOrganization";
// The end of the process ends a request.
const NEVER = new AbortController().signal;

/** POSTs events to a URL as the service delivers webhooks. */
export class Forwarder {
  readonly #url: string;
  readonly #secret: EndpointSecret;
  // Idle connections do not keep the process alive, so nothing closes them.
  readonly #send = senderTo({ allowed: THIS_MACHINE, now }).send;
  readonly #writeEvent = eventWriter();

  private constructor(url: string, secret: Buffer) {
    this.#url = url;
    this.#secret = { base64: secret.toString("base64"), validUntil: undefined };
  }

  /** Prints the secret. Throws a UsageError if the organization is no sandbox. */
  static async start(session: CallSession, url: string): Promise<Forwarder> {
    const method = session.contract.method(ORGANIZATION_METHOD);
    const text = await session.unary(method, session.contract.encode(method, "{}"));
    const { organization } = JSON.parse(text) as { readonly organization: { id: string; sandbox: boolean } };
    if (!organization.sandbox) {
      throw new UsageError(
        `--forward-to: the organization ${organization.id} is no sandbox. Its events are about real customers. ` +
          "Send them to a webhook endpoint of your server (docs/webhooks.md). Nothing was forwarded.",
      );
    }
    const forwarder = new Forwarder(url, session.secretFor("kesc listen"));
    printLine(`Signing secret, the same at each start with this API key: whsec_${forwarder.#secret.base64}`);
    return forwarder;
  }

  /** Sends the events of a response, one after the other. Prints what came of each. */
  async forward(response: Uint8Array): Promise<void> {
    for (const event of WatchEventsResponse.decode(response).events) await this.#forwardOne(event);
  }

  async #forwardOne(event: Event): Promise<void> {
    const { id, type, sequence } = event;
    const recordedAt = parseMoment(event.recorded_at);
    if (!recordedAt.ok || recordedAt.value === undefined) throw new Error(`the event ${id} has no time`);
    const written = { id, type, recordedAt: recordedAt.value, json: () => this.#writeEvent(event) };
    const delivery = signedDelivery({ url: this.#url, secrets: [this.#secret] }, written, now());
    const from = performance.now();
    const { code, problem } = await this.#send(delivery, { millis: DELIVERY_MILLIS_MAX, signal: NEVER });
    const millis = Math.round(performance.now() - from);
    printLine([sequence, type, problem === "" ? code : problem, `${String(millis)} ms`].join("  "));
  }
}
