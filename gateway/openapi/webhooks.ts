import type { DescMessage, JsonObject } from "@bufbuild/protobuf";

import type { HttpContract } from "../../contract/contract.js";
import { responseExample } from "./examples.js";
import type { Schemas } from "./schema.js";

/** The message whose JSON a delivery has as its `data`. */
const EVENT = "kesc.v1.Event";

/** The parts of the document about webhooks. */
export interface Webhooks {
  readonly webhooks: JsonObject;
  readonly pathItems: JsonObject;
}

/**
 * Says what the service sends to a webhook endpoint, as docs/webhooks.md does. Undefined if the
 * contract has no events.
 */
export function webhooksOf({ registry }: HttpContract, schemas: Schemas): Webhooks | undefined {
  const event = registry.getMessage(EVENT);
  if (event === undefined) return undefined;
  // `webhooks` only refers to it. openapi-generator 7.25 follows no such reference. It would write
  // one that stands there as a call: in Python one that does not compile, and in each language in
  // the file of the tag, over the calls of the paths.
  return {
    webhooks: { event: { $ref: "#/components/pathItems/EventDelivery" } },
    pathItems: { EventDelivery: deliveryOf(event, schemas) },
  };
}

function deliveryOf(event: DescMessage, schemas: Schemas): JsonObject {
  // Not a component: oapi-codegen drops those that no path uses, and then does not compile.
  const schema: JsonObject = {
    type: "object",
    description: "The body of a delivery to a webhook endpoint.",
    properties: {
      type: { type: "string", description: "The type of the event, or `webhook.test`." },
      timestamp: { type: "string", format: "date-time", description: "When the event was recorded." },
      data: { ...schemas.response(event), description: "The event, as GET /events shows it." },
    },
    required: ["type", "timestamp", "data"],
  };
  const data = responseExample(event, {});
  const example = { type: data["type"] ?? null, timestamp: data["recorded_at"] ?? null, data };
  return {
    post: {
      operationId: "receiveEvent",
      tags: ["Webhook"],
      summary: "An event of the book, sent to each endpoint that wants its type",
      description: [
        "Verify the signature over the body as it came. Store the `webhook-id`, and ignore one that you have " +
          "processed. Order events by `data.sequence`.",
        "Respond within 15 seconds. After any other status than 200 to 299 the event comes again.",
      ].join("\n\n"),
      parameters: SIGNATURE_HEADERS,
      requestBody: { required: true, content: { "application/json": { schema, example } } },
      responses: {
        204: { description: "The event was received." },
        410: { description: "The receiver wants no more events: the endpoint is disabled." },
      },
      security: [],
    },
  };
}

const SIGNATURE_HEADERS: JsonObject[] = [
  header("webhook-id", "The id of the event, the same in each delivery of it.", { type: "string" }),
  header("webhook-timestamp", "When this try was sent, in seconds since 1970.", {
    type: "integer",
    format: "int64",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  header("webhook-signature", "One signature or several, separated by spaces, as Standard Webhooks has them.", {
    type: "string",
  }),
];

function header(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "header", required: true, description, schema };
}
