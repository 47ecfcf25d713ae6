import { createHash, randomBytes } from "node:crypto";

import { expect } from "chai";
import { pino } from "pino";

import type { Account } from "../../src/domain/account.js";
import { type ApiKey, SCOPES } from "../../src/domain/api-key.js";
import type { Rail } from "../../src/domain/transaction.js";
import { type Actor, OPERATOR } from "../../src/domain/values/actor.js";
import { toCents } from "../../src/domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { API_KEYS } from "../../src/model/organizations.js";
import { type ModelName, TABLES_BY_NAME } from "../../src/model/tables.js";
import { type RunningServer, startServer } from "../../src/server.js";
import { keys } from "../../src/storage/keys.js";
import { verify } from "../../src/verify/verify.js";
import { GrpcCaller } from "../support/callers/grpc-caller.js";
import { configOf } from "../support/config.js";
import { execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { NO_SEAL_KEY_FILE } from "../support/master-key.js";
import { depositReference, SLOW_RAIL } from "../support/names.js";
import { createDestination, freezeAccount, setAccountTier, setLimits } from "../support/operations/accounts.js";
import { requireReceipts } from "../support/operations/book.js";
import { correctBook } from "../support/operations/corrections.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { setPayoutCheck } from "../support/operations/payouts.js";
import { setPayouts, setRailAccount } from "../support/operations/rails.js";
import { beginPayment, completePayment, mint, redeem } from "../support/operations/transactions.js";
import { createWebhookEndpoint, rotateWebhookSecret, updateWebhookEndpoint } from "../support/operations/webhooks.js";
import { makeKey } from "../support/service/tenants.js";
import { GivenBooks } from "./given/books.js";

// Somebody with the database alone changes a row, lets the server act on it, and puts the row back.
// No table shows it any more. Either the server has refused the act, or `kesc verify` finds it in
// the journal.

const HOUR_MILLIS = 3_600_000;
const BEGIN = Date.now() - 24 * HOUR_MILLIS;
/** No call that was under way when a key ended can still run then. */
const LATER = BEGIN + 3 * HOUR_MILLIS;
const AFTER_TWO_HOURS = toUnixMillis(BEGIN + HOUR_MILLIS);

/** The change of a column: its new value in SQL, and the rows. */
type Change = readonly [column: string, value: string, rows: string];

/** A new book, and what somebody can do with it. */
interface Given {
  readonly books: GivenBooks;
  /** An account with 100.00. */
  readonly account: Account;
  readonly sql: (...statements: readonly string[]) => Promise<void>;
  /** Makes the changes, does the work, and puts back what was there. */
  readonly meanwhile: (changes: readonly Change[], work: () => Promise<unknown>) => Promise<void>;
  /** Makes a key for everything. */
  readonly key: (expiresAt?: UnixMillis) => Promise<{ readonly id: ApiKey["id"]; readonly secret: string }>;
  /** A secret that the service never made. */
  readonly forged: { readonly secret: string; readonly sha256: string };
  /** Mints 50.00 by a call to the server, long after everything else. */
  readonly mintWith: (secret: string) => Promise<unknown>;
}

type Act = (given: Given) => Promise<unknown>;

/**
 * `finds` is what `kesc verify` finds if the server has acted. "nothing": only the server can tell,
 * by the `mac` of the row.
 */
type PutBack = readonly [name: string, tables: readonly ModelName[], act: Act, finds: RegExp | "nothing"];

class RefusedError extends Error {}
/** By the ledger, or by a trigger. */
const REFUSALS = /"kind":"refused"|is append-only/;

const OWN = (books: GivenBooks): string => `organization_id = '${books.organizationId}'`;
const BOOK = (books: GivenBooks): string =>
  `book = (SELECT number FROM books WHERE organization_id = '${books.organizationId}')`;
const ROW = ({ id }: { readonly id: string }): string => `id = '${id}'`;

/** A mint with a key that is in the table for this call alone. */
const withForgedKey =
  (id: string): Act =>
  async ({ books, sql, forged, mintWith }) => {
    const { id: real } = await books.createApiKey("real");
    const columns = API_KEYS_COLUMNS.filter((name) => name !== "id" && name !== "secret_sha256").join(", ");
    await sql(
      `INSERT INTO api_keys (id, secret_sha256, ${columns}) SELECT '${id}', '${forged.sha256}', ${columns}
         FROM api_keys WHERE ${ROW({ id: real })}`,
      `UPDATE api_keys SET scopes = '${SCOPES.join(" ")}' WHERE id = '${id}'`,
    );
    try {
      return await mintWith(forged.secret);
    } finally {
      await sql(`DELETE FROM api_keys WHERE id = '${id}'`);
    }
  };

const API_KEYS_COLUMNS = Object.keys(API_KEYS.columns);
/** Whether the server asks a row of `api_keys` for its `mac`. */
const HAS_MAC = API_KEYS_COLUMNS.includes("mac");

/** A mint with a real key, whose row says something else for that time. */
const withChangedKey =
  (
    change: (id: string) => readonly Change[],
    { expiresAt, isRevoked }: { expiresAt?: UnixMillis; isRevoked?: true } = {},
  ): Act =>
  async ({ books, key, meanwhile, mintWith }) => {
    const { id, secret } = await key(expiresAt);
    if (isRevoked) await books.revokeApiKey({ id } as ApiKey);
    await meanwhile(change(id), () => mintWith(secret));
  };

const limitOf = (cents: number) => ({ changes: { TRANSACTION: toCents(cents) } });
const mintOf =
  ({ books, account }: Given, amount: string) =>
  () =>
    books.move("mint", account, amount);
const payoutOf = ({ books, account }: Given) => books.move("redeem", account, "10.00", { rail: SLOW_RAIL });

/** Does `act` while the changes are there, after what was done before. */
const during =
  (
    changes: (given: Given) => readonly Change[],
    act: (given: Given) => Promise<unknown>,
    before: Act = () => Promise.resolve(),
  ): Act =>
  async (given) => {
    await before(given);
    await given.meanwhile(changes(given), () => act(given));
  };
const NO_KEY = /a key as the actor of transaction\.completed/;
const isActive = ({ account }: Given): readonly Change[] => [["accounts.status", "'ACTIVE'", ROW(account)]];
const ofBook =
  (column: string, value: string) =>
  ({ books }: Given): readonly Change[] => [[column, value, OWN(books)]];
const mints = (given: Given): Promise<unknown> => mintOf(given, "50.00")();
const freezes: Act = ({ books, account }) => books.freeze(account, "FRAUD", "order 1");

const PUT_BACK: readonly PutBack[] = [
  [
    "a key put in, and taken out",
    ["api_keys"],
    withForgedKey("key_forged"),
    /a key of the book that was created before/,
  ],
  ["a key put in with the name of the machine", ["api_keys"], withForgedKey("operator"), NO_KEY],
  ["a key put in with the name of a rail", ["api_keys"], withForgedKey("mpesa"), NO_KEY],
  [
    "the secret of a real key exchanged",
    ["api_keys"],
    async ({ key, forged, meanwhile, mintWith }) => {
      const { id } = await key();
      await meanwhile([["api_keys.secret_sha256", `'${forged.sha256}'`, ROW({ id })]], () => mintWith(forged.secret));
    },
    "nothing",
  ],
  [
    "a revoked key that lives again",
    ["api_keys"],
    withChangedKey(
      (id) => [
        ["api_keys.revoked_at", "NULL", ROW({ id })],
        ["api_keys.revoked_seq", "NULL", ROW({ id })],
      ],
      { isRevoked: true },
    ),
    /a key that was neither revoked nor expired/,
  ],
  [
    "an expired key that lives on",
    ["api_keys"],
    withChangedKey((id) => [["api_keys.expires_at", "NULL", ROW({ id })]], { expiresAt: AFTER_TWO_HOURS }),
    /a key that was neither revoked nor expired/,
  ],
  [
    "a key for reads that writes",
    ["api_keys"],
    async ({ books, forged, meanwhile, mintWith }) => {
      const { id } = await books.createApiKey("reads");
      const changes: readonly Change[] = [
        ["api_keys.scopes", `'${SCOPES.join(" ")}'`, ROW({ id })],
        ["api_keys.secret_sha256", `'${forged.sha256}'`, ROW({ id })],
      ];
      await meanwhile(changes, () => mintWith(forged.secret));
    },
    /a key with the scope transactions:write/,
  ],
  [
    "a frozen account that mints",
    ["accounts", "freezes"],
    during(isActive, mints, freezes),
    /transaction\.completed with debit reserve, credit available, 50\.00 only when ACTIVE \| FROZEN/,
  ],
  [
    "a frozen account that redeems",
    ["accounts"],
    during(isActive, ({ books, account }) => books.move("redeem", account, "50.00"), freezes),
    /only when ACTIVE \| FROZEN/,
  ],
  [
    "a payout of a frozen account that begins",
    ["accounts"],
    async (given) => {
      const { id } = await payoutOf(given);
      await during(isActive, ({ books }) => books.do((of) => beginPayment(of, id)), freezes)(given);
    },
    /transaction\.processing with no posting only when ACTIVE \| FROZEN/,
  ],
  [
    "a freeze of an operator that a key lifts",
    ["freezes"],
    async ({ books, account, meanwhile }) => {
      const frozen = await books.do((id) => ({ ...freezeAccount(id, account.id), actor: OPERATOR }));
      await meanwhile([["freezes.created_by", `'${books.actor}'`, ROW(frozen.freeze)]], () =>
        books.unfreeze(frozen, "thawed"),
      );
    },
    /an operator as the actor, as one made the freeze \| key_/,
  ],
  [
    "a balance that somebody raised",
    ["accounts", "books"],
    during(
      ({ account }) => [["accounts.available_cents", "900000", ROW(account)]],
      ({ books, account }) => books.move("redeem", account, "90.00"),
    ),
    /available 10\.00, held 0\.00 after the row/,
  ],
  [
    "a limit that somebody raised",
    ["books"],
    during(ofBook("books.limits", "replace(limits, '1000', '900000')"), mints, ({ books }) =>
      books.do((id) => setLimits(id, limitOf(1_000))),
    ),
    /at most 10\.00, the limit at that time \| 50\.00/,
  ],
  [
    "a limit of the day whose use somebody has reset",
    ["accounts", "books"],
    async (given) => {
      const { books, account, meanwhile, sql } = given;
      await books.do((id) => setLimits(id, { changes: { DAY: toCents(6_000) } }));
      await books.move("mint", account, "50.00");
      const none: readonly Change[] = [
        ["books.day_minted_cents", "0", OWN(books)],
        ["accounts.day_minted_cents", "0", ROW(account)],
      ];
      await meanwhile(none, mintOf(given, "20.00"));
      for (const [table, rows] of [
        ["books", OWN(books)],
        ["accounts", ROW(account)],
      ] as const)
        await sql(`UPDATE ${table} SET day_minted_cents = 7000 WHERE ${rows}`);
    },
    /at most 60\.00, the limit at that time \| 70\.00/,
  ],
  [
    "a tier that somebody changed",
    ["accounts"],
    during(
      ({ account }) => [["accounts.tier", "'default'", ROW(account)]],
      mints,
      async ({ books, account }) => {
        await books.do((id) => setLimits(id, { tier: "small", ...limitOf(1_000) }));
        await books.do((id) => setAccountTier(id, account.id));
      },
    ),
    /at most 10\.00, the limit at that time \| 50\.00/,
  ],
  [
    "a suspended organization that mints",
    ["books"],
    during(ofBook("books.suspended_seq", "NULL"), mints, ({ books }) => books.changeSuspension(true, "fraud")),
    /no such row while the organization is suspended \| transaction\.completed/,
  ],
  [
    "a mint without the receipt that the organization requires",
    ["books"],
    during(ofBook("books.receipts_required_seq", "NULL"), mints, ({ books }) => books.do((id) => requireReceipts(id))),
    /a receipt, as the organization required at that time \| none/,
  ],
  [
    "a live organization that is a sandbox for a deposit",
    ["organizations", "rail_accounts"],
    async ({ books, meanwhile }) => {
      const change: Change = ["organizations.is_sandbox", "1", `id = '${books.organizationId}'`];
      const deposit = { rail: "sandbox" as Rail, actor: "sandbox" as Actor };
      await meanwhile([change], () => books.do((id) => receiveDeposit(id, { ...deposit, receipt: "forged" })));
    },
    /no sandbox in the book of a live organization \| deposit\.received/,
  ],
  [
    "payouts that somebody opened",
    ["rail_accounts"],
    async (given) => {
      const { books, meanwhile } = given;
      const rail = await books.do((id) => setRailAccount(id));
      const { id } = await payoutOf(given);
      await books.do((of) => setPayouts(of, "closed"));
      const account = "resource" in rail ? rail.resource?.id : undefined;
      await meanwhile([["rail_accounts.payouts", "'open'", ROW({ id: String(account) })]], () =>
        books.do((of) => beginPayment(of, id, 2)),
      );
    },
    /no payout while those of the rail are closed \| mpesa/,
  ],
  [
    "what one person may do alone, raised by somebody",
    ["rail_accounts"],
    async ({ books, meanwhile }) => {
      await books.do((id) => setRailAccount(id, { resolveAloneMaxCents: toCents(100) }));
      await meanwhile([["rail_accounts.resolve_alone_max_cents", "900000", OWN(books)]], () =>
        books.do((id) => correctBook("bookReceipt", id, { amountCents: 5_000, key: "alone", target: "r9" })),
      );
    },
    /at most 1\.00 by one person alone, and 10\.00 in a day \| 50\.00, and 50\.00 in the day/,
  ],
  [
    "a destination that is paid before its time",
    ["destinations"],
    async ({ books, account, meanwhile }) => {
      const made = await books.do((id) => createDestination(id, account.id, { coolingMillis: HOUR_MILLIS }));
      const terms = {
        destinations: { TILL: { minCents: toCents(1), maxCents: toCents(100_000), stepCents: toCents(1) } },
      };
      const order = { accountId: account.id, amount: "10.00", reference: "out", rail: SLOW_RAIL, terms };
      await meanwhile([["destinations.usable_at", "created_at", ROW(made)]], () =>
        books.do((organizationId) => ({ ...redeem({ organizationId, ...order }), destinationId: made.id })),
      );
    },
    /a destination of the account that could be paid at that time \| dst_/,
  ],
  [
    "a payout that begins twice",
    ["transactions", "payments"],
    async (given) => {
      const { books, meanwhile } = given;
      const order = await payoutOf(given);
      await books.do((id) => beginPayment(id, order.id));
      const changes: readonly Change[] = [
        ["transactions.status", "'PENDING'", ROW(order)],
        ["payments.state", "'READY'", `transaction_id = '${order.id}'`],
      ];
      await meanwhile(changes, () => books.do((id) => beginPayment(id, order.id)));
    },
    /after PROCESSING \| transaction\.processing/,
  ],
  [
    "a payout that is held, and begins",
    ["transactions", "payments"],
    async (given) => {
      const { books, meanwhile } = given;
      await books.do((id) => setLimits(id, { type: "REDEEM", changes: { HELD_AMOUNT: toCents(0) } }));
      const order = await payoutOf(given);
      await meanwhile([["transactions.held_for", "NULL", ROW(order)]], () =>
        books.do((id) => beginPayment(id, order.id)),
      );
    },
    /transaction\.released before the rail is asked \| transaction\.processing/,
  ],
  [
    "a payout that waits for the check, and begins",
    ["transactions", "payments"],
    async (given) => {
      const { books, meanwhile } = given;
      await books.do((id) => setPayoutCheck(id));
      const order = await payoutOf(given);
      await meanwhile([["transactions.held_for", "NULL", ROW(order)]], () =>
        books.do((id) => beginPayment(id, order.id)),
      );
    },
    /transaction\.released before the rail is asked \| transaction\.processing/,
  ],
  [
    "an order over more than was ordered",
    ["transactions"],
    async ({ books, account, meanwhile }) => {
      const order = await books.move("mint", account, "10.00", { rail: SLOW_RAIL });
      await books.do((id) => beginPayment(id, order.id));
      await meanwhile([["transactions.amount_cents", "900000", ROW(order)]], () =>
        books.do((id) => completePayment(id, order.id, { receipt: "r1" })),
      );
    },
    /transaction\.completed with debit reserve, credit available, 10\.00 .*\| .* 9000\.00/,
  ],
  [
    "a deposit for the account of somebody else",
    ["accounts", "deposits"],
    async ({ books, account, meanwhile }) => {
      const typed = depositReference(0);
      const payee = await books.createAccount("payee", { depositReferences: [typed] });
      const changes: readonly Change[] = [
        ["accounts.deposit_reference", "NULL", ROW(payee)],
        ["accounts.deposit_reference", `'${typed}'`, ROW(account)],
      ];
      await meanwhile(changes, () => books.do((id) => receiveDeposit(id, { receipt: "d2", typed })));
    },
    /the account whose reference the payer typed \| acc_/,
  ],
  [
    "a deposit over more than came in",
    ["deposits"],
    async ({ books, account, meanwhile }) => {
      await books.do((id) => receiveDeposit(id, { receipt: "d0", amountCents: toCents(9_000) }));
      await books.do((id) => receiveDeposit(id, { receipt: "d1" }));
      await meanwhile([["deposits.amount_cents", "5000", `${BOOK(books)} AND receipt = 'd1'`]], () =>
        books.do((organizationId) =>
          mint({ organizationId, accountId: account.id, amount: "50.00", reference: "claim", receipt: "d1" }),
        ),
      );
    },
    /amount_cents 500 \| amount_cents 5000/,
  ],
  [
    "a correction that somebody proposed for another person",
    ["proposals"],
    async ({ books, meanwhile }) => {
      const given = { amountCents: 400, key: "book", target: "r3" };
      await books.do((id) => correctBook("bookReceipt", id, { ...given, person: "mallory" }));
      await meanwhile([["proposals.person", "'amina'", BOOK(books)]], () =>
        books.do((id) => correctBook("bookReceipt", id, { ...given, person: "mallory" })),
      );
    },
    /a new proposal \| an equal one/,
  ],
  [
    "a webhook endpoint with the bytes of another url, when its types change",
    ["webhook_endpoints"],
    async ({ books, meanwhile }) => {
      const { id: endpoint } = await books.do((id) => createWebhookEndpoint(id));
      await meanwhile([["webhook_endpoints.url", "secrets", OWN(books)]], () =>
        books.do((id) => updateWebhookEndpoint(id, endpoint, { types: { only: undefined } })),
      );
    },
    "nothing",
  ],
  [
    "a paused webhook endpoint that is active, when its secret is rotated",
    ["webhook_endpoints"],
    async ({ books, meanwhile }) => {
      const { id: endpoint } = await books.do((id) => createWebhookEndpoint(id));
      await books.do((id) => updateWebhookEndpoint(id, endpoint, { status: "PAUSED" }));
      await meanwhile([["webhook_endpoints.status", "'ACTIVE'", OWN(books)]], () =>
        books.do((id) => rotateWebhookSecret(id, endpoint)),
      );
    },
    "nothing",
  ],
  [
    "a row of the journal that names another author",
    ["journal"],
    async ({ books, sql }) => {
      await sql(`UPDATE journal SET actor = 'mallory' WHERE ${BOOK(books)}`);
    },
    "nothing",
  ],
];

/** Why a change of other tables, and of the other columns, gains nothing. */
const NO_GAIN: Readonly<Partial<Record<ModelName, string>>> = {
  book_keys: "the master key decrypts none but its own",
  account_holders: "the key of the book decrypts a value only in its own row",
  payments: "the number is decrypted only in its own row",
  idempotency_keys: "a replay shows a resource of the same book",
  rail_messages: "the rail itself is asked before an order ends (docs/security.md)",
  seals: "they are evidence, and decide nothing",
  seal_tiles: "they are evidence, and decide nothing",
  seal_alarms: "they are evidence, and decide nothing",
  webhook_retries: "they say when an event is delivered again",
  webhook_log: "it says what was delivered",
  account_marks: "the reads of the past are right without them",
  book_marks: "the reads of the past are right without them",
  payout_files: "a row of a file is redeemed once, and none of a stopped one (test/verify/roll-back.test.ts)",
  payout_lists: "the server asks for the hash of the entries (test/storage/payout-lists.test.ts)",
  payout_parts: "each row of a file is paid once, by its reference",
  reserve_places: "they are figures for people, and decide nothing",
  leases: "the ledger grants each payment once, whoever has the lease",
  book_moves: "they say where a book is",
  operator_acts: "the server asks for the row of the chain (test/verify/operator-forgeries.test.ts)",
  operator_proposals: "the server asks for the row of the chain",
  operator_decisions: "the server asks for the row of the chain",
  operator_keys: "the master key decrypts none but its own",
  operator_chain: "its macs need the master key",
  passkeys: "a row that no act names is none of an operator",
  sessions: "the server asks for the mac (test/operators/sign-in.test.ts)",
  restores: "it says whether a person has confirmed who acts after a restore (docs/security.md)",
  sign_in_tokens: "the server asks for the mac (test/operators/sign-in.test.ts)",
};

describe("what somebody changes in the database, lets the server act on, and puts back", () => {
  let opened: TestDatabase;
  let server: RunningServer;
  let grpc: GrpcCaller;
  before(async () => {
    opened = await openTestDatabase("sqlite");
    const { database } = opened;
    const options = { database, logger: pino({}, { write: () => undefined }), now: () => toUnixMillis(LATER) };
    server = await startServer(
      configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0", KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE }),
      options,
    );
    grpc = new GrpcCaller(server.address);
  });
  after(async () => {
    grpc.close();
    await server.stop();
    await opened.dispose();
  });

  it("has a line for each table", () => {
    const named = new Set<string>([...PUT_BACK.flatMap(([, tables]) => tables), ...Object.keys(NO_GAIN)]);
    expect(TABLES_BY_NAME.map(([name]) => name).filter((name) => !named.has(name))).to.deep.equal([]);
  });

  for (const [name, , act, finds] of PUT_BACK) {
    it(name, async () => {
      const books = await GivenBooks.open(opened.database, name, BEGIN);
      const account = await books.createAccount("amina");
      await books.move("mint", account, "100.00");
      const before = await findings(books);
      expect(before).to.equal("");
      const isRefused = await act(given(books, account)).then(
        () => false,
        (error: unknown) => {
          if (error instanceof RefusedError || REFUSALS.test(String(error))) return true;
          throw error;
        },
      );
      const after = await findings(books);
      if (isRefused) expect(after).to.equal("");
      else if (finds === "nothing") expect(HAS_MAC, "the server asks for the mac").to.equal(false);
      else expect(after).to.match(finds);
    });
  }

  async function findings({ organizationId }: GivenBooks): Promise<string> {
    const { firstFindings } = await verify(opened.database, { organizationId });
    return firstFindings.map(({ table, expected, found }) => `${table}: ${expected} | ${found}`).join("\n");
  }

  function given(books: GivenBooks, account: Account): Given {
    const { organizationId } = books;
    const sql: Given["sql"] = async (...statements) => {
      // Another connection would wait for the server, whose turn comes only when this one is done.
      await opened.cell.transact((session) => session.write(statements.map((each) => ({ sql: each, rows: [{}] }))));
    };
    const secret = `kesc_0_${randomBytes(32).toString("base64url")}`;
    return {
      books,
      account,
      sql,
      forged: { secret, sha256: createHash("sha256").update(secret).digest("hex") },
      async meanwhile(changes, work) {
        const back: string[] = [];
        // The columns of one row change together, as its checks demand.
        for (const [place, all] of Map.groupBy(changes, ([column, , rows]) => `${tableOf(column)} WHERE ${rows}`)) {
          const sets: string[] = [];
          const kept: string[] = [];
          for (const [column, value] of all) {
            const [, name = ""] = column.split(".");
            const before = `SELECT quote(${name}) AS value FROM ${place}`;
            const [row] = await execute<{ readonly value: string }>(opened.address, before);
            sets.push(`${name} = ${value}`);
            kept.push(`${name} = ${String(row?.value)}`);
          }
          const [table, rows] = [place.slice(0, place.indexOf(" ")), place.slice(place.indexOf(" WHERE ") + 7)];
          back.push(`UPDATE ${table} SET ${kept.join(", ")} WHERE ${rows}`);
          await sql(`UPDATE ${table} SET ${sets.join(", ")} WHERE ${rows}`);
        }
        await work().finally(() => sql(...back.reverse()));
      },
      async key(expiresAt) {
        const made = keys(opened.database, () => toUnixMillis(BEGIN + 60_000));
        return makeKey(made, organizationId, expiresAt === undefined ? {} : { expiresAt });
      },
      async mintWith(secret) {
        const request = { account_id: account.id, amount: "50.00", reference: `forged-${books.organizationId}` };
        const { code, message } = await grpc.call("Mint", request, { key: secret });
        if (code === UNAUTHENTICATED) throw new RefusedError(message);
        expect(message).to.equal("OK");
      },
    };
  }
});

const UNAUTHENTICATED = 16;

function tableOf(column: string): string {
  return column.split(".")[0] ?? "";
}
