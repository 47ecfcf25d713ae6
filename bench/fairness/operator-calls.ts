import { generateKeyPairSync, hash, randomBytes } from "node:crypto";

import { type DescMessage, fromJson, type JsonObject, ScalarType, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";

import { PARTS_MAX } from "../../src/domain/book-after.js";
import { LIST_ENTRIES_MAX } from "../../src/domain/payout-list.js";
import { monthOf } from "../../src/domain/values/month.js";
import { readOperatorsAddress, type RpcContract } from "../../src/grpc/messages/contract.js";
import { now } from "../../src/startup/clock.js";
import type { Attack, HostileOperator } from "./attack.js";
import { sheetXml, workbook } from "./workbook.js";

/** One way to call an rpc of operators as often as it answers. */
export interface OperatorCalls {
  rpc: RpcContract;
  /** Calls in flight. */
  callers: number;
  /** The fields of the request as protobuf's JSON, beyond those that the things fill. */
  fields: JsonObject;
  /** A file that the client streams, in the one field of bytes. */
  file?: Buffer;
  /** The key of each call. Absent: that of the operator. */
  key?: () => string;
  /** Whether the request is refused as malformed on purpose. */
  isMalformed?: true;
}

export type OperatorAttackName = `operators/${string}`;

/** The cheapest rpc of operators: what its callers leave is the yardstick of all others. */
export const CHEAPEST: OperatorAttackName = "operators/AdminService/WhoAmI";

const CALLERS = 16;
const MEBIBYTES_4 = 4 * 1_024 * 1_024;
const PIECE_BYTES = 1_024 * 1_024;
const HEADER = "Receipt No.,Completion Time,Details,Transaction Status,Paid In,Withdrawn,Other Party Info,A/C No.\n";
const ROWS = 49_999;
const IDS = 100;
const NOTHING = "nothing has this text";
const UNKNOWN_ID = "01jd2r6p5vf8ksw3xhb1z7q4ye";
const CREDENTIALS_EXPIRE_AT = "2099-01-01T00:00:00Z";

const SETTINGS = {
  collectShortcode: "174379",
  payOutShortcode: "600992",
  initiatorName: "bench",
  environment: "production",
};
const CREDENTIALS = { consumerKey: "bench", consumerSecret: "bench", passkey: "bench", initiatorPassword: "bench" };

let certificate: string | undefined;
/** Makes one key for all calls. */
function certificatePem(): string {
  const made = (): string =>
    generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    }).publicKey;
  return (certificate ??= made());
}

const junkKey = (): string => `kesc_op_${randomBytes(32).toString("base64url")}`;

function rowsOfStatement(day = "2026-11-22"): string {
  const row = (index: number): string =>
    `${receiptOf(index)},${day} 10:05:33,Pay Bill,Completed,1.00,,254712001900 - P,\n`;
  return HEADER + Array.from({ length: ROWS }, (_, index) => row(index)).join("");
}

/** As many parts as one act may have. */
function manyOf(
  part: (given: { receipt: string; amount: string; transaction_id: string }) => JsonObject,
): JsonObject[] {
  return Array.from({ length: PARTS_MAX }, (_, index) => {
    const transaction_id = `txn_01jd2r6p5vf8ksw3xhb1z7${(1_000 + index).toString()}`;
    return part({ receipt: `L${String(index).padStart(9, "0")}`, amount: "1.00", transaction_id });
  });
}

type Variant = Partial<Omit<OperatorCalls, "rpc">>;

/** The statement of a rail, unless the fields name a place. */
const statement = (file: string | Buffer, fields: JsonObject = { rail: "mpesa", place: "" }): Variant => {
  return { callers: 4, fields, file: Buffer.from(file) };
};

function entriesOfBank(): string {
  const entries = Array.from({ length: ROWS }, (_, index) => `:61:261122C1,00NTRF//${receiptOf(index)}`);
  const lines = [":20:X", ":25:1", ":28C:1", ":60F:C261121KES0,", ...entries, `:62F:C261122KES${String(ROWS)},`, "-"];
  return lines.join("\n");
}

/** A month whose one statement has as many rows as it may. */
function monthOfRows(): Variant {
  const month = "2026-01";
  const file = Buffer.from(rowsOfStatement(`${month}-22`));
  return statement(file, { month, statements: [{ rail: "mpesa", size: String(file.length) }] });
}

function workbookOfStatement(): Buffer {
  const rows = rowsOfStatement()
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  return workbook([sheetXml(rows)]);
}

const NAMES = Array.from({ length: LIST_ENTRIES_MAX }, (_, index) => `Nobody ${String(index)}\n`).join("");

const NO_BANK_FILE = "KB0123456789ABCDEF01234567";

/**
 * The calls of an rpc whose plain request is not the worst, by the rpc and by a name of their own
 * ("": plain). Any other rpc has one row, with its plain request.
 */
export const WORST: Readonly<Record<string, () => Readonly<Record<string, Variant>>>> = {
  "AdminService/ReconcileStatement": () => ({
    commas: { ...statement(",".repeat(MEBIBYTES_4)), isMalformed: true },
    rows: statement(rowsOfStatement()),
    workbook: statement(workbookOfStatement()),
    bank: statement(entriesOfBank(), { rail: "", place: "till" }),
    quotes: { ...statement('"'.repeat(MEBIBYTES_4)), isMalformed: true },
    "line-feeds": { ...statement(HEADER.padEnd(MEBIBYTES_4, "\n")), isMalformed: true },
  }),
  // The month is open, so what costs is the comparison.
  "AdminService/CloseMonth": () => ({ "": {}, rows: monthOfRows() }),
  "AdminService/ExportMonth": () => ({ "": { fields: { month: monthOf(now()) } } }),
  "AdminService/SetReservePlace": () => ({ "": { fields: { form: { source: "till" } } } }),
  "AdminService/PayFile": () => ({
    rows: {
      callers: 4,
      fields: { preview: true, note: "" },
      file: Buffer.from(`user_id,amount\n${"nobody,10.00\n".repeat(ROWS)}`),
    },
  }),
  "AdminService/SetPayoutCheck": () => ({
    "": { fields: { url: "https://checks.example.com/", deadline_seconds: 60, no_answer: "CHECK_NO_ANSWER_HOLD" } },
  }),
  "AdminService/SetPayoutList": () => ({ rows: { callers: 4, file: Buffer.from(`name\n${NAMES}`) } }),
  "AdminService/DownloadBankFile": () => ({ "": { fields: { bank_file_id: NO_BANK_FILE } } }),
  "AdminService/ReportBankFileLost": () => ({ "": { fields: { bank_file_id: NO_BANK_FILE } } }),
  "AdminService/RecordDeposits": () => ({
    preview: {
      callers: 32,
      fields: { pay_ins: manyOf(({ receipt, amount }) => ({ receipt, amount })), preview: true },
    },
  }),
  "AdminService/ResolveTransactions": () => ({
    preview: { callers: 32, fields: { results: manyOf((part) => part), preview: true } },
  }),
  "AdminService/WhoAmI": () => ({
    "": {},
    "junk-keys": { callers: 32, key: junkKey },
    "no-key": { callers: 32, key: () => "" },
  }),
  "SessionService/BeginPasskey": () => ({ "": { callers: 32, key: () => "" } }),
  "AdminService/GetProposal": () => ({ "": {}, compare: { callers: 32, fields: { compare: true } } }),
  "AdminService/ListProposals": () => ({ "": {}, closed: { fields: { include_closed: true, subject_id: "" } } }),
  "AdminService/ListJournal": () => ({
    "": {},
    own: { fields: { own: true, account_id: "", transaction_id: "", operator_id: "" } },
  }),
  "AdminService/LookUp": () => ({ "": { fields: { text: NOTHING } }, phone: { fields: { text: "0799999999" } } }),
  "SessionService/CreateInvitation": () => ({ "": { fields: { operator_id: "" } } }),
  "SessionService/EndSession": () => ({ "": { fields: { session_id: `ses_${UNKNOWN_ID}` } } }),
  "BookService/GetInclusionProof": () => ({ "": { fields: { transaction_id: "" } } }),
  "WebhookService/UpdateWebhookEndpoint": () => ({ "": { fields: { status: 1 } } }),
  "EventService/ListEvents": () => ({ "": { fields: { page_size: 200 } } }),
  "AccountService/ListAccounts": () => ({
    "": {},
    ids: {
      fields: {
        account_ids: Array.from(
          { length: IDS },
          (_, index) => `acc_01jd2r6p5vf8ksw3xhb1z7q${(100 + index).toString()}`,
        ),
      },
    },
  }),
};

const PLAIN_ALONE: Readonly<Record<string, Variant>> = { "": {} };

/** The values of fields that name nothing, by their names. A field without a value is absent. */
const PLAIN: Readonly<Record<string, (serial: number) => JsonObject[string]>> = {
  amount: () => "1.00",
  note: (serial) => `bench ${String(serial)}`,
  name: (serial) => `bench-${String(serial)}`,
  roles: () => [1],
  scopes: () => ["transactions:write"],
  never_expires: () => true,
  page_size: () => 1_000,
  rail: () => "mpesa",
  text: () => NOTHING,
  reason: () => 1,
  key_sha256: (serial) => hash("sha256", String(serial), "hex"),
  start: () => "2020-01-01",
  end: () => "2020-02-01",
  api_key_id: () => `key_${UNKNOWN_ID}`,
  deposit_id: () => `dep_${UNKNOWN_ID}`,
  destination_id: () => `dst_${UNKNOWN_ID}`,
  freeze_id: () => `frz_${UNKNOWN_ID}`,
  webhook_endpoint_id: () => `whe_${UNKNOWN_ID}`,
  passkey_id: () => "aaaaaaaaaaaa",
  tier: () => "basic",
  changes: () => [{ type: 1, period: 1, max_amount: "1000.00" }],
  settings: () => JSON.stringify({ ...SETTINGS, certificatePem: certificatePem() }),
  credentials: () => JSON.stringify(CREDENTIALS),
  credentials_expire_at: () => CREDENTIALS_EXPIRE_AT,
  payouts: () => 1,
  contact_phone_number: () => "0712000001",
  phone_number: (serial) => `+2547${String(serial).padStart(8, "0")}`,
  rail_receipt: receiptOf,
  receipt: receiptOf,
  movement: receiptOf,
  direction: () => 1,
  place: () => "till",
  kind: () => 1,
  as_of_day: () => "2026-01-31",
  evidence: () => "page 1",
  month: () => "2026-01",
  token: () => NOTHING,
  response_json: () => "{}",
  invitation: () => NOTHING,
  old_size: () => "1",
  description: (serial) => `bench ${String(serial)}`,
  completed: () => ({ rail_receipt: "RKTQDM7W01" }),
  flag: () => 1,
  sequence: () => "1",
  sha256: () => "a".repeat(64),
  start_sequence: () => "1",
};

function receiptOf(serial: number): string {
  return `R${serial.toString(36).toUpperCase().padStart(9, "A")}`;
}

/** Fields by which a list can choose its rows. Most lists refuse two of them at once. */
const FILTERS = ["account_id", "transaction_id", "operator_id", "phone_number"];

/** Whether the field only chooses among the rows of a list. Two lists are of one account. */
function isFilter({ path }: RpcContract, field: string): boolean {
  return FILTERS.includes(field) && /\/List(?!Freezes$|Destinations$)/.test(path);
}

/** All ways to call the rpcs of the operators' address. A new rpc has a row by itself. */
export function operatorAttacks(): Readonly<Record<OperatorAttackName, OperatorCalls>> {
  const rpcs = readOperatorsAddress().services.flatMap((service) => service.rpcs);
  const named = rpcs.flatMap((rpc) => {
    return Object.entries(WORST[rpc.name]?.() ?? PLAIN_ALONE).map(([variant, given]) => {
      const { callers = CALLERS, fields = {}, ...key } = given;
      const name: OperatorAttackName = `operators/${variant === "" ? rpc.name : `${rpc.name}:${variant}`}`;
      return [name, { rpc, callers, fields, ...key }] as const;
    });
  });
  return Object.fromEntries(named);
}

/** Returns the request of a call: what the rpc's fields are named as, and what the attack says. */
export function requestBytes(
  { rpc, fields }: OperatorCalls,
  things: HostileOperator["things"],
  serial: number,
): Buffer {
  const plain = Object.fromEntries(
    rpc.input.fields.flatMap(({ name }) => {
      const isLeftOut = isFilter(rpc, name) || rpc.organizationsOnly.includes(name);
      const value = isLeftOut ? undefined : (things[name] ?? PLAIN[name]?.(serial));
      return value === undefined || !fits(rpc.input, { [name]: value }) ? [] : [[name, value] as const];
    }),
  );
  return Buffer.from(toBinary(rpc.input, fromJson(rpc.input, { ...plain, ...fields })));
}

/** A field of the same name may have another type here. */
function fits(desc: DescMessage, json: JsonObject): boolean {
  try {
    fromJson(desc, json);
    return true;
  } catch {
    return false;
  }
}

/** Returns the metadata of a call. A call that can have an idempotency key has one of its own. */
export function headersOf(
  { rpc }: Pick<OperatorCalls, "rpc">,
  things: HostileOperator["things"],
  serial: number,
): Record<string, string> {
  return {
    ...(rpc.idempotencyKey === "taken" ? { "idempotency-key": `bench-${String(serial)}` } : {}),
    ...(rpc.isOfOrganization ? { "kesc-organization": things["organization_id"] ?? "" } : {}),
  };
}

/** Encodes the file of a call, in messages with nothing else. */
export function piecesOf({ rpc, file = Buffer.alloc(0) }: OperatorCalls): readonly Buffer[] {
  const field = rpc.input.fields.find(({ scalar }) => scalar === ScalarType.BYTES)?.name ?? "";
  return Array.from({ length: Math.ceil(file.length / PIECE_BYTES) }, (_, index) => {
    const piece = file.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES);
    return Buffer.from(toBinary(rpc.input, fromJson(rpc.input, { [field]: piece.toString("base64") })));
  });
}

/** Keeps the calls in flight. An answer, whatever it says, starts the next call. */
export function callAsOperator({ hostile, tally }: Attack, calls: OperatorCalls): void {
  const { operator } = hostile;
  if (operator === undefined) throw new Error("the attack needs an operator");
  const client = new Client(operator.address, credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
  const asIs = (bytes: Buffer): Buffer => bytes;
  // A large request is encoded once: the attacker's processor is not measured.
  const once = calls.rpc.bulk ? requestBytes(calls, operator.things, 0) : undefined;
  const pieces = piecesOf(calls);
  const call = (): void => {
    const started = tally.next(performance.now());
    const metadata = new Metadata();
    const key = calls.key?.() ?? operator.key;
    if (key !== "") metadata.set("x-api-key", key);
    for (const [name, value] of Object.entries(headersOf(calls, operator.things, started.serial)))
      metadata.set(name, value);
    const request = once ?? requestBytes(calls, operator.things, started.serial);
    const settle = (problem: string | undefined): void => {
      tally.settle(started, performance.now(), problem);
      setImmediate(call);
    };
    if (calls.rpc.streams === "none") {
      client.makeUnaryRequest(calls.rpc.path, asIs, asIs, request, metadata, (error) => {
        settle(error?.message.slice(0, 60));
      });
      return;
    }
    if (calls.rpc.streams === "client") {
      const upload = client.makeClientStreamRequest(calls.rpc.path, asIs, asIs, metadata, (error) => {
        settle(error?.message.slice(0, 60));
      });
      upload.write(request);
      for (const piece of pieces) upload.write(piece);
      upload.end();
      return;
    }
    client
      .makeServerStreamRequest(calls.rpc.path, asIs, asIs, request, metadata)
      .on("data", () => undefined)
      .on("error", ({ message }) => {
        settle(message.slice(0, 60));
      })
      .on("end", () => {
        settle(undefined);
      });
  };
  for (let begun = 0; begun < calls.callers; begun += 1) call();
}
