import type { RevealAccount } from "../../domain/accounts/reveal-account.js";
import type { Organization } from "../../domain/api-key.js";
import type { Acted, Authorized, NewIds } from "../../domain/authority.js";
import type { ActedOf, OperatorCommand, Resource, ResourceOf } from "../../domain/operations.js";
import type { AdminServiceService } from "../../gen/kesc/admin/v1/admin_service.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { authorityFor, newIds } from "../../operators/authority.js";
import type { TriedRailAccount } from "../../operators/rails.js";
import { type OrganizationRpc, organizationRpc, type ResponseOf } from "../calls/admin-rpc.js";
import { actorOf, type Caller } from "../calls/call-context.js";
import type { RpcRoute } from "../calls/route.js";
import { done, resultOfAct, type RpcResult } from "../calls/rpc-result.js";
import { rolesOfCommand } from "../messages/contract.js";
import type { HandlersOptions } from "./operator-options.js";

/** An operator or the machine, who calls for an organization. */
export type OperatorCaller = Caller<Organization>;

/** The fields of a command that an rpc gives. */
export type CommandFields<C extends Authorized> = C extends unknown
  ? Omit<C, Exclude<keyof Authorized, "name" | "sealed">>
  : never;

/** An act in a book. One person always looks: an approval would keep personal data. */
type SubmittedCommand = OperatorCommand | RevealAccount;

/** Returns the ids of what a command with these fields makes. Each of its parts has its own. */
export function newIdsFor(fields: object): NewIds & { readonly ofParts?: readonly NewIds[] } {
  const { payIns } = fields as { readonly payIns?: readonly unknown[] };
  return payIns === undefined ? newIds() : { ...newIds(), ofParts: payIns.map(newIds) };
}

/**
 * Gives a command to the ledger of the organization, in the queue of operators. A dry run only
 * reads, so it takes none of their room, and waits with the calls of the organization.
 */
export async function submitAct<C extends SubmittedCommand>(
  { cellOf, railChanges }: HandlersOptions,
  command: C,
  { organization, deadline, trace }: Pick<OperatorCaller, "organization" | "deadline" | "trace">,
): Promise<Outcome<ResourceOf<C>>> {
  const submit = (given: SubmittedCommand): Promise<Outcome<Resource>> =>
    cellOf(organization).ledger.submit<SubmittedCommand>(given, deadline, { trace, operator: given.dryRun !== true });
  if (command.name !== "setRailAccount") return (await submit(command)) as Outcome<ResourceOf<C>>;
  const outcome = await railChanges.submit(organization, command, submit);
  // The command decides the type of its resource.
  return withTrial(railChanges, organization, outcome as Outcome<Acted<TriedRailAccount>>) as Promise<
    Outcome<ResourceOf<C>>
  >;
}

/** Tries the credentials of an account that was set, after the commit: no proposal tries any. */
async function withTrial(
  railChanges: HandlersOptions["railChanges"],
  organization: Organization,
  outcome: Outcome<Acted<TriedRailAccount>>,
): Promise<Outcome<Acted<TriedRailAccount>>> {
  if (outcome.kind !== "done" || outcome.resource.resource === undefined) return outcome;
  const { resource: account } = outcome.resource;
  const trial = await railChanges.tryCredentials(organization, account.rail);
  return { ...outcome, resource: { resource: { ...account, trial } } };
}

interface AskedAct<C extends Authorized> {
  readonly fields: CommandFields<C>;
  /** Whether only to say what would be done. */
  readonly isPreview?: boolean;
}

/**
 * Does an act in the book of an organization. `responseOf` makes the response without a resource,
 * too, if the act waits for a second person.
 */
export async function act<C extends OperatorCommand, Response>(
  options: HandlersOptions,
  { fields, isPreview = false }: AskedAct<C>,
  caller: OperatorCaller,
  responseOf: (resource: ActedOf<C> | undefined, organization: Organization, acted: Acted<ActedOf<C>>) => Response,
): Promise<RpcResult<Response>> {
  const { who, organization } = caller;
  const of = { organization, roles: rolesOfCommand(fields.name) };
  const authority = await authorityFor(options.administration, who.operator, of);
  const by = { organizationId: organization.id, actor: actorOf(who), authority, facts: newIdsFor(fields) };
  const dry = isPreview ? { isPreview, dryRun: true } : {};
  const outcome = await submitAct(options, { ...fields, ...by, ...dry } as unknown as C, caller);
  return resultOfAct(outcome, (given) => {
    const acted = given as Acted<ActedOf<C>>;
    return responseOf(acted.resource, organization, acted);
  });
}

/** The rpc of an act has the name of its command. */
type ActName = OperatorCommand["name"] & keyof AdminServiceService;
type CommandOf<Name, C = OperatorCommand> = C extends OperatorCommand ? (Name extends C["name"] ? C : never) : never;

/** What the request of an act gives: the fields of its command. */
export type ActInput<Name extends ActName> = Omit<CommandFields<CommandOf<Name>>, "name">;

interface ActRpc<Name extends ActName, Input> extends Pick<OrganizationRpc<Name, Input>, "parse" | "takesPowerAway"> {
  /** Makes the response about what the act has changed. */
  readonly shown: (resource: ActedOf<CommandOf<Name>> | undefined, organization: Organization) => ResponseOf<Name>;
}

/** Completes the fields of the command, or refuses it before the ledger is asked. */
type Prepare<Name extends ActName, Input> = (
  input: Input,
  caller: OperatorCaller,
) => Promise<RpcResult<ActInput<Name>>>;

/** Makes the route of an act, which submits the command of this name with the given fields. */
interface ActRoute {
  <Name extends ActName>(name: Name, rpc: ActRpc<Name, ActInput<Name>>): RpcRoute;
  <Name extends ActName, Input>(name: Name, rpc: ActRpc<Name, Input>, prepare: Prepare<Name, Input>): RpcRoute;
}

export function actRoute(options: HandlersOptions): ActRoute {
  return <Name extends ActName, Input>(
    name: Name,
    { shown, ...rpc }: ActRpc<Name, Input>,
    prepare?: Prepare<Name, Input>,
  ) =>
    organizationRpc<Name, Input>(name, {
      ...rpc,
      run: async (input, caller) => {
        // The request itself gives all fields of a command that needs no preparation.
        const prepared = prepare === undefined ? done(input as ActInput<Name>) : await prepare(input, caller);
        if (prepared.kind === "refused") return prepared;
        const fields = { name, ...prepared.response } as unknown as CommandFields<CommandOf<Name>>;
        return act<CommandOf<Name>, ResponseOf<Name>>(options, { fields }, caller, shown);
      },
    });
}
