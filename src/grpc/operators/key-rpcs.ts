import { typeidUnboxed } from "typeid-js";

import type { CreateApiKey } from "../../domain/book/create-api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import * as wire from "../../gen/kesc/admin/v1/admin_service.js";
import { done, refuse } from "../calls/rpc-result.js";
import { parseFields } from "../messages/fields.js";
import { act, actRoute, type ActsOptions } from "./acts.js";
import { fields, parseExpiry, parseId, parseLabel, parseScopes } from "./fields.js";
import { toApiKey } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { pageInMemory, parseOwnPage } from "./pages.js";
import { ofOrganization } from "./results.js";

/** The rpcs about the API keys of organizations. */
export function keyRpcs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  const { administration, now } = options;
  return {
    createApiKey: unary({
      request: wire.CreateApiKeyRequest,
      response: wire.CreateApiKeyResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          name: parseLabel(request.name),
          scopes: parseScopes(request.scopes),
          expires_at: parseExpiry(request.expires_at, request.never_expires, toUnixMillis(now())),
        }),
      run: async ({ organization_id: organizationId, expires_at: expiresAt, name: label, scopes }, caller) => {
        const organization = await administration.organization(organizationId);
        if (organization === undefined) return refuse({ reason: "ORGANIZATION_NOT_FOUND", organizationId });
        const { secret, sha256: secretSha256 } = administration.newSecret(organization);
        const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
        const fields = { name: "createApiKey", newKeyId, label, scopes, expiresAt, secretSha256 } as const;
        return act<CreateApiKey, wire.CreateApiKeyResponse>(
          options,
          { organizationId, fields },
          caller,
          (made, { proposal }) => ({ api_key: made && toApiKey(made), secret, proposal }),
        );
      },
    }),
    listApiKeys: unary({
      request: wire.ListApiKeysRequest,
      response: wire.ListApiKeysResponse,
      parse: (request) => parseOwnPage(request, "ListApiKeys"),
      run: ({ organizationId, asked }) =>
        ofOrganization(options, organizationId, async () => {
          const { items, ...next } = pageInMemory(await administration.apiKeys(organizationId), asked);
          return { api_keys: items.map(toApiKey), ...next };
        }),
    }),
    revokeApiKey: actRoute(unary, options)(
      "revokeApiKey",
      { ...fields("api_key_id"), shown: (key) => ({ api_key: key && toApiKey(key) }) },
      async ({ keyId }) => {
        const organization = await administration.organizationOfKey(keyId);
        return organization === undefined
          ? refuse({ reason: "API_KEY_NOT_FOUND", keyId })
          : done({ organizationId: organization.id, keyId });
      },
    ),
  };
}
