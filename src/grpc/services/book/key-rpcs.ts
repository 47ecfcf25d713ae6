import { typeidUnboxed } from "typeid-js";

import { SCOPES } from "../../../domain/api-key.js";
import type { CreateApiKey } from "../../../domain/book/create-api-key.js";
import type { RevokeApiKey } from "../../../domain/book/revoke-api-key.js";
import type { ApiKeyId } from "../../../domain/values/ids.js";
import { parseSomeOf } from "../../../domain/values/parsed.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import type { Timestamp } from "../../../gen/google/protobuf/timestamp.js";
import type { CreateApiKeyResponse, RevokeApiKeyResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import { houseRpc, organizationRpc } from "../../calls/admin-rpc.js";
import { unlessChanged } from "../../calls/named-organization.js";
import type { RpcRoute } from "../../calls/route.js";
import { refuse } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { fields, OPERATORS_KINDS, parseExpiry, parseLabel } from "../../messages/operators/fields.js";
import { toApiKey } from "../../messages/operators/messages.js";
import { act } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { listInTurn, parseOwnPage } from "../pages.js";

/** The rpcs about the API keys of organizations. */
export function keyRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, listTurns, now } = options;
  const keyFields = fieldsOf({
    ...OPERATORS_KINDS,
    expires_at: (end: Timestamp | undefined, { never_expires: never }: { readonly never_expires: boolean }) =>
      parseExpiry(end, never, toUnixMillis(now())),
    name: { as: "label", parse: parseLabel },
    scopes: (texts: readonly string[]) => parseSomeOf(texts, SCOPES),
  });
  return {
    createApiKey: organizationRpc("createApiKey", {
      ...keyFields("name", "scopes", "expires_at"),
      run: (given, caller) => {
        const { secret, sha256: secretSha256 } = administration.newSecret(caller.organization);
        const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
        const command = { name: "createApiKey", newKeyId, ...given, secretSha256 } as const;
        return act<CreateApiKey, CreateApiKeyResponse>(options, { fields: command }, caller, (made) => ({
          api_key: made && toApiKey(made),
          secret,
        }));
      },
    }),
    listApiKeys: organizationRpc("listApiKeys", {
      parse: (request, caller) => parseOwnPage(request, caller, "ListApiKeys"),
      run: (asked, caller) =>
        listInTurn(
          { listTurns, caller, asked },
          async () => ({ items: await administration.apiKeys(caller.organization.id) }),
          ({ items, ...next }) => ({ api_keys: items.map(toApiKey), ...next }),
        ),
    }),
    revokeApiKey: houseRpc("revokeApiKey", {
      ...fields("api_key_id"),
      run: async ({ keyId }, caller) => {
        // The id says whose the key is: who must revoke one in a hurry need not know.
        const found = await administration.organizationOfKey(keyId);
        if (found === undefined) return refuse({ reason: "API_KEY_NOT_FOUND", keyId });
        const organization = unlessChanged(found);
        if ("reason" in organization) return refuse(organization);
        const command = { name: "revokeApiKey", keyId } as const;
        return act<RevokeApiKey, RevokeApiKeyResponse>(
          options,
          { fields: command },
          { ...caller, organization },
          (key) => ({ api_key: key && toApiKey(key) }),
        );
      },
    }),
  };
}
