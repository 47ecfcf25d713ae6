import type { AuditedJournalRow } from "../journal-rows.js";

// Repeated on purpose: an audit must not depend on the code that it audits.
const PROPOSED = "book.proposed";
const ACT = "resolveTransactions";

interface ProposedEnd {
  readonly person: string;
  readonly seq: number;
}

/**
 * Who has proposed to complete several transactions in one act. Such a proposal is one row of the
 * book, and no row of its transactions. People propose, so they are few.
 */
export class ProposedEnds {
  readonly #byTransaction = new Map<string, ProposedEnd[]>();

  /** Takes the rows of the book by their `seq`. The audit of proposals checks their details. */
  row({ kind, detail, seq }: Pick<AuditedJournalRow, "kind" | "detail" | "seq">): void {
    if (kind !== PROPOSED || detail?.includes(ACT) !== true) return;
    const { person, ids } = proposedIn(detail);
    for (const id of ids) this.#byTransaction.set(id, [...(this.#byTransaction.get(id) ?? []), { person, seq }]);
  }

  /** Whether the person has proposed to complete the transaction before the row `seq`. */
  has(id: string, person: string | undefined, seq: number): boolean {
    return this.#byTransaction.get(id)?.some((each) => each.person === person && each.seq < seq) === true;
  }
}

function proposedIn(detail: string): { readonly person: string; readonly ids: readonly string[] } {
  try {
    const [, person, content] = JSON.parse(detail) as readonly [string, string, string];
    const { name, results = [] } = JSON.parse(content) as {
      readonly name?: string;
      readonly results?: readonly { readonly transactionId: string }[];
    };
    return { person, ids: name === ACT ? results.map(({ transactionId }) => transactionId) : [] };
  } catch {
    return { person: "", ids: [] };
  }
}
