import type { Organization } from "../../domain/api-key.js";
import type { BookHead } from "../../domain/book.js";
import { parsed } from "../../domain/values/parsed.js";
import { done } from "../calls/rpc-result.js";
import { fieldsOf } from "../messages/field-kinds.js";
import { actRoute } from "./acts.js";
import { OPERATORS_KINDS, parseCell, parseLabel } from "./fields.js";
import { toOrganization, toRailAccount } from "./messages.js";
import { type OperatorRoute, unary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { pageInMemory, parseOwnPage, parsePage } from "./pages.js";
import { readOrganization } from "./reading.js";
import { resultOfSubmitted } from "./results.js";

const fields = fieldsOf({
  ...OPERATORS_KINDS,
  cell: parseCell,
  name: parseLabel,
  required: { as: "isRequired", parse: parsed<boolean> },
  sandbox: { as: "isSandbox", parse: parsed<boolean> },
});

/** The rpcs about organizations. */
export function organizationRpcs(options: HandlersOptions): Record<string, OperatorRoute> {
  const { administration } = options;
  const act = actRoute(options);
  return {
    createOrganization: unary("createOrganization", {
      ...fields("name", "sandbox", "cell"),
      run: async (given, { key: by }) => {
        const made = await administration.createOrganization(given, by);
        return resultOfSubmitted(made, (organization) => ({
          organization: organization && toOrganization(organization),
        }));
      },
    }),
    getOrganization: unary("getOrganization", {
      ...fields("organization_id"),
      run: ({ organizationId }) =>
        readOrganization(options, organizationId, (found) =>
          Promise.resolve(done({ organization: toOrganization(found) })),
        ),
    }),
    listOrganizations: unary("listOrganizations", {
      parse: ({ name, ...page }) => parsePage(page, "ListOrganizations", { name }),
      run: async (asked) => {
        const { name } = asked.list.filters;
        const all = await administration.organizations();
        const { items, ...next } = pageInMemory(all, asked, (each) => name === "" || each.name === name);
        return done({ organizations: items.map(toOrganization), ...next });
      },
    }),
    suspendOrganization: act("suspendOrganization", { ...fields("organization_id", "note"), shown }),
    resumeOrganization: act("resumeOrganization", { ...fields("organization_id", "note"), shown }),
    requireReceipts: act("requireReceipts", { ...fields("organization_id", "required", "note"), shown }),
    listRailAccounts: unary("listRailAccounts", {
      parse: (request) => parseOwnPage(request, "ListRailAccounts"),
      run: ({ organizationId, asked }) =>
        readOrganization(options, organizationId, async (found) => {
          const accounts = await administration.railAccounts(found);
          const sorted = accounts.toSorted((left, right) => (left.rail < right.rail ? -1 : 1));
          const { items, ...next } = pageInMemory(sorted, asked);
          return done({ rail_accounts: items.map(toRailAccount), ...next });
        }),
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
