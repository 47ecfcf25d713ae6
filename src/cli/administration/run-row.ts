import type { IdempotencyKey } from "../../domain/values/text.js";
import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import {
  adviseIfOutputIsLost,
  fieldLines,
  printJson,
  printLine,
  printLineInTurn,
  printTable,
  textOf,
} from "../commands/output.js";
import { referenceTo } from "./references.js";
import {
  isList,
  isStream,
  keyOf,
  type ListRow,
  type MessageJson,
  nameOf,
  type OneRow,
  onlyReads,
  type Row,
  type RowRequest,
  type Run,
  type StreamRow,
  wordsFor,
} from "./row.js";
import { type AdminSession, itemsOf, type PlaceOptions, serverOf, withSession } from "./session.js";

/** Makes the calls of a command, and prints what they return. */
export async function runRow(chosen: Row, given: MessageJson): Promise<void> {
  const { instead } = chosen as Partial<OneRow>;
  const row = instead === undefined || given[instead.option] !== true ? chosen : instead.row;
  const byHand = "byHand" in row ? row.byHand(given) : undefined;
  if (byHand !== undefined) {
    await byHand;
    return;
  }
  const options: PlaceOptions = { ...given, onlyReads: onlyReads(row) };
  refusePlace(row, options);
  await withSession(options, async (session) => {
    const referred = await referredBy(row, given, session);
    const say = (name: string): string => {
      const parameter = row.parameters?.find((each) => nameOf(each) === name);
      if (parameter === undefined) throw new Error(`kesc ${row.path} has no parameter ${name}`);
      const isReferred = parameter.refersTo !== undefined && referred !== undefined;
      return isReferred ? `${referred.id} ("${referred.name}")` : textOf(given[keyOf(parameter)]);
    };
    const run = { given, referred, say, isAtServer: session.isAtServer };
    if (isList(row)) await printList(row, run, session);
    else if (isStream(row)) await printStream(row, run, session);
    else await doOne(row, run, session);
  });
}

/** Throws an OperatorError if the options do not fit to the place where the command works. */
function refusePlace(row: Row, options: PlaceOptions): void {
  const isAtServer = serverOf(options) !== undefined;
  if (!isAtServer && row.needsOperator !== undefined) {
    const how = "Name the server with --server or KESC_OPERATOR_SERVER.";
    throw new UsageError(`${row.needsOperator}. ${how}`);
  }
  const isField = row.parameters?.some((parameter) => keyOf(parameter) === "note") === true;
  if (isAtServer && options.note !== undefined && !isField) {
    throw new UsageError("--note belongs to --on-database here: the call of a server has no note.");
  }
}

async function referredBy(row: Row, given: MessageJson, session: AdminSession): Promise<Run["referred"]> {
  const parameter = row.parameters?.find(({ refersTo }) => refersTo !== undefined);
  const text = parameter && given[keyOf(parameter)];
  if (parameter?.refersTo === undefined || typeof text !== "string") return undefined;
  return referenceTo(session, parameter.refersTo, text);
}

/** Returns the fields that the parameters fill. */
function fieldsOf({ parameters = [] }: Pick<Row, "parameters">, { given, referred }: Run): MessageJson {
  return Object.fromEntries(
    parameters.flatMap((parameter) => {
      const value = parameter.refersTo === undefined ? given[keyOf(parameter)] : referred?.id;
      return parameter.field === undefined || value === undefined ? [] : [[parameter.field, value]];
    }),
  );
}

async function printList(row: ListRow, run: Run, session: AdminSession): Promise<void> {
  const { rpc, items = session.contract.itemsOf(rpc), none } = row;
  const found: MessageJson[] = [];
  let response: MessageJson | undefined;
  for (const { fields, beside } of await requestsOf(row, run, session)) {
    let ofOne: readonly MessageJson[];
    if (typeof items !== "function") {
      ofOne = await session.list(rpc, fields, { items, limit: run.given["limit"] as number | undefined });
    } else {
      response = await session.call(rpc, fields);
      ofOne = items(response);
    }
    found.push(...ofOne.map((item) => ({ ...beside, ...item })));
  }
  if (run.given["json"] === true) printJson(row.each === undefined ? (response ?? found) : found);
  else if (found.length === 0) printLine(wordsFor(none, {}, run));
  else if (row.block !== undefined) for (const item of found) printLine(await row.block(item, run));
  else printItems(row, found);
}

/** Returns the requests of a list, with what is shown beside their responses. */
async function requestsOf(row: ListRow, run: Run, session: AdminSession): Promise<readonly RowRequest[]> {
  const fields = fieldsOf(row, run);
  if (row.each === undefined) return [{ fields }];
  const { rpc, items, request, leavesOut } = row.each;
  const given = Object.entries(fields);
  const outer = given.filter(([name]) => session.contract.takes(rpc, name));
  const found = await session.list(rpc, Object.fromEntries(outer), { items });
  return found.flatMap((item) => {
    const asked = request(item);
    // An option chooses items if their calls have its field. Otherwise it is sent with each call.
    const choosing = given.filter(([name]) => name in asked.fields);
    const why = choosing.length === 0 ? leavesOut?.(item) : undefined;
    if (why !== undefined) invocation().stderr.write(`${why}\n`);
    const isWanted = why === undefined && choosing.every(([name, value]) => asked.fields[name] === value);
    return isWanted ? [{ ...asked, fields: { ...fields, ...asked.fields } }] : [];
  });
}

function printItems({ columns, leftOutIf = {}, style }: ListRow, found: readonly MessageJson[]): void {
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

async function printStream({ parts, ...row }: StreamRow, run: Run, session: AdminSession): Promise<void> {
  const isJson = run.given["json"] === true;
  for await (const message of session.stream(row.rpc, fieldsOf(row, run))) {
    for (const [field, type] of Object.entries(parts)) {
      for (const part of itemsOf(message[field])) {
        const lines = isJson ? [JSON.stringify({ type, [type]: part })] : [type, ...fieldLines(part), ""];
        await printLineInTurn(lines.join("\n"));
      }
    }
  }
}

async function doOne(row: OneRow, run: Run, session: AdminSession): Promise<void> {
  if (row.intent !== undefined && run.given["yes"] !== true) {
    throw new UsageError(`${wordsFor(row.intent, {}, run)} Nothing was done. To do it, add --yes.`);
  }
  const { fields = {}, beside = {} } = (await row.request?.(run)) ?? {};
  const key = row.parameters?.find(({ isIdempotencyKey }) => isIdempotencyKey === true);
  const idempotencyKey = key && (run.given[keyOf(key)] as IdempotencyKey);
  const response = await session.call(row.rpc, { ...fieldsOf(row, run), ...fields }, { idempotencyKey });
  const shows = row.shows === undefined ? session.contract.resourceOf(row.rpc) : row.shows;
  const resource = shows === null ? response : response[shows];
  const rest = Object.entries(response).filter(([name]) => name !== shows);
  const shown: MessageJson = { ...(resource as MessageJson | null), ...Object.fromEntries(rest), ...beside };
  const proposal = shows === "proposal" ? null : ((response["proposal"] ?? null) as MessageJson | null);
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
