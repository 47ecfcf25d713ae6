import { OF_DEPOSITS } from "./of-deposits.js";
import { OF_LIMITS } from "./of-limits.js";
import { OUTGOING } from "./outgoing.js";
import type { Mutant } from "./plant.js";

const BATCH = "src/ledger/commit-batch.js";
const BOOK = "src/ledger/batch-book.js";
const TABLE = "src/ledger/batch-table.js";
const LEDGER = "src/ledger/ledger.js";
const QUEUE = "runtime/fair-queue.js";
const REPEAT = "src/domain/repeat.js";
const MOVE_MONEY = "src/domain/operations/move-money.js";
const MOVEMENT = "src/domain/movement.js";
const REVERSE = "src/domain/operations/reverse-transaction.js";
const CANCEL = "src/domain/operations/cancel-transaction.js";
const CREATE_ACCOUNT = "src/domain/operations/create-account.js";
const FREEZE = "src/domain/operations/freeze-account.js";
const UNFREEZE = "src/domain/operations/unfreeze-account.js";
const ERASE = "src/domain/operations/erase-account.js";
const BEGIN_PAYMENT = "src/domain/operations/begin-payment.js";
const ADVANCE_PAYMENT = "src/domain/operations/advance-payment.js";
const CHANGE_RAIL_ACCOUNTS = "src/domain/operations/change-rail-accounts.js";
const CORRECT_BOOK = "src/domain/operations/correct-book.js";
const RESOLVE = "src/domain/operations/resolve-transaction.js";
const SECOND_PERSON = "src/domain/second-person.js";
const COMPLETE_PAYMENT = "src/domain/operations/complete-payment.js";
const FAIL_PAYMENT = "src/domain/operations/fail-payment.js";
const STORE = "src/storage/sql/ledger-store.js";
const STATEMENTS = "src/storage/sql/ledger-statements.js";
const ENCRYPTION = "src/storage/secrets/encryption.js";
const PERSONAL_DATA = "src/storage/secrets/personal-data.js";
const CONTENT_HASH = "src/storage/secrets/content-hash.js";
const TRANSACTION = "src/storage/sqlite/transaction.js";
const EVENT = "src/events/event.js";
const POLLER = "src/settlement/payment-poller.js";
const MESSAGES = "src/settlement/messages.js";

const MERKLE = "src/seals/merkle.js";
const SEAL_STORE = "src/storage/seals/seal-store.js";

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
    edits: [
      { from: "existing: book.transactionWithReference(organizationId, reference),", to: "existing: undefined," },
    ],
  },
  {
    name: "a repeated call is refused: who heard nothing never learns",
    file: REPEAT,
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
    file: REPEAT,
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
    file: REPEAT,
    edits: [{ from: "if (resourceId !== undefined) {", to: "if (false) {" }],
  },
  {
    name: "the idempotency key is not saved with the effect",
    file: MOVEMENT,
    edits: [{ from: "...putIdempotencyKey(idempotencyKey, transaction, now),", to: "" }],
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
    edits: [
      {
        from: "existing: existingId && accountWithHolder(book, organizationId, existingId),",
        to: "existing: undefined,",
      },
    ],
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
    name: "the sums of a book forget what goes out",
    file: BOOK,
    edits: [
      {
        from: "posting === undefined ? before.sums : postedToBook",
        to: 'posting === undefined || posting.credit === "reserve" ? before.sums : postedToBook',
      },
    ],
  },
  {
    name: "the sums of a batch go to its first book",
    file: BOOK,
    edits: [
      {
        from: "this.#changedBooks.add(organizationId);",
        to: `this.#changedBooks.add(organizationId);
        const [first] = this.#books.values();
        if (posting !== undefined && first.organizationId !== organizationId) {
            this.#books.set(organizationId, { ...this.bookOf(organizationId), sums: before.sums });
            this.#books.set(first.organizationId, { ...first, sums: postedToBook(first.sums, posting) });
            this.#changedBooks.add(first.organizationId);
        }`,
      },
    ],
  },
  {
    name: "the books of a batch share their numbers",
    file: BOOK,
    edits: [
      {
        from: "const seq = before.lastSeq + 1;",
        to: "const seq = Math.max(...[...this.#books.values()].map((each) => each.lastSeq)) + 1;",
      },
    ],
  },
  {
    name: "a row of another organization is found in a batch",
    file: BOOK,
    edits: [{ from: "return row?.organizationId === organizationId ? row : undefined;", to: "return row;" }],
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
        from: "            this.#add(kept);\n        }\n",
        to: "            this.#rows.set(this.#keys.keyOf(kept.row), kept);\n        }\n",
      },
    ],
  },
  {
    name: "an account with money is erased",
    file: ERASE,
    edits: [{ from: "if (availableCents > 0 || heldCents > 0)", to: "if (false)" }],
  },
  {
    name: "an erasure is in the journal, and the person stays",
    file: ERASE,
    edits: [{ from: "        person: undefined,\n", to: "" }],
  },
  {
    name: "a redemption over a slow rail begins without a phone number",
    file: MOVE_MONEY,
    edits: [
      {
        from: "phoneOf(book, command, railTerms);",
        to: 'phoneOf(book, command, railTerms) ?? { kind: "PHONE", number: "+254700000000", payable: railTerms.payable };',
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
    file: MOVEMENT,
    edits: [
      { from: "completed ? redeemPosting(amountCents) : holdPosting(amountCents)", to: "redeemPosting(amountCents)" },
    ],
  },
  {
    name: "a mint over a slow rail credits at once",
    file: MOVEMENT,
    edits: [
      { from: "return completed ? mintPosting(amountCents) : undefined;", to: "return mintPosting(amountCents);" },
    ],
  },
  {
    name: "one cent more than there is may go out",
    file: MOVEMENT,
    edits: [{ from: "return amountCents > availableCents", to: "return amountCents > availableCents + 1" }],
  },
  {
    name: "the balance after a transaction is that before it",
    file: MOVEMENT,
    edits: [{ from: "completed ? posted.availableCents", to: "completed ? account.availableCents" }],
  },
  {
    name: "a transaction is reversed each time somebody asks",
    file: REVERSE,
    edits: [
      {
        from: "existing: book.transactionWithReference(organizationId, reversalReference(transactionId)),",
        to: "existing: undefined,",
      },
      {
        from: "reference: reversalReference(transactionId),",
        to: "reference: reversalReference(transactionId) + newTransactionId,",
      },
    ],
  },
  {
    name: "a reversal does the original once more",
    file: REVERSE,
    edits: [{ from: 'original.type === "MINT" ? "REDEEM" : "MINT"', to: "original.type" }],
  },
  {
    name: "a reversal can be reversed",
    file: REVERSE,
    edits: [{ from: 'if (corrects?.kind === "REVERSAL")', to: "if (false)" }],
  },
  {
    name: "a transaction on hold can be reversed",
    file: REVERSE,
    edits: [
      { from: 'if (status !== "COMPLETED")', to: "if (false)" },
      { from: 'return rail === DIRECT_RAIL ? undefined : "OTHER_RAIL";', to: "return undefined;" },
    ],
  },
  {
    name: "the money of a frozen account can be taken back",
    file: REVERSE,
    edits: [{ from: "refusalByStatus(account) ??", to: "" }],
  },
  {
    name: "a mint that was spent can be taken back",
    file: REVERSE,
    edits: [{ from: "refusalByAmount(book, account, { type, amountCents })", to: "undefined" }],
  },
  {
    name: "the original does not name its reversal",
    file: REVERSE,
    edits: [{ from: '[...effect.puts, { table: "transactions", row: reversed }]', to: "effect.puts" }],
  },
  {
    name: "the link of an original to its reversal is not saved",
    file: "src/storage/sql/tables.js",
    edits: [{ from: "reversed_by_id: reversedById ?? null", to: "reversed_by_id: null" }],
  },
  {
    name: "a content hash says nothing of what a transaction corrects",
    file: "src/storage/sql/journal-rows.js",
    edits: [{ from: ", ...correction]", to: "]" }],
  },
  {
    name: "an idempotency key merges two payments that differ in their references alone",
    file: MOVE_MONEY,
    edits: [{ from: "({ reference }, existing) => reference === existing.reference", to: "() => true" }],
  },
  {
    name: "a refusal freezes the account",
    file: BATCH,
    edits: [
      {
        from: "return refused(decision.refusal);",
        to: `{
                    const account = "accountId" in command ? book.account(command.organizationId, command.accountId) : undefined;
                    const freezeId = \`frz_\${account?.id}\`;
                    if (account?.status === "ACTIVE") book.apply({
                        puts: [{ table: "accounts", row: { ...account, status: "FROZEN" } }, { table: "freezes", row: {
                            id: freezeId, organizationId: account.organizationId, accountId: account.id, reason: "OTHER",
                            note: "", createdBy: command.actor, createdAt: Math.max(clock, lastRecordedAt), lifted: undefined,
                        } }],
                        entries: [{
                            organizationId: account.organizationId, accountId: account.id, transactionId: undefined, freezeId,
                            kind: "account.frozen", posting: undefined, actor: command.actor, reason: "",
                            balancesAfter: { availableCents: account.availableCents, heldCents: account.heldCents },
                            recordedAt: Math.max(clock, lastRecordedAt),
                        }],
                    });
                }
                return refused(decision.refusal);`,
      },
    ],
  },
  {
    name: "an update changes any version, whatever the caller has read",
    file: "src/domain/operations/update-account.js",
    edits: [{ from: "command.etag !== etag", to: "false" }],
  },
  {
    name: "a repeat of a creation may have another phone number",
    file: CREATE_ACCOUNT,
    edits: [{ from: "phoneNumber === person?.phoneNumber", to: "true" }],
  },
  {
    name: "an account keeps its version when it changes",
    file: BOOK,
    edits: [{ from: "lastSeq: newest.seq", to: "lastSeq: put.row.lastSeq" }],
  },
  {
    name: "one unfreeze makes the account active, whatever else stands",
    file: UNFREEZE,
    edits: [{ from: "const others = standing.filter(({ id }) => id !== freezeId);", to: "const others = [];" }],
  },
  {
    name: "the end of a freeze is in the journal, and the freeze stands",
    file: UNFREEZE,
    edits: [{ from: '{ table: "freezes", row: lifted },', to: "" }],
  },
  {
    name: "a freeze of another account is lifted",
    file: UNFREEZE,
    edits: [{ from: "if (freeze?.accountId !== accountId)", to: "if (freeze === undefined)" }],
  },
  {
    name: "the idempotency key of a freeze is not saved",
    file: FREEZE,
    edits: [{ from: "...putIdempotencyKey(idempotencyKey, freeze, now),", to: "" }],
  },
  {
    name: "a second freeze forgets the first one",
    file: FREEZE,
    edits: [{ from: "accountOf(frozen, holder, [...freezes, freeze])", to: "accountOf(frozen, holder, [freeze])" }],
  },
  {
    name: "the standing freezes of an account are not loaded",
    file: STATEMENTS,
    edits: [{ from: "WHERE lifted_at IS NULL AND account_id IN", to: "WHERE lifted_at IS NOT NULL AND account_id IN" }],
  },
  {
    name: "times fall along a book",
    file: BATCH,
    edits: [{ from: "toUnixMillis(Math.max(clock, lastRecordedAt))", to: "clock" }],
  },
  {
    name: "a server whose clock is too fast commits",
    file: BATCH,
    edits: [{ from: "refuseFastClock(clock, loaded.begunAt);", to: "" }],
  },
  {
    name: "a server whose clock is too slow commits",
    file: BATCH,
    edits: [{ from: "if (behindMillis !== undefined)", to: "if (false)" }],
  },
  {
    name: "a suspended organization mints",
    file: BATCH,
    edits: [{ from: "if (suspendedSeq !== undefined && !holds)", to: "if (false)" }],
  },
  {
    name: "a book that moves takes commands",
    file: BATCH,
    edits: [{ from: 'if (state === "MOVING" || state === "MOVED")', to: 'if (state === "MOVED")' }],
  },
  {
    name: "a command is started after its deadline",
    file: LEDGER,
    edits: [{ from: "if (deadline > startedAt)", to: "if (true)" }],
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
    edits: [
      {
        from: "await this.#commitAndSettle(batch.slice(0, middle));",
        to: "for (const { reject } of batch.slice(0, middle)) reject(error);",
      },
    ],
  },
  {
    name: "half of a rejected batch gets no answer",
    file: LEDGER,
    edits: [{ from: "await this.#commitAndSettle(batch.slice(middle));", to: "void 0;" }],
  },
  {
    name: "a rejected command quarantines nobody",
    file: LEDGER,
    edits: [{ from: "this.#quarantine.add(first.command.organizationId);", to: "void 0;" }],
  },
  {
    name: "the server ends before its last batch is answered",
    file: LEDGER,
    edits: [
      {
        from: "const isIdle = this.#batchesInFlight === 0 && ",
        to: "const isIdle = ",
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
        from: 'resolve(refused({ reason: "DEADLINE_EXCEEDED" }));',
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
    name: "balances are saved, and the sums of their book are not",
    file: STATEMENTS,
    edits: [
      {
        from: "columns: BOOK_COLUMNS",
        to: 'columns: { number: "int64", last_seq: "int64", last_recorded_at: "int64" }',
      },
    ],
  },
  {
    name: "the last seq of a book stays where it was",
    file: "src/storage/sql/records/book-head-rows.js",
    edits: [{ from: "last_seq: lastSeq,", to: "last_seq: lastSeq - 1," }],
  },
  {
    name: "the last time of a book stays where it was",
    file: STATEMENTS,
    edits: [
      { from: "columns: BOOK_COLUMNS", to: "columns: (({ last_recorded_at, ...others }) => others)(BOOK_COLUMNS)" },
    ],
  },
  {
    name: "a row links to the row before it in the book, not to that of its account",
    file: STORE,
    edits: [{ from: "(this.#lastSeqs.get(accountId) ?? null)", to: "seq - 1" }],
  },
  {
    name: "a content hash says nothing of what the row created",
    file: STORE,
    edits: [{ from: "salts.of(seq), created }", to: "salts.of(seq), created: created.slice(0, 0) }" }],
  },
  {
    name: "a row of another book is loaded as one of ours",
    file: STORE,
    edits: [
      {
        from: "const book = this.#booksByNumber.get(row.book);",
        to: "const book = this.#booksByNumber.get(row.book) ?? this.#booksByNumber.values().next().value;",
      },
    ],
  },
  {
    name: "the place of a ciphertext is not authenticated",
    file: ENCRYPTION,
    edits: [
      { from: ".setAAD(bytesOf(context));\n    const first = typeof", to: ";\n    const first = typeof" },
      { from: "decipher.setAAD(bytesOf(context)).setAuthTag(tag);", to: "decipher.setAuthTag(tag);" },
    ],
  },
  {
    name: "a ciphertext of one account can be read as another's",
    file: PERSONAL_DATA,
    edits: [
      {
        from: 'return ["kesc-personal-data", organizationId, ownerId, field];',
        to: 'return ["kesc-personal-data", organizationId, field];',
      },
    ],
  },
  {
    name: "a blind index needs no key",
    file: PERSONAL_DATA,
    edits: [{ from: 'createHmac("sha256", index)', to: 'createHmac("sha256", "kesc")' }],
  },
  {
    name: "a blind index is the same for every field",
    file: PERSONAL_DATA,
    edits: [{ from: "JSON.stringify([field, folded])", to: "JSON.stringify([folded])" }],
  },
  {
    name: "a payment is begun by two servers",
    file: BEGIN_PAYMENT,
    edits: [{ from: ': payment.state === "READY"', to: ': payment.state !== "ENDED"' }],
  },
  {
    name: "a payment that the rail may have expires",
    file: FAIL_PAYMENT,
    edits: [{ from: 'payment.state !== "READY"', to: 'payment.state === "ACCEPTED"' }],
  },
  {
    name: "a payment takes a receipt that another one has",
    file: COMPLETE_PAYMENT,
    edits: [
      {
        from: "receipt === undefined ? undefined : this.#book.receipt(organizationId, receipt)",
        to: "undefined",
      },
    ],
  },
  {
    name: "a payment that succeeds late is dropped",
    file: COMPLETE_PAYMENT,
    edits: [{ from: "return this.#correct();", to: "return replay(transaction);" }],
  },
  {
    name: "a payment is postponed because an earlier request was lost",
    file: ADVANCE_PAYMENT,
    edits: [{ from: " || payment.sends !== sends", to: "" }],
  },
  {
    name: "a payment that is completed fails, and its hold is released",
    file: FAIL_PAYMENT,
    edits: [{ from: 'if (transaction.status === "COMPLETED")', to: "if (payment === undefined)" }],
  },
  {
    name: "a payment of another amount is completed by a report that names no amount",
    file: COMPLETE_PAYMENT,
    edits: [{ from: "isContradicted(transaction) && !this.#isWhole()", to: "false" }],
  },
  {
    name: "a payment of another amount fails, and its flag is gone",
    file: FAIL_PAYMENT,
    edits: [{ from: "if (mayHaveMoved(transaction))", to: "if (payment === undefined)" }],
  },
  {
    name: "a query fails a payout whose success is stored",
    file: "src/settlement/ledger-line.js",
    edits: [{ from: '(await this.#options.evidence.says("succeeded", work))', to: "false" }],
  },
  {
    name: "a success that comes after its order has failed raises no flag",
    file: MESSAGES,
    edits: [{ from: "return message.tries === 1 || (isDenied && message.tries === 0);", to: "return false;" }],
  },
  {
    name: "a payout is sent again although its callback is stored",
    file: "src/settlement/evidence.js",
    edits: [{ from: 'purpose !== "status"', to: "purpose === undefined" }],
  },
  {
    name: "a content hash has no salt",
    file: CONTENT_HASH,
    edits: [{ from: "`${salt}${JSON.stringify(fields)}`", to: "JSON.stringify(fields)" }],
  },
  {
    name: "the rail is called before the begin is on disk",
    file: POLLER,
    edits: [
      {
        from: "const begun = await line.begin(",
        to: "const early = await calls.send(rail, order);\n        const begun = await line.begin(",
      },
      { from: "const sent = await calls.send(rail, order);", to: "const sent = early;" },
    ],
  },
  {
    name: "the lease is the only guard: the rail is called although the begin was refused",
    file: POLLER,
    edits: [{ from: 'if (begun.kind === "refused")\n            return begun;', to: "" }],
  },
  {
    name: "a payment begins under an account at the rail that was changed since it was read",
    file: BEGIN_PAYMENT,
    edits: [{ from: "(railAccount?.revision ?? 0) !== command.railRevision", to: "false" }],
  },
  {
    name: "an account moves to another shortcode while the rail has its payments",
    file: CHANGE_RAIL_ACCOUNTS,
    edits: [{ from: "facts.movesPlace && payments > 0", to: "false" }],
  },
  {
    name: "an account is set after another change that the caller has not seen",
    file: CHANGE_RAIL_ACCOUNTS,
    edits: [{ from: "facts.accountsOfAll !== book.railAccountsOfAll()", to: "false" }],
  },
  {
    name: "a mint takes a receipt that the book has",
    file: MOVEMENT,
    edits: [{ from: "receipt === undefined ? undefined : book.receipt(organizationId, receipt)", to: "undefined" }],
  },
  {
    name: "one person corrects the book above the alone maximum",
    file: CORRECT_BOOK,
    edits: [{ from: "amountCents <= correctAloneMaxCents(book.railAccounts(organizationId))", to: "true" }],
  },
  {
    name: "one person resolves above the alone maximum",
    file: RESOLVE,
    edits: [{ from: "<= aloneMaxCents", to: ">= 0" }],
  },
  {
    name: "a person approves an own proposal",
    file: SECOND_PERSON,
    edits: [{ from: "if (standing.person === person)", to: "if (false)" }],
  },
  {
    name: "the rail is called although nobody knows whether the begin is on disk",
    file: POLLER,
    edits: [
      { from: 'if (begun.kind === "undecided" || begun.replayed)\n            return { kind: "stopped" };', to: "" },
    ],
  },
  {
    name: "the rail is called after the server stood still",
    file: POLLER,
    edits: [{ from: 'if (timing.now() >= grantEndsAt)\n            return { kind: "stopped" };', to: "" }],
  },
  {
    name: "a payout is sent again without a query",
    file: POLLER,
    edits: [
      {
        from: "const report = await calls.query(",
        to: 'const report = payment.state === "SENDING" ? { kind: "open", code: "" } : await calls.query(',
      },
    ],
  },
  {
    name: "a payout is sent again after the rail has forgotten its id",
    file: "src/settlement/limits.js",
    edits: [{ from: "SEND_AGAIN_MILLIS_MAX = 10 *", to: "SEND_AGAIN_MILLIS_MAX = 1000 *" }],
  },
  {
    name: "a mint is sent again",
    file: "src/domain/operations/begin-payment.js",
    edits: [{ from: 'payment.state === "SENDING" && hasIdAtRail(payment)', to: 'payment.state === "SENDING"' }],
  },
  {
    name: "a payout to a till is sent again",
    file: "src/domain/payment.js",
    edits: [{ from: 'return direction === "REDEEM" && numberKind === "PHONE";', to: 'return direction === "REDEEM";' }],
  },
  {
    name: "what nobody knows for 48 hours is released",
    file: POLLER,
    edits: [
      {
        from: "await line.flagUnknown(work, code);",
        to: 'await line.end(work, { kind: "failed", movement: undefined, code, failure: "RAIL_REFUSED" });',
      },
    ],
  },
  {
    name: "a message is believed without a query",
    file: MESSAGES,
    edits: [{ from: 'if (purpose === "status")\n        return false;', to: "return false;" }],
  },
  {
    name: "a message about an order that has ended is dropped",
    file: "src/settlement/settlement.js",
    edits: [{ from: "if (payment === undefined)", to: 'if (payment === undefined || payment.state === "ENDED")' }],
  },
  {
    name: "a message is settled although the ledger has not decided its command",
    file: MESSAGES,
    edits: [{ from: 'if (told.kind === "undecided")\n            return false;', to: "" }],
  },
  {
    name: "an order is rejected although another server has sent it since",
    file: "src/domain/operations/fail-payment.js",
    edits: [{ from: "if (sends !== undefined && sends !== payment.sends)", to: "if (false)" }],
  },
  {
    name: "a rejection ends an order that was sent before",
    file: "src/rails/rail.js",
    edits: [{ from: 'return sent.kind === "accepted" ? sent :', to: "return true ? sent :" }],
  },
  {
    name: "an order is unreached although another server has sent it since",
    file: "src/domain/operations/advance-payment.js",
    edits: [{ from: 'payment.state !== "SENDING" || payment.sends !== sends', to: 'payment.state !== "SENDING"' }],
  },
  {
    name: "an event shows the flags that the end of its transaction has lowered",
    file: EVENT,
    edits: [{ from: "if (sequence < (end?.sequence ?? 0))\n            continue;", to: "" }],
  },
  {
    name: "an event shows an account as ACTIVE although another freeze stands",
    file: EVENT,
    edits: [{ from: " || statusRow.detail === STILL_FROZEN", to: "" }],
  },
  {
    name: "a watcher gets events again that it read from the book",
    file: "src/events/watch.js",
    edits: [{ from: "event.sequence > position && ", to: "" }],
  },
  {
    name: "a watcher that has fallen behind goes on with the oldest message that is left",
    file: "src/events/tail.js",
    edits: [{ from: "block === undefined || block.after > sequence ?", to: "block === undefined ?" }],
  },
  {
    name: "the follower reads all that is new at once, however much it is",
    file: "src/events/follower.js",
    edits: [{ from: "Math.min(after + share, latest.get(organizationId) ?? after)", to: "latest.get(organizationId)" }],
  },
  {
    name: "the list of M-Pesa's final failures is read the wrong way round",
    file: "src/rails/mpesa/stk.js",
    edits: [
      { from: 'return failure === undefined ? { kind: "open"', to: 'return failure !== undefined ? { kind: "open"' },
    ],
  },
  {
    name: "a leaf of a seal has no prefix",
    file: MERKLE,
    edits: [{ from: "Buffer.concat([LEAF_PREFIX, Buffer.from(text)])", to: "Buffer.from(text)" }],
  },
  {
    name: "the last node of an odd row is hashed with itself",
    file: MERKLE,
    edits: [
      {
        from: "subtrees.reduceRight((right, left) => nodeHash(left, right))",
        to: "subtrees.reduceRight((right, left) => nodeHash(left, nodeHash(right, right)))",
      },
    ],
  },
  {
    name: "an inclusion proof goes from the root down",
    file: MERKLE,
    edits: [
      {
        from: "            first = middle;\n        }\n    }\n    return ranges.reverse();",
        to: "            first = middle;\n        }\n    }\n    return ranges;",
      },
    ],
  },
  {
    name: "the sealer signs without a look at what it sealed before",
    file: "src/seals/sealer.js",
    edits: [{ from: "if (Buffer.compare(edge.root(), seal.root) === 0)", to: "if (edge !== undefined)" }],
  },
  {
    name: "a late sealer replaces a tile by a shorter one",
    file: SEAL_STORE,
    edits: [{ from: "WHERE length(excluded.hashes) > length(stored.hashes) ", to: "" }],
  },
  {
    name: "a book is sealed on although its past was changed",
    file: SEAL_STORE,
    edits: [{ from: "a.book = b.number AND a.cleared_at IS NULL", to: "a.book = b.number AND FALSE" }],
  },
  {
    name: "the salt of the texts is that of the content hash",
    file: "src/storage/secrets/book-keys.js",
    edits: [{ from: "counter.writeUInt8(this.#stream);", to: "" }],
  },
  {
    name: "a name of a certificate is looked for before nobody else can take it",
    file: "src/storage/organizations/cell-keys.js",
    edits: [{ from: "await session.read({ sql: this.#cell.engine.administrationLock, bindings: [] });", to: "" }],
  },
  ...OF_DEPOSITS,
  ...OF_LIMITS,
  ...OUTGOING,
];
