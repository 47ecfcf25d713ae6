import { type Operator, parseOperatorName } from "../../../domain/operator.js";
import type { PersonAct } from "../../../domain/people/operations.js";
import type { SetOperatorRolesResponse } from "../../../gen/kesc/admin/v1/admin_service.js";
import { ofHouse } from "../../../operators/authority.js";
import { houseRpc } from "../../calls/admin-rpc.js";
import { pageInTurn } from "../../calls/list-turns.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, NEEDS_PERSON, resultOfAct, type RpcResult } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { OPERATORS_KINDS } from "../../messages/operators/fields.js";
import { namesOf, toOperator, toOperatorAct, toSession } from "../../messages/operators/messages.js";
import type { CommandFields } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { listInTurn, parsePage, tokenAfter } from "../pages.js";

const fields = fieldsOf({ ...OPERATORS_KINDS, name: { as: "operatorName", parse: parseOperatorName } });

/** The rpcs about the operators themselves. */
export function operatorRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  return {
    createOperator: houseRpc("createOperator", {
      ...fields("name", "roles", "key_sha256"),
      run: (given, { who }) => submitPersonAct(options, { name: "createOperator", ...given }, who.operator),
    }),
    setOperatorRoles: houseRpc("setOperatorRoles", {
      ...fields("operator_id", "roles"),
      run: (given, { who }) => submitPersonAct(options, { name: "setOperatorRoles", ...given }, who.operator),
    }),
    replaceOperatorKey: houseRpc("replaceOperatorKey", {
      ...fields("operator_id", "key_sha256"),
      run: (given, { who }) => submitPersonAct(options, { name: "replaceOperatorKey", ...given }, who.operator),
    }),
    revokeOperator: houseRpc("revokeOperator", {
      ...fields("operator_id"),
      run: (given, { who }) => submitPersonAct(options, { name: "revokeOperator", ...given }, who.operator),
    }),
    ...readingRpcs(options),
  };
}

/** Does an act about an operator. The response shows the operator, unless it waits. */
export async function submitPersonAct(
  { administration }: HandlersOptions,
  fields: CommandFields<PersonAct>,
  by: Operator | undefined,
): Promise<RpcResult<SetOperatorRolesResponse>> {
  const command = { ...fields, ...(await ofHouse(administration, by)) } as PersonAct;
  const outcome = await administration.submit(command);
  return resultOfAct(outcome, ({ resource }) => ({ operator: resource && toOperator(resource) }));
}

function readingRpcs({ administration, listTurns }: HandlersOptions): Record<string, RpcRoute> {
  return {
    whoAmI: houseRpc("whoAmI", {
      ...fields(),
      run: (_input, { who: { operator: by } }) => {
        // The machine is no operator.
        if (by === undefined) return Promise.resolve(NEEDS_PERSON);
        const { fourEyes, cellCount: cells } = administration;
        const session = by.session && toSession(by.session, by);
        return Promise.resolve(done({ operator: toOperator(by), four_eyes: [...fourEyes], cells, session }));
      },
    }),
    listOperators: houseRpc("listOperators", {
      parse: (page) => parsePage(page, "ListOperators"),
      run: (asked, caller) =>
        listInTurn(
          { listTurns, caller, asked },
          async () => ({ items: await administration.operators() }),
          ({ items, ...next }) => ({ operators: items.map(toOperator), ...next }),
        ),
    }),
    listOperatorActs: houseRpc("listOperatorActs", {
      parse: ({ operator_id, type, ...page }) => parsePage(page, "ListOperatorActs", { operator_id, type }),
      run: (asked, caller) =>
        pageInTurn(
          { listTurns, caller },
          async () => {
            const { size, beforeSeq } = asked.page;
            const { operator_id: operatorId, type: kind } = asked.list.filters;
            const rows = await administration.operatorActs({ size: size + 1, beforeSeq, operatorId, kind });
            const operators = await administration.operators();
            return { rows, names: namesOf(operators), lookedAt: rows.length + operators.length };
          },
          ({ rows, names }) => ({
            acts: rows.slice(0, asked.page.size).map((row) => toOperatorAct(row, names)),
            next_page_token: tokenAfter(rows, asked),
          }),
        ),
    }),
  };
}
