import type { VNode } from "preact";

import type { Deposit, LookUpResponse, Transaction } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { type OfCustomer, pageOf, type RowsPage, withCustomers, withNames } from "../upstream/rows.js";
import type { Reading } from "../upstream/upstream.js";
import { JournalTable, pathOfId } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { AccountList, depositColumns, DepositList, TransactionList } from "../view/lists.js";
import { Refused, Section, Table } from "../view/parts.js";
import { moneyText, sumOf, Text, words } from "../view/values.js";
import { PasskeyForm } from "./sign-in.js";

/** Which customer or payment is this? The text may be personal data, so it is in no URL. */
export const findPage: Page = {
  path: "/:org/find",
  method: "POST",
  isSearch: true,
  async show(visit) {
    const text = (visit.form["text"] ?? "").trim();
    if (text === "") return { redirect: within(visit) };
    const { response_json = "" } = visit.form;
    const verified =
      response_json === "" ? undefined : await visit.act("SessionService/VerifySession", { response_json });
    const found = verified?.ok === false ? verified : await visit.read("AdminService/LookUp", { text });
    if (!found.ok) {
      const refused = <Refused refusal={found.refusal} />;
      const mustVerify = verified?.ok === false || found.refusal.reason === "VERIFICATION_REQUIRED";
      const body = (
        <Refusal text={text} refused={mustVerify ? <NeedsPasskey {...{ visit, text, refused }} /> : refused} />
      );
      return { title: "Find", sought: text, body };
    }
    const only = onlyPathOf(visit, found.value);
    if (only !== undefined) return { redirect: only };
    const paid = await paidOf(visit, text, found.value);
    return { title: "Find", sought: text, body: <Found visit={visit} text={text} found={found.value} paid={paid} /> };
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
        Search failed for “<Text>{text}</Text>”
      </h1>
      {refused}
    </>
  );
}

interface NeedsPasskeyProps {
  readonly visit: Visit;
  readonly text: string;
  readonly refused: VNode;
}

/** To find a person is a look, and needs the passkey that a look needs. */
function NeedsPasskey({ visit, text, refused }: NeedsPasskeyProps): VNode {
  return (
    <>
      {refused}
      <PasskeyForm kind="get" action={visit.path} button="Use your passkey: Find">
        <input type="hidden" name="form_token" value={visit.form["form_token"] ?? ""} />
        <input type="hidden" name="text" value={text} />
      </PasskeyForm>
    </>
  );
}

interface FoundProps {
  readonly visit: Visit;
  readonly text: string;
  readonly found: LookUpResponse;
  /** What has the amount that the text names. Undefined: it names none. */
  readonly paid: Paid | undefined;
}

function Found({ visit, text, found: { matches, more, read_as, tried }, paid }: FoundProps): VNode {
  if (matches.length === 0) {
    const isPaid = [paid?.payments, paid?.deposits].some((each) => each?.ok === true && each.value.rows.length > 0);
    return (
      <>
        <h1>
          {isPaid ? "Matches by amount for" : "No match for"} “<Text>{text}</Text>”
        </h1>
        <p>
          {tried.length === 0
            ? "This is no kind of text that can be looked up."
            : `Looked at ${listOf(tried)}, in capitals and in small letters. None has exactly this text.`}
          {!isPaid && PART_OF_RECEIPT.test(text)
            ? " A receipt is found by all of its characters, and not by its last ones."
            : ""}
        </p>
        {paid === undefined ? null : <OfAmount visit={visit} paid={paid} />}
        {isPaid ? null : (
          <p>
            A payment may not have reached the book yet: look for the phone number of the customer, or open{" "}
            <Link to={within(visit, "/attention")}>Needs attention</Link>.
          </p>
        )}
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
        {matches.length} matches for “<Text>{text}</Text>”
      </h1>
      <p>
        Looked at {listOf(tried)}. Found among {listOf([read_as])}.
      </p>
      {accounts.length > 0 ? <AccountList visit={visit} rows={accounts} empty="" /> : null}
      {transactions.length > 0 ? <TransactionList visit={visit} rows={transactions} empty="" /> : null}
      {deposits.length > 0 ? <DepositList visit={visit} rows={deposits} empty="" /> : null}
      {entries.length > 0 ? <JournalTable visit={visit} entries={entries} empty="" /> : null}
    </>
  );
}

function listOf(readings: readonly string[]): string {
  const all = readings.map((reading) => NAMES[reading] ?? words(reading));
  return all.length < 2 ? (all[0] ?? "") : `${all.slice(0, -1).join(", ")} and ${all.at(-1) ?? ""}`;
}

/** What LookUp looks at, by its readings. */
const NAMES: Readonly<Record<string, string>> = {
  account_id: "ids of accounts",
  transaction_id: "ids of transactions",
  deposit_id: "ids of deposits",
  destination_id: "ids of destinations",
  proposal_id: "ids of proposals",
  bank_file_id: "ids of payment files",
  end_to_end_id: "EndToEndIds",
  sequence: "rows of the journal",
  email: "e-mail addresses",
  phone_number: "phone numbers",
  deposit_reference: "deposit references",
  receipt: "receipts",
  reference: "references",
  user_id: "user_ids",
};

const PART_OF_RECEIPT = /^(?=.*[0-9])[a-z0-9]{4,9}$/i;

interface Paid {
  readonly amount: string;
  readonly payments: Reading<RowsPage<OfCustomer<Transaction>>>;
  readonly deposits: Reading<RowsPage<OfCustomer<Deposit>>>;
}

/** Returns "2211.00" for "2,211" or "KES 2211.00". Undefined for any other text. */
function amountIn(text: string): string | undefined {
  const [, whole = "", fraction] =
    /^(?:KESC?\s*)?((?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]{1,13}))(\.[0-9]{1,2})?$/i.exec(text) ?? [];
  return whole === "" ? undefined : sumOf([`${whole.replaceAll(",", "")}${fraction ?? ""}`]);
}

/** Reads the newest payments and deposits of an amount. LookUp finds no amounts. */
async function paidOf(visit: Visit, text: string, { matches, tried }: LookUpResponse): Promise<Paid | undefined> {
  const amount = amountIn(text);
  if (amount === undefined || matches.length > 0 || tried.includes("phone_number")) return undefined;
  const filters = { min_amount: amount, max_amount: amount, page_size: PAID_ROWS };
  const [transactions, read] = await Promise.all([
    visit.read("TransactionService/ListTransactions", filters),
    visit.read("DepositService/ListDeposits", filters),
  ]);
  const [payments, deposits] = await Promise.all([
    withNames(visit, transactions),
    withCustomers(
      visit,
      pageOf(read, (page) => page.deposits),
    ),
  ]);
  return { amount, payments, deposits };
}

const PAID_ROWS = 20;

interface OfAmountProps {
  readonly visit: Visit;
  readonly paid: Paid;
}

function OfAmount({ visit, paid: { amount, payments, deposits } }: OfAmountProps): VNode {
  const more = (what: string, path: string, next: string | null): VNode | null =>
    next === null ? null : (
      <p>
        These are the newest.{" "}
        <Link to={pathWith(within(visit, path), { min_amount: amount, max_amount: amount })}>
          All {what} of this amount
        </Link>
      </p>
    );
  return (
    <>
      <Section title={`Payments of ${moneyText(amount)} KES`} reading={payments} retry={within(visit)}>
        {({ rows, next }) => (
          <>
            <TransactionList visit={visit} rows={rows} empty="None of the payments looked at has this amount." />
            {more("payments", "/transactions", next)}
          </>
        )}
      </Section>
      <Section title={`Deposits of ${moneyText(amount)} KES`} reading={deposits} retry={within(visit)}>
        {({ rows, next }) => (
          <>
            <Table
              columns={depositColumns({ visit, hasAll: true })}
              rows={rows}
              empty="None of the deposits looked at has this amount."
            />
            {more("deposits", "/deposits", next)}
          </>
        )}
      </Section>
    </>
  );
}
