import type { VNode } from "preact";

import { type CsvColumns, csvOf, fieldsOf } from "../export.js";
import type { GetInclusionProofResponse, JournalEntry, Operator } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { pageOf, type ReadRows } from "../upstream/rows.js";
import { Field, Filters, NoId, Ranges, Select, tidied } from "../view/filters.js";
import { Actor, journalColumns, Posting, Short } from "../view/journal.js";
import { Link } from "../view/link.js";
import { countOf, ListPage } from "../view/lists.js";
import { Commands, Facts, Refused, Section, type Total } from "../view/parts.js";
import { Id, Money, sumOf, Time, timeText, words } from "../view/values.js";

const ROWS = 50;
const OPERATORS_MAX = 1_000;
/** The types of rows by their beginning. */
const GROUPS = [
  ...["account", "transaction", "deposit", "destination", "reserve", "book", "charge", "rail", "limits"],
  ...["organization", "key", "webhook_endpoint"],
];

function readerOf(visit: Visit, operator_id: string): ReadRows<JournalEntry> {
  const of = (name: string): string => visit.query.get(name) ?? "";
  return async (page) =>
    pageOf(
      await visit.read("AdminService/ListJournal", {
        account_id: of("account"),
        operator_id,
        own: of("own") === "yes",
        types: visit.query.getAll("type"),
        start: of("start"),
        end: of("end"),
        ...page,
      }),
      ({ entries }) => entries,
    );
}

/** Who did what, when? */
export const journalPage: Page = {
  path: "/:org/journal",
  async show(visit) {
    const { query } = visit;
    const tidy = tidied(visit);
    if (tidy !== undefined) return tidy;
    const of = (name: string): string => query.get(name) ?? "";
    const people = await peopleOf(visit);
    const person = idOf(people, of("person"));
    const reading = await readerOf(visit, person)({ page_size: ROWS, page_token: of("page") });
    const columns = journalColumns(visit);
    return {
      title: "Journal",
      showsBook: true,
      body: (
        <>
          <h1>Journal</h1>
          <Ranges visit={visit} />
          <Filters visit={visit} columns={columns}>
            <Select
              name="type"
              label="What"
              values={GROUPS.map((group) => [`${group}.*`, words(group)] as const)}
              chosen={of("type")}
            />
            <Select name="person" label="Person" values={people.map(({ id, name }) => [id, name])} chosen={person} />
            <Field name="account" label="Account (acc_…)" value={of("account")} />
            <Field name="start" label="From day" value={of("start")} isDay />
            <Field name="end" label="To day" value={of("end")} isDay />
            <label class="choice">
              <input type="checkbox" name="own" value="yes" checked={of("own") === "yes"} /> about the organization
              itself
            </label>
          </Filters>
          <NoId text={of("account")} />
          <ListPage
            visit={visit}
            reading={reading}
            columns={columns}
            totalsOf={totalsOf}
            empty="No row has all of this."
            holds="ids of accounts, references, descriptions and reasons"
          />
          <p>
            <Link to={within(visit, "/month")}>The month for the accountant</Link>
          </p>
        </>
      ),
    };
  },
};

/** What entered and left circulation. The book accounts of a row decide: docs/books.md. */
function totalsOf(entries: readonly JournalEntry[]): readonly Total[] {
  const isOfUsers = (account: string | null): boolean => account === "available" || account === "held";
  const moved = entries.filter(
    ({ line }) => line.amount !== null && isOfUsers(line.debit_account) !== isOfUsers(line.credit_account),
  );
  const groups = {
    Minted: moved.filter(({ line }) => isOfUsers(line.credit_account)),
    Redeemed: moved.filter(({ line }) => isOfUsers(line.debit_account)),
  };
  return Object.entries(groups).flatMap(([name, rows]) =>
    rows.length === 0
      ? []
      : [
          {
            name: `${name}: ${countOf(rows.length, "row")}`,
            amount: sumOf(rows.map(({ line }) => line.amount ?? "0")),
          },
        ],
  );
}

/** The rows of the page as a file. */
export const journalCsv: Page = {
  path: "/:org/journal.csv",
  isDownload: true,
  async show(visit) {
    const person = visit.query.get("person") ?? "";
    const read = readerOf(visit, person.startsWith("opr_") ? person : idOf(await peopleOf(visit), person));
    return csvOf({
      name: "journal",
      read,
      columns: {
        ...lineColumns(
          ...(["sequence", "date", "recorded_at", "type", "account_id", "transaction_id"] as const),
          ...(["debit_account", "credit_account", "amount", "available_balance", "held_balance"] as const),
          ...(["reference", "description", "rail_receipt", "actor", "note"] as const),
          ...(["stated_amount", "place", "as_of_day", "evidence", "direction", "movement", "detail"] as const),
          ...(["kind", "source", "currency", "user_id", "organization_id", "corrects_month"] as const),
        ),
        operators: ({ operator_names }) => operator_names.join(", approved by "),
      },
    });
  },
};

type Line = JournalEntry["line"];

/** Returns the columns of the line of a row. */
function lineColumns(...names: readonly (keyof Line)[]): CsvColumns<{ readonly line: Line }> {
  const columns = Object.entries(fieldsOf<Line>(...names));
  return Object.fromEntries(columns.map(([name, of]) => [name, ({ line }: { readonly line: Line }) => of(line)]));
}

async function peopleOf(visit: Visit): Promise<readonly Operator[]> {
  const reading = await visit.read("AdminService/ListOperators", { page_size: OPERATORS_MAX });
  return reading.ok ? reading.value.operators : [];
}

/** Returns the id of the operator with the name. Returns the text itself if there is none. */
function idOf(people: readonly Operator[], text: string): string {
  return people.find(({ name }) => name === text)?.id ?? text;
}

/** One row of the book, with its proof. */
export const rowPage: Page = {
  path: "/:org/journal/row-:sequence",
  async show(visit) {
    const sequence = Number(visit.ids["sequence"]);
    const [row, proof] = await Promise.all([
      visit.read("AdminService/ListJournal", {
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
        "Amount, not posted":
          line.stated_amount === null ? null : (
            <>
              <Money>{line.stated_amount}</Money> KES
            </>
          ),
        Place: line.place,
        "End of the day": line.as_of_day,
        "Shown by": line.evidence,
        Direction: line.direction,
        "Corrects the movement": line.movement,
        "Corrects the month": line.corrects_month,
        Detail: line.detail,
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
