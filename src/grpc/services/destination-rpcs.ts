import type { CreateDestination } from "../../domain/accounts/create-destination.js";
import type { Destination, RailName } from "../../domain/destination.js";
import { type DestinationId, parseAccountId } from "../../domain/values/ids.js";
import { parseDescription } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import * as wire from "../../gen/kesc/v1/account_service.js";
import type { Destination as DestinationMessage } from "../../gen/kesc/v1/destination.js";
import type { Caller } from "../calls/call-context.js";
import type { ListTurns } from "../calls/list-turns.js";
import { done, refuse } from "../calls/rpc-result.js";
import { unary, type UnaryRoute } from "../calls/unary-call.js";
import {
  parseDestinationKind,
  parseDestinationNumber,
  parseOnlyOfKind,
  toDestinationMessage,
  wholeNumber,
} from "../messages/destination.js";
import { fields } from "../messages/field-kinds.js";
import { parseFields } from "../messages/fields.js";
import { listOfAccount } from "./list-of-account.js";
import type { CellOf, ServedCell } from "./served-cell.js";
import { authorOf, submit } from "./submit.js";

export interface DestinationHandlersOptions {
  readonly cellOf: CellOf;
  readonly listTurns: ListTurns;
  readonly now: () => UnixMillis;
  readonly newDestinationId: () => DestinationId;
  /** Nothing is paid out to a destination that was made less than this time ago. */
  readonly destinationCoolingMillis: number;
}

export function createDestination(options: DestinationHandlersOptions): UnaryRoute {
  const { cellOf, newDestinationId, destinationCoolingMillis: coolingMillis, now } = options;
  return unary({
    request: wire.CreateDestinationRequest,
    response: wire.CreateDestinationResponse,
    parse: (request) => {
      const kind = parseDestinationKind(request.kind);
      return parseFields({
        account_id: parseAccountId(request.account_id),
        kind,
        number: parseDestinationNumber(request.number, kind),
        ...parseOnlyOfKind(request, kind),
        label: parseDescription(request.label),
      });
    },
    run: async ({ account_id: accountId, kind, label, ...input }, caller) => {
      const asked: CreateDestination = {
        name: "createDestination",
        ...authorOf(caller),
        newDestinationId: newDestinationId(),
        accountId,
        kind,
        number: wholeNumber(input.number, input),
        label,
        railName: undefined,
        coolingMillis,
        idempotencyKey: caller.idempotencyKey,
      };
      const command = { ...asked, railName: await railNameFor(cellOf(caller.organization), asked, { now, caller }) };
      return submit(cellOf, caller, command, destinationAlone);
    },
  });
}

/**
 * Asks the rail what it calls the number. The ledger decides on trial first, so that only what it
 * would add now is asked about: no repeat, and nothing that is refused.
 */
async function railNameFor(
  { ledger, railNames }: Pick<ServedCell, "ledger" | "railNames">,
  command: CreateDestination,
  { now, caller: { deadline, trace } }: { readonly now: () => UnixMillis; readonly caller: Caller },
): Promise<RailName | undefined> {
  const { organizationId, kind, number } = command;
  if (kind === "BANK" || railNames?.tells(organizationId, kind) !== true) return undefined;
  const trial = await ledger.submit({ ...command, dryRun: true }, deadline, { trace });
  if (trial.kind !== "done" || trial.replayed) return undefined;
  return railNames.nameOf(organizationId, { kind, number }, (deadline - now()) / 2);
}

export function getDestination(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.GetDestinationRequest,
    response: wire.GetDestinationResponse,
    ...fields("account_id", "destination_id"),
    run: async ({ accountId, destinationId }, { organization }) => {
      const destination = await cellOf(organization).reads.destination(organization.id, destinationId);
      return destination?.accountId === accountId
        ? done(destinationAlone(destination))
        : refuse({ reason: "DESTINATION_NOT_FOUND", destinationId });
    },
  });
}

export function listDestinations(options: DestinationHandlersOptions): UnaryRoute {
  return listOfAccount(options, {
    rpc: "ListDestinations",
    request: wire.ListDestinationsRequest,
    response: wire.ListDestinationsResponse,
    read: (reads, ...list) => reads.destinations(...list),
    responseOf: (rows, next_page_token) => ({ destinations: rows.map(toDestinationMessage), next_page_token }),
  });
}

export function removeDestination(cellOf: CellOf): UnaryRoute {
  return unary({
    request: wire.RemoveDestinationRequest,
    response: wire.RemoveDestinationResponse,
    ...fields("account_id", "destination_id"),
    run: (given, caller) => {
      const command = { name: "removeDestination", ...authorOf(caller), ...given } as const;
      return submit(cellOf, caller, command, destinationAlone);
    },
  });
}

function destinationAlone(destination: Destination): { destination: DestinationMessage } {
  return { destination: toDestinationMessage(destination) };
}
