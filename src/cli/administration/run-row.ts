import { OperatorError } from "../../startup/operator-error.js";
import { adviseIfOutputIsLost, printJson, printLine, printTable } from "../commands/output.js";
import { referenceTo } from "./references.js";
import {
  isList,
  keyOf,
  type ListRow,
  type MessageJson,
  type OneRow,
  type Row,
  type Run,
  textOf,
  wordsFor,
} from "./row.js";
import { type AdminSession, type PlaceOptions, serverOf, withSession } from "./session.js";

const WRONG_USAGE = 2;

/** Makes the calls of a command, and prints what they return. */
export async function runRow(row: Row, given: MessageJson): Promise<void> {
  const byHand = isList(row) ? undefined : row.byHand?.(given);
  if (byHand !== undefined) {
    await byHand;
    return;
  }
  const options = given as PlaceOptions;
  refusePlace(row, options);
  await withSession(options, async (session) => {
    const run = { given, referred: await referredBy(row, given, session), isAtServer: session.isAtServer };
    if (isList(row)) await printList(row, run, session);
    else await doOne(row, run, session);
  });
}

/** Throws an OperatorError if the options do not fit to the place where the command works. */
function refusePlace(row: Row, options: PlaceOptions): void {
  const isAtServer = serverOf(options) !== undefined;
  if (!isAtServer && row.needsOperator !== undefined) {
    const how = "Name the server with --server or KESC_OPERATOR_SERVER.";
    throw new OperatorError(`${row.needsOperator}. ${how}`, WRONG_USAGE);
  }
  const isField = row.parameters?.some(({ field }) => field === "note") === true;
  if (isAtServer && options.note !== undefined && !isField) {
    throw new OperatorError("--note belongs to --on-database here: the call of a server has no note.", WRONG_USAGE);
  }
}

async function referredBy(row: Row, given: MessageJson, session: AdminSession): Promise<Run["referred"]> {
  const parameter = row.parameters?.find(({ refersTo }) => refersTo !== undefined);
  const text = parameter && given[keyOf(parameter)];
  if (parameter?.refersTo === undefined || typeof text !== "string") return undefined;
  return referenceTo(session, parameter.refersTo, text);
}

/** Returns the fields that the parameters fill. */
function fieldsOf({ parameters = [] }: Row, { given, referred }: Run): MessageJson {
  return Object.fromEntries(
    parameters.flatMap((parameter) => {
      const value = parameter.refersTo === undefined ? given[keyOf(parameter)] : referred?.id;
      return parameter.field === undefined || value === undefined ? [] : [[parameter.field, value]];
    }),
  );
}

async function printList(row: ListRow, run: Run, session: AdminSession): Promise<void> {
  const { rpc, items, columns, leftOutIf = {}, style, none } = row;
  const fields = fieldsOf(row, run);
  let found: readonly MessageJson[];
  if (typeof items === "string") {
    found = await session.list(rpc, fields, { items, limit: run.given["limit"] as number | undefined });
    if (run.given["json"] === true) printJson(found);
  } else {
    const response = await session.call(rpc, fields);
    found = items(response);
    if (run.given["json"] === true) printJson(response);
  }
  if (run.given["json"] === true) return;
  if (found.length === 0) {
    printLine(wordsFor(none, {}, run));
    return;
  }
  const cells = Object.entries(columns).map(([heading, of]) => [
    heading,
    ...found.map((item) => (typeof of === "string" ? textOf(item[of]) : of(item))),
  ]);
  const shown = cells.filter(([heading = "", ...texts]) => texts.some((text) => text !== leftOutIf[heading]));
  printTable(
    [...Array(found.length + 1).keys()].map((index) => shown.map((column) => column[index] ?? "")),
    style,
  );
}

async function doOne(row: OneRow, run: Run, session: AdminSession): Promise<void> {
  if (row.intent !== undefined && run.given["yes"] !== true) {
    throw new OperatorError(wordsFor(row.intent, { ...run.referred }, run), WRONG_USAGE);
  }
  const { fields = {}, beside = {} } = row.request?.(run) ?? {};
  const response = await session.call(row.rpc, { ...fieldsOf(row, run), ...fields });
  const resource = row.shows === undefined ? response : response[row.shows];
  const rest = Object.entries(response).filter(([name]) => name !== row.shows);
  const shown: MessageJson = { ...(resource as MessageJson | null), ...Object.fromEntries(rest), ...beside };
  const proposal = row.shows === "proposal" ? null : ((response["proposal"] ?? null) as MessageJson | null);
  if (proposal === null && row.adviceOnLoss !== undefined) {
    adviseIfOutputIsLost(wordsFor(row.adviceOnLoss, shown, run));
  }
  if (run.given["json"] === true) printJson(shown);
  else if (proposal !== null) printProposal(proposal, row.proposed && wordsFor(row.proposed, shown, run));
  else printLine(wordsFor(shown["unchanged"] === true ? (row.unchanged ?? row.done) : row.done, shown, run));
}

function printProposal(proposal: MessageJson, words: string | undefined): void {
  const id = textOf(proposal["id"]);
  const until = textOf(proposal["expires_at"]);
  printLine(`Proposed as ${id}. Nothing is done until another person approves it, until ${until}.`);
  printLine(`That person runs: kesc proposal approve ${id}`);
  if (words !== undefined) printLine(words);
}
