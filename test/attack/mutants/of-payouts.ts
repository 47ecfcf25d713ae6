import type { Bugs } from "./plant.js";

/** Bugs in files of payouts, held payouts, files and statements of banks, and closed months. */
export const OF_PAYOUTS: Bugs = {
  "src/domain/payouts/pay-file.js": {
    "file of payouts: one person lets it be paid": { 'groupOf: () => "payouts",': "groupOf: () => undefined," },
    "file of payouts: it is approved a second time": { "if (existing !== undefined)": "if (false)" },
    "file of payouts: the approver does not see which file it is": {
      '["SHA-256 of the file", "", sha256]': '["SHA-256 of the file", "", ""]',
    },
  },
  "src/domain/payouts/stop-file.js": {
    "file of payouts: a stop is written, and the file goes on": { "{ ...file, stoppedAt: now }": "{ ...file }" },
    "file of payouts: a second stop is a second row": { "if (file.stoppedAt !== undefined)": "if (false)" },
  },
  "src/payouts/redemption.js": {
    "file of payouts: a row that runs again is redeemed again": {
      "        reference,\n": "        reference: reference + newTransactionId,\n",
    },
    "file of payouts: a row does not say which file it is of": {
      "metadata: payoutMetadata(sha256, line)": "metadata: new Map()",
    },
    "file of payouts: a redemption does not name its file to the ledger": {
      "payoutFile: sha256": "payoutFile: undefined",
    },
    "file of payouts: a row pays the phone in place of its destination": {
      "        destinationId,\n": "        destinationId: undefined,\n",
    },
  },
  "src/payouts/runner.js": {
    "file of payouts: a part ends although the ledger has not decided a row": {
      'decisions.some(({ kind }) => kind === "later")': "false",
    },
    "file of payouts: a part ends before its rows are redeemed": {
      "        await store.finish(part, refused);\n": "",
      "const refused = [];": "const refused = [];\n        await store.finish(part, refused);",
    },
    "file of payouts: the runner goes on without the lease": { " && this.#options.lease.leftMillis() > 0": "" },
  },
  "src/domain/money/move-money.js": {
    "file of payouts: a row of a stopped file is redeemed": { "if (stopped !== undefined)": "if (false)" },
    "held: a new number is never one": {
      "const isFirst = paidAt === undefined || paidAt < (since ?? 0);": "const isFirst = false;",
    },
    "held: what was paid to an earlier number of the account counts": { " || paidAt < (since ?? 0)": "" },
    "held: a changed number is forgotten at once": { "changedAt + CHANGED_MILLIS > clock": "changedAt > clock" },
    "held: a changed e-mail address is no change": {
      "Math.max(phoneNumberChangedAt ?? 0, emailChangedAt ?? 0)": "phoneNumberChangedAt ?? 0",
    },
    "held: the transaction is held, and no row says so": {
      'return { kind: "effect", resource: row, effect: { ...effect, entries, puts } };':
        'return { kind: "effect", resource: row, effect: { ...effect, puts } };',
    },
    "held: the row says so, and the transaction is not held": { "{ ...resource, heldFor }": "{ ...resource }" },
    "held: the payment is due at once": { "heldFor.length === 0 ? clock : NEVER_DUE": "clock" },
    "list: it holds nothing": { "isListed(book, { organizationId, accountId, destinationId }) ?": "false ?" },
    "list: the account is not looked up": {
      '        rows.need("listed", { organizationId, name: accountId });\n': "",
    },
    "list: the account does not count where a destination is paid": {
      "(book.isListed(organizationId, ofAccount, accountId) ||":
        "((destination === undefined && book.isListed(organizationId, ofAccount, accountId)) ||",
    },
    "list: the destination does not count": {
      "(destination !== undefined && book.isListed(": "(false && book.isListed(",
    },
  },
  "src/domain/payment.js": {
    "list: one person releases what it holds": { '"CHECK", "CHECK_HELD", "LISTED"])': '"CHECK", "CHECK_HELD"])' },
    "check: one person releases what it holds": { '"CHECK", "CHECK_HELD", "LISTED"])': '"CHECK", "LISTED"])' },
  },
  "src/domain/payouts/set-payout-list.js": {
    "list: one person ends its entries": { "(ended === 0 ? undefined : LETS_GO)": "undefined" },
    "list: it replaces one with which it was not compared": { "if (before !== replaces)": "if (false)" },
    "list: the same one is set again": { 'if (before !== "" &&': "if (false &&" },
    "list: what the batch has set is not looked up": {
      'rows.need("payoutList", { organizationId, name: hash })': "void 0",
    },
  },
  "src/storage/sql/listed.js": {
    "list: the former one holds": { "${String(number)} ${hash}": "${String(number)}" },
    "list: the standing one is not looked up": {
      "add(organizationId, readPart": "void (organizationId, readPart",
    },
  },
  "src/ledger/batch-book.js": {
    "list: it is written, and not set": { "if (payoutList !== undefined)": "if (false)" },
    "list: any one of the batch holds": { "?.includes(hash) ??": "?.some(() => true) ??" },
  },
  "src/domain/limits/usage.js": {
    "held: the sum of a day is that of one payout": { "usage.day.REDEEM + amountCents": "amountCents" },
    "held: a payout of exactly the amount waits": { "found[reason] > (": "found[reason] >= (" },
  },
  "src/domain/movement.js": {
    "held: the rules of the organization hold nothing": {
      "        ...holdReasons(limits.organization, usageAt(limits.usage, now), redemption),\n": "",
    },
    "held: the rules of a tier hold nothing": {
      "        ...holdReasons(limitsOfTier(limits, account.tier), usageAt(account.usage, now), redemption),\n": "",
    },
  },
  "src/domain/orders/release-transaction.js": {
    "held: a payout is released twice": {
      "if (heldFor.length === 0) {":
        'if (heldFor.length === 0 && (name !== "releaseTransaction" || status !== "PENDING")) {',
    },
    "held: a released payout never goes to its rail": { "dueAt: clock, aheadMillis": "aheadMillis" },
    "held: a released payout stays held": {
      "{ ...transaction, heldFor: [], updatedAt: now }": "{ ...transaction, updatedAt: now }",
    },
  },
  "src/domain/orders/cancel-transaction.js": {
    "held: a canceled payout stays held": { "        heldFor: [],\n": "" },
  },
  "src/domain/bank-files/collect-bank-file.js": {
    "bank file: one person gives it to the bank": { 'groupOf: () => "payouts",': "groupOf: () => undefined," },
    "bank file: a held payout is in one": { "transaction.heldFor.length === 0 &&": "true &&" },
    "bank file: a payment with a flag is in one": { "transaction.openFlags.length === 0 &&": "true &&" },
    "bank file: a payment to a phone is in one": { 'payment.numberKind === "BANK" &&': "true &&" },
    "bank file: it pays from another account at a bank": { "payment.railAccountId === railAccountId": "true" },
    "bank file: it is approved under settings that have changed": {
      "if (account.revision !== railRevision)": "if (false)",
    },
    "bank file: it is approved in a suspension": {
      "if (book.bookOf(organizationId).suspendedSeq !== undefined)": "if (false)",
    },
    "bank file: it is approved after its day": { "endOfDay(command.day) <= clock": "false" },
    "bank file: it is approved although payouts are closed": { 'account.payouts === "closed" ||': "" },
    "bank file: it is approved in a restored book": {
      ' || book.bookOf(organizationId).state === "RESTORED"': "",
    },
    "bank file: it is approved a second time": { "if (before !== undefined)": "if (false)" },
    "bank file: its payments do not have its name": { "railReference: id,": "" },
    "bank file: its payments wait for another one": { 'state: "ACCEPTED",': "" },
  },
  "src/domain/bank-files/download-bank-file.js": {
    "bank file: a lost one is downloaded": { "if (file.isLost)": "if (false)" },
    "bank file: a download is no row": { "entries: [entry]": "entries: []" },
  },
  "src/domain/bank-files/report-bank-file-lost.js": {
    "bank file: one person loses it": { 'groupOf: () => "payouts",': "groupOf: () => undefined," },
    "bank file: it is lost a second time": { "if (file.isLost)": "if (false)" },
  },
  "src/grpc/services/payouts/bank-file-rpcs.js": {
    "bank file: a download gives bytes that nobody has approved": { "sha256Of(content) !== file.sha256": "false" },
    "bank file: a download has the payments that are left": { "payments.length < file.count": "false" },
    "bank file: everybody downloads it": { "if (!mayHave(who, file.actor))": "if (false)" },
  },
  "src/rails/bank/write-file.js": {
    "bank file: a payment stands in it twice": {
      " || new Set(written.map(({ reference }) => reference)).size !== written.length": "",
    },
    "bank file: a payee is not whole": { 'Object.values(payee).some((part) => part === "")': "false" },
  },
  "src/domain/bank-file.js": {
    "bank statement: the beginning of a reference is enough, whatever follows": {
      "endToEndIdOf(id).startsWith(written)": "true",
    },
  },
  "src/domain/orders/resolve-transaction.js": {
    "bank statement: a receipt of any place completes a payment": {
      "rail !== BANK_RAIL || isOfPlace(book.reservePlaces(organizationId), receipt)": "true",
    },
    "bank statement: a receipt completes two payments": {
      "const refusal = refusalByReceipt(book, organizationId, receipt);": "const refusal = undefined;",
    },
  },
  "src/domain/orders/resolve-transactions.js": {
    "bank statement: a payment with news of its rail is completed": {
      'transaction?.status === "PROCESSING" && mayHaveMoved(transaction)': "false",
    },
  },
  "src/reconcile/lost-night.js": {
    "bank statement: two rows complete one payment": { " && rowsOfOrder.get(id) === 1": "" },
    "bank statement: a row with another amount completes a payment": {
      "order.amountCents === amountCents && !mayHaveMoved(order)": "!mayHaveMoved(order)",
    },
    "bank statement: a payment that the bank took back is completed": {
      "else if (reversed.has(row.receipt))": "else if (false)",
    },
    "bank statement: a pay-in without a number is booked": { "isPayIn && row.isUnnumbered === true": "false" },
  },
  "src/reconcile/banks/bank-facts.js": {
    "bank statement: a row that fits two payments completes the first": {
      "another === undefined ? named : undefined": "named",
    },
    "bank statement: a pay-in completes a payout": { 'if (direction === "in")\n        return undefined;': "" },
  },
  "src/reconcile/banks/closing.js": {
    "bank statement: its closing balance is compared with nothing": {
      'known.amountCents === cents ? "agrees" : "differs"': '"agrees"',
    },
    "bank statement: a figure of another day is that of the day": {
      "known?.asOfDay === balance.day ? known : undefined": "known",
    },
  },
  "src/reconcile/banks/pain002.js": {
    "bank report: of two words about a payment the last one counts": {
      "before !== undefined && before.status !== own": "false",
    },
  },
  "src/domain/month-obstacles.js": {
    "month: it is closed over a break": { "breaks === 0 ?": "true ?" },
    "month: it is closed without a statement of the bank": {
      '(figure?.kind === "bank_kenya" ? missing(place, own) : [])': "[]",
    },
    "month: it is closed although the statement closes otherwise": {
      "closing?.day === lastDay && !isSame": "false",
    },
    "month: it is closed before its last row is sealed": { "sealedSize < lastSeq": "false" },
    "month: it is closed with a tie that leaves something": {
      "unexplainedCents === undefined || unexplainedCents === 0n": "true",
    },
  },
  "src/domain/book/close-month.js": {
    "month: it is closed a second time": { "if (first !== undefined)": "if (false)" },
  },
};
