import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { EndpointRecord } from "../../../src/domain/webhook-endpoint.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import { endpoint, givenHead } from "../../support/given.js";
import { NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { deleteWebhookEndpoint } from "../../support/operations/webhooks.js";

const ENDPOINT = endpoint({ secrets: [{ base64: "c2VjcmV0", validUntil: undefined }] });
const { id, organizationId, createdAt } = ENDPOINT;
const changedSeq = givenHead().lastSeq + 1;
const LEFT = { id, organizationId, status: "DELETED", revision: 2, changedSeq, createdAt, updatedAt: NOW } as const;

describe("deleting a webhook endpoint", () => {
  const remove = (before: EndpointRecord, organization = ORGANIZATION) =>
    decide({ webhookEndpoints: [before] }, deleteWebhookEndpoint(organization, id));

  it("leaves neither its url nor its secrets", () => {
    const effect = effectOf(remove(ENDPOINT));
    expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([["webhook_endpoint.deleted", id]]);
    expect(putOf(effect, "webhookEndpoints")).to.deep.equal(LEFT);
  });

  it("is possible if the row was changed past the service, also to one of tomorrow", () => {
    const tomorrow = toUnixMillis(NOW + 86_400_000);
    const changed = { ...ENDPOINT, status: "DISABLED", disabledReason: "CHANGED", createdAt: tomorrow } as const;
    const written = { ...LEFT, createdAt: tomorrow, updatedAt: tomorrow };
    expect(putOf(effectOf(remove(changed)), "webhookEndpoints")).to.deep.equal(written);
  });

  it("is a replay the second time", () => {
    expect(wordOf(remove(LEFT))).to.equal("replay");
  });

  it("is refused for an endpoint of another organization", () => {
    expectRefused(remove(ENDPOINT, STRANGER), { reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId: id });
  });
});
