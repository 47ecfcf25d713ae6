import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type FileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { expect } from "chai";

import type { Command as AnyCommand } from "../../src/domain/operations.js";
import { type Role, ROLES } from "../../src/domain/operator.js";
import type { Actor } from "../../src/domain/values/actor.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  readContract,
  readOperatorsAddress,
  readOperatorsContract,
  type RpcContract,
} from "../../src/grpc/messages/contract.js";
import { keys } from "../../src/storage/keys.js";
import type { GrpcReply, Method } from "../support/callers/grpc-caller.js";
import { execute } from "../support/databases.js";
import { createAccount, createDestination, updateAccount } from "../support/operations/accounts.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { mint } from "../support/operations/transactions.js";
import { makeTenant } from "../support/service/tenants.js";
import { STAGE } from "../support/stage.js";
import { type GivenOperator, type OperatorService, startOperatorService } from "./given.js";

// A guess of a person's phone number or e-mail address, in each text of each request that operators
// can send. Of two organizations alike one has the person, and the other has another one. Where the
// responses differ, the guess is confirmed: then the book must say who looked.

const HOUR_MILLIS = 3_600_000;

const digitsOf = (guess: number): string => String(22_000_000 + guess);
const phoneOf = (guess: number): string => `+2547${digitsOf(guess)}`;
const emailOf = (guess: number): string => `skip.${digitsOf(guess)}@kiosks.co.ke`;
const shifted = (text: string, zero: number): string =>
  text.replaceAll(/[0-9]/g, (digit) => String.fromCodePoint(zero + Number(digit)));

/** Each spells the guess with this number. The first of both kinds are those of `make test`. */
const SPELLINGS: readonly ((guess: number) => string)[] = [
  phoneOf,
  (guess) => emailOf(guess).replace("co.ke", "co.\u212Ae"),
  emailOf,
  (guess) => shifted(`07${digitsOf(guess)}`, 0xff10),
  (guess) => `07${digitsOf(guess)}`,
  (guess) => `7${digitsOf(guess)}`,
  (guess) => `2547${digitsOf(guess)}`,
  (guess) => `002547${digitsOf(guess)}`,
  (guess) => `07${digitsOf(guess).slice(0, 2)} ${digitsOf(guess).slice(2, 5)}-${digitsOf(guess).slice(5)}`,
  (guess) => `(07${digitsOf(guess).slice(0, 2)}) ${digitsOf(guess).slice(2)}`,
  (guess) => `07\u200B${digitsOf(guess)}`,
  (guess) => shifted(`07${digitsOf(guess)}`, 0x1d7ce),
  (guess) => emailOf(guess).toUpperCase(),
  (guess) => emailOf(guess).replace("skip", "S\u212AIP"),
  (guess) => emailOf(guess).replace("skip", "\u017Fkip"),
  (guess) => emailOf(guess).replace("skip", "sk\u0131p"),
  (guess) => emailOf(guess).replace("@", "\uFF20"),
  (guess) => emailOf(guess).replace("kiosks", "\uFF4B\uFF49osks"),
  (guess) => emailOf(guess).replace("skip", "ski\u00ADp"),
  (guess) => ` ${emailOf(guess)} `,
];

const FIELDS_OF_WORDS: ReadonlySet<ScalarType> = new Set([ScalarType.STRING, ScalarType.BYTES]);

/** The names of the fields that lead to a text of a request. */
type Path = readonly DescField[];

/** All texts of a message. A message inside itself is walked once. */
function textsOf({ fields, typeName }: DescMessage, outer: readonly string[] = []): readonly Path[] {
  return fields.flatMap((field): readonly Path[] => {
    if (field.fieldKind === "map" || (field.scalar !== undefined && FIELDS_OF_WORDS.has(field.scalar)))
      return [[field]];
    if (field.message === undefined || outer.includes(field.message.typeName)) return [];
    return textsOf(field.message, [...outer, typeName]).map((path) => [field, ...path]);
  });
}

function valueAt([field, ...rest]: Path, text: string): JsonValue {
  if (field === undefined) return text;
  if (field.fieldKind === "map") return { [text]: text };
  const { scalar } = field;
  const value = scalar === ScalarType.BYTES ? Buffer.from(text).toString("base64") : messageAt(rest, text);
  return field.fieldKind === "list" ? [value] : value;
}

function messageAt(path: Path, text: string): JsonValue {
  const [field] = path;
  return field === undefined ? text : { [field.name]: valueAt(path, text) };
}

const METHODS = new Map<string, { method: DescMethod; registry: FileRegistry }>(
  [readContract(), readOperatorsContract()].flatMap(({ files }) =>
    [...files.files].flatMap(({ services }) =>
      services.flatMap(({ typeName, methods }) =>
        methods.map((method): [string, { method: DescMethod; registry: FileRegistry }] => [
          `/${typeName}/${method.name}`,
          { method, registry: files },
        ]),
      ),
    ),
  ),
);

/** Nobody knows the caller of a public rpc, and none of them names an organization. */
const RPCS = readOperatorsAddress()
  .services.flatMap(({ rpcs }) => rpcs)
  .filter(({ isPublic }) => !isPublic);

/** The roles that can find a person. */
const FINDERS: readonly Role[] = ["support", "admin"];
const SHARES = 4;

/**
 * The spellings that a role tries but at night: each of the two that can find a person a half, and
 * each other one a fourth. Together they try all.
 */
function spellingsOf(role: Role, { requiredRoles }: RpcContract): typeof SPELLINGS {
  // Without its role an rpc reads no request.
  if (!requiredRoles.includes(role)) return SPELLINGS.slice(0, 1);
  if (STAGE === "test") return SPELLINGS.slice(0, 2);
  if (STAGE === "nightly") return SPELLINGS;
  const among = FINDERS.includes(role) ? FINDERS : ROLES;
  const shares = Math.min(SHARES, among.length);
  return SPELLINGS.filter((_, index) => index % shares === among.indexOf(role) % shares);
}

/** Each rpc has an own person and an own wrong guess: what a call leaves tells no other. */
const GUESSES_PER_RPC = 10;
const WRONG = 1;
const TWIN = 2;
const COMMANDS_PER_COMMIT = 64;

/** What a request names of the organization or of its twin. */
interface Side {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  readonly given: Readonly<Record<string, string>>;
}

describe("a person whom an operator guesses", () => {
  let service: OperatorService;
  let lagMillis = 500 * HOUR_MILLIS;
  const people = new Map<Role, GivenOperator>();
  /** For each rpc: the side of the right guess, and that of the wrong one. */
  const sides: (readonly [Side, Side])[] = [];
  const commands: AnyCommand[] = [];
  const now = () => toUnixMillis(Date.now() - lagMillis);

  const sideOf = (organizationId: OrganizationId, guess: number): Side => {
    const person = { phoneNumber: phoneOf(guess) as PhoneNumber, email: emailOf(guess) as EmailAddress };
    const account = createAccount(organizationId, `customer ${String(guess)}`, person);
    const of = { organizationId, accountId: account.newAccountId };
    const funds = mint({ ...of, amount: "100.00", reference: `funds ${String(guess)}` });
    const destination = createDestination(organizationId, account.newAccountId);
    const deposit = receiveDeposit(organizationId, { receipt: `SK${digitsOf(guess)}` });
    commands.push(account, funds, destination, deposit);
    const ids = {
      organization_id: organizationId,
      account_id: account.newAccountId,
      transaction_id: funds.newTransactionId,
      deposit_id: deposit.newDepositId,
      destination_id: destination.newDestinationId,
    };
    const words = {
      rail: "mpesa",
      note: "case 17",
      amount: "1.00",
      tier: "default",
      start: "2026-01-01",
      end: "2026-01-31",
    };
    return { organizationId, accountId: account.newAccountId, given: { ...ids, ...words } };
  };

  before(async () => {
    service = await startOperatorService("sqlite", { now });
    const other = await makeTenant(keys(service.opened.database, now), "Tenant");
    for (const index of RPCS.keys()) {
      const guess = index * GUESSES_PER_RPC;
      const [right, wrong] = [sideOf(service.tenant.organizationId, guess), sideOf(other.organizationId, guess + TWIN)];
      sides.push([right, wrong]);
    }
    while (commands.length > 0) await commit(commands.splice(0, COMMANDS_PER_COMMIT));
    for (const role of ROLES) people.set(role, await service.operator(`The ${role}`, role));
  });
  after(() => service.dispose());

  const commit = (given: readonly AnyCommand[]) => service.opened.cell.committer.commit(given, now());

  const rowsOf = async (by: GivenOperator): Promise<number> => {
    const [row] = await execute<{ rows: number }>(
      service.opened.address,
      `SELECT COUNT(*) AS rows FROM journal
       WHERE kind IN ('account.revealed', 'account.updated') AND actor = '${by.operator.id}'`,
    );
    return Number(row?.rows);
  };

  const replyTo = async (
    rpc: RpcContract,
    {
      path,
      text,
      side,
      etag,
      by,
    }: { path: Path; text: string; side: Side; etag: string | undefined; by: GivenOperator },
  ): Promise<string> => {
    const found = METHODS.get(rpc.path);
    if (found === undefined) throw new Error(`${rpc.path} has no descriptor`);
    const { method, registry } = found;
    const given = { ...side.given, ...(etag === undefined ? {} : { etag }) };
    const beside: JsonObject = Object.fromEntries(
      method.input.fields
        .filter(({ fieldKind, name }) => (fieldKind === "scalar" && name in given) || fieldKind === "enum")
        .map(({ name }) => [name, given[name as keyof typeof given] ?? 1]),
    );
    const request = { ...beside, ...(messageAt(path, text) as JsonObject) };
    const called: Method<Uint8Array, string> = {
      path: rpc.path,
      requestSerialize: (bytes) => Buffer.from(bytes),
      responseDeserialize: (bytes) =>
        JSON.stringify(toJson(method.output, fromBinary(method.output, bytes), { registry })),
    };
    const metadata = {
      ...(rpc.isOfOrganization ? { "kesc-organization": side.organizationId } : {}),
      ...(rpc.idempotencyKey === "taken" ? { "idempotency-key": text.replaceAll(/[^0-9a-z]/g, "x") } : {}),
    };
    const bytes = toBinary(method.input, fromJson(method.input, request, { registry }));
    const options = { key: by.key, metadata };
    if (rpc.streams === "none") return told(await service.admin[0].call(called, bytes, options), text);
    const stream = service.admin[0].open(called, options);
    stream.send(bytes);
    stream.end();
    return told({ ...(await stream.ended), response: stream.responses.join("") }, text);
  };

  /** All that the caller sees, without what the sides do not have in common. */
  const told = (reply: Partial<GrpcReply<string | undefined>>, text: string): string => {
    const { code, reason, facts, message, fields, response, replayed, proposalId } = reply;
    return JSON.stringify({ code, reason, facts, message, fields, response, replayed, proposalId })
      .replaceAll(JSON.stringify(JSON.stringify(text).slice(1, -1)).slice(1, -1), "<guess>")
      .replaceAll(JSON.stringify(text).slice(1, -1), "<guess>")
      .replaceAll(/[a-z]{3}_[0-9a-z]{26}/g, "<id>")
      .replaceAll(/[+0-9]*\*{3,}[0-9]*(?:@[a-z.]+)?/g, "<mask>")
      .replaceAll(/[A-Za-z]<mask>/g, "<mask>")
      .replaceAll(/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/g, "<time>")
      .replaceAll(/\p{N}+/gu, "<number>");
  };

  it("is confirmed nowhere without a row, in any text of any request, as any role", async function () {
    this.timeout(1_200_000);
    const confirmed = new Set<string>();
    const counts = { rpcs: 0, fields: 0, calls: 0 };
    for (const [index, rpc] of RPCS.entries()) {
      const guess = index * GUESSES_PER_RPC;
      const [right, wrong] = sides[index] as readonly [Side, Side];
      const twin = { phoneNumber: phoneOf(guess + TWIN) as PhoneNumber, email: emailOf(guess + TWIN) as EmailAddress };
      // Each rpc has the looks of an hour.
      lagMillis -= HOUR_MILLIS;
      const paths = textsOf(rpc.input);
      const onlyReads = METHODS.get(rpc.path)?.method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
      const etags = rpc.input.fields.some(({ name }) => name === "etag") ? [undefined, "1"] : [undefined];
      counts.rpcs += 1;
      counts.fields += paths.length;
      for (const role of ROLES) {
        const by = people.get(role) as GivenOperator;
        for (const path of paths) {
          for (const etag of etags) {
            for (const spell of spellingsOf(role, rpc)) {
              const pair = async (): Promise<readonly [string, string]> => {
                counts.calls += 2;
                const of = { path, etag, by };
                const hit = await replyTo(rpc, { ...of, text: spell(guess), side: right });
                const miss = await replyTo(rpc, { ...of, text: spell(guess + WRONG), side: wrong });
                // The wrong guess is wrong the next time, too.
                const actor = by.operator.id as string as Actor;
                if (!onlyReads)
                  await commit([updateAccount(wrong.organizationId, wrong.accountId, { ...twin, actor })]);
                return [hit, miss];
              };
              const [hit, miss] = await pair();
              if (hit === miss) continue;
              const before = await rowsOf(by);
              const again = await pair();
              // The first of two calls that name the same may differ from the second.
              if (again[0] === again[1]) continue;
              const field = `${rpc.name} ${path.map(({ name }) => name).join(".")}`;
              expect(await rowsOf(by), `${field} as ${role}: ${spell(guess)}\n${hit}\n${miss}`).to.be.above(before);
              expect(FINDERS, field).to.include(role);
              confirmed.add(field);
            }
          }
        }
      }
    }
    // Each of these counts, and notes who looked. Another rpc here needs the same.
    expect([...confirmed]).to.deep.equal(["AdminService/LookUp text", "AdminService/RevealAccount note"]);
    expect(counts.fields).to.be.above(2 * counts.rpcs);
    expect(counts.calls).to.be.above(2 * ROLES.length * counts.fields);
  });
});
