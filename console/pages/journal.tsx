import type { VNode } from "preact";

import type { GetInclusionProofResponse, JournalEntry } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { Field, NoId } from "../view/filters.js";
import { Actor, JournalTable, Posting, Short } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { Commands, Facts, More, Refused, Section } from "../view/parts.js";
import { Id, Money, Time, timeText, words } from "../view/values.js";

const ROWS = 50;
const OPERATORS_MAX = 1_000;

/** Who did what, when? */
export const journalPage: Page = {
  path: "/:org/journal",
  async show(visit) {
    const { path, query } = visit;
    const of = (name: string): string => query.get(name) ?? "";
    const filter = { account: of("account"), person: of("person"), own: of("own") };
    const operator_id = await operatorIdOf(visit, filter.person);
    const reading = await visit.read("AdminService/ListJournal", {
      organization_id: visit.organization?.id,
      account_id: filter.account,
      operator_id,
      own: filter.own === "yes",
      page_size: ROWS,
      page_token: of("page"),
    });
    return {
      title: "Journal",
      showsBook: true,
      body: (
        <>
          <h1>Journal</h1>
          <form method="get" action={path} class="filters">
            <Field name="person" label="Person" value={filter.person} />
            <Field name="account" label="Account (acc_…)" value={filter.account} />
            <label class="choice">
              <input type="checkbox" name="own" value="yes" checked={filter.own === "yes"} /> about the organization
              itself
            </label>
            <button type="submit">Filter</button>
          </form>
          <NoId text={filter.account} />
          <Section title="Newest first" reading={reading} retry={path}>
            {({ entries, next_page_token: token }) => (
              <>
                {entries.length === 0 && token !== null ? null : (
                  <JournalTable visit={visit} entries={entries} empty="No row has all of this." />
                )}
                <More
                  to={token === null ? undefined : pathWith(path, { ...filter, page: token })}
                  isEmpty={entries.length === 0}
                />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

/** Returns the id of the operator with the name. Returns the text itself if there is none. */
async function operatorIdOf(visit: Visit, text: string): Promise<string> {
  if (text === "" || text.startsWith("opr_")) return text;
  const request = { page_size: OPERATORS_MAX };
  const read = await visit.read("AdminService/ListOperators", request);
  return (read.ok ? read.value.operators.find(({ name }) => name === text)?.id : undefined) ?? text;
}

/** One row of the book, with its proof. */
export const rowPage: Page = {
  path: "/:org/journal/row-:sequence",
  async show(visit) {
    const sequence = Number(visit.ids["sequence"]);
    const [row, proof] = await Promise.all([
      visit.read("AdminService/ListJournal", {
        organization_id: visit.organization?.id,
        start_sequence: sequence,
        end_sequence: sequence + 1,
        page_size: 1,
      }),
      visit.read("BookService/GetInclusionProof", { sequence }),
    ]);
    const title = `Row #${sequence.toLocaleString("en")}`;
    if (!row.ok) return { title, body: <Refused refusal={row.refusal} /> };
    const [entry] = row.value.entries;
    if (entry === undefined) return undefined;
    return {
      title,
      body: (
        <>
          <h1>
            {title}: {words(entry.line.type)}
          </h1>
          <RowFacts visit={visit} entry={entry} />
          <p>
            <Link to={`${within(visit, "/supply")}?as_of=row-${String(sequence)}`}>The supply after this row</Link>
          </p>
          <Section title="Proof" reading={proof} retry={visit.path}>
            {(value) => <ProofFacts proof={value} query={`sequence=${String(sequence)}`} />}
          </Section>
        </>
      ),
    };
  },
};

function RowFacts({ visit, entry }: { readonly visit: Visit; readonly entry: JournalEntry }): VNode {
  const { line, api_key_id } = entry;
  return (
    <Facts
      facts={{
        Recorded: timeText(new Date(line.recorded_at)),
        Who: <Actor entry={entry} />,
        "Id of who": <Id>{line.actor}</Id>,
        Reason: line.note,
        "Debit → credit": <Posting entry={entry} />,
        Amount:
          line.amount === null ? null : (
            <>
              <Money>{line.amount}</Money> KES
            </>
          ),
        Account: line.account_id === null ? null : <Short visit={visit} id={line.account_id} />,
        "Available after it": line.available_balance === null ? null : <Money>{line.available_balance}</Money>,
        "Held after it": line.held_balance === null ? null : <Money>{line.held_balance}</Money>,
        Transaction: line.transaction_id === null ? null : <Short visit={visit} id={line.transaction_id} />,
        Reference: line.reference,
        Receipt: line.rail_receipt,
        "API key": api_key_id === null ? null : <Id>{api_key_id}</Id>,
      }}
    />
  );
}

interface ProofProps {
  readonly proof: GetInclusionProofResponse;
  /** What the row is asked for by, in the REST API. */
  readonly query: string;
}

/** How to check the proof elsewhere: the console does not judge its own proof. */
export function ProofFacts({ proof: { leaf_index, checkpoint, hashes }, query }: ProofProps): VNode {
  return (
    <>
      {checkpoint.alarm_raised_at === null ? null : (
        <p class="refused bad">
          Sealed rows of this book are no longer as they were, since <Time>{checkpoint.alarm_raised_at}</Time>. See
          docs/seals.md.
        </p>
      )}
      <Facts
        facts={{
          "Leaf of the tree": leaf_index.toLocaleString("en"),
          "Hashes up to the root": hashes.length,
          "Rows that the checkpoint covers": checkpoint.size.toLocaleString("en"),
          "Root hash": <Id>{checkpoint.root_hash}</Id>,
          Sealed: <Time>{checkpoint.sealed_at}</Time>,
        }}
      />
      <p>Check it on another machine, with a key of the organization and the public key that you published:</p>
      <Commands>
        {[
          `curl -s -H "x-api-key: $KEY" "$GATEWAY/seals/inclusion-proof?${query}" > proof.json`,
          `node examples/verify/verify.mjs "$PUBLIC_KEY" proof.json`,
        ]}
      </Commands>
    </>
  );
}
