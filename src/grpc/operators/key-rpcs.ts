import { typeidUnboxed } from "typeid-js";

import { SCOPES } from "../../domain/api-key.js";
import type { CreateApiKey } from "../../domain/book/create-api-key.js";
import type { ApiKeyId } from "../../domain/values/ids.js";
import { parseSomeOf } from "../../domain/values/parsed.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import type { CreateApiKeyResponse } from "../../gen/kesc/admin/v1/admin_service.js";
import type { RpcRoute } from "../calls/route.js";
import { done, refuse } from "../calls/rpc-result.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { act, actRoute } from "./acts.js";
import { adminRpc } from "./admin-rpc.js";
import { fields, OPERATORS_KINDS, parseExpiry, parseLabel } from "./fields.js";
import { toApiKey } from "./messages.js";
import type { HandlersOptions } from "./options.js";
import { listInTurn, parseOwnPage } from "./pages.js";
import { organizationOr, readOrganization, unlessChanged } from "./reading.js";

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
    createApiKey: adminRpc("createApiKey", {
      ...keyFields("organization_id", "name", "scopes", "expires_at"),
      run: async ({ organizationId, ...given }, caller) => {
        const organization = await organizationOr(options, organizationId);
        if ("reason" in organization) return refuse(organization);
        const { secret, sha256: secretSha256 } = administration.newSecret(organization);
        const newKeyId = typeidUnboxed("key") as string as ApiKeyId;
        const command = { name: "createApiKey", newKeyId, ...given, secretSha256 } as const;
        return act<CreateApiKey, CreateApiKeyResponse>(
          options,
          { organizationId, fields: command },
          caller,
          (made) => ({ api_key: made && toApiKey(made), secret }),
        );
      },
    }),
    listApiKeys: adminRpc("listApiKeys", {
      parse: (request) => parseOwnPage(request, "ListApiKeys"),
      run: ({ organizationId, asked }, caller) =>
        readOrganization(options, organizationId, () =>
          listInTurn(
            { listTurns, caller, asked },
            async () => ({ items: await administration.apiKeys(organizationId) }),
            ({ items, ...next }) => ({ api_keys: items.map(toApiKey), ...next }),
          ),
        ),
    }),
    revokeApiKey: actRoute(options)(
      "revokeApiKey",
      { ...fields("api_key_id"), shown: (key) => ({ api_key: key && toApiKey(key) }) },
      async ({ keyId }) => {
        const found = await administration.organizationOfKey(keyId);
        if (found === undefined) return refuse({ reason: "API_KEY_NOT_FOUND", keyId });
        const organization = unlessChanged(found);
        return "reason" in organization ? refuse(organization) : done({ organizationId: organization.id, keyId });
      },
    ),
  };
}
