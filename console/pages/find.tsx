import type { VNode } from "preact";

import type { LookUpResponse } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { JournalTable, pathOfId } from "../view/journal.js";
import { Link } from "../view/link.js";
import { AccountList, DepositList, TransactionList } from "../view/lists.js";
import { Refused } from "../view/parts.js";
import { Text, words } from "../view/values.js";

/** Which customer or payment is this? The text may be personal data, so it is in no URL. */
export const findPage: Page = {
  path: "/:org/find",
  method: "POST",
  isSearch: true,
  async show(visit) {
    const text = (visit.form["text"] ?? "").trim();
    if (text === "") return { redirect: within(visit) };
    const found = await visit.read("AdminService/LookUp", { text, organization_id: visit.organization?.id });
    if (!found.ok)
      return {
        title: "Find",
        sought: text,
        body: <Refusal text={text} refused={<Refused refusal={found.refusal} />} />,
      };
    const only = onlyPathOf(visit, found.value);
    if (only !== undefined) return { redirect: only };
    return { title: "Find", sought: text, body: <Found visit={visit} text={text} found={found.value} /> };
  },
};

/** Returns the page of the only match. */
export function onlyPathOf(visit: Visit, { matches, more }: LookUpResponse): string | undefined {
  const [match] = matches;
  if (match === undefined || matches.length > 1 || more) return undefined;
  const id = match.account?.id ?? match.transaction?.id ?? match.deposit?.id;
  if (id !== undefined) return pathOfId(visit, id);
  if (match.proposal !== null) return within(visit, `/approvals/${match.proposal.id}`);
  return match.entry === null ? undefined : within(visit, `/journal/row-${String(match.entry.line.sequence)}`);
}

function Refusal({ text, refused }: { readonly text: string; readonly refused: VNode }): VNode {
  return (
    <>
      <h1>
        Nothing was looked up for “<Text>{text}</Text>”
      </h1>
      {refused}
    </>
  );
}

interface FoundProps {
  readonly visit: Visit;
  readonly text: string;
  readonly found: LookUpResponse;
}

function Found({ visit, text, found: { matches, more, read_as, tried } }: FoundProps): VNode {
  if (matches.length === 0) {
    return (
      <>
        <h1>
          Nothing has “<Text>{text}</Text>”
        </h1>
        <p>It was read as {listOf(tried)}, and this organization has nothing with it.</p>
        <p>
          A payment may not have reached the book yet: look for the phone number of the customer, or look into{" "}
          <Link to={within(visit, "/attention")}>what needs attention</Link>.
        </p>
      </>
    );
  }
  const of = <Kind extends keyof LookUpResponse["matches"][number]>(kind: Kind) =>
    matches.flatMap((match) => (match[kind] === null ? [] : [match[kind]]));
  const [accounts, transactions, deposits, entries] = [of("account"), of("transaction"), of("deposit"), of("entry")];
  return (
    <>
      <h1>
        {more ? "The newest " : ""}
        {matches.length} matches of “<Text>{text}</Text>”
      </h1>
      <p>It was read as {words(read_as)}.</p>
      {accounts.length > 0 ? <AccountList visit={visit} rows={accounts} empty="" /> : null}
      {transactions.length > 0 ? <TransactionList visit={visit} rows={transactions} empty="" /> : null}
      {deposits.length > 0 ? <DepositList visit={visit} rows={deposits} empty="" /> : null}
      {entries.length > 0 ? <JournalTable visit={visit} entries={entries} empty="" /> : null}
    </>
  );
}

function listOf(readings: readonly string[]): string {
  const all = readings.map((reading) => words(reading));
  return all.length < 2 ? (all[0] ?? "no kind of text") : `${all.slice(0, -1).join(", ")} or ${all.at(-1) ?? ""}`;
}
