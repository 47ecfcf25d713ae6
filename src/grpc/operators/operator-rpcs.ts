import type { OperatorId } from "../../domain/values/ids.js";
import {
  CreateOperatorRequest,
  CreateOperatorResponse,
  ListOperatorActsRequest,
  ListOperatorActsResponse,
  ListOperatorsRequest,
  ListOperatorsResponse,
  ReplaceOperatorKeyRequest,
  ReplaceOperatorKeyResponse,
  RevokeOperatorRequest,
  RevokeOperatorResponse,
  SetOperatorRolesRequest,
  SetOperatorRolesResponse,
  WhoAmIRequest,
  WhoAmIResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { parseFingerprint, parseOperatorName } from "../../operators/operator.js";
import { done } from "../calls/rpc-result.js";
import { parseFields } from "../messages/fields.js";
import { parseId } from "./fields.js";
import { namesOf, toOperator, toOperatorAct, toSession } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { pageInMemory, parsePage, tokenAfter } from "./pages.js";
import { NEEDS_PERSON, resultOfAct } from "./results.js";
import { parseRoles } from "./roles.js";

/** The rpcs about the operators themselves. */
export function operatorRpcs(unary: OperatorUnary, options: HandlersOptions): Record<string, OperatorRoute> {
  const { administration } = options;
  return {
    createOperator: unary({
      request: CreateOperatorRequest,
      response: CreateOperatorResponse,
      parse: ({ name, roles, key_sha256: key }) =>
        parseFields({ name: parseOperatorName(name), roles: parseRoles(roles), key_sha256: parseFingerprint(key) }),
      run: async ({ name, roles, key_sha256: keySha256 }, { key: by }) => {
        const submitted = await administration.submit({ kind: "operator.create", name, roles, keySha256 }, by);
        return resultOfAct(options, submitted, (made, { proposal }) => ({
          operator: made && toOperator(made),
          proposal,
        }));
      },
    }),
    setOperatorRoles: unary({
      request: SetOperatorRolesRequest,
      response: SetOperatorRolesResponse,
      parse: ({ operator_id: id, roles }) =>
        parseFields({ operator_id: parseId<OperatorId>(id), roles: parseRoles(roles) }),
      run: async ({ operator_id: operatorId, roles }, { key: by }) => {
        const submitted = await administration.submit({ kind: "operator.set_roles", operatorId, roles }, by);
        return resultOfAct(options, submitted, (found, rest) => ({ operator: found && toOperator(found), ...rest }));
      },
    }),
    replaceOperatorKey: unary({
      request: ReplaceOperatorKeyRequest,
      response: ReplaceOperatorKeyResponse,
      parse: ({ operator_id: id, key_sha256: key }) =>
        parseFields({ operator_id: parseId<OperatorId>(id), key_sha256: parseFingerprint(key) }),
      run: async ({ operator_id: operatorId, key_sha256: keySha256 }, { key: by }) => {
        const submitted = await administration.submit({ kind: "operator.replace_key", operatorId, keySha256 }, by);
        return resultOfAct(options, submitted, (found, rest) => ({ operator: found && toOperator(found), ...rest }));
      },
    }),
    revokeOperator: unary({
      request: RevokeOperatorRequest,
      response: RevokeOperatorResponse,
      parse: ({ operator_id: id }) => parseFields({ operator_id: parseId<OperatorId>(id) }),
      run: async ({ operator_id: operatorId }, { key: by }) => {
        const submitted = await administration.submit({ kind: "operator.revoke", operatorId }, by);
        return resultOfAct(options, submitted, (found, { unchanged }) => ({
          operator: found && toOperator(found),
          unchanged,
        }));
      },
    }),
    ...readingRpcs(unary, options),
  };
}

function readingRpcs(unary: OperatorUnary, { administration }: HandlersOptions): Record<string, OperatorRoute> {
  return {
    whoAmI: unary({
      request: WhoAmIRequest,
      response: WhoAmIResponse,
      parse: () => parseFields({}),
      run: (_input, { key: by }) => {
        // The machine is no operator.
        if (by === undefined) return Promise.resolve(NEEDS_PERSON);
        const { fourEyes, cellCount: cells } = administration;
        const session = by.session && toSession(by.session, by);
        return Promise.resolve(done({ operator: toOperator(by), four_eyes: [...fourEyes], cells, session }));
      },
    }),
    listOperators: unary({
      request: ListOperatorsRequest,
      response: ListOperatorsResponse,
      parse: (page) => parsePage(page, { rpc: "ListOperators" }),
      run: async (asked) => {
        const { items, ...next } = pageInMemory(await administration.operators(), asked);
        return done({ operators: items.map(toOperator), ...next });
      },
    }),
    listOperatorActs: unary({
      request: ListOperatorActsRequest,
      response: ListOperatorActsResponse,
      parse: (page) => parsePage(page, { rpc: "ListOperatorActs" }),
      run: async (asked) => {
        const { size, beforeSeq } = asked.page;
        const rows = await administration.operatorActs({ size: size + 1, beforeSeq });
        const names = namesOf(await administration.operators());
        return done({
          acts: rows.slice(0, size).map((row) => toOperatorAct(row, names)),
          next_page_token: tokenAfter(rows, asked),
        });
      },
    }),
  };
}
