import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

import { create, toBinary } from "@bufbuild/protobuf";
import { type Command, InvalidArgumentError } from "commander";

import { parseMonth } from "../../domain/values/month.js";
import { RAILS } from "../../rails/rails.js";
import { invocation } from "../../startup/invocation.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { referenceTo } from "../administration/references.js";
import { RefusedCallError } from "../administration/refused-call.js";
import type { MessageJson } from "../administration/row.js";
import { type AdminSession, type PlaceOptions, withSession } from "../administration/session.js";
import { NewFile } from "../backup/new-file.js";
import { argument, statusReason } from "../commands/arguments.js";
import { printJson, printLine, textOf } from "../commands/output.js";
import { checkPackFile } from "./check.js";

const PIECE_BYTES = 256 * 1_024;
const NAME_CHARACTERS_MAX = 255;

interface FileOfMonth {
  /** The name of a rail, or of a place. */
  readonly name: string;
  readonly file: string;
}

interface CloseOptions extends PlaceOptions {
  readonly month?: string;
  readonly statement?: readonly FileOfMonth[];
  readonly forms?: Readonly<Record<string, MessageJson>>;
  readonly output: string;
  readonly json?: true;
  readonly check?: string;
  readonly key?: readonly string[];
}

/** `kesc close`: closes a month of a book by one act, and writes its pack; or checks a pack. */
export function addClose(program: Command): void {
  program
    .command("close")
    .description("close a month of a book by one act, and write its signed pack; or check a pack")
    .argument("[organization]", "id or name of the organization. None with --check")
    .option("--month <month>", "the month in Kenya, such as 2026-10", argument(parseMonth))
    .option(
      "--statement <name=file>",
      'a statement of the month: mpesa=FILE, or "KCB 1234=FILE"; again for each',
      statementFile,
    )
    .option(
      "--forms <file>",
      'how banks write their tables, as JSON: {"KCB 1234": {"columns": {"date": "Value Date"}}}',
      formsIn,
    )
    .option("--output <file>", "the new file; in a folder it is named by organization and month", ".")
    .option("--note <text>", "the words for the book", statusReason)
    .option("--server <address>", "AdminService that closes it (default: KESC_OPERATOR_SERVER, or the database)")
    .option("--on-database", "close it in the database, although there are operators; needs --note")
    .option("--json", "print JSON, for scripts")
    .option("--check <pack>", "check a pack instead. It needs no database")
    .option("--key <key>", "with --check: a public key of the book that you trust; again for more", keys)
    .action(close);
}

async function close(org: string | undefined, options: CloseOptions): Promise<void> {
  const { check, key, month, statement = [], forms = {} } = options;
  if (check !== undefined) {
    if (org !== undefined || month !== undefined || statement.length > 0) {
      throw new UsageError("--check takes a pack, and no organization, --month or --statement.");
    }
    await checkPackFile(check, key);
    return;
  }
  if (key !== undefined) throw new UsageError("--key is for --check only.");
  if (org === undefined || month === undefined) throw new UsageError("Name the organization, and give --month.");
  const unused = Object.keys(forms).find((name) => !statement.some((each) => each.name === name));
  if (unused !== undefined) throw new UsageError(`--forms names ${unused}, of which there is no --statement.`);
  const files = statement.map(({ file }) => bytesOf(file));
  await withSession(options, async (session) => {
    const { id: organizationId } = await referenceTo(session, "organization", org);
    const fields = {
      organization_id: organizationId,
      month,
      note: options.note ?? "",
      statements: statement.map((each, index) => fieldsOf(each, forms[each.name], files[index] ?? Buffer.alloc(0))),
    };
    const bytes = Buffer.concat(files);
    // Before the month is closed: a path that cannot be written closes nothing.
    const pack = newPackFile(options.output, { organizationId, month });
    try {
      const closed = await closeAt(session, fields, bytes);
      const isClosed = !(closed instanceof RefusedCallError);
      await writePack(session, { organizationId, month, pack }).catch((refused: unknown) => {
        throw isClosed || !(refused instanceof RefusedCallError) ? refused : closed;
      });
      if (isClosed) report(closed, pack.name, options);
      else if (options.json === true) printJson({ month, already_closed: true, pack: pack.name });
      else printLine(`${month} was closed. This is its first pack: ${pack.name}`);
    } catch (error) {
      pack.remove();
      throw error;
    }
  });
}

/** A person who may close no month may have the pack of one that is closed: returns the refusal. */
async function closeAt(
  session: AdminSession,
  fields: MessageJson,
  bytes: Buffer,
): Promise<MessageJson | RefusedCallError> {
  try {
    return session.isAtServer
      ? await session.call("CloseMonth", fields, { more: piecesOf(session, bytes) })
      : await session.call("CloseMonth", { ...fields, files: bytes.toString("base64") });
  } catch (error) {
    if (!(error instanceof RefusedCallError) || error.reason !== "ROLE_REQUIRED") throw error;
    return error;
  }
}

function fieldsOf({ name, file }: FileOfMonth, form: MessageJson | undefined, bytes: Buffer): MessageJson {
  const isRail = RAILS.some((rail) => rail.name === name && rail.statement !== undefined);
  return {
    ...(isRail ? { rail: name } : { place: name }),
    ...(form === undefined ? {} : { form }),
    file_name: basename(file).slice(-NAME_CHARACTERS_MAX),
    size: String(bytes.length),
  };
}

function* piecesOf({ contract }: AdminSession, bytes: Buffer): Generator<Uint8Array, void, void> {
  const { input } = contract.rpc("CloseMonth");
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    yield toBinary(input, create(input, { files: bytes.subarray(start, start + PIECE_BYTES) }));
  }
}

interface MonthOf {
  readonly organizationId: string;
  readonly month: string;
}

function newPackFile(output: string, { organizationId, month }: MonthOf): NewFile {
  if (output.endsWith("/")) mkdirSync(output, { recursive: true });
  const isFolder = statSync(output, { throwIfNoEntry: false })?.isDirectory() === true;
  return NewFile.create(isFolder ? join(output, `month-${organizationId}-${month}.zip`) : output);
}

/** Writes the pack as the server streams it. A file of that name appears once it is whole. */
async function writePack(
  session: AdminSession,
  { organizationId, month, pack }: MonthOf & { readonly pack: NewFile },
): Promise<void> {
  for await (const { piece } of session.stream("ExportMonth", { organization_id: organizationId, month })) {
    appendFileSync(pack.part, Buffer.from(textOf(piece), "base64"));
  }
  pack.publish();
}

function report(closed: MessageJson, pack: string, { json }: CloseOptions): void {
  const month = closed["closed_month"] as MessageJson;
  if (json === true) {
    printJson({ ...month, already_closed: closed["already_closed"], pack });
    return;
  }
  const [name, last, at] = [textOf(month["month"]), textOf(month["last_sequence"]), textOf(month["closed_at"])];
  printLine(
    closed["already_closed"] === true
      ? `${name} was closed at ${at}, up to row ${last}. This is its first pack: ${pack}`
      : `Closed ${name}, up to row ${last}: ${pack}`,
  );
  printLine(`SHA-256 of its manifest: ${textOf(month["manifest_sha256"])}`);
  invocation().stderr.write(`Anybody can check it: kesc close --check ${pack}\n`);
}

function statementFile(text: string, before: readonly FileOfMonth[] = []): readonly FileOfMonth[] {
  const at = text.indexOf("=");
  const [name, file] = [text.slice(0, at).trim(), text.slice(at + 1)];
  if (at < 1 || name === "" || file === "") {
    throw new InvalidArgumentError('It must be a rail or a place, then = and the file: "KCB 1234=october.sta".');
  }
  return [...before, { name, file }];
}

function formsIn(file: string): Readonly<Record<string, MessageJson>> {
  try {
    const forms: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (typeof forms === "object" && forms !== null && !Array.isArray(forms)) {
      return forms as Readonly<Record<string, MessageJson>>;
    }
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read as JSON: ${error instanceof Error ? error.message : ""}`);
  }
  throw new InvalidArgumentError("It must be a JSON object of places.");
}

function keys(key: string, before: readonly string[] = []): readonly string[] {
  return [...before, key];
}

function bytesOf(file: string): Buffer {
  try {
    const bytes = readFileSync(file);
    if (bytes.length === 0) throw new OperatorError(`The file ${file} is empty.`);
    return bytes;
  } catch (error) {
    if (error instanceof OperatorError || !(error instanceof Error)) throw error;
    throw new OperatorError(`The file cannot be read: ${error.message}.`, { cause: error });
  }
}
