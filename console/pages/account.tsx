import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import { Standing, standingOf } from "../acts/standing.js";
import type { Account, Freeze, Limits } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { JournalTable } from "../view/journal.js";
import { Link, pathWith } from "../view/link.js";
import { TransactionList } from "../view/lists.js";
import { type Column, Facts, Refused, Section, Table } from "../view/parts.js";
import { Id, limitWords, Money, Status, Text, Time } from "../view/values.js";
import { type AsOf, asOfIn } from "./as-of.js";

/** How much has this customer, and what happened? */
export const accountPage: Page = {
  path: "/:org/accounts/:acc",
  async show(visit) {
    const account_id = visit.ids["acc"] ?? "";
    const asOf = asOfIn(visit.query);
    const reading = visit.read("AccountService/GetAccount", {
      account_id,
      ...asOf?.fields,
    });
    const [account, limits, transactions, journal, standing] = await Promise.all([
      reading,
      visit.read("AdminService/GetLimits", { account_id }),
      visit.read("TransactionService/ListTransactions", { account_id, page_size: 10 }),
      visit.read("AdminService/ListJournal", { account_id, page_size: 20 }),
      asOf === undefined ? standingOf(visit, account_id) : undefined,
    ]);
    if (!account.ok && account.refusal.reason === "ACCOUNT_NOT_FOUND") return undefined;
    return {
      title: "Account",
      past: asOf?.words,
      body: (
        <>
          {account.ok ? <Head visit={visit} account={account.value.account} /> : <h1>Account</h1>}
          {account.ok ? null : <Refused refusal={account.refusal} />}
          <Standing visit={visit} reading={standing} />
          {account.ok ? <Freezes account={account.value.account} visit={visit} isPast={asOf !== undefined} /> : null}
          {asOf === undefined && account.ok ? <Acts visit={visit} acts={actsOf(account.value.account)} /> : null}
          {account.ok ? <Details account={account.value.account} /> : null}
          {asOf === undefined ? (
            <Lists visit={visit} limits={limits} transactions={transactions} journal={journal} />
          ) : null}
          <Past path={visit.path} asOf={asOf} />
        </>
      ),
    };
  },
};

/** The acts that are possible as the account is now. */
function actsOf({ id: account_id, status, freezes }: Account): Parameters<typeof Acts>[0]["acts"] {
  const isClosed = status === "closed";
  const [freeze, ...others] = freezes;
  return [
    // Of several freezes, each has its act beside it.
    ...(freeze === undefined || others.length > 0 ? [] : [["unfreeze", { account_id, freeze_id: freeze.id }] as const]),
    ...(isClosed ? ["reveal", "erase"] : ["reveal", "update", "freeze", "tier", "recover", "close", "erase"])
      .filter((name) => name !== "freeze" || freeze === undefined)
      .map((name) => [name, { account_id }] as const),
  ];
}

function Head({ visit, account }: { readonly visit: Visit; readonly account: Account }): VNode {
  const { user_id, status } = account;
  return (
    <>
      <h1>
        {user_id === null ? "Account" : <Text>{user_id}</Text>} <Status>{status}</Status>
      </h1>
      <p>{visit.meaningOf("AccountStatus", status)}</p>
      <ul class="figures">
        <li>
          <span class="name">Available</span>
          <span class="value">
            <Money>{account.available_balance}</Money> <small>KESC</small>
          </span>
        </li>
        <li>
          <span class="name">Held for redemptions</span>
          <span class="value">
            <Money>{account.held_balance}</Money> <small>KESC</small>
          </span>
        </li>
      </ul>
    </>
  );
}

function Details({ account }: { readonly account: Account }): VNode {
  const { phone_number, email, deposit_reference, tier } = account;
  return (
    <section>
      <h2>Details</h2>
      <Facts
        facts={{
          Id: <Id>{account.id}</Id>,
          Phone: phone_number,
          "E-mail": email,
          "Deposit reference": deposit_reference === null ? null : <Id>{deposit_reference}</Id>,
          Tier: tier,
          Note: account.status_note,
          Created: <Time>{account.created_at}</Time>,
          "Last change": <Time>{account.updated_at}</Time>,
        }}
      />
    </section>
  );
}

function Freezes({
  account: { id: account_id, freezes },
  visit,
  isPast,
}: {
  readonly account: Account;
  readonly visit: Visit;
  readonly isPast: boolean;
}): VNode | null {
  if (freezes.length === 0) return null;
  const lift: Column<Freeze> = {
    head: "Action",
    cell: ({ id }) => <ActLink visit={visit} name="unfreeze" linked={{ account_id, freeze_id: id }} />,
  };
  const columns: readonly Column<Freeze>[] = [
    { head: "Frozen since", cell: ({ created_at }) => <Time>{created_at}</Time> },
    { head: "Why", cell: ({ reason }) => visit.meaningOf("FreezeReason", reason) },
    { head: "Note", cell: ({ note }) => note },
    { head: "By", cell: ({ created_by }) => <Id>{created_by}</Id>, isMinor: true },
    ...(isPast ? [] : [lift]),
  ];
  return (
    <section>
      <h2>Active freezes</h2>
      <Table columns={columns} rows={freezes} empty="" />
      {isPast ? null : (
        <p>
          <ActLink visit={visit} name="freeze" linked={{ account_id }}>
            Freeze it for another reason, too
          </ActLink>
        </p>
      )}
    </section>
  );
}

interface ListsProps {
  readonly visit: Visit;
  readonly limits: Parameters<typeof Section<{ readonly limits: Limits }>>[0]["reading"];
  readonly transactions: ReadingOf<"TransactionService/ListTransactions">;
  readonly journal: ReadingOf<"AdminService/ListJournal">;
}

const LIMIT_COLUMNS: readonly Column<Limits["limits"][number]>[] = [
  { head: "Limit", cell: ({ type, period }) => limitWords(type, period) },
  { head: "Most", cell: ({ max_amount }) => <Money>{max_amount}</Money>, isMoney: true },
  { head: "Used", cell: ({ used }) => <Money>{used}</Money>, isMoney: true, isMinor: true },
  { head: "Left", cell: ({ remaining }) => <Money>{remaining}</Money>, isMoney: true },
  { head: "Resets", cell: ({ resets_at }) => <Time>{resets_at}</Time>, isMinor: true },
];

function Lists({ visit, limits, transactions, journal }: ListsProps): VNode {
  const { path } = visit;
  const account = visit.ids["acc"];
  return (
    <>
      <Section title="Last payments" reading={transactions} retry={path}>
        {(page) => (
          <>
            <TransactionList visit={visit} rows={page.transactions} hasAccount={false} empty="No payment yet." />
            <p>
              {page.next_page_token === null ? null : (
                <Link to={pathWith(within(visit, "/transactions"), { account })}>All of this account</Link>
              )}{" "}
              <Link to={`${path}/statement`}>Statement</Link>
            </p>
          </>
        )}
      </Section>
      <Section title="Limits" reading={limits} retry={path}>
        {(page) => (
          <>
            <Table columns={LIMIT_COLUMNS} rows={page.limits.limits} empty="No limit is set for this account." />
            <p>
              <Link to={within(visit, "/limits")}>The limits of each tier</Link>
            </p>
          </>
        )}
      </Section>
      <Section title="History" reading={journal} retry={path}>
        {(page) => (
          <>
            <JournalTable visit={visit} entries={page.entries} without={["account"]} empty="No rows yet." />
            {page.next_page_token === null ? null : (
              <p>
                <Link to={pathWith(within(visit, "/journal"), { account })}>All rows of this account</Link>
              </p>
            )}
          </>
        )}
      </Section>
    </>
  );
}

/** A form that shows the page as it was. */
export function Past({ path, asOf }: { readonly path: string; readonly asOf: AsOf | undefined }): VNode {
  return (
    <form method="get" action={path} class="filters">
      <label>
        As of the end of a day in Kenya
        <input type="date" name="as_of" required />
      </label>
      <button type="submit">{asOf === undefined ? "Show the past" : "Show that day"}</button>
    </form>
  );
}
