import { createHmac } from "node:crypto";

import type { UnixMillis } from "../domain/values/time.js";
import type { Endpoint, EndpointSecret } from "../domain/webhook-endpoint.js";
import type { Delivery, WebhookEvent } from "./ports/delivery.js";

const USER_AGENT = "KESC-Webhooks/1";

/**
 * Makes the request that delivers an event, signed as Standard Webhooks says, by each secret that
 * is valid. The time is that of the attempt: a receiver refuses an old one.
 */
export function signedDelivery(
  { url, secrets }: Pick<Endpoint, "url" | "secrets">,
  { id, type, recordedAt, json }: Omit<WebhookEvent, "seq">,
  now: UnixMillis,
): Delivery {
  const timestamp = new Date(recordedAt).toISOString();
  const body = `{"type":${JSON.stringify(type)},"timestamp":"${timestamp}","data":${json()}}`;
  const seconds = String(Math.floor(now / 1_000));
  const signatures = validSecrets(secrets, now).map((secret) => signatureOf(secret, `${id}.${seconds}.${body}`));
  return {
    url,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "user-agent": USER_AGENT,
      "webhook-id": id,
      "webhook-timestamp": seconds,
      "webhook-signature": signatures.join(" "),
    },
    body,
  };
}

function validSecrets(secrets: readonly EndpointSecret[], now: UnixMillis): readonly EndpointSecret[] {
  return secrets.filter(({ validUntil }) => validUntil === undefined || validUntil > now);
}

function signatureOf({ base64 }: EndpointSecret, content: string): string {
  return `v1,${createHmac("sha256", Buffer.from(base64, "base64")).update(content).digest("base64")}`;
}
