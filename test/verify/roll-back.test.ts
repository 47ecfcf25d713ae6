import { expect } from "chai";

import { SCOPES } from "../../src/domain/api-key.js";
import type { EventPattern } from "../../src/domain/event-types.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { payoutReference } from "../../src/domain/payout-file.js";
import { changesIn } from "../../src/domain/proposal-content.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { OperatorId, ProposalId } from "../../src/domain/values/ids.js";
import type { Description } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { etagOf } from "../../src/domain/webhook-endpoint.js";
import { SessionServiceService as Sessions } from "../../src/gen/kesc/admin/v1/session_service.js";
import type { TableModel } from "../../src/model/column.js";
import { MODEL, type ModelName, TABLES_BY_NAME } from "../../src/model/tables.js";
import { redemptionOf } from "../../src/payouts/redemption.js";
import { keys } from "../../src/storage/keys.js";
import { stateOfAccounts } from "../../src/storage/rails/change-rail-accounts.js";
import { verify } from "../../src/verify/verify.js";
import { SignInService } from "../operators/signing-in.js";
import { revokeApiKey } from "../support/as-machine.js";
import { Authenticator } from "../support/authenticator.js";
import { by } from "../support/commands.js";
import { ENGINES_OF_STAGE } from "../support/databases.js";
import { depositReference, newTransactionId, RAIL_TERMS, SLOW_RAIL } from "../support/names.js";
import { createDestination, removeDestination, setLimits } from "../support/operations/accounts.js";
import { rejectProposal, requireReceipts, setReserveRules } from "../support/operations/book.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { payFile, stopFile } from "../support/operations/payouts.js";
import { setPayouts, setRailAccount } from "../support/operations/rails.js";
import { beginPayment, mint, redeem } from "../support/operations/transactions.js";
import { createWebhookEndpoint, updateWebhookEndpoint } from "../support/operations/webhooks.js";
import { makeKey } from "../support/service/tenants.js";
import { GivenBooks } from "./given/books.js";

// Somebody with the database alone keeps a copy of each row, with its true `mac`, and puts the copy
// back after the service has ended what the row stands for. The walker finds the rows by itself: it
// compares all tables before and after the end, and rolls back each table that differs.

type Cell = string | number | Uint8Array | null;
type Row = Readonly<Record<string, Cell>>;
type Rows = ReadonlyMap<string, Row>;
type Snapshot = ReadonlyMap<ModelName, Rows>;

/** Something that the service ends, and what somebody does with it. */
interface Ending {
  readonly books: GivenBooks;
  readonly end: () => Promise<unknown>;
  /** Returns whether it was done. Rejects if the service or the schema refused it. */
  readonly act: () => Promise<boolean>;
}

type Make = (given: SignInService, books: GivenBooks) => Promise<Omit<Ending, "books">>;

const limitOf = (cents: number) => ({ changes: { TRANSACTION: toCents(cents) } });
const did = (work: Promise<unknown>): Promise<boolean> => work.then(() => true);

const amina = async (books: GivenBooks) => {
  const account = await books.createAccount("amina");
  await books.move("mint", account, "100.00");
  return account;
};

const ENDINGS: Readonly<Record<string, Make>> = {
  "a key that was revoked": async ({ service }, books) => {
    const account = await amina(books);
    const { organizationId } = books;
    const own = keys(service.opened.database, () => toUnixMillis(Date.now()));
    const { id, secret } = await makeKey(own, organizationId, { scopes: SCOPES });
    const request = { account_id: account.id, amount: "1.00", reference: `with ${id}` };
    return {
      end: () => revokeApiKey(service.opened.database, id),
      act: async () => (await service.publicly.call("Mint", request, { key: secret })).code === 0,
    };
  },
  "an account that was frozen": async (_, books) => {
    const account = await amina(books);
    return {
      end: () => books.freeze(account, "FRAUD", "order 1"),
      act: () => did(books.move("redeem", account, "1.00")),
    };
  },
  "an account that was closed": async (_, books) => {
    const account = await books.createAccount("brian");
    return { end: () => books.close(account, "moved"), act: () => did(books.move("mint", account, "1.00")) };
  },
  "a balance that was spent": async (_, books) => {
    const account = await amina(books);
    return {
      end: () => books.move("redeem", account, "100.00"),
      act: () => did(books.move("redeem", account, "90.00")),
    };
  },
  "a destination that was removed": async (_, books) => {
    const account = await amina(books);
    const { id } = await books.do((of) => createDestination(of, account.id, { coolingMillis: 0 }));
    const terms = {
      destinations: { TILL: { minCents: toCents(1), maxCents: toCents(100_000), stepCents: toCents(1) } },
    };
    const order = { accountId: account.id, amount: "10.00", reference: "out", rail: SLOW_RAIL, terms };
    return {
      end: () => books.do((of) => removeDestination(of, account.id, id)),
      act: () => did(books.do((organizationId) => ({ ...redeem({ organizationId, ...order }), destinationId: id }))),
    };
  },
  "a webhook endpoint that was deleted": async ({ service }, books) => {
    const own = keys(service.opened.database, () => toUnixMillis(Date.now()));
    const { secret: key } = await makeKey(own, books.organizationId, { scopes: SCOPES });
    const call = (rpc: string, request: object) => service.publicly.call(rpc, request, { key });
    // It gets no event of this test, so nothing is sent.
    const { response } = await call("CreateWebhookEndpoint", { url: "https://example.com/", types: ["key.created"] });
    const { id } = (response as { webhook_endpoint: { id: string } }).webhook_endpoint;
    let changes = 0;
    const description = () => `change ${String((changes += 1))}`;
    return {
      end: () => call("DeleteWebhookEndpoint", { webhook_endpoint_id: id }),
      act: async () =>
        (await call("UpdateWebhookEndpoint", { webhook_endpoint_id: id, description: description() })).code === 0,
    };
  },
  "a version of a webhook endpoint that was replaced": async (_, books) => {
    const endpoint = await books.do((of) => createWebhookEndpoint(of, { types: ["key.created" as EventPattern] }));
    const update = (url: string, etag?: string) =>
      books.do((of) => updateWebhookEndpoint(of, endpoint.id, { url, etag }));
    return {
      end: () => update("https://two.example.com/"),
      act: () => did(update("https://three.example.com/", etagOf(endpoint))),
    };
  },
  "an organization that was suspended": async (_, books) => {
    const account = await amina(books);
    return { end: () => books.changeSuspension(true, "fraud"), act: () => did(books.move("mint", account, "1.00")) };
  },
  "a limit that was lowered": async (_, books) => {
    const account = await amina(books);
    return {
      end: () => books.do((id) => setLimits(id, limitOf(1_000))),
      act: () => did(books.move("mint", account, "50.00")),
    };
  },
  "mints without a receipt": async (_, books) => {
    const account = await amina(books);
    return { end: () => books.do((id) => requireReceipts(id)), act: () => did(books.move("mint", account, "1.00")) };
  },
  "payouts that were closed": async ({ service }, books) => {
    const account = await amina(books);
    const railAccountId = fresh("rail").replace(" ", "_") as RailAccountId;
    const { accountsOfAll } = await stateOfAccounts(service.opened.database);
    const facts = { accountsOfAll, movesPlace: false };
    await books.do((id) => setRailAccount(id, { railAccountId, facts }));
    const order = { accountId: account.id, amount: "10.00", reference: "out", rail: SLOW_RAIL };
    const { id } = await books.do((organizationId) => redeem({ organizationId, ...order, terms: { railAccountId } }));
    return {
      end: () => books.do((of) => setPayouts(of, "closed")),
      act: () => did(books.do((of) => beginPayment(of, id, 1))),
    };
  },
  "a file of payouts that was stopped": async (_, books) => {
    const account = await amina(books);
    const { sha256, rail } = payFile(books.organizationId);
    await books.do((id) => payFile(id));
    const fields = { accountId: account.id, amountCents: toCents(1_000), destinationId: undefined };
    const row = { line: 2, ...fields, reference: payoutReference(sha256, 2), description: "" as Description };
    const of = { organizationId: books.organizationId, sha256, rail, railTerms: RAIL_TERMS };
    return {
      end: () => books.do((id) => stopFile(id)),
      act: () => did(books.do(() => redemptionOf(row, { ...of, newTransactionId: newTransactionId() }))),
    };
  },
  "an order that was canceled": async (_, books) => {
    const account = await amina(books);
    const order = await books.move("redeem", account, "10.00", { rail: SLOW_RAIL });
    return { end: () => books.cancel(order, "no"), act: () => did(books.do((of) => beginPayment(of, order.id))) };
  },
  "a deposit that was credited": async (_, books) => {
    const account = await amina(books);
    await books.do((id) => receiveDeposit(id, { receipt: "d1", typed: depositReference(99) }));
    const claim = (reference: string) =>
      books.do((organizationId) =>
        mint({ organizationId, accountId: account.id, amount: "5.00", reference, receipt: "d1" }),
      );
    return { end: () => claim("first"), act: () => did(claim("second")) };
  },
  "a proposal that was rejected": async (_, books) => {
    const rules = [{ kind: "bank_kenya", shareMin: 20, staleAfterDays: 7 }] as const;
    const ask = (person: string, approves?: ProposalId) =>
      books.do((of) => ({ ...setReserveRules(of, rules), ...by(person, { approves }), shown: changesIn(content) }));
    let content = "";
    const { proposal } = await ask("opr_a");
    if (proposal === undefined) throw new Error("no proposal");
    ({ content } = proposal);
    return {
      end: () => books.do((of) => rejectProposal(of, proposal.id, proposal.subject)),
      act: () => did(ask("opr_b", proposal.id)).catch(async () => (await ask("opr_c")).proposal === undefined),
    };
  },
  "a session that was ended": async (given) => {
    const person = await given.session(await given.person(fresh("Dora"), "viewer"));
    return {
      end: () => given.signIn.end(person.sessionId),
      act: async () => (await given.refusalOf(person)) === undefined,
    };
  },
  "a code that was used": async (given) => {
    const { key } = await given.service.operator(fresh("Cara"), "viewer");
    const { response } = await given.admin.call(Sessions.createSignInCode, {}, { key });
    const use = () => given.admin.call(Sessions.createSession, { response_json: "", code: response?.code ?? "" });
    return { end: use, act: async () => (await use()).reason === undefined };
  },
  "an invitation that was used": async (given) => {
    const { operatorId } = await given.session(await given.person(fresh("Ivy"), "viewer"));
    const { token: invitation } = await given.signIn.invite({ operatorId: operatorId as OperatorId }, undefined);
    const answer = new Authenticator().create(await given.options(invitation));
    const register = (response_json: string) =>
      given.admin.call(Sessions.registerPasskey, { invitation, response_json });
    const again = await given.options(invitation);
    return {
      end: () => register(answer),
      act: async () => (await register(new Authenticator().create(again))).reason === undefined,
    };
  },
  "a response of a passkey that was used": async (given) => {
    const passkey = await given.person(fresh("Pia"), "viewer");
    const response = passkey.get(await given.options());
    const use = () => given.signedIn(response);
    return { end: use, act: async () => (await use()).reason === undefined };
  },
};

let names = 0;
function fresh(name: string): string {
  names += 1;
  return `${name} ${String(names)}`;
}

/**
 * The service renews their rows by the clock, in the middle of an ending, too. The ledger grants
 * each payment once, whoever has the lease.
 */
const RENEWED_BY_CLOCK: ReadonlySet<ModelName> = new Set(["leases"]);

/** Why no ending above touches a table. A new table needs an ending, or a reason. */
const NOT_ENDED: Readonly<Partial<Record<ModelName, string>>> = {
  organizations: "no column ever changes: another row has no true mac",
  book_keys: "no column ever changes",
  idempotency_keys: "a replay shows a resource of the same book",
  rail_messages: "the rail itself is asked before an order ends",
  seal_tiles: "they are evidence, and decide nothing",
  seal_alarms: "they are evidence, and decide nothing",
  webhook_retries: "they say when an event is delivered again",
  webhook_log: "it says what was delivered",
  account_marks: "the reads of the past are right without them",
  book_marks: "the reads of the past are right without them",
  payout_lists: "its entries lie under their hash, and never change",
  payout_parts: "each row of a file is paid once, by its reference",
  reserve_places: "they are figures for people, and decide nothing",
  book_moves: "they say where a book is",
  restores: "a restore can be made a confirmed one (docs/security.md)",
  operator_keys: "the master key decrypts none but its own",
};

for (const engine of ENGINES_OF_STAGE) {
  describe(`an old copy of a row, with its true mac, that somebody puts back (${engine})`, () => {
    let given: SignInService;
    const touched = new Set<ModelName>();
    before(async () => {
      given = await SignInService.start(engine);
    });
    // The books do not hold any more.
    after(() => given.service.dispose().catch(() => undefined));

    const cell = () => given.service.opened.cell;
    const sql = (statement: string): Promise<unknown> =>
      cell().transact((session) => session.read({ sql: `${statement} RETURNING 1 AS done`, bindings: [] }));

    for (const [name, make] of Object.entries(ENDINGS)) {
      it(`revives nothing without a finding: ${name}`, async () => {
        const begun = async (): Promise<Ending> => {
          const books = await GivenBooks.open(given.service.opened.database, fresh("org"));
          return { books, ...(await make(given, books)) };
        };
        expect(await isDone(await begun()), "before the end").to.equal(true);
        const first = await begun();
        const tables = differing(await ended(first));
        expect(await isDone(first), "after the end").to.equal(false);
        for (const table of tables) {
          touched.add(table);
          const ending = await begun();
          const { earlier, later } = await ended(ending);
          const before = await findings(ending.books);
          await write(table, { from: rowsIn(later, table), to: rowsIn(earlier, table) });
          const revived = await isDone(ending);
          const now = await snapshot();
          // Where a CHECK of the schema refuses that, the old row stays for `kesc verify`.
          const to = back(table, { earlier, later, now });
          await write(table, { from: rowsIn(now, table), to }).catch(() => undefined);
          if (!revived) continue;
          const found = (await findings(ending.books)).filter((each) => !before.includes(each));
          expect(found, table).not.to.deep.equal([]);
        }
      });
    }

    it("has an ending for each table, or says why there is none", () => {
      const known = new Set<string>([...touched, ...Object.keys(NOT_ENDED), ...RENEWED_BY_CLOCK]);
      const missing = TABLES_BY_NAME.filter(([name, table]) => !isEvidence(table) && !known.has(name));
      expect(missing.map(([name]) => name)).to.deep.equal([]);
      expect(Object.keys(NOT_ENDED).filter((name) => touched.has(name as ModelName))).to.deep.equal([]);
    });

    /** Ends it, and returns the tables before and after. */
    async function ended({ end }: Ending): Promise<{ readonly earlier: Snapshot; readonly later: Snapshot }> {
      const earlier = await snapshot();
      await end();
      return { earlier, later: await snapshot() };
    }

    async function snapshot(): Promise<Snapshot> {
      const { reader, engine: own } = cell();
      const all = new Map<ModelName, Rows>();
      for (const [name, table] of TABLES_BY_NAME) {
        if (isEvidence(table) || RENEWED_BY_CLOCK.has(name)) continue;
        const rows = await reader.rows<Row>(`SELECT * FROM ${own.table(name)}`);
        all.set(name, new Map(rows.map((row) => [keyOf(name, row), row])));
      }
      return all;
    }

    /** Makes the rows of a table those of `to`, where both differ. */
    async function write(table: ModelName, { from, to }: { readonly from: Rows; readonly to: Rows }): Promise<void> {
      const { engine: own } = cell();
      const place = own.table(table);
      for (const key of new Set([...from.keys(), ...to.keys()])) {
        const [old, wanted] = [from.get(key), to.get(key)];
        if (old !== undefined && wanted !== undefined) {
          const changed = Object.entries(wanted).filter(([column, value]) => text(value) !== text(old[column]));
          if (changed.length === 0) continue;
          const set = changed.map(([column, value]) => `${column} = ${literal(value)}`).join(", ");
          await sql(`UPDATE ${place} SET ${set} WHERE ${condition(table, old)}`);
        } else if (wanted !== undefined) {
          const values = Object.values(wanted).map(literal).join(", ");
          await sql(`INSERT INTO ${place} (${Object.keys(wanted).join(", ")}) VALUES (${values})`);
        } else if (old !== undefined) {
          // A row that others name stays: the schema refuses to take it out.
          await sql(`DELETE FROM ${place} WHERE ${condition(table, old)}`).catch(() => undefined);
        }
      }
    }

    async function findings({ organizationId }: GivenBooks): Promise<readonly string[]> {
      const { firstFindings } = await verify(given.service.opened.database, { organizationId });
      return firstFindings.map((finding) => JSON.stringify(finding));
    }

    function literal(value: Cell | undefined): string {
      if (value === null || value === undefined) return "NULL";
      if (typeof value === "number") return String(value);
      if (typeof value === "string") return `'${value.replaceAll("'", "''")}'`;
      const hex = Buffer.from(value).toString("hex");
      return engine === "sqlite" ? `x'${hex}'` : `'\\x${hex}'::bytea`;
    }

    function condition(table: ModelName, row: Row): string {
      return MODEL[table].key.map((column) => `${column} = ${literal(row[column])}`).join(" AND ");
    }
  });
}

function isEvidence({ isAppendOnly }: TableModel): boolean {
  return isAppendOnly === true;
}

/** A refusal, and a rule of the schema, both end in an error. */
function isDone({ act }: Ending): Promise<boolean> {
  return act().catch(() => false);
}

function rowsIn(all: Snapshot, table: ModelName): Rows {
  return all.get(table) ?? new Map<string, Row>();
}

/** The tables with a row that the end has changed, taken out or made. */
function differing({ earlier, later }: { readonly earlier: Snapshot; readonly later: Snapshot }): readonly ModelName[] {
  const textsOf = (rows: Rows): string =>
    JSON.stringify([...rows].map(([key, row]) => [key, Object.values(row).map(text)]).sort());
  return [...earlier.keys()].filter((table) => textsOf(rowsIn(earlier, table)) !== textsOf(rowsIn(later, table)));
}

/** The rows as they are after the end, but where the act has changed what was rolled back. */
function back(
  table: ModelName,
  { earlier, later, now }: { readonly earlier: Snapshot; readonly later: Snapshot; readonly now: Snapshot },
): Rows {
  const [before, after] = [rowsIn(earlier, table), rowsIn(later, table)];
  const rows = new Map(rowsIn(now, table));
  for (const key of before.keys()) if (!after.has(key)) rows.delete(key);
  for (const [key, wanted] of after) {
    const [old, row] = [before.get(key), rows.get(key)];
    if (row === undefined) rows.set(key, wanted);
    else if (old !== undefined) {
      const kept = Object.entries(wanted).filter(([column]) => text(row[column]) === text(old[column]));
      rows.set(key, { ...row, ...Object.fromEntries(kept) });
    }
  }
  return rows;
}

function keyOf(table: ModelName, row: Row): string {
  return JSON.stringify(MODEL[table].key.map((column) => row[column]));
}

function text(value: Cell | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}
