import { createHash, randomBytes } from "node:crypto";

import { type Command, InvalidArgumentError } from "commander";

import { parseOperatorId } from "../../domain/values/ids.js";
import type { Parsed } from "../../domain/values/parsed.js";
import {
  type Operator,
  parseFingerprint,
  parseOperatorName,
  parseRoles,
  type Role,
  ROLES,
} from "../../operators/operator.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { OperatorError } from "../../startup/operator-error.js";
import { wholeNumber } from "../commands/arguments.js";
import { adviseIfOutputIsLost, printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { type ServerOptions, withAdministration, withServerOption } from "./open.js";
import { byWords, doneOrProposed } from "./words.js";

const SECRET_BYTES = 32;
const ACTS_MAX = 10_000;
const WRONG_USAGE = 2;
const ROLES_HELP = `what the person may do: some of ${ROLES.join(",")}`;
const FINGERPRINT_HELP = 'fingerprint of the person\'s key, from "kesc operator new-key"';

/** `kesc operator`: the people who administer the service. */
export function addOperator(program: Command): void {
  const operator = program.command("operator").description("operators: the people who administer the service");
  operator
    .command("new-key")
    .description("make a key for yourself; others get its fingerprint only")
    .option("--json", "print JSON, for scripts")
    .action(printNewKey);
  withServerOption(operator.command("create"))
    .description("make a person an operator; the first one in the database, on the machine that has it")
    .argument("<name>", "name of the person, which no other had")
    .requiredOption("--role <roles>", ROLES_HELP, roleList)
    .option("--key-sha256 <fingerprint>", `${FINGERPRINT_HELP}; without it a key is made, and shown once`, fingerprint)
    .option("--json", "print JSON, for scripts")
    .action(createOperator);
  withServerOption(operator.command("list"))
    .description("list the operators")
    .option("--json", "print JSON, for scripts")
    .action(listOperators);
  withServerOption(operator.command("set-roles"))
    .description("give an operator other roles")
    .argument("<operator>", "id or name of the operator")
    .requiredOption("--role <roles>", ROLES_HELP, roleList)
    .action(setRoles);
  withServerOption(operator.command("replace-key"))
    .description("replace the key of an operator; the old one ends at once")
    .argument("<operator>", "id or name of the operator")
    .requiredOption("--key-sha256 <fingerprint>", FINGERPRINT_HELP, fingerprint)
    .action(replaceKey);
  withServerOption(operator.command("revoke"))
    .description("revoke an operator for ever")
    .argument("<operator>", "id or name of the operator")
    .action(revoke);
  withServerOption(operator.command("acts"))
    .description("list the changes of the operators, newest first")
    .option("--limit <count>", "the most that are listed", wholeNumber({ min: 1, max: ACTS_MAX }), 100)
    .option("--json", "print JSON, for scripts")
    .action(listActs);
  withServerOption(operator.command("whoami"))
    .description("show whose key it is")
    .option("--json", "print JSON, for scripts")
    .action(whoAmI);
}

interface NewKey {
  readonly secret: string;
  readonly fingerprint: string;
}

function newKey(): NewKey {
  const secret = `kesc_op_${randomBytes(SECRET_BYTES).toString("base64url")}`;
  return { secret, fingerprint: createHash("sha256").update(secret).digest("hex") };
}

function printNewKey({ json }: { readonly json?: true }): void {
  const { secret, fingerprint: digest } = newKey();
  if (json === true) {
    printJson({ key: secret, key_sha256: digest });
    return;
  }
  printLine(`Your key:\n\n  ${secret}\n\nIt is shown once. Keep it, and give it to nobody.`);
  printLine(`Its fingerprint, for the admin who makes you an operator:\n\n  ${digest}\n`);
}

interface JsonOptions extends ServerOptions {
  readonly json?: true;
}

interface CreateOperatorOptions extends JsonOptions {
  readonly role: readonly Role[];
  readonly keySha256?: string;
}

async function createOperator(
  text: string,
  { role: roles, keySha256, json, ...options }: CreateOperatorOptions,
): Promise<void> {
  const name = orUsageError("The name", parseOperatorName(text));
  // At a server nobody but the person may ever have the key.
  if (keySha256 === undefined && (options.server ?? configFromEnvironment().operatorServer) !== undefined) {
    throw new OperatorError(
      'Give the fingerprint of the person\'s key with --key-sha256. The person gets both from "kesc operator new-key".',
      WRONG_USAGE,
    );
  }
  const made = keySha256 === undefined ? newKey() : undefined;
  const submitted = await withAdministration(options, (administration) =>
    administration.submit({ kind: "operator.create", name, roles, keySha256: made?.fingerprint ?? keySha256 ?? "" }),
  );
  const done = doneOrProposed(submitted);
  if (done === undefined) return;
  const { resource: operator } = done;
  if (made !== undefined) {
    adviseIfOutputIsLost(`${operator.id} was created, but the key is lost. Replace it: kesc operator replace-key.`);
  }
  if (json === true) {
    printJson(made === undefined ? operatorJson(operator) : { ...operatorJson(operator), key: made.secret });
    return;
  }
  printLine(`Created operator ${operator.id} ("${operator.name}"), ${operator.roles.join(", ")}.`);
  if (made !== undefined) printLine(`\n  ${made.secret}\n\nThe key is shown once and cannot be recovered.`);
}

/** Oldest first. */
async function listOperators({ json, ...options }: JsonOptions): Promise<void> {
  const found = await withAdministration(options, (administration) => administration.operators());
  if (json === true) printJson(found.map(operatorJson));
  else if (found.length === 0) printLine("No operators yet. Create one: kesc operator create NAME --role admin");
  else {
    printTable([
      ["ID", "STATE", "CREATED", "ROLES", "NAME"],
      ...found.map((each) => [
        each.id,
        each.revokedAt === undefined ? "live" : `revoked ${timeOf(each.revokedAt)}`,
        timeOf(each.createdAt),
        each.roles.join(","),
        each.name,
      ]),
    ]);
  }
}

async function setRoles(
  who: string,
  { role: roles, ...options }: ServerOptions & { readonly role: readonly Role[] },
): Promise<void> {
  await withAdministration(options, async (administration) => {
    const { id: operatorId } = findOperator(await administration.operators(), who);
    const done = doneOrProposed(await administration.submit({ kind: "operator.set_roles", operatorId, roles }));
    if (done !== undefined) printLine(`${operatorId} ("${done.resource.name}") is ${done.resource.roles.join(", ")}.`);
  });
}

async function replaceKey(
  who: string,
  { keySha256, ...options }: ServerOptions & { readonly keySha256: string },
): Promise<void> {
  await withAdministration(options, async (administration) => {
    const { id: operatorId } = findOperator(await administration.operators(), who);
    const done = doneOrProposed(await administration.submit({ kind: "operator.replace_key", operatorId, keySha256 }));
    if (done === undefined) return;
    const named = `${operatorId} ("${done.resource.name}")`;
    printLine(done.isNew ? `Replaced the key of ${named}.` : `${named} has that key already.`);
  });
}

async function revoke(who: string, options: ServerOptions): Promise<void> {
  await withAdministration(options, async (administration) => {
    const { id: operatorId } = findOperator(await administration.operators(), who);
    const done = doneOrProposed(await administration.submit({ kind: "operator.revoke", operatorId }));
    if (done === undefined) return;
    const { name, revokedAt } = done.resource;
    printLine(`${operatorId} ("${name}") was revoked at ${timeOf(revokedAt) ?? ""}.`);
  });
}

async function listActs({ limit, json, ...options }: JsonOptions & { readonly limit: number }): Promise<void> {
  const acts = await withAdministration(options, (administration) => administration.operatorActs(limit));
  if (json === true) {
    printJson(
      acts.map(({ seq, kind, operatorId, actor, actorNames, recordedAt }) => ({
        sequence: seq,
        type: kind,
        operator_id: operatorId,
        actor,
        operator_names: actorNames,
        recorded_at: timeOf(recordedAt),
      })),
    );
    return;
  }
  printTable([
    ["SEQUENCE", "RECORDED", "TYPE", "OPERATOR", "BY"],
    ...acts.map((act) => [String(act.seq), timeOf(act.recordedAt), act.kind, act.operatorId, byWords(act)]),
  ]);
}

async function whoAmI({ json, ...options }: JsonOptions): Promise<void> {
  const operator = await withAdministration(options, (administration) => administration.whoAmI());
  if (json === true) printJson(operatorJson(operator));
  else printLine(`You are ${operator.id} ("${operator.name}"), ${operator.roles.join(", ")}.`);
}

/** Finds an operator by the id, or by the name. Throws an OperatorError if there is none. */
function findOperator(operators: readonly Operator[], who: string): Operator {
  const found = operators.find(({ id, name }) => (parseOperatorId(who).ok ? id === who : name === who));
  if (found !== undefined) return found;
  throw new OperatorError(`There is no operator "${who}". To list the operators: kesc operator list`);
}

function operatorJson({ id, name, roles, createdAt, revokedAt }: Operator) {
  return { id, name, roles, created_at: timeOf(createdAt), revoked_at: timeOf(revokedAt) };
}

function roleList(text: string): readonly Role[] {
  return orArgumentError(parseRoles(text.split(",").map((word) => word.trim())));
}

function fingerprint(text: string): string {
  return orArgumentError(parseFingerprint(text));
}

/** Throws an error that Commander prints. */
function orArgumentError<Value>(given: Parsed<Value>): Value {
  if (!given.ok) throw new InvalidArgumentError(`It ${given.problem}.`);
  return given.value;
}

function orUsageError<Value>(what: string, given: Parsed<Value>): Value {
  if (!given.ok) throw new OperatorError(`${what} ${given.problem}.`, WRONG_USAGE);
  return given.value;
}
