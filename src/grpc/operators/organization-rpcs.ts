import type { Organization } from "../../domain/api-key.js";
import type { BookHead } from "../../domain/book.js";
import type { RequireReceipts } from "../../domain/book/require-receipts.js";
import type { ResumeOrganization, SuspendOrganization } from "../../domain/book/suspend-organization.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { parsed } from "../../domain/values/parsed.js";
import {
  CreateOrganizationRequest,
  CreateOrganizationResponse,
  GetOrganizationRequest,
  GetOrganizationResponse,
  ListOrganizationsRequest,
  ListOrganizationsResponse,
  ListRailAccountsRequest,
  ListRailAccountsResponse,
  RequireReceiptsRequest,
  RequireReceiptsResponse,
  ResumeOrganizationRequest,
  ResumeOrganizationResponse,
  SuspendOrganizationRequest,
  SuspendOrganizationResponse,
} from "../../gen/kesc/admin/v1/admin_service.js";
import { done } from "../calls/rpc-result.js";
import { parseFields } from "../messages/fields.js";
import { act, type ActsOptions } from "./acts.js";
import { parseCell, parseId, parseLabel, parseNote } from "./fields.js";
import { toOrganization, toRailAccount } from "./messages.js";
import type { OperatorRoute, OperatorUnary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { pageInMemory, parseOwnPage, parsePage } from "./pages.js";
import { ofOrganization, resultOfAct } from "./results.js";

/** The rpcs about organizations. */
export function organizationRpcs(unary: OperatorUnary, options: ActsOptions): Record<string, OperatorRoute> {
  const { administration } = options;
  return {
    createOrganization: unary({
      request: CreateOrganizationRequest,
      response: CreateOrganizationResponse,
      parse: ({ name, sandbox, cell }) =>
        parseFields({ name: parseLabel(name), isSandbox: parsed(sandbox), cell: parseCell(cell) }),
      run: async (given, { key: by }) => {
        const submitted = await administration.submit(
          // On the database the id tells them apart.
          { kind: "organization.create", ...given, mayRepeatName: by === undefined },
          by,
        );
        return resultOfAct(options, submitted, (made) => ({ organization: made && toOrganization(made) }));
      },
    }),
    getOrganization: unary({
      request: GetOrganizationRequest,
      response: GetOrganizationResponse,
      parse: ({ organization_id: id }) => parseFields({ organization_id: parseId<OrganizationId>(id) }),
      run: ({ organization_id: id }) =>
        ofOrganization(options, id, (found) => Promise.resolve({ organization: toOrganization(found) })),
    }),
    listOrganizations: unary({
      request: ListOrganizationsRequest,
      response: ListOrganizationsResponse,
      parse: ({ name, ...page }) => {
        const asked = parsePage(page, { rpc: "ListOrganizations", filters: { name } });
        return asked.ok ? { ok: true, value: { name, asked: asked.value } } : asked;
      },
      run: async ({ name, asked }) => {
        const all = await administration.organizations();
        const { items, ...next } = pageInMemory(all, asked, (each) => name === "" || each.name === name);
        return done({ organizations: items.map(toOrganization), ...next });
      },
    }),
    suspendOrganization: suspensionRpc(unary, options, {
      name: "suspendOrganization",
      request: SuspendOrganizationRequest,
      response: SuspendOrganizationResponse,
    }),
    resumeOrganization: suspensionRpc(unary, options, {
      name: "resumeOrganization",
      request: ResumeOrganizationRequest,
      response: ResumeOrganizationResponse,
    }),
    requireReceipts: unary({
      request: RequireReceiptsRequest,
      response: RequireReceiptsResponse,
      parse: ({ organization_id: id, required, note }) =>
        parseFields({
          organization_id: parseId<OrganizationId>(id),
          required: parsed(required),
          note: parseNote(note),
        }),
      run: ({ organization_id: organizationId, required: isRequired, note }, caller) =>
        act<RequireReceipts, RequireReceiptsResponse>(
          options,
          { organizationId, fields: { name: "requireReceipts", isRequired, note } },
          caller,
          (head, rest, organization) => ({ organization: head && toOrganization(asIn(head, organization)), ...rest }),
        ),
    }),
    ...stateRpcs(unary, options),
  };
}

/** The organization with the switches of its book. */
function asIn({ suspendedSeq, receiptsRequiredSeq }: BookHead, organization: Organization): Organization {
  const areReceiptsRequired = receiptsRequiredSeq !== undefined;
  return { ...organization, isSuspended: suspendedSeq !== undefined, areReceiptsRequired };
}

interface SuspensionRpc {
  readonly name: "suspendOrganization" | "resumeOrganization";
  readonly request: typeof SuspendOrganizationRequest;
  readonly response:
    Pick<typeof ResumeOrganizationResponse, "encode"> | Pick<typeof SuspendOrganizationResponse, "encode">;
}

function suspensionRpc(unary: OperatorUnary, options: ActsOptions, { name, request, response }: SuspensionRpc) {
  return unary({
    request,
    // The response of SuspendOrganization has one field less, and no value for it.
    response: response,
    parse: ({ organization_id: id, note }) =>
      parseFields({ organization_id: parseId<OrganizationId>(id), note: parseNote(note) }),
    run: ({ organization_id: organizationId, note }, caller) =>
      act<SuspendOrganization | ResumeOrganization, ResumeOrganizationResponse>(
        options,
        { organizationId, fields: { name, note } },
        caller,
        (head, rest, organization) => ({
          organization: head && toOrganization(asIn(head, organization)),
          ...rest,
        }),
      ),
  });
}

/** The rpcs that show the state of one organization. */
function stateRpcs(unary: OperatorUnary, options: HandlersOptions): Record<string, OperatorRoute> {
  const { administration } = options;
  return {
    listRailAccounts: unary({
      request: ListRailAccountsRequest,
      response: ListRailAccountsResponse,
      parse: (request) => parseOwnPage(request, "ListRailAccounts"),
      run: ({ organizationId, asked }) =>
        ofOrganization(options, organizationId, async (found) => {
          const accounts = await administration.railAccounts(found);
          const sorted = accounts.toSorted((left, right) => (left.rail < right.rail ? -1 : 1));
          const { items, ...next } = pageInMemory(sorted, asked);
          return { rail_accounts: items.map(toRailAccount), ...next };
        }),
    }),
  };
}
