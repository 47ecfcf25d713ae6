import type { VNode } from "preact";

import { ActLink } from "../acts/act-links.js";
import type { OperatorAct, Session } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { moreOf } from "../view/filters.js";
import { Link, pathWith } from "../view/link.js";
import { type Column, More, Section, Table } from "../view/parts.js";
import { Id, Text, Time, words } from "../view/values.js";

const ROWS = 50;
const OPERATORS_MAX = 1_000;
const KINDS = ["created", "roles_changed", "key_replaced", "passkey_added", "passkey_removed", "revoked"];
const SEES_ALL: ReadonlySet<string> = new Set(["admin", "viewer"]);

/** Who changed who may do what, and who is signed in? */
export const auditPage: Page = {
  path: "/audit",
  async show(visit) {
    const { path, query, person, organization } = visit;
    const [of, kind] = [query.get("person") ?? "", query.get("kind") ?? ""];
    const seesAll = person.roles.some((role) => SEES_ALL.has(role));
    const [acts, sessions, operators] = await Promise.all([
      visit.read("AdminService/ListOperatorActs", {
        operator_id: of,
        type: KINDS.includes(kind) ? `operator.${kind}` : "",
        page_size: ROWS,
        page_token: query.get("page") ?? "",
      }),
      visit.read("SessionService/ListSessions", { operator_id: seesAll ? of : "", page_size: ROWS }),
      visit.read("AdminService/ListOperators", { page_size: OPERATORS_MAX }),
    ]);
    const names = new Map(operators.ok ? operators.value.operators.map(({ id, name }) => [id, name]) : []);
    return {
      title: "Audit",
      body: (
        <>
          <h1>Audit</h1>
          <Filters visit={visit} names={names} of={of} kind={kind} />
          <Section title="Changes of operators, newest first" reading={acts} retry={path}>
            {({ acts: rows, next_page_token: token }) => (
              <>
                <Table columns={actColumns(names)} rows={rows} empty="No change has all of this." />
                <More to={moreOf(path, query, token)} isEmpty={rows.length === 0} />
              </>
            )}
          </Section>
          {organization === undefined ? null : (
            <p>
              What a person did in {organization.name} is in the{" "}
              <Link to={pathWith(within(visit, "/journal"), { person: of, own: of === "" ? "yes" : "" })}>journal</Link>
              .
            </p>
          )}
          <Section title={seesAll ? "Signed in now" : "Your sessions"} reading={sessions} retry={path}>
            {(page) => (
              <>
                <Table
                  columns={sessionColumns(visit)}
                  rows={page.sessions.toSorted((one, other) => (one.created_at < other.created_at ? 1 : -1))}
                  empty="Nobody is signed in with a passkey or a code."
                />
                <p class="advice">The server keeps no session that has ended.</p>
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

interface FiltersProps {
  readonly visit: Visit;
  readonly names: ReadonlyMap<string, string>;
  readonly of: string;
  readonly kind: string;
}

function Filters({ visit, names, of, kind }: FiltersProps): VNode {
  return (
    <form method="get" action={visit.path} class="filters">
      <label>
        Person
        <select name="person">
          <option value="">all</option>
          {[...names].map(([id, name]) => (
            <option key={id} value={id} selected={id === of}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        Kind
        <select name="kind">
          <option value="">all</option>
          {KINDS.map((each) => (
            <option key={each} value={each} selected={each === kind}>
              {words(each)}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Filter</button>
    </form>
  );
}

const actColumns = (names: ReadonlyMap<string, string>): readonly Column<OperatorAct>[] => [
  { head: "When", cell: ({ recorded_at }) => <Time>{recorded_at}</Time> },
  { head: "What", cell: ({ type }) => words(type) },
  {
    head: "Whose",
    cell: ({ operator_id: id }) => {
      const name = names.get(id);
      return name === undefined ? <Id>{id}</Id> : <Text>{name}</Text>;
    },
  },
  {
    head: "By",
    cell: ({ operator_names }) =>
      operator_names.length === 0 ? "a command on the database" : operator_names.join(", approved by "),
  },
  { head: "Passkey", cell: ({ passkey_id }) => (passkey_id === null ? null : <Id>{passkey_id}</Id>), isMinor: true },
  { head: "Number", cell: ({ sequence }) => sequence.toLocaleString("en"), isMoney: true, isMinor: true },
];

const sessionColumns = (visit: Visit): readonly Column<Session>[] => [
  { head: "Began", cell: ({ created_at }) => <Time>{created_at}</Time> },
  { head: "Name", cell: ({ operator_name }) => operator_name },
  { head: "With", cell: ({ passkey_id }) => (passkey_id === null ? "a code" : <Id>{passkey_id}</Id>), isMinor: true },
  { head: "Last used", cell: ({ used_at }) => <Time>{used_at}</Time> },
  { head: "Ends", cell: ({ expires_at }) => <Time>{expires_at}</Time>, isMinor: true },
  { head: "Act", cell: ({ id }) => <ActLink visit={visit} name="end-session" linked={{ session_id: id }} /> },
];
