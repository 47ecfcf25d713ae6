import type { ComponentChildren, VNode } from "preact";

import type { Count, GetOverviewResponse, Operator, Organization } from "../gen/messages.js";
import { within } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { Link } from "./link.js";
import { Text, timeText } from "./values.js";

/** The paths of what the browser loads beside a page. */
export const STYLE_PATH = "/assets/style.css";
export const SCRIPT_PATH = "/assets/script.js";
export const ICON_PATH = "/assets/icon.svg";

interface DocumentProps {
  readonly title: string;
  readonly version: string;
  readonly children: ComponentChildren;
}

/** A whole document. `version` changes with the style and the script, so that both can be kept. */
export function Document({ title, version, children }: DocumentProps): VNode {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · KESC`}</title>
        <link rel="icon" href={ICON_PATH} />
        <link rel="stylesheet" href={`${STYLE_PATH}?${version}`} />
        <script src={`${SCRIPT_PATH}?${version}`} defer></script>
      </head>
      <body>{children}</body>
    </html>
  );
}

interface FrameProps {
  readonly path: string;
  readonly person: Operator;
  readonly organization: Organization | undefined;
  readonly hasOthers: boolean;
  readonly overview: ReadingOf<"AdminService/GetOverview"> | undefined;
  readonly signOutToken: string;
  readonly findToken: string;
  readonly past: string | undefined;
  /** The stream that says what is new since this page was read. Undefined: nothing is. */
  readonly live: string | undefined;
  /** The path of this page, with its query. Undefined: to read it again would lose a form. */
  readonly self: string | undefined;
  /** What was looked for. */
  readonly sought: string | undefined;
  readonly children: ComponentChildren;
}

/** The frame of every page of a person who has signed in. */
export function Frame(props: FrameProps): VNode {
  const { organization, person, past, path, children } = props;
  return (
    <>
      <Link to="#main" class="skip">
        Skip to the page
      </Link>
      <header class="bar">
        <Link to="/" class="brand">
          KESC
        </Link>
        {organization === undefined ? null : <Named organization={organization} />}
        {organization === undefined ? null : <Find {...props} organization={organization} />}
        <div class="person">
          <span>
            <Text>{person.name}</Text> <small>{person.roles.join(", ")}</small>
          </span>
          <form method="post" action="/sign-out">
            <input type="hidden" name="form_token" value={props.signOutToken} />
            <button type="submit" class="plain">
              Sign out
            </button>
          </form>
        </div>
      </header>
      <Navigation {...props} />
      <main id="main">
        {past === undefined ? null : (
          <p class="past">
            As of {past}. <Link to={path}>Show now</Link>
          </p>
        )}
        {children}
      </main>
      <footer>
        Updated {timeText(new Date())} EAT (East Africa Time).{" "}
        {props.self === undefined ? null : <Link to={props.self}>Refresh</Link>}{" "}
        <span class="hint">
          <kbd>?</kbd> lists the keys.
        </span>
      </footer>
      {props.live === undefined || props.self === undefined ? null : (
        <p class="news" role="status" data-stream={props.live} hidden>
          <span data-live="news"></span> <Link to={props.self}>Show</Link>
        </p>
      )}
      <Keys {...props} />
    </>
  );
}

/** The keys, which the script shows at "?". */
function Keys(props: NavigationProps): VNode {
  const entries = groupsOf(props).flatMap((group) => group.entries);
  const keys = {
    "/": "search",
    ...Object.fromEntries(
      entries.flatMap(({ shortcut, label }) => (shortcut === undefined ? [] : [[`g ${shortcut}`, label]])),
    ),
    "j, k": "next row, previous row",
    Enter: "open the row",
    Escape: "close this",
  };
  return (
    <dialog aria-label="Keys">
      <table>
        <tbody>
          {Object.entries(keys).map(([key, meaning]) => (
            <tr key={key}>
              <td>
                <kbd>{key}</kbd>
              </td>
              <td>{meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </dialog>
  );
}

function Named({ organization: { id, name, sandbox, suspended } }: { readonly organization: Organization }): VNode {
  return (
    <span class="organization">
      <Link to={`/${id}`}>
        <Text>{name}</Text>
      </Link>
      {sandbox ? <small class="tag">sandbox</small> : null}
      {suspended ? <small class="tag bad">suspended</small> : null}
    </span>
  );
}

interface FindProps extends Pick<FrameProps, "findToken" | "sought"> {
  readonly organization: Organization;
}

function Find({ organization, findToken, sought }: FindProps): VNode {
  const hint = "Phone, user_id, M-Pesa code, reference, amount, id";
  return (
    <form method="post" action={`/${organization.id}/find`} class="find" role="search">
      <input type="hidden" name="form_token" value={findToken} />
      <input
        type="search"
        name="text"
        value={sought}
        aria-label="Find"
        placeholder={hint}
        maxLength={256}
        required
        autoComplete="off"
      />
      <button type="submit">Find</button>
    </form>
  );
}

type NavigationProps = Pick<FrameProps, "path" | "organization" | "hasOthers" | "overview">;

interface Group {
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** Every page of the navigation, with its key, in groups. */
function groupsOf({ organization, hasOthers, overview }: NavigationProps): readonly Group[] {
  const counts = overview?.ok === true ? overview.value : undefined;
  const of = (part: string): string => within({ organization }, part);
  const attention = { live: "attention", count: counts ? waitingIn(counts) : null };
  const approvals = organization === undefined ? {} : { live: "approvals", count: counts?.waiting_proposals ?? null };
  const own: readonly Group[] = [
    {
      name: "Money",
      entries: [
        { to: of(""), label: "Today", shortcut: "t" },
        { to: of("/attention"), label: "Needs attention", shortcut: "n", ...attention },
        { to: of("/accounts"), label: "Customers", shortcut: "c" },
        { to: of("/transactions"), label: "Transactions", shortcut: "x" },
        { to: of("/deposits"), label: "Deposits", shortcut: "d" },
        { to: of("/payouts"), label: "Payouts", shortcut: "y" },
        { to: of("/supply"), label: "Supply and reserve", shortcut: "r" },
        { to: of("/reconciliation"), label: "Reconciliation", shortcut: "e" },
        { to: of("/journal"), label: "Journal", shortcut: "j" },
        { to: of("/month"), label: "Month", shortcut: "m" },
      ],
    },
    {
      name: "Operate",
      entries: [
        { to: of("/rails"), label: "Rails", shortcut: "i" },
        { to: of("/webhooks"), label: "Webhooks", shortcut: "w" },
        { to: of("/limits"), label: "Limits", shortcut: "l" },
        { to: of("/keys"), label: "Keys", shortcut: "k" },
      ],
    },
  ];
  const control: Group = {
    name: "Control",
    entries: [
      { to: of("/approvals"), label: "Approvals", shortcut: "a", ...approvals },
      { to: of("/people"), label: "People", shortcut: "p" },
      { to: of("/audit"), label: "Audit", shortcut: "u" },
      ...(hasOthers ? [{ to: "/", label: "Organizations" }] : []),
    ],
  };
  return organization === undefined ? [control] : [...own, control];
}

function Navigation(props: NavigationProps): VNode {
  return (
    <nav aria-label="Pages">
      <div class="menu">
        {groupsOf(props).map(({ name, entries }) => (
          <div key={name} class="group" role="group" aria-label={name}>
            <span aria-hidden="true">{name}</span>
            <ul>
              {entries.map(({ to, label, shortcut, live, count }) => (
                <li key={to}>
                  <Link to={to} isCurrent={to === props.path} shortcut={shortcut}>
                    {label} {count === undefined ? null : <Badge live={live} count={count} />}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  );
}

interface Entry {
  readonly to: string;
  readonly label: string;
  readonly shortcut?: string;
  /** The name of the count in the stream. */
  readonly live?: string;
  /** Null: it could not be read. */
  readonly count?: Count | null;
}

function Badge({ live, count }: { readonly live: string | undefined; readonly count: Count | null }): VNode {
  if (count === null) return <span class="badge unknown">?</span>;
  return (
    <span class="badge" data-live={live} hidden={count.count === 0}>
      {countText(count)}
    </span>
  );
}

export function countText({ count, more }: Count): string {
  return `${count.toLocaleString("en")}${more ? "+" : ""}`;
}

/** What waits for a person, whatever the person's roles: payments with a flag, and deposits. */
export function waitingIn({ flagged_transactions, waiting_deposits }: Waiting): Count {
  return totalOf([flagged_transactions, waiting_deposits]);
}

type Waiting = Pick<GetOverviewResponse, "flagged_transactions" | "waiting_deposits">;

export function totalOf(counts: readonly Count[]): Count {
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    more: counts.some(({ more }) => more),
  };
}
