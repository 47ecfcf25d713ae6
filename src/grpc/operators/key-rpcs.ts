import { typeidUnboxed } from "typeid-js";

import type { CreateApiKey } from "../../domain/book/create-api-key.js";
import type { RevokeApiKey } from "../../domain/book/revoke-api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import {
  CreateApiKeyRequest,
  CreateApiKeyResponse,
  ListApiKeysRequest,
  ListApiKeysResponse,
  RevokeApiKeyRequest,
  RevokeApiKeyResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { parseFields } from "../messages/fields.js";
import { act, type ActsOptions } from "./acts.js";
import { parseExpiry, parseId, parseLabel, parseScopes } from "./fields.js";
import { toApiKey } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { pageInMemory, parseOwnPage } from "./pages.js";
import { ofOrganization } from "./results.js";

/** The rpcs about the API keys of organizations. */
export function keyRpcs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  const { administration, now } = options;
  return {
    createApiKey: unary({
      request: CreateApiKeyRequest,
      response: CreateApiKeyResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseId<OrganizationId>(request.organization_id),
          name: parseLabel(request.name),
          scopes: parseScopes(request.scopes),
          expires_at: parseExpiry(request.expires_at, request.never_expires, toUnixMillis(now())),
        }),
      run: async ({ organization_id: organizationId, expires_at: expiresAt, name: label, scopes }, caller) => {
        const organization = await administration.organization(organizationId);
        if (organization === undefined) {
          return { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } };
        }
        const { secret, sha256: secretSha256 } = administration.newSecret(organization);
        const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
        const fields = { name: "createApiKey", newKeyId, label, scopes, expiresAt, secretSha256 } as const;
        return act<CreateApiKey, CreateApiKeyResponse>(
          options,
          { organizationId, fields },
          caller,
          (made, { proposal }) => ({ api_key: made && toApiKey(made), secret, proposal }),
        );
      },
    }),
    listApiKeys: unary({
      request: ListApiKeysRequest,
      response: ListApiKeysResponse,
      parse: (request) => parseOwnPage(request, "ListApiKeys"),
      run: ({ organizationId, asked }) =>
        ofOrganization(options, organizationId, async () => {
          const { items, ...next } = pageInMemory(await administration.apiKeys(organizationId), asked);
          return { api_keys: items.map(toApiKey), ...next };
        }),
    }),
    revokeApiKey: unary({
      request: RevokeApiKeyRequest,
      response: RevokeApiKeyResponse,
      parse: ({ api_key_id: id }) => parseFields({ api_key_id: parseId<ApiKeyId>(id) }),
      run: async ({ api_key_id: keyId }, caller) => {
        const organization = await administration.organizationOfKey(keyId);
        if (organization === undefined) return { kind: "refused", refusal: { reason: "API_KEY_NOT_FOUND", keyId } };
        const given = { organizationId: organization.id, fields: { name: "revokeApiKey", keyId } as const };
        return act<RevokeApiKey, RevokeApiKeyResponse>(options, given, caller, (key, { unchanged }) => ({
          api_key: key && toApiKey(key),
          unchanged,
        }));
      },
    }),
  };
}
