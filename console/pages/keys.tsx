import { ActLink } from "../acts/act-links.js";
import type { ApiKey } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { moreOf } from "../view/filters.js";
import { type Column, Commands, More, Section, Table } from "../view/parts.js";
import { Id, Status, Time } from "../view/values.js";

const ROWS = 100;

/** Which programs may call, with which scopes, and until when? */
export const keysPage: Page = {
  path: "/:org/keys",
  async show(visit) {
    const { path, query, organization } = visit;
    const reading = await visit.read("AdminService/ListApiKeys", {
      page_size: ROWS,
      page_token: query.get("page") ?? "",
    });
    return {
      title: "Keys",
      body: (
        <>
          <h1>Keys</h1>
          <Section title={`API keys of ${organization?.name ?? ""}`} reading={reading} retry={path}>
            {({ api_keys: keys, next_page_token: token }) => (
              <>
                <Table columns={columnsOf(visit)} rows={keys} empty="No keys yet." />
                <More to={moreOf(path, query, token)} isEmpty={keys.length === 0} word="More" />
              </>
            )}
          </Section>
          <p class="advice">The last use is true to an hour.</p>
          <section>
            <h2>What an admin does by command</h2>
            <p>A command shows the secret of a new key once. No page does.</p>
            <Commands>
              {[`kesc key create --org ${organization?.id ?? ""} --name "…" --scopes … --expires-in 90d`]}
            </Commands>
          </section>
        </>
      ),
    };
  },
};

const columnsOf = (visit: Visit): readonly Column<ApiKey>[] => [
  { head: "Key", cell: ({ name }) => name },
  { head: "State", cell: (key) => <Status tone={stateOf(key) === "active" ? "good" : "bad"}>{stateOf(key)}</Status> },
  { head: "May", cell: ({ scopes }) => <>{scopes.join(", ")}</>, isMinor: true },
  {
    head: "Last use",
    cell: ({ last_used_at }) => (last_used_at === null ? "never" : <Time>{last_used_at}</Time>),
  },
  { head: "Created", cell: ({ created_at }) => <Time>{created_at}</Time>, isMinor: true },
  { head: "Ends", cell: ({ expires_at }) => (expires_at === null ? "never" : <Time>{expires_at}</Time>) },
  { head: "Id", cell: ({ id }) => <Id>{id}</Id>, isMinor: true },
  {
    head: "Action",
    cell: ({ id, revoked_at }) =>
      revoked_at === null ? <ActLink visit={visit} name="revoke-key" linked={{ api_key_id: id }} /> : null,
  },
];

function stateOf({ revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? "expired" : "active";
}
