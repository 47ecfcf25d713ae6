import { expect } from "chai";

import type { PersonalSum } from "../../src/domain/alone.js";
import type { JournalEntry } from "../../src/domain/journal.js";
import { lookUp } from "../../src/domain/operations.js";
import type { AlonePerson } from "../../src/domain/proposal.js";
import { toCents } from "../../src/domain/values/cents.js";
import { nairobiDayOf, startOfDay } from "../../src/domain/values/nairobi-day.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { by } from "../support/commands.js";
import { decide, effectOf } from "../support/decided.js";
import { NOW, ORGANIZATION, STRANGER } from "../support/names.js";
import type { ProposalExample, Proposed } from "../support/operations/row.js";
import { PROPOSED } from "../support/operations/table.js";

const TODAY = startOfDay(nairobiDayOf(NOW));
const BEFORE_TODAY = toUnixMillis(TODAY - 1);
const MACHINE = by("amina", { groups: [] });

/** Whether the amount of the command judges it. */
function isJudged(command: Proposed): boolean {
  let needsSum = false;
  lookUp(command, { need: (finder) => (needsSum ||= finder === "aloneSum") });
  return needsSum;
}

/**
 * The first entry after the command, where one person may do this much alone. Of an act of several
 * parts it has the sum after the last one.
 */
function firstOf(
  { rows, command }: ProposalExample,
  given: { maxCents: number; sums?: readonly PersonalSum[] },
): JournalEntry {
  const { maxCents, sums: aloneSums = [] } = given;
  const railAccounts = (rows.railAccounts ?? []).map((each) => ({ ...each, resolveAloneMaxCents: toCents(maxCents) }));
  const { entries } = effectOf(decide({ ...rows, railAccounts, aloneSums }, { ...command, ...MACHINE }));
  const [first] = entries;
  if (first === undefined) throw new Error(`${command.name} wrote nothing`);
  const alone = entries.flatMap((entry) => entry.alone ?? []).at(-1);
  return alone === undefined ? first : { ...first, alone };
}

const sum = (cents: number, more: Partial<PersonalSum> = {}): PersonalSum => ({
  organizationId: ORGANIZATION,
  person: "amina" as AlonePerson,
  cents,
  at: TODAY,
  ...more,
});

describe("what one person may do alone", () => {
  for (const [name, kind] of Object.entries(PROPOSED)) {
    const { rows, command } = kind;
    if (!isJudged(command)) {
      it(`does not move money by ${name}, which its amount does not judge`, () => {
        const { entries } = effectOf(decide(rows, { ...command, ...MACHINE }));
        // To end a hold gives the KESC to nobody else.
        const moves = entries.filter(({ posting }) => posting !== undefined && posting.debit !== "held");
        expect(moves).to.deep.equal([]);
      });
      continue;
    }

    const IS_PROPOSAL = /proposed$/;
    /** The single amount of the command. */
    const amount = firstOf(kind, { maxCents: 1_000_000_000 }).alone?.cents ?? 0;
    const most = { maxCents: amount };
    const isAlone = (sums: readonly PersonalSum[]): boolean => !IS_PROPOSAL.test(firstOf(kind, { ...most, sums }).kind);

    it(`is ${name} of the highest amount, and a proposal one cent above it`, () => {
      expect(firstOf(kind, most).alone).to.deep.equal({ person: "amina", cents: amount });
      expect(firstOf(kind, { maxCents: amount - 1 }).kind).to.match(IS_PROPOSAL);
    });

    it(`is ${name} until the sum of the day is ten times that amount, and then a proposal`, () => {
      const last = firstOf(kind, { ...most, sums: [sum(amount * 9)] });
      expect(last.alone).to.deep.equal({ person: "amina", cents: amount * 10 });
      const next = firstOf(kind, { ...most, sums: [sum(amount * 9 + 1)] });
      expect([next.kind, next.alone]).to.satisfy(
        ([of, alone]: [string, unknown]) => IS_PROPOSAL.test(of) && alone === undefined,
      );
    });

    it(`is ${name} in another day, of another person and in another organization`, () => {
      const full = amount * 10;
      expect(isAlone([sum(full)])).to.equal(false);
      expect(isAlone([sum(full, { at: BEFORE_TODAY })])).to.equal(true);
      expect(isAlone([sum(full, { person: "brian" as AlonePerson })])).to.equal(true);
      expect(isAlone([sum(full, { organizationId: STRANGER })])).to.equal(true);
    });

    it(`counts nothing of ${name} that two persons decide`, () => {
      const waiting = { ...command, ...by("brian", { groups: [] }) };
      const proposed = effectOf(decide({ ...rows, railAccounts: noneAlone(rows) }, waiting));
      const proposals = proposed.puts.flatMap((put) => (put.table === "proposals" ? [put.row] : []));
      const decision = decide({ ...rows, railAccounts: noneAlone(rows), proposals }, { ...command, ...MACHINE });
      const [first] = effectOf(decision).entries;
      expect([IS_PROPOSAL.test(first?.kind ?? ""), first?.alone]).to.deep.equal([false, undefined]);
    });
  }

  it("is of one person in all spellings of a name", () => {
    const kind = PROPOSED["bookReceipt"];
    if (kind === undefined) throw new Error("there is no such kind");
    const { rows, command } = kind;
    const railAccounts = (rows.railAccounts ?? []).map((each) => ({ ...each, resolveAloneMaxCents: toCents(10_000) }));
    const decision = decide({ ...rows, railAccounts, aloneSums: [sum(100_000)] }, { ...command, ...by("ＡMINA") });
    expect(effectOf(decision).entries[0]?.kind).to.equal("book.proposed");
  });
});

function noneAlone({
  railAccounts = [],
}: ProposalExample["rows"]): NonNullable<ProposalExample["rows"]["railAccounts"]> {
  return railAccounts.map((each) => ({ ...each, resolveAloneMaxCents: 0 as const }));
}
