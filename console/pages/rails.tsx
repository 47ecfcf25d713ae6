import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import { Standing, standingOf } from "../acts/standing.js";
import { DIRECT, RAILS_LISTED } from "../acts/subjects.js";
import type { ProbedProduct, RailAccount, RailAccountStatus } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { JournalTable, pathOfId } from "../view/journal.js";
import { Link } from "../view/link.js";
import { Facts, Refused, Section } from "../view/parts.js";
import { Age, ageText, Id, Money, Status, Text, Time, timeText, words } from "../view/values.js";

// The rows about the organization itself, among which those of the rails are.
const ROWS_READ = 100;
const ROWS_SHOWN = 10;

/** Does each rail work, and do payouts begin? */
export const railsPage: Page = {
  path: "/:org/rails",
  async show(visit) {
    const [listed, journal] = await Promise.all([
      visit.read("AdminService/ListRailAccounts", { page_size: RAILS_LISTED }),
      visit.read("AdminService/ListJournal", { own: true, page_size: ROWS_READ }),
    ]);
    const accounts = listed.ok ? listed.value.rail_accounts : [];
    const read = await Promise.all(
      accounts.map(async ({ rail }) => {
        const isProbed = visit.query.get("probe") === rail;
        const [reading, standing, probed] = await Promise.all([
          visit.read("AdminService/GetRailAccount", { rail }),
          standingOf(visit, rail),
          isProbed ? visit.read("AdminService/ProbeRailAccount", { rail }) : undefined,
        ]);
        return { rail, reading, standing, probed };
      }),
    );
    return {
      title: "Rails",
      body: (
        <>
          <h1>Rails</h1>
          {listed.ok ? <Default visit={visit} accounts={accounts} /> : <Refused refusal={listed.refusal} />}
          {read.map((each) => (
            <Rail key={each.rail} visit={visit} {...each} />
          ))}
          <Section title="What happened to the rails" reading={journal} retry={visit.path}>
            {({ entries }) => (
              <>
                <JournalTable
                  visit={visit}
                  entries={entries.filter(({ line }) => line.type.startsWith("rail.")).slice(0, ROWS_SHOWN)}
                  without={["account", "transaction", "posting"]}
                  empty={`Nothing in the last ${String(ROWS_READ)} rows about the organization.`}
                />
                <p>
                  <Link to={`${within(visit, "/journal")}?own=yes`}>All rows about the organization itself</Link>
                </p>
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

interface DefaultProps {
  readonly visit: Visit;
  readonly accounts: readonly RailAccount[];
}

function Default({ visit, accounts }: DefaultProps): VNode {
  const usual = accounts.find(({ is_default }) => is_default);
  if (usual === undefined)
    return <p>A call that names no rail is direct: its mint is credited at once, and no shillings move.</p>;
  return (
    <p>
      A call that names no rail goes to {usual.rail}.{" "}
      <ActLink visit={visit} name="default-rail" linked={{ rail: DIRECT }}>
        Make them direct
      </ActLink>
    </p>
  );
}

interface RailProps {
  readonly visit: Visit;
  readonly rail: string;
  readonly reading: ReadingOf<"AdminService/GetRailAccount">;
  /** What waits for a second person about the rail. */
  readonly standing: Parameters<typeof Standing>[0]["reading"];
  /** What the rail has said of each product. Undefined until a person has asked. */
  readonly probed: ReadingOf<"AdminService/ProbeRailAccount"> | undefined;
}

function Rail({ visit, rail, reading, standing, probed }: RailProps): VNode {
  return (
    <Section title={rail} reading={reading} retry={visit.path}>
      {({ status }) => (
        <>
          <Health status={status} />
          <Standing visit={visit} reading={standing} />
          <Acts visit={visit} acts={actsOf(status).map((name) => [name, { rail }])} />
          <RailFacts visit={visit} status={status} />
          <Unknown visit={visit} status={status} />
          <Settings status={status} />
          {probed === undefined ? (
            <p>
              <Link to={`${visit.path}?probe=${encodeURIComponent(rail)}`}>Ask the rail what works</Link>: it moves
              nothing, and takes up to half a minute.
            </p>
          ) : (
            <Section title="What works" reading={probed} retry={`${visit.path}?probe=${encodeURIComponent(rail)}`}>
              {({ products }) => <Probed products={products} />}
            </Section>
          )}
        </>
      )}
    </Section>
  );
}

const PROBED = {
  works: ["good", "works"],
  lacking: ["bad", "the app lacks it"],
  wrong: ["bad", "set up wrong"],
  unanswered: ["wait", "no answer"],
  not_asked: ["wait", "not asked"],
} as const;

function Probed({ products }: { readonly products: readonly ProbedProduct[] }): VNode {
  if (products.length === 0) return <p>This rail has nothing to ask about.</p>;
  return (
    <ul>
      {products.map(({ product, result, code, place, advice }) => {
        const [tone, text] = PROBED[result as keyof typeof PROBED];
        return (
          <li key={product}>
            {product}: <Status tone={tone}>{text}</Status>{" "}
            <Text>{[code, place].filter((each) => each !== null).join(", ")}</Text>
            {advice === null ? null : (
              <p>
                <Text>{advice}</Text>
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function actsOf({ account }: RailAccountStatus): readonly string[] {
  const { payouts, is_default } = account;
  return [
    ...(payouts === "closed" ? [] : ["close-payouts"]),
    ...(payouts === "auto" ? [] : ["auto-payouts"]),
    ...(payouts === "open" ? [] : ["open-payouts"]),
    ...(is_default ? [] : ["default-rail"]),
  ];
}

/** What each warning means. */
const WARNINGS: Readonly<Record<string, string>> = {
  FLOAT_LOW: "Less is available for payouts than the minimum below.",
  CREDENTIALS_EXPIRE: "The credentials end soon, or have ended. Set new ones by the command kesc rail set.",
  INITIATOR_LOCKED: "The rail refuses every payout until a person unlocks the initiator at the rail.",
  CREDENTIALS_REFUSED:
    "The rail has refused a credential, and nobody uses it. Set the right one by the command kesc rail set.",
  REQUESTS_REFUSED: "The rail refuses a kind of request, whatever it is about. The log and the events name it.",
  PAYOUTS_HELD: "New payouts wait. Redemptions are accepted.",
};

function Health({ status: { account, problem, begins_payouts: begins } }: Pick<StatusProps, "status">): VNode {
  const [tone, text] =
    problem !== null
      ? (["bad", "cannot be used"] as const)
      : account.payouts === "closed"
        ? (["bad", "payouts closed"] as const)
        : begins
          ? (["good", "works"] as const)
          : account.warnings.includes("CREDENTIALS_REFUSED")
            ? (["bad", "payouts held: the rail has refused a credential"] as const)
            : (["wait", "payouts held: too many outcomes are unknown"] as const);
  return (
    <div class={account.warnings.length === 0 && problem === null ? "" : `verdict ${tone === "good" ? "wait" : tone}`}>
      <Status tone={tone}>{text}</Status>
      {problem === null ? null : (
        <p>
          <Text>{problem}</Text>
        </p>
      )}
      {account.warnings.length === 0 ? null : (
        <ul>
          {account.warnings.map((code) => (
            <li key={code}>{WARNINGS[code] ?? words(code.toLowerCase())}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface StatusProps {
  readonly visit: Visit;
  readonly status: RailAccountStatus;
}

function RailFacts({ visit, status }: StatusProps): VNode {
  const { account, balances, open_payments, unknown_payouts, oldest_unknown_at: oldest } = status;
  const { credentials_expire_at: end } = account;
  const open = `${within(visit, "/transactions")}?rail=${account.rail}&status=pending&status=processing`;
  const told = balances.map(({ name, currency, available, age_seconds: age, reported_at }): [string, VNode] => [
    `${name}, as the rail reported it`,
    <span title={timeText(new Date(reported_at))}>
      <Money>{available}</Money> {currency}, {ageText(age)} ago
    </span>,
  ]);
  return (
    <Facts
      facts={{
        Payouts: `${account.payouts}: ${clause(visit.meaningOf("PayoutMode", account.payouts))}`,
        "Why payouts are so": account.payouts_note,
        "Payments under way": <Link to={open}>{open_payments}</Link>,
        "Payouts of unknown outcome": (
          <>
            {unknown_payouts}
            {oldest === null ? null : (
              <>
                , the oldest begun <Age since={oldest} /> ago
              </>
            )}
          </>
        ),
        ...(told.length === 0 ? { Balance: "the rail has reported none" } : Object.fromEntries(told)),
        "Warns below, KES": status.float_min === "0.00" ? "never" : <Money>{status.float_min}</Money>,
        "Credentials end": end === null ? "never" : <Time>{end}</Time>,
        Deposits:
          status.deposits_since === null ? (
            "not registered"
          ) : (
            <>
              since <Time>{status.deposits_since}</Time>
            </>
          ),
        "Received payments read": status.deposits_read_at === null ? null : <Time>{status.deposits_read_at}</Time>,
        "Confirms above, KES": <Money>{status.confirm_above}</Money>,
        "One person resolves up to, KES (ten times that in a day)": <Money>{status.resolve_alone_max}</Money>,
        "Last change of the account": <Time>{account.updated_at}</Time>,
        Id: <Id>{account.id}</Id>,
      }}
    />
  );
}

function Unknown({ visit, status: { unknown_transaction_ids: ids } }: StatusProps): VNode | null {
  if (ids.length === 0) return null;
  return (
    <details>
      <summary>Payouts of unknown outcome</summary>
      <p>Ask the rail what became of each, and say it on its page.</p>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <Link to={pathOfId(visit, id)} class="id">
              {id}
            </Link>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** The settings hold no secret. Each rail has fields of its own. */
function Settings({ status: { settings } }: Pick<StatusProps, "status">): VNode | null {
  const given = settings === null ? {} : (JSON.parse(settings) as Readonly<Record<string, unknown>>);
  const facts = Object.entries(given).map(([name, value]) => [words(name), textIn(value)] as const);
  if (facts.length === 0) return null;
  return (
    <details>
      <summary>Settings</summary>
      <Facts facts={Object.fromEntries(facts)} />
    </details>
  );
}

/** Returns a sentence as the part of another one: "They wait." as "they wait". */
function clause(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
