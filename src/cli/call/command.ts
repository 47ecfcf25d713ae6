import type { Command } from "commander";

import { parseIdempotencyKey } from "../../domain/values/text.js";
import { argument, wholeNumber } from "../commands/arguments.js";
// The other commands start faster without the contract, so the actions import it.
import type { CallMethodOptions } from "./call-method.js";
import { withSessionOptions } from "./options.js";
import { ACCOUNT, type CliResource, TRANSACTION } from "./resource.js";
import type { GetOptions, ListOptions } from "./resources.js";

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 1_000_000;

const FORMAT = `
Without a method the command lists all methods. The end of a name is enough: Mint, AccountService/GetAccount.

The request is a JSON object with the field names of the contract, as in REST. "@request.json" reads it from a file and
"-" from the standard input. A method that takes a stream reads one object from each line. Each message
of a method that only returns a stream is printed on one line. Amounts may be numbers or strings. The output has the
form of the REST API, but amounts are strings.`;

/** `kesc call`: makes one gRPC call and prints the response. */
export function addCall(program: Command): void {
  const command = program
    .command("call")
    .description("make one gRPC call, and print the response as JSON")
    .argument("[method]", "such as kesc.v1.TransactionService/Mint")
    .argument("[request]", 'JSON, "@file", or "-" for the standard input (default: the empty request)')
    .option("--idempotency-key <key>", "idempotency key of the call", argument(parseIdempotencyKey))
    .option("--json", "print each response on one line, for scripts")
    .addHelpText("after", FORMAT)
    .action(async (method: string | undefined, request: string | undefined, options: CallMethodOptions) => {
      const { callMethod } = await import("./call-method.js");
      await callMethod(method, request, options);
    });
  withSessionOptions(command);
}

const WHY_OVER_THE_API = `
The command calls the server with an API key that has the scope "NAMEs:read". So it works from any machine and needs
neither the database nor the master key, it sees one organization, and the server logs it. To make a key for one hour:
  kesc key create --org ORG --name NAME --scopes NAMEs:read --expires-in 1h
While the server is down, "kesc account export" reads the database.`;

/** Adds `get` and `list` to `kesc account`. */
export function addAccountCalls(account: Command): void {
  addCalls(account, ACCOUNT);
}

/** Adds `get` and `list` to `kesc transaction`. */
export function addTransactionCalls(transaction: Command): void {
  addCalls(transaction, TRANSACTION);
}

function addCalls(group: Command, resource: CliResource): void {
  const { name, example } = resource;
  const why = WHY_OVER_THE_API.replaceAll("NAMEs", `${name}s`);
  withSessionOptions(
    group
      .command("get")
      .description(`show one ${name}, over the API`)
      .argument("<id>", `id of the ${name}`)
      .option("--json", "print JSON, for scripts")
      .addHelpText("after", why)
      .action(async (id: string, options: GetOptions) => {
        const { getOne } = await import("./resources.js");
        await getOne(resource, id, options);
      }),
  );
  withSessionOptions(
    group
      .command("list")
      .description(`list ${name}s, newest first, over the API`)
      .argument("[filters...]", `query parameters of GET /${name}s, such as ${example}`)
      .option("--limit <number>", "maximum number of rows", wholeNumber({ min: 1, max: LIMIT_MAX }), LIMIT_DEFAULT)
      .option("--json", "print one JSON object on each line, for scripts")
      .addHelpText("after", why)
      .action(async (filters: readonly string[], options: ListOptions) => {
        const { list } = await import("./resources.js");
        await list(resource, filters, options);
      }),
  );
}

const WHY_ADVANCE = `
The order of the transaction takes its next step now, and not when its time has come (docs/sandbox.md). The command
calls the server with an API key that has the scope "transactions:write".`;

/** `kesc sandbox`: moves the orders of the sandbox rail by hand, over the API. */
export function addSandbox(program: Command): void {
  const advance = program
    .command("sandbox")
    .description("the sandbox rail, over the API")
    .command("advance")
    .description("let the next step of an order on the sandbox rail happen now")
    .argument("<transaction-id>", 'id of the transaction ("txn_…")')
    .option("--json", "print JSON, for scripts")
    .addHelpText("after", WHY_ADVANCE)
    .action(async (id: string, options: GetOptions) => {
      const { advanceOrder } = await import("./resources.js");
      await advanceOrder(id, options);
    });
  withSessionOptions(advance);
}
