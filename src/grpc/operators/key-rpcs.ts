import { parseApiKeyId, parseOrganizationId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import {
  CreateKeyRequest,
  CreateKeyResponse,
  ListKeysRequest,
  ListKeysResponse,
  RevokeKeyRequest,
  RevokeKeyResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { parseFields } from "../messages/fields.js";
import { parseExpiry, parseLabel, parseScopes } from "./fields.js";
import { toKey } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import { pageInMemory, parsePage } from "./pages.js";
import { type HandlersOptions, ofOrganization, resultOfAct } from "./results.js";

/** The rpcs about the API keys of organizations. */
export function keyRpcs(unary: OperatorUnary, options: HandlersOptions): Record<string, OperatorRoute> {
  const { administration, now } = options;
  return {
    createKey: unary({
      request: CreateKeyRequest,
      response: CreateKeyResponse,
      parse: (request) =>
        parseFields({
          organization_id: parseOrganizationId(request.organization_id),
          name: parseLabel(request.name),
          scopes: parseScopes(request.scopes),
          expires_at: parseExpiry(request.expires_at, request.never_expires, toUnixMillis(now())),
        }),
      run: async ({ organization_id: organizationId, expires_at: expiresAt, name, scopes }, { key: by }) => {
        const organization = await administration.organization(organizationId);
        if (organization === undefined) {
          return { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } };
        }
        const { secret, sha256: secretSha256 } = administration.newSecret(organization);
        const act = { kind: "key.create", organizationId, name, scopes, expiresAt, secretSha256 } as const;
        const submitted = await administration.submit(act, by);
        return resultOfAct(options, submitted, (made, { proposal }) => ({
          key: made && toKey(made),
          secret,
          proposal,
        }));
      },
    }),
    listKeys: unary({
      request: ListKeysRequest,
      response: ListKeysResponse,
      parse: ({ organization_id: text, ...page }) => {
        const id = parseFields({ organization_id: parseOrganizationId(text) });
        if (!id.ok) return id;
        const { organization_id: organizationId } = id.value;
        const asked = parsePage(page, { rpc: "ListKeys", organizationId });
        return asked.ok ? { ok: true, value: { organizationId, asked: asked.value } } : asked;
      },
      run: ({ organizationId, asked }) =>
        ofOrganization(options, organizationId, async () => {
          const { items, ...next } = pageInMemory(await administration.apiKeys(organizationId), asked);
          return { keys: items.map(toKey), ...next };
        }),
    }),
    revokeKey: unary({
      request: RevokeKeyRequest,
      response: RevokeKeyResponse,
      parse: ({ key_id: id }) => parseFields({ key_id: parseApiKeyId(id) }),
      run: async ({ key_id: keyId }, { key: by }) => {
        const submitted = await administration.submit({ kind: "key.revoke", keyId }, by);
        return resultOfAct(options, submitted, (key, { already_so }) => ({ key: key && toKey(key), already_so }));
      },
    }),
  };
}
