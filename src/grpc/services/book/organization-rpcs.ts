import { asWritten, type FoundOrganization, type Organization } from "../../../domain/api-key.js";
import type { BookHead } from "../../../domain/book.js";
import { parsed } from "../../../domain/values/parsed.js";
import { houseRpc, organizationRpc } from "../../calls/admin-rpc.js";
import type { RpcRoute } from "../../calls/route.js";
import { done, resultOf } from "../../calls/rpc-result.js";
import { fieldsOf } from "../../messages/field-kinds.js";
import { OPERATORS_KINDS, parseCell, parseLabel } from "../../messages/operators/fields.js";
import { toOrganization, toRailAccount } from "../../messages/operators/messages.js";
import { actRoute } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";
import { listInTurn, parseOwnPage, parsePage } from "../pages.js";

const fields = fieldsOf({
  ...OPERATORS_KINDS,
  cell: parseCell,
  name: parseLabel,
  required: { as: "isRequired", parse: parsed<boolean> },
  sandbox: { as: "isSandbox", parse: parsed<boolean> },
});

/** The rpcs about organizations. */
export function organizationRpcs(options: HandlersOptions): Record<string, RpcRoute> {
  const { administration, listTurns } = options;
  const act = actRoute(options);
  return {
    createOrganization: houseRpc("createOrganization", {
      ...fields("name", "sandbox", "cell"),
      run: async (given, { who: { operator: by } }) => {
        const made = await administration.createOrganization(given, by);
        return resultOf(made, (organization) => ({ organization: toOrganization(organization) }));
      },
    }),
    getOrganization: organizationRpc("getOrganization", {
      ...fields(),
      run: (_input, { organization }) => Promise.resolve(done({ organization: toOrganization(organization) })),
    }),
    listOrganizations: houseRpc("listOrganizations", {
      parse: ({ name, ...page }) => parsePage(page, "ListOrganizations", { name }),
      run: (asked, caller) => {
        const { name } = asked.list.filters;
        return listInTurn(
          {
            listTurns,
            caller,
            asked,
            matches: (each: FoundOrganization) => name === "" || asWritten(each).name === name,
          },
          async () => ({ items: await administration.organizations() }),
          ({ items, ...next }) => ({ organizations: items.map(toOrganization), ...next }),
        );
      },
    }),
    suspendOrganization: act("suspendOrganization", { ...fields("note"), shown }),
    resumeOrganization: act("resumeOrganization", { ...fields("note"), shown }),
    requireReceipts: act("requireReceipts", { ...fields("required", "note"), shown }),
    listRailAccounts: organizationRpc("listRailAccounts", {
      parse: (request, caller) => parseOwnPage(request, caller, "ListRailAccounts"),
      run: (asked, caller) =>
        listInTurn(
          { listTurns, caller, asked },
          async () => {
            const accounts = await administration.railAccounts(caller.organization);
            return { items: accounts.toSorted((left, right) => (left.rail < right.rail ? -1 : 1)) };
          },
          ({ items, ...next }) => ({ rail_accounts: items.map((account) => toRailAccount(account)), ...next }),
        ),
    }),
  };
}

/** Shows the organization with the switches of its book. */
function shown(head: BookHead | undefined, organization: Organization) {
  if (head === undefined) return { organization: undefined };
  const { suspendedSeq, receiptsRequiredSeq } = head;
  const switches = { isSuspended: suspendedSeq !== undefined, areReceiptsRequired: receiptsRequiredSeq !== undefined };
  return { organization: toOrganization({ ...organization, ...switches }) };
}
