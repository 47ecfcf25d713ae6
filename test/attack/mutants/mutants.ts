/** A bug that somebody could have written: what of one compiled file becomes what. */
export interface Mutant {
  readonly name: string;
  /** Below dist/. */
  readonly file: string;
  /** Each text stands in the file exactly once. */
  readonly edits: readonly { readonly from: string; readonly to: string }[];
}

const BATCH = "src/ledger/commit-batch.js";
const BOOK = "src/ledger/batch-book.js";
const TABLE = "src/ledger/batch-table.js";
const LEDGER = "src/ledger/ledger.js";
const QUEUE = "src/ledger/fair-queue.js";
const MOVE_MONEY = "src/domain/operations/move-money.js";
const CANCEL = "src/domain/operations/cancel-transaction.js";
const CREATE_ACCOUNT = "src/domain/operations/create-account.js";
const STORE = "src/storage/sql/ledger-store.js";
const TRANSACTION = "src/storage/sqlite/transaction.js";

export const MUTANTS: readonly Mutant[] = [
  {
    name: "a batch is answered before its commit",
    file: BATCH,
    edits: [
      {
        from: "return store.transact(async (transaction) => {",
        to: "return new Promise((answered, failed) => store.transact(async (transaction) => {",
      },
      { from: "        return results;\n    });", to: "        answered(results);\n    }).catch(failed));" },
    ],
  },
  {
    name: "a commit that failed is answered as done",
    file: LEDGER,
    edits: [
      {
        from: 'for (const { resolve } of batch)\n                resolve(refused({ reason: "STORAGE_UNAVAILABLE" }));',
        to: `for (const { resolve, command } of batch)
                resolve({ kind: "done", resource: { ...command, id: command.newTransactionId }, replayed: false });`,
      },
    ],
  },
  {
    name: "a commit whose outcome is unknown is answered as never started",
    file: LEDGER,
    edits: [
      {
        from: 'resolve(refused({ reason: "STORAGE_UNAVAILABLE" }))',
        to: 'resolve(refused({ reason: "SHUTTING_DOWN" }))',
      },
    ],
  },
  {
    name: "an earlier transaction with the reference is not looked for",
    file: MOVE_MONEY,
    edits: [{ from: "if (existing === undefined)\n        return undefined;", to: "return undefined;" }],
  },
  {
    name: "a repeated call is refused: who heard nothing never learns",
    file: MOVE_MONEY,
    edits: [
      {
        from: "return differing.length === 0\n        ? replay(existing",
        to: "return differing.length < 0\n        ? replay(existing",
      },
    ],
  },
  {
    name: "a repeated call moves the money once more",
    file: MOVE_MONEY,
    edits: [
      {
        from: "if (repeated !== undefined)\n        return repeated;",
        to: `if (repeated?.kind === "replay")
        command = { ...command, reference: command.reference + "'", idempotencyKey: undefined };
    else if (repeated !== undefined)
        return repeated;`,
      },
    ],
  },
  {
    name: "a repeated call is answered with a new id",
    file: MOVE_MONEY,
    edits: [
      {
        from: "replay(existing, putIdempotencyKey(",
        to: "replay({ ...existing, id: command.newTransactionId }, putIdempotencyKey(",
      },
    ],
  },
  {
    name: "a batch that lost a race runs again with new references",
    file: LEDGER,
    edits: [
      {
        from: "return await committer.commit(commands, now());",
        to: `return await committer.commit(
                    tries === 1 ? commands : commands.map((each) => ({ ...each, reference: each.reference + "'" })), now());`,
      },
    ],
  },
  {
    name: "the idempotency key is not looked for",
    file: MOVE_MONEY,
    edits: [{ from: "if (resourceId !== undefined) {", to: "if (false) {" }],
  },
  {
    name: "the idempotency key is not saved with the effect",
    file: MOVE_MONEY,
    edits: [{ from: "...putIdempotencyKey(command.idempotencyKey, transaction, now),", to: "" }],
  },
  {
    name: "the idempotency key of a replay is not saved",
    file: BATCH,
    edits: [
      { from: "book.apply(decision.effect);", to: 'if (decision.kind === "effect") book.apply(decision.effect);' },
    ],
  },
  {
    name: "an account is made without looking for the user's",
    file: CREATE_ACCOUNT,
    edits: [{ from: "if (existing !== undefined) {", to: "if (false) {" }],
  },
  {
    name: "the last journal row of a batch is dropped",
    file: BOOK,
    edits: [
      {
        from: "entries: this.#entries,",
        to: "entries: this.#entries.length > 1 ? this.#entries.slice(0, -1) : this.#entries,",
      },
    ],
  },
  {
    name: "the supply forgets what goes out",
    file: BOOK,
    edits: [
      {
        from: "if (entry.posting !== undefined)",
        to: 'if (entry.posting !== undefined && entry.posting.credit !== "reserve")',
      },
    ],
  },
  {
    name: "the second command of a batch does not see the first one's balance",
    file: BOOK,
    edits: [
      {
        from: "return ownedBy(organizationId, this.#tables.accounts.get(id));",
        to: "return ownedBy(organizationId, this.#tables.accounts.loaded(id));",
      },
      {
        from: "accounts: new BatchTable(KEYS.accounts, loaded.accounts),",
        to: `accounts: Object.assign(new BatchTable(KEYS.accounts, loaded.accounts), {
                loaded(id) { return loaded.accounts.findLast((each) => each.id === id) ?? this.get(id); },
            }),`,
      },
    ],
  },
  {
    name: "the second command of a batch does not see the first one's reference",
    file: TABLE,
    edits: [
      {
        from: "            this.#add(kept);\n        }\n        kept.row = row;",
        to: "            this.#rows.set(this.#keys.keyOf(kept.row), kept);\n        }\n        kept.row = row;",
      },
    ],
  },
  {
    name: "a hold is released each time somebody cancels",
    file: CANCEL,
    edits: [
      { from: 'if (transaction.status === "CANCELED")\n        return replay(transaction);\n', to: "" },
      {
        from: 'if (transaction.status !== "PENDING") {',
        to: 'if (transaction.status !== "PENDING" && transaction.status !== "CANCELED") {',
      },
    ],
  },
  {
    name: "a canceled redemption keeps its hold",
    file: CANCEL,
    edits: [{ from: 'transaction.type === "REDEEM"', to: 'transaction.type === "HOLD"' }],
  },
  {
    name: "a redemption over a slow rail leaves at once",
    file: MOVE_MONEY,
    edits: [
      { from: "completed ? redeemPosting(amountCents) : holdPosting(amountCents)", to: "redeemPosting(amountCents)" },
    ],
  },
  {
    name: "a mint over a slow rail credits at once",
    file: MOVE_MONEY,
    edits: [
      { from: "return completed ? mintPosting(amountCents) : undefined;", to: "return mintPosting(amountCents);" },
    ],
  },
  {
    name: "one cent more than there is may go out",
    file: MOVE_MONEY,
    edits: [{ from: "return amountCents > availableCents", to: "return amountCents > availableCents + 1" }],
  },
  {
    name: "a refusal freezes the account",
    file: BATCH,
    edits: [
      {
        from: 'return { kind: "refused", refusal: decision.refusal };',
        to: `{
                    const account = "accountId" in command ? book.account(command.organizationId, command.accountId) : undefined;
                    if (account?.status === "ACTIVE") book.apply({
                        puts: [{ table: "accounts", row: { ...account, status: "FROZEN" } }],
                        entries: [{
                            organizationId: account.organizationId, accountId: account.id, transactionId: undefined,
                            kind: "account.frozen", posting: undefined, availableAfterCents: account.availableCents,
                            heldAfterCents: account.heldCents, actor: command.actor, reason: "", recordedAt: now,
                        }],
                    });
                }
                return { kind: "refused", refusal: decision.refusal };`,
      },
    ],
  },
  {
    name: "a command is started after its deadline",
    file: LEDGER,
    edits: [{ from: "if (queued.deadline > startedAt)", to: "if (true)" }],
  },
  {
    name: "the last of a batch gets no answer",
    file: LEDGER,
    edits: [
      {
        from: "settle(queued, results[index]);",
        to: "if (index === 0 || index < batch.length - 1) settle(queued, results[index]);",
      },
    ],
  },
  {
    name: "the answers of a batch go to the wrong callers",
    file: LEDGER,
    edits: [{ from: "settle(queued, results[index]);", to: "settle(queued, results[batch.length - 1 - index]);" }],
  },
  {
    name: "one command that the database does not take fails its whole batch",
    file: LEDGER,
    edits: [{ from: "await this.#commitAndSettle([queued]);", to: "queued.reject(error);" }],
  },
  {
    name: "the server ends before its last batch is answered",
    file: LEDGER,
    edits: [
      {
        from: "if (this.#batchesInFlight === 0 && this.#queue.length === 0)\n            this.#closed",
        to: "if (this.#queue.length === 0)\n            this.#closed",
      },
    ],
  },
  {
    name: "a batch that lost a race is given up",
    file: LEDGER,
    edits: [{ from: "if (!isConflict || tries === CONFLICT_TRIES_MAX)", to: "if (error instanceof Error)" }],
  },
  {
    name: "the queue has no bound",
    file: QUEUE,
    edits: [{ from: "if ((line?.items.length ?? 0) >= this.#lengthMax - this.#length)", to: "if (false)" }],
  },
  {
    name: "a command whose deadline passed in the queue gets no answer",
    file: LEDGER,
    edits: [
      {
        from: 'queued.resolve(refused({ reason: "DEADLINE_EXCEEDED" }));',
        to: "void 0;",
      },
    ],
  },
  {
    name: "who found no room in the queue is never told",
    file: LEDGER,
    edits: [{ from: "done < count", to: "done < 0" }],
  },
  {
    name: "SQLite commits each statement by itself",
    file: TRANSACTION,
    edits: [
      { from: "        begin();\n", to: "" },
      { from: "            commit();\n", to: "" },
    ],
  },
  {
    name: "SQLite commits a batch only when the next one begins",
    file: TRANSACTION,
    edits: [
      { from: "            commit();\n", to: "" },
      { from: "        begin();\n", to: "        if (connection.inTransaction) commit();\n        begin();\n" },
    ],
  },
  {
    name: "SQLite does not roll a failed batch back",
    file: TRANSACTION,
    edits: [{ from: 'statements.prepare("ROLLBACK").run();', to: 'statements.prepare("COMMIT").run();' }],
  },
  {
    name: "balances are saved, and their supply is not",
    file: STORE,
    edits: [{ from: "rows: changes.supplyChanges.map(supplyChangeRowOf)", to: "rows: []" }],
  },
  {
    name: "the head of the journal stays where it was",
    file: STORE,
    edits: [{ from: "headSeq + changes.entries.length", to: "headSeq" }],
  },
];

/**
 * Plants a mutant into the compiled code of its file. Throws unless each text stands there exactly
 * once: a mutant that no longer fits the code finds nothing out.
 */
export function plant({ edits }: Mutant, code: string): string {
  return edits.reduce((mutated, { from, to }) => {
    const times = mutated.split(from).length - 1;
    if (times !== 1) throw new Error(`found ${String(times)} times, not once: ${from}`);
    return mutated.replace(from, () => to);
  }, code);
}
