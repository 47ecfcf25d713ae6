import type { Organization } from "../gen/messages.js";
import type { Page } from "../page.js";
import { Link } from "../view/link.js";
import { type Column, Table } from "../view/parts.js";
import { Status, Text, Time } from "../view/values.js";
import { onlyPathOf } from "./find.js";

// An id that somebody pasted behind the slash is looked for in so many organizations.
const ORGANIZATIONS_SEARCHED_MAX = 16;

/** Opens the only organization, or lists them. */
export const organizationsPage: Page = {
  path: "/",
  show({ organizations }) {
    const [only] = organizations;
    if (only !== undefined && organizations.length === 1) return Promise.resolve({ redirect: `/${only.id}` });
    const body = (
      <>
        <h1>Organizations</h1>
        <Table
          columns={COLUMNS}
          rows={organizations}
          empty="No organization yet. Create one: kesc org create --name …"
        />
      </>
    );
    return Promise.resolve({ title: "Organizations", body });
  },
};

const COLUMNS: readonly Column<Organization>[] = [
  {
    head: "Organization",
    cell: ({ id, name }) => (
      <Link to={`/${id}`}>
        <Text>{name}</Text>
      </Link>
    ),
  },
  { head: "Kind", cell: ({ sandbox }) => (sandbox ? "sandbox" : "live") },
  {
    head: "State",
    cell: ({ suspended }) => <Status tone={suspended ? "bad" : "good"}>{suspended ? "suspended" : "active"}</Status>,
  },
  { head: "Since", cell: ({ created_at }) => <Time>{created_at}</Time>, isMinor: true },
];

/** Leads from an id, such as one of a log, to its page. */
export const idPage: Page = {
  path: "/:id",
  async show(visit) {
    const text = visit.ids["id"] ?? "";
    if (text.startsWith("prp_")) return { redirect: `/approvals/${text}` };
    const found = await Promise.all(
      visit.organizations.slice(0, ORGANIZATIONS_SEARCHED_MAX).map(async (organization) => {
        const reading = await visit.read("AdminService/LookUp", { text }, organization.id);
        return reading.ok ? onlyPathOf({ ...visit, organization }, reading.value) : undefined;
      }),
    );
    const redirect = found.find((path) => path !== undefined);
    return redirect === undefined ? undefined : { redirect };
  },
};
