import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import type { ApiKey, Operator, Session } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { type Column, Commands, Section, Table } from "../view/parts.js";
import { Id, Status, Time } from "../view/values.js";

const ROWS = 100;

/** Who may do what? */
export const peoplePage: Page = {
  path: "/people",
  async show(visit) {
    const { path, organization, person } = visit;
    const [operators, sessions, keys] = await Promise.all([
      visit.read("AdminService/ListOperators", { page_size: ROWS }),
      visit.read("SessionService/ListSessions", { page_size: ROWS }),
      organization === undefined
        ? undefined
        : visit.read("AdminService/ListApiKeys", {
            organization_id: organization.id,
            page_size: ROWS,
          }),
    ]);
    return {
      title: "People",
      body: (
        <>
          <h1>People</h1>
          <Section title="Operators" reading={operators} retry={path}>
            {(page) => <Table columns={operatorColumns(visit)} rows={page.operators} empty="No operators." />}
          </Section>
          <Section
            title={person.roles.some((role) => SEES_ALL.has(role)) ? "Sessions" : "Your sessions"}
            reading={sessions}
            retry={path}
          >
            {(page) => (
              <Table
                columns={sessionColumns(visit)}
                rows={page.sessions}
                empty="Nobody is signed in with a passkey or a code."
              />
            )}
          </Section>
          {keys === undefined || organization === undefined ? null : (
            <Section title={`API keys of ${organization.name}`} reading={keys} retry={path}>
              {(page) => <Table columns={keyColumns(visit)} rows={page.api_keys} empty="No keys yet." />}
            </Section>
          )}
          <Acts visit={visit} acts={[["invite", {}]]} />
          <Others />
        </>
      ),
    };
  },
};

const SEES_ALL: ReadonlySet<string> = new Set(["admin", "viewer"]);

const operatorColumns = (visit: Visit): readonly Column<Operator>[] => [
  { head: "Name", cell: ({ name }) => name },
  { head: "Roles", cell: ({ roles }) => roles.join(", ") },
  {
    head: "Passkeys",
    cell: ({ passkeys }) =>
      passkeys.length === 0 ? <span class="none">none</span> : passkeys.map(({ id }) => <Id key={id}>{id}</Id>),
    isMinor: true,
  },
  { head: "Since", cell: ({ created_at }) => <Time>{created_at}</Time>, isMinor: true },
  { head: "State", cell: ({ revoked_at }) => <Status>{revoked_at === null ? "active" : "revoked"}</Status> },
  { head: "Id", cell: ({ id }) => <Id>{id}</Id>, isMinor: true },
  {
    head: "Action",
    cell: ({ id, revoked_at }) =>
      revoked_at === null ? (
        <>
          <ActLink visit={visit} name="invite-passkey" linked={{ operator_id: id }} />{" "}
          {/* Nobody takes the own power away by mistake. */}
          {id === visit.person.id ? null : (
            <ActLink visit={visit} name="revoke-operator" linked={{ operator_id: id }} />
          )}
        </>
      ) : null,
  },
];

const sessionColumns = (visit: Visit): readonly Column<Session>[] => [
  { head: "Name", cell: ({ operator_name }) => operator_name },
  { head: "Started", cell: ({ created_at }) => <Time>{created_at}</Time> },
  { head: "Signed in with", cell: ({ passkey_id }) => (passkey_id === null ? "a code" : <Id>{passkey_id}</Id>), isMinor: true },
  { head: "Last used", cell: ({ used_at }) => <Time>{used_at}</Time> },
  { head: "Expires", cell: ({ expires_at }) => <Time>{expires_at}</Time>, isMinor: true },
  { head: "Action", cell: ({ id }) => <ActLink visit={visit} name="end-session" linked={{ session_id: id }} /> },
];

const keyColumns = (visit: Visit): readonly Column<ApiKey>[] => [
  { head: "Key", cell: ({ name }) => name },
  { head: "Id", cell: ({ id }) => <Id>{id}</Id>, isMinor: true },
  { head: "Scopes", cell: ({ scopes }) => <>{scopes.join(", ")}</>, isMinor: true },
  {
    head: "Last use, to an hour",
    cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Time>{last_used_at}</Time>),
  },
  {
    head: "Expires",
    cell: ({ expires_at }) => (expires_at === null ? "never" : <Time>{expires_at}</Time>),
    isMinor: true,
  },
  { head: "State", cell: ({ revoked_at }) => <Status>{revoked_at === null ? "active" : "revoked"}</Status> },
  {
    head: "Action",
    cell: ({ id, revoked_at }) =>
      revoked_at === null ? <ActLink visit={visit} name="revoke-key" linked={{ api_key_id: id }} /> : null,
  },
];

function Others(): VNode {
  return (
    <section>
      <h2>Commands for admins</h2>
      <Commands>
        {[`kesc operator create "…" --role approver`, `kesc operator set-roles "…" --role support,approver`]}
      </Commands>
    </section>
  );
}
