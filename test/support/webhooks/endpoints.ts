import { fresh } from "../service/each-engine.js";
import type { Service } from "../service/service.js";

/** An endpoint as REST shows it. */
export type EndpointJson = Readonly<Record<string, unknown>> & { readonly id: string; readonly secret: string };

/** The loopback has no public address: nothing is sent to it unless the operator allows it. */
export function unreachableUrl(): string {
  return `https://localhost/${fresh("hooks")}`;
}

/**
 * Creates an endpoint of organization A, calls the test with it, and deletes it: there can be 10.
 */
export async function withEndpoint(
  service: Service,
  body: object,
  test: (endpoint: EndpointJson) => Promise<void>,
): Promise<void> {
  const created = await service.rest("POST", "/webhook-endpoints", { body: { url: unreachableUrl(), ...body } });
  if (created.status !== 201) throw new Error(created.text);
  const endpoint = created.json as EndpointJson;
  try {
    await test(endpoint);
  } finally {
    await service.rest("DELETE", `/webhook-endpoints/${endpoint.id}`);
  }
}
