import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import type { Operator } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { Link } from "../view/link.js";
import { type Column, Commands, Section, Table } from "../view/parts.js";
import { Id, Status, Time } from "../view/values.js";

const ROWS = 100;

/** Who may do what? */
export const peoplePage: Page = {
  path: "/people",
  async show(visit) {
    const { path } = visit;
    const operators = await visit.read("AdminService/ListOperators", { page_size: ROWS });
    return {
      title: "People",
      body: (
        <>
          <h1>People</h1>
          <Section title="Operators" reading={operators} retry={path}>
            {(page) => <Table columns={operatorColumns(visit)} rows={page.operators} empty="No operators." />}
          </Section>
          <Acts visit={visit} acts={[["invite", {}]]} />
          <p>
            <Link to={within(visit, "/audit")}>Who changed this, and who is signed in</Link>
          </p>
          <Others />
        </>
      ),
    };
  },
};

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
