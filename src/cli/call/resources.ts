import { type DescMethod, toBinary } from "@bufbuild/protobuf";

import { fieldNamed } from "../../../contract/json/read-message.js";
import { ParameterReader } from "../../../contract/json/read-parameters.js";
import { invocation } from "../../startup/invocation.js";
import { UsageError } from "../../startup/operator-error.js";
import { fieldLines, printJson, printLine, printTable, textOf } from "../commands/output.js";
import { refuseProblems } from "./contract.js";
import type { SessionOptions } from "./options.js";
import { readPages } from "./pages.js";
import { type CliResource, TRANSACTION } from "./resource.js";
import { CallSession } from "./session.js";

const PAGE_FIELDS: readonly string[] = ["page_size", "page_token"];

const ADVANCE_METHOD = "kesc.v1.SandboxService/AdvanceTransaction";

type JsonFields = Readonly<Record<string, unknown>>;

export interface GetOptions extends SessionOptions {
  readonly json?: true;
}

/** Prints one resource. */
export async function getOne(resource: CliResource, id: string, options: GetOptions): Promise<void> {
  await printResource(resource, resource.getMethod, id, options);
}

/** Advances an order of the sandbox rail by one step. Prints its transaction as it was before. */
export async function advanceOrder(id: string, options: GetOptions): Promise<void> {
  await printResource(TRANSACTION, ADVANCE_METHOD, id, options);
}

/** Calls a method that takes the id of a resource, and prints the resource that it returns. */
async function printResource(
  { name, idField }: CliResource,
  methodName: string,
  id: string,
  options: GetOptions,
): Promise<void> {
  const session = new CallSession(options);
  const method = session.contract.method(methodName);
  const text = await session.unary(method, session.contract.encode(method, JSON.stringify({ [idField]: id })));
  const found = (JSON.parse(text) as Record<string, JsonFields>)[name] ?? {};
  if (options.json === true) printJson(found);
  else printLine(fieldLines(found).join("\n"));
}

export interface ListOptions extends SessionOptions {
  readonly limit: number;
  readonly json?: true;
}

/** Prints a list, page by page. */
export async function list(
  { name, listMethod, columns }: CliResource,
  filters: readonly string[],
  options: ListOptions,
): Promise<void> {
  const session = new CallSession(options);
  const method = session.contract.method(listMethod);
  const { items: rows, hasMore } = await readPages(options.limit, async (size, token) => {
    const page = JSON.parse(await session.unary(method, listRequest(session, method, { filters, size, token }))) as {
      readonly next_page_token: string | null;
    } & Readonly<Record<string, readonly JsonFields[]>>;
    const items = page[`${name}s`] ?? [];
    if (options.json === true) for (const row of items) printJson(row);
    return { items, nextToken: page.next_page_token };
  });

  if (options.json !== true) {
    if (rows.length === 0) printLine(`No ${name} matches.`);
    else printTable([columns.map((column) => column.toUpperCase()), ...rows.map((row) => cellsOf(row, columns))]);
  }
  if (hasMore) invocation().stderr.write(`There may be more. To see them: --limit ${String(options.limit * 10)}\n`);
}

function cellsOf(row: JsonFields, columns: readonly string[]): string[] {
  return columns.map((column) => textOf(row[column]));
}

function listRequest(
  session: CallSession,
  method: DescMethod,
  { filters, size, token }: { readonly filters: readonly string[]; readonly size: number; readonly token: string },
): Uint8Array {
  const reader = session.contract.reader(method);
  const parameters = new ParameterReader(reader, method.input, ({ name }) => !PAGE_FIELDS.includes(name));
  for (const filter of filters) readFilter(parameters, filter);
  refuseProblems(reader.problems);
  for (const [field, text] of [
    ["page_size", String(size)],
    ["page_token", token],
  ] as const) {
    const desc = fieldNamed(method.input, field);
    if (desc !== undefined) reader.readText(desc, text);
  }
  return toBinary(method.input, reader.message);
}

function readFilter(parameters: ParameterReader, filter: string): void {
  const equals = filter.indexOf("=");
  if (equals !== -1 && parameters.read(filter.slice(0, equals), filter.slice(equals + 1))) return;
  const names = parameters.names.join(", ");
  throw new UsageError(`"${filter}" is no filter. A filter is NAME=VALUE. The names: ${names}.`);
}
