import type { Bugs } from "./plant.js";

/** Bugs in the money, in the journal, and in what guards both. */
export const OF_MONEY: Bugs = {
  "src/ledger/commit-batch.js": {
    "a batch is answered before its commit": {
      "return store.transact(async (transaction) => {":
        "return new Promise((answered, failed) => store.transact(async (transaction) => {",
      "        return results;\n    });": "        answered(results);\n    }).catch(failed));",
    },
    "the idempotency key of a replay is not saved": {
      "book.apply(decision.effect);": 'if (decision.kind === "effect") book.apply(decision.effect);',
    },
    "a refusal freezes the account": {
      "return refused(decision.refusal);": `{
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
    "times fall along a book": { "toUnixMillis(Math.max(clock, lastRecordedAt))": "clock" },
    "a server whose clock is too fast commits": { "refuseFastClock(clock, loaded.begunAt);": "" },
    "a server whose clock is too slow commits": { "if (behindMillis !== undefined)": "if (false)" },
    "a suspended organization mints": { "if (suspendedSeq !== undefined && !holds)": "if (false)" },
    "a book that moves takes commands": { 'if (state === "MOVING" || state === "MOVED")': 'if (state === "MOVED")' },
  },
  "src/ledger/ledger.js": {
    "a commit that failed is answered as done": {
      'for (const { resolve } of batch)\n                resolve(refused({ reason: "STORAGE_UNAVAILABLE" }));': `for (const { resolve, command } of batch)
                resolve({ kind: "done", resource: { ...command, id: command.newTransactionId }, replayed: false });`,
    },
    "a commit whose outcome is unknown is answered as never started": {
      'resolve(refused({ reason: "STORAGE_UNAVAILABLE" }))': 'resolve(refused({ reason: "SHUTTING_DOWN" }))',
    },
    "a batch that lost a race runs again with new references": {
      "return await committer.commit(commands, now());": `return await committer.commit(
                    tries === 1 ? commands : commands.map((each) => ({ ...each, reference: each.reference + "'" })), now());`,
    },
    "a command is started after its deadline": { "if (deadline > startedAt)": "if (true)" },
    "the last of a batch gets no answer": {
      "settle(queued, results[index]);": "if (index === 0 || index < batch.length - 1) settle(queued, results[index]);",
    },
    "the answers of a batch go to the wrong callers": {
      "settle(queued, results[index]);": "settle(queued, results[batch.length - 1 - index]);",
    },
    "one command that the database does not take fails its whole batch": {
      "await this.#commitAndSettle(batch.slice(0, middle));":
        "for (const { reject } of batch.slice(0, middle)) reject(error);",
    },
    "half of a rejected batch gets no answer": { "await this.#commitAndSettle(batch.slice(middle));": "void 0;" },
    "a rejected command quarantines nobody": { "this.#quarantine.add(first.command.organizationId);": "void 0;" },
    "the server ends before its last batch is answered": {
      "const isIdle = this.#batchesInFlight === 0 && ": "const isIdle = ",
    },
    "a batch that lost a race is given up": {
      "if (!isConflict || tries === CONFLICT_TRIES_MAX)": "if (error instanceof Error)",
    },
    "a command whose deadline passed in the queue gets no answer": {
      'resolve(refused({ reason: "DEADLINE_EXCEEDED" }));': "void 0;",
    },
    "who found no room in the queue is never told": { "done < count": "done < 0" },
  },
  "src/domain/money/move-money.js": {
    "an earlier transaction with the reference is not looked for": {
      "existing: book.transactionWithReference(organizationId, reference),": "existing: undefined,",
    },
    "a repeated call moves the money once more": {
      "if (repeated !== undefined)\n        return repeated;": `if (repeated?.kind === "replay")
        command = { ...command, reference: command.reference + "'", idempotencyKey: undefined };
    else if (repeated !== undefined)
        return repeated;`,
    },
    "a redemption over a slow rail begins without a phone number": {
      "phoneOf(book, command, railTerms);":
        'phoneOf(book, command, railTerms) ?? { kind: "PHONE", number: "+254700000000", payable: railTerms.payable };',
    },
    "an idempotency key merges two payments that differ in their references alone": {
      "({ reference }, existing) => reference === existing.reference": "() => true",
    },
    "deposit: a mint of another amount claims it": {
      " || deposit.amountCents !== amountCents)": ")",
    },
    "deposit: a mint claims what another source may have credited": {
      "return deposit.sameNumber === undefined ? deposit : undefined;": "return deposit;",
    },
  },
  "src/domain/repeat.js": {
    "a repeated call is refused: who heard nothing never learns": {
      "return differing.length === 0\n        ? replay(existing":
        "return differing.length < 0\n        ? replay(existing",
    },
    "a repeated call is answered with a new id": {
      "replay(existing, putIdempotencyKey(": "replay({ ...existing, id: command.newTransactionId }, putIdempotencyKey(",
    },
    "the idempotency key is not looked for": { "if (resourceId !== undefined) {": "if (false) {" },
  },
  "src/domain/movement.js": {
    "the idempotency key is not saved with the effect": {
      "...putIdempotencyKey(idempotencyKey, transaction, now),": "",
    },
    "a redemption over a slow rail leaves at once": {
      "completed ? redeemPosting(amountCents) : holdPosting(amountCents)": "redeemPosting(amountCents)",
    },
    "a mint over a slow rail credits at once": {
      "return completed ? mintPosting(amountCents) : undefined;": "return mintPosting(amountCents);",
    },
    "one cent more than there is may go out": {
      "return amountCents > availableCents": "return amountCents > availableCents + 1",
    },
    "the balance after a transaction is that before it": {
      "completed ? posted.availableCents": "completed ? account.availableCents",
    },
    "a mint takes a receipt that the book has": {
      "receiptsLike(receipt).flatMap((each) => book.receipt(organizationId, each) ?? [])": "[]",
    },
    "a rail's number is credited although another source had it": {
      "number === undefined ? undefined : book.receiptOfOtherSource(organizationId, number)": "undefined",
    },
    "a transaction counts for its account alone": {
      "limits: { ...limits, usage: counted(usageAt(limits.usage, now), movement) },": "limits,",
    },
    "what was accepted before the first limits is given back": {
      "limits === undefined || transaction.createdAt < limits.since": "limits === undefined",
    },
  },
  "src/domain/accounts/create-account.js": {
    "an account is made without looking for the user's": {
      "existing: existingId && accountWithHolder(book, organizationId, existingId),": "existing: undefined,",
    },
    "a repeat of a creation may have another phone number": { "phoneNumber === person?.phoneNumber": "true" },
  },
  "src/ledger/batch-book.js": {
    "the last journal row of a batch is dropped": {
      "entries: this.#entries,": "entries: this.#entries.length > 1 ? this.#entries.slice(0, -1) : this.#entries,",
    },
    "the sums of a book forget what goes out": {
      "posting === undefined ? before.sums : postedToBook":
        'posting === undefined || posting.credit === "reserve" ? before.sums : postedToBook',
    },
    "the sums of a batch go to its first book": {
      "this.#changedBooks.add(organizationId);": `this.#changedBooks.add(organizationId);
        const [first] = this.#books.values();
        if (posting !== undefined && first.organizationId !== organizationId) {
            this.#books.set(organizationId, { ...this.bookOf(organizationId), sums: before.sums });
            this.#books.set(first.organizationId, { ...first, sums: postedToBook(first.sums, posting) });
            this.#changedBooks.add(first.organizationId);
        }`,
    },
    "the books of a batch share their numbers": {
      "const seq = before.lastSeq + 1;":
        "const seq = Math.max(...[...this.#books.values()].map((each) => each.lastSeq)) + 1;",
    },
    "a row of another organization is found in a batch": {
      "return row?.organizationId === organizationId ? row : undefined;": "return row;",
    },
    "the second command of a batch does not see the first one's balance": {
      'account = this.byKey("accounts");':
        "account = (organizationId, id) => ownedBy(organizationId, this.#loadedAccount(id));",
      "    byKey(table) {": `    #loadedAccount(id) {
        const kept = this.#tables.accounts.changes().changed.find(({ before }) => before.id === id);
        return kept?.before ?? this.#tables.accounts.get(id);
    }
    byKey(table) {`,
    },
    "an account keeps its version when it changes": { "lastSeq: newest.seq": "lastSeq: put.row.lastSeq" },
  },
  "src/ledger/batch-table.js": {
    "the second command of a batch does not see the first one's reference": {
      "            this.#add(kept);\n        }\n":
        "            this.#rows.set(this.#keys.keyOf(kept.row), kept);\n        }\n",
    },
    "deposit: two accounts of one batch get the same number": { "this.#rowsByName.set(after, kept);": ";" },
  },
  "src/domain/accounts/erase-account.js": {
    "an account with money is erased": { "if (availableCents > 0 || heldCents > 0)": "if (false)" },
    "an erasure is in the journal, and the person stays": { "        person: undefined,\n": "" },
  },
  "src/domain/orders/cancel-transaction.js": {
    "a hold is released each time somebody cancels": {
      'if (transaction.status === "CANCELED")\n        return replay(transaction);\n': "",
      'if (transaction.status !== "PENDING") {':
        'if (transaction.status !== "PENDING" && transaction.status !== "CANCELED") {',
    },
    "a canceled redemption keeps its hold": { 'transaction.type === "REDEEM"': 'transaction.type === "HOLD"' },
  },
  "src/domain/money/reverse-transaction.js": {
    "a transaction is reversed each time somebody asks": {
      "existing: book.transactionWithReference(organizationId, reversalReference(transactionId)),":
        "existing: undefined,",
      "reference: reversalReference(transactionId),": "reference: reversalReference(transactionId) + newTransactionId,",
    },
    "a reversal does the original once more": { 'original.type === "MINT" ? "REDEEM" : "MINT"': "original.type" },
    "a reversal can be reversed": { 'if (corrects?.kind === "REVERSAL")': "if (false)" },
    "a transaction on hold can be reversed": {
      'if (status !== "COMPLETED")': "if (false)",
      'return rail === DIRECT_RAIL ? undefined : "OTHER_RAIL";': "return undefined;",
    },
    "the money of a frozen account can be taken back": { "refusalByStatus(account) ??": "" },
    "a mint that was spent can be taken back": { "refusalByAmount(book, account, { type, amountCents })": "undefined" },
    "the original does not name its reversal": {
      '[...effect.puts, { table: "transactions", row: reversed }]': "effect.puts",
    },
  },
  "src/storage/sql/records/transaction-rows.js": {
    "the link of an original to its reversal is not saved": {
      "reversed_by_id: transaction.reversedById ?? null": "reversed_by_id: null",
    },
    "a content hash says nothing of what a transaction corrects": { ", ...correction]": "]" },
  },
  "src/domain/accounts/update-account.js": {
    "an update changes any version, whatever the caller has read": { "command.etag !== etag": "false" },
  },
  "src/domain/accounts/unfreeze-account.js": {
    "one unfreeze makes the account active, whatever else stands": {
      "const others = standing.filter(({ id }) => id !== freezeId);": "const others = [];",
    },
    "the end of a freeze is in the journal, and the freeze stands": { '{ table: "freezes", row: lifted },': "" },
    "a freeze of another account is lifted": { "if (freeze?.accountId !== accountId)": "if (freeze === undefined)" },
  },
  "src/domain/accounts/freeze-account.js": {
    "the idempotency key of a freeze is not saved": { "...putIdempotencyKey(idempotencyKey, freeze, now),": "" },
    "a second freeze forgets the first one": {
      "accountOf(frozen, holder, [...freezes, freeze])": "accountOf(frozen, holder, [freeze])",
    },
  },
  "src/storage/sql/records/freeze-rows.js": {
    "the standing freezes of an account are not loaded": {
      "WHERE lifted_at IS NULL AND account_id IN": "WHERE lifted_at IS NOT NULL AND account_id IN",
    },
  },
  "src/storage/sql/ledger-statements.js": {
    "balances are saved, and the sums of their book are not": {
      "columns: BOOK_COLUMNS": 'columns: { number: "int64", last_seq: "int64", last_recorded_at: "int64" }',
    },
    "the last time of a book stays where it was": {
      "columns: BOOK_COLUMNS": "columns: (({ last_recorded_at, ...others }) => others)(BOOK_COLUMNS)",
    },
  },
  "runtime/fair-queue.js": {
    "the queue has no bound": { "if ((line?.items.length ?? 0) >= this.#lengthMax - this.#length)": "if (false)" },
  },
  "src/storage/sqlite/statements.js": {
    "SQLite commits each statement by itself": {
      "        begin();\n": "",
      "            commit();\n": "",
    },
    "SQLite commits a batch only when the next one begins": {
      "            commit();\n": "",
      "        begin();\n": "        if (connection.inTransaction) commit();\n        begin();\n",
    },
    "SQLite does not roll a failed batch back": {
      'statements.prepare("ROLLBACK").run();': 'statements.prepare("COMMIT").run();',
    },
  },
  "src/storage/sql/records/book-head-rows.js": {
    "the last seq of a book stays where it was": { "last_seq: lastSeq,": "last_seq: lastSeq - 1," },
    "the row of a book keeps what it has used": { "...usageRowOf(limits.usage)": "...usageRowOf(undefined)" },
  },
  "src/storage/sql/ledger-store.js": {
    "a row links to the row before it in the book, not to that of its account": {
      "(this.#lastSeqs.get(accountId) ?? null)": "seq - 1",
    },
    "a content hash says nothing of what the row created": {
      "salts.of(seq), created }": "salts.of(seq), created: created.slice(0, 0) }",
    },
    "a row of another book is loaded as one of ours": {
      ": this.#booksByNumber.get(number);":
        ": (this.#booksByNumber.get(number) ?? this.#booksByNumber.values().next().value);",
    },
  },
  "src/storage/secrets/encryption.js": {
    "the place of a ciphertext is not authenticated": {
      ".setAAD(bytesOf(context));\n    const first = typeof": ";\n    const first = typeof",
      "decipher.setAAD(bytesOf(context)).setAuthTag(tag);": "decipher.setAuthTag(tag);",
    },
  },
  "src/storage/secrets/personal-data.js": {
    "a ciphertext of one account can be read as another's": {
      'return ["kesc-personal-data", organizationId, ownerId, field];':
        'return ["kesc-personal-data", organizationId, field];',
    },
    "a blind index needs no key": { 'createHmac("sha256", index)': 'createHmac("sha256", "kesc")' },
    "a blind index is the same for every field": { "JSON.stringify([field, folded])": "JSON.stringify([folded])" },
  },
  "src/domain/orders/begin-payment.js": {
    "a payment is begun by two servers": { ': payment.state === "READY"': ': payment.state !== "ENDED"' },
    "a payment begins under an account at the rail that was changed since it was read": {
      "(railAccount?.revision ?? 0) !== command.railRevision": "false",
    },
    "a payout that is held is sent": { "transaction.heldFor.length > 0": "false" },
    "a mint is sent again": { 'payment.state === "SENDING" && hasIdAtRail(payment)': 'payment.state === "SENDING"' },
  },
  "src/domain/orders/release-transaction.js": {
    "who asked for a payout releases it": {
      "asker !== undefined && isSamePerson(asker, authority.person)": "false",
    },
    "a payout is released without its file, so nobody knows who asked for it": {
      " || payoutFileIn(transaction.metadata) !== command.payoutFile": "",
    },
    "a refused payout keeps its KESC": {
      "failed({ ...order, account }": `failed({ ...order, account: {
                ...account,
                availableCents: account.availableCents - order.transaction.amountCents,
                heldCents: account.heldCents + order.transaction.amountCents,
            } }`,
    },
    "a refused payout counts against the limits for ever": { "[put], limits)": "[put])" },
    "a payout that was refused is released": {
      "if (heldFor.length === 0)": 'if (heldFor.length === 0 && status === "PENDING")',
    },
  },
  "src/domain/orders/fail-payment.js": {
    "a payment that the rail may have expires": { 'payment.state !== "READY"': 'payment.state === "ACCEPTED"' },
    "a payment that is completed fails, and its hold is released": {
      'if (transaction.status === "COMPLETED")': "if (payment === undefined)",
    },
    "a payment of another amount fails, and its flag is gone": {
      "if (mayHaveMoved(transaction))": "if (payment === undefined)",
    },
    "an order is rejected although another server has sent it since": {
      "if (sends !== undefined && sends !== payment.sends)": "if (false)",
    },
  },
  "src/domain/orders/complete-payment.js": {
    "a payment takes a receipt that another one has": {
      "receipt === undefined ? undefined : this.#book.receipt(organizationId, receipt)": "undefined",
    },
    "a payment that succeeds late is dropped": { "return this.#correct();": "return replay(transaction);" },
    "a payment of another amount is completed by a report that names no amount": {
      "if (isContradicted(transaction))": "if (false)",
    },
    "a query that says only that it was paid completes an order of which a message says that it failed": {
      "this.#command.isDenied === true ? this.#flag": "false ? this.#flag",
    },
  },
  "src/domain/orders/advance-payment.js": {
    "a payment is postponed because an earlier request was lost": { " || payment.sends !== sends": "" },
    "an order is unreached although another server has sent it since": {
      'payment.state !== "SENDING" || payment.sends !== sends': 'payment.state !== "SENDING"',
    },
  },
  "src/settlement/ledger-line.js": {
    "a query fails a payout whose success is stored": {
      '(await this.#options.evidence.says("succeeded", work))': "false",
    },
  },
  "src/settlement/messages.js": {
    "a success that comes after its order has failed raises no flag": {
      "return message.tries === 1 || (isDenied && message.tries === 0);": "return false;",
    },
    "a message is believed without a query": { 'if (purpose === "status")\n        return false;': "return false;" },
    "a message is settled although the ledger has not decided its command": {
      'if (told.kind === "undecided")\n            return false;': "",
    },
  },
  "src/settlement/faults.js": {
    "a credential that the rail has refused is used again": {
      '(direction === "REDEEM" && seen.includes("initiator"))': "false",
    },
  },
  "src/settlement/evidence.js": {
    "a payout is sent again although its callback is stored": { 'purpose !== "status"': "purpose === undefined" },
  },
  "src/settlement/payment-poller.js": {
    "the rail is called before the begin is on disk": {
      "const begun = await line.begin(":
        "const early = await calls.send(account, order);\n        const begun = await line.begin(",
      "const sent = await calls.send(account, order);": "const sent = early;",
    },
    "the lease is the only guard: the rail is called although the begin was refused": {
      'if (begun.kind === "refused")\n            return begun;': "",
    },
    "the rail is called although nobody knows whether the begin is on disk": {
      'if (begun.kind === "undecided" || begun.replayed)\n            return { kind: "stopped" };': "",
    },
    "the rail is called after the server stood still": {
      'if (timing.now() >= grantEndsAt)\n            return { kind: "stopped" };': "",
    },
    "a payout is sent again without a query": {
      "const report = await calls.query(":
        'const report = payment.state === "SENDING" ? { kind: "open", code: "" } : await calls.query(',
    },
    "what nobody knows for 48 hours is released": {
      "await line.flagUnknown(work, told);":
        'await line.end(work, { kind: "failed", movement: undefined, code: told.code, failure: "RAIL_REFUSED" });',
    },
  },
  "src/domain/rails/change-rail-accounts.js": {
    "an account moves to another shortcode while the rail has its payments": {
      "facts.movesPlace && payments > 0": "false",
    },
    "an account is set after another change that the caller has not seen": {
      "facts.accountsOfAll !== book.railAccountsOfCells()": "false",
    },
  },
  "src/domain/book/correct-book.js": {
    "deposit: a correction gives out what belongs to one": {
      "const balanceCents = sums[from] - ofDeposits;": "const balanceCents = sums[from];",
    },
  },
  "src/domain/alone.js": {
    "one person decides above the alone maximum": { "amountCents <= maxCents": "true" },
    "what one person does alone in a day has no sum": { "cents <= maxCents * ALONE_IN_A_DAY": "true" },
  },
  "src/domain/second-person.js": {
    "a person approves an own proposal": { "if (isOwn(proposal, deciding))": "if (false)" },
  },
  "src/domain/deciding-rows.js": {
    "an older proposal undoes a later decision": { "row.seq > seq &&": "row.seq < 0 &&" },
    "a rejected proposal lives again": { "each.seq > seq &&": "each.seq < 0 &&" },
  },
  "src/settlement/limits.js": {
    "a payout is sent again after the rail has forgotten its id": {
      "SEND_AGAIN_MILLIS_MAX = 10 *": "SEND_AGAIN_MILLIS_MAX = 1000 *",
    },
  },
  "src/domain/payment.js": {
    "a payout to a till is sent again": {
      'return direction === "REDEEM" && numberKind === "PHONE";': 'return direction === "REDEEM";',
    },
  },
  "src/domain/bank-files/collect-bank-file.js": {
    "a payment is in a second payment file": {
      'transaction.status === "PENDING" &&': "true &&",
      'payment.state === "READY" &&': "true &&",
    },
    "a payment file pays another amount than the order": { "transaction.amountCents === amountCents &&": "true &&" },
    "a frozen account pays to a bank": { 'account.status === "FROZEN"': "false" },
  },
  "src/rails/bank/write-file.js": {
    "a second download of a payment file has other bytes": {
      "payments.toSorted((one, other) => (one.transactionId < other.transactionId ? -1 : 1))": "payments",
    },
  },
  "src/domain/orders/resolve-transactions.js": {
    "a statement completes an order with another amount": { "transaction.amountCents !== amountCents": "false" },
  },
  "src/settlement/breaker.js": {
    "the settlement begins a payout that goes to a bank in a file": { "rail.writeFile !== undefined": "false" },
  },
  "src/settlement/settlement.js": {
    "a message about an order that has ended is dropped": {
      "if (payment === undefined)": 'if (payment === undefined || payment.state === "ENDED")',
    },
  },
  "src/rails/rail.js": {
    "a rejection ends an order that was sent before": {
      'if (sent.kind === "accepted" || sent.kind === "unknown")': "if (true)",
    },
  },
  "src/events/event.js": {
    "an event shows the flags that the end of its transaction has lowered": {
      "if (sequence < (end?.sequence ?? 0))\n            continue;": "",
    },
    "an event shows an account as ACTIVE although another freeze stands": {
      " || statusRow.detail === STILL_FROZEN": "",
    },
  },
  "src/events/watch.js": {
    "a watcher gets events again that it read from the book": { "event.sequence > position && ": "" },
  },
  "src/events/tail.js": {
    "a watcher that has fallen behind goes on with the oldest message that is left": {
      "block === undefined || block.after > sequence ?": "block === undefined ?",
    },
  },
  "src/events/follower.js": {
    "the follower reads all that is new at once, however much it is": {
      "Math.min(after + share, latest.get(organizationId) ?? after)": "latest.get(organizationId)",
    },
  },
  "src/rails/mpesa/messages.js": {
    "the list of M-Pesa's final failures is read the wrong way round": {
      "if (failure !== undefined)": "if (failure === undefined)",
    },
  },
  "src/rails/mpesa/sources.js": {
    "a code that one source alone knows ends an order": { "new Set(sources).size >= 2": "new Set(sources).size >= 1" },
  },
  "src/seals/merkle.js": {
    "a leaf of a seal has no prefix": { "Buffer.concat([LEAF_PREFIX, Buffer.from(text)])": "Buffer.from(text)" },
    "the last node of an odd row is hashed with itself": {
      "subtrees.reduceRight((right, left) => nodeHash(left, right))":
        "subtrees.reduceRight((right, left) => nodeHash(left, nodeHash(right, right)))",
    },
    "an inclusion proof goes from the root down": {
      "            first = middle;\n        }\n    }\n    return ranges.reverse();":
        "            first = middle;\n        }\n    }\n    return ranges;",
    },
  },
  "src/seals/sealer.js": {
    "the sealer signs without a look at what it sealed before": {
      "if (Buffer.compare(edge.root(), seal.root) === 0)": "if (edge !== undefined)",
    },
  },
  "src/storage/seals/seal-store.js": {
    "a late sealer replaces a tile by a shorter one": { "WHERE length(excluded.hashes) > length(stored.hashes) ": "" },
    "a book is sealed on although its past was changed": {
      "a.book = b.number AND a.cleared_at IS NULL": "a.book = b.number AND FALSE",
    },
  },
  "src/storage/secrets/book-keys.js": {
    "a content hash has no salt": { "`${salt}${JSON.stringify(fields)}`": "JSON.stringify(fields)" },
    "the salt of the texts is that of the content hash": { "counter.writeUInt8(this.#stream);": "" },
  },
  "src/storage/organizations/cell-keys.js": {
    "a name of a certificate is looked for before nobody else can take it": {
      "await session.read({ sql: engine.administrationLock, bindings: [] });": "",
    },
  },
  "src/domain/deposits/receive-deposit.js": {
    "deposit: shillings are credited although the book has the receipt": {
      "if (used !== undefined)\n        return replay": "if (false)\n        return replay",
    },
    "deposit: shillings of an order that a query has counted are counted again": { "if (isCounted)": "if (false)" },
    "deposit: an order takes shillings though its own receipt is unclear": {
      ' || direction !== "MINT" || !isConfirmed)': ' || direction !== "MINT")',
    },
  },
  "src/domain/deposits/assign-deposit.js": {
    "deposit: it is assigned whatever its status": { 'if (status !== "UNALLOCATED")': "if (false)" },
  },
  "src/domain/deposits/unassign-deposit.js": {
    "deposit: taking a credit back leaves a shortfall": {
      "if (refusal !== undefined)": "if (false)",
      "posting: uncreditPosting(amountCents),":
        'posting: refusal ? { debit: "shortfall", credit: "unallocated", amountCents } : uncreditPosting(amountCents),',
    },
    "deposit: a frozen account loses its credit": { 'if (account.status === "FROZEN")': "if (false)" },
  },
  "src/domain/deposits/take-back.js": {
    "deposit: a credit that was taken back counts on": {
      "moved(takenBack(book, account, mint, now), {": "moved({ account, limits: undefined }, {",
    },
  },
  "src/domain/limits/usage.js": {
    "a sum may exceed its limit by one cent": {
      "(usedCents ?? 0) + amountCents > limitCents": "(usedCents ?? 0) + amountCents > limitCents + 1",
    },
    "what a day has used never begins again": {
      "if (usage !== undefined && usage.day.from >= from)": "if (usage !== undefined)",
    },
    "an amount is given back on the day on which it failed": {
      "createdAt < sums.from ? sums :": "createdAt < 0 ? sums :",
    },
  },
  "src/domain/orders/order.js": {
    "what failed or was canceled counts on": {
      "...takenBack(book, account, order.transaction, now), put": "account, limits: undefined, put",
    },
  },
  "src/domain/limits/limits.js": {
    "a tier without limits has none": {
      "tiers.get(tier) ?? tiers.get(DEFAULT_TIER) ?? NO_LIMITS": "tiers.get(tier) ?? NO_LIMITS",
    },
  },
};
