import type { VNode } from "preact";

import { ActLink, Acts } from "../acts/act-links.js";
import type { UndeliveredEvent, WebhookDelivery, WebhookEndpoint } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { moreOf } from "../view/filters.js";
import { pathOfId, RowLink } from "../view/journal.js";
import { Link } from "../view/link.js";
import { type Column, Facts, More, Refused, Section, Table } from "../view/parts.js";
import { Age, Id, Status, Text, Time, Unknown } from "../view/values.js";

const ROWS = 25;
/** An organization has at most as many endpoints. */
const ENDPOINTS_MAX = 10;
const UNDELIVERED_SHOWN = 10;

/** Do the organization's receivers get their events? */
export const webhooksPage: Page = {
  path: "/:org/webhooks",
  async show(visit) {
    const listed = await visit.read("WebhookService/ListWebhookEndpoints", { page_size: ENDPOINTS_MAX });
    const endpoints = listed.ok ? listed.value.webhook_endpoints : [];
    const waiting = await Promise.all(endpoints.map(({ id }) => readUndelivered(visit, id)));
    const rows = endpoints.map((endpoint, index) => ({ endpoint, undelivered: waiting[index] }));
    const columns: readonly Column<(typeof rows)[number]>[] = [
      {
        head: "Endpoint",
        cell: ({ endpoint: { id, url } }) => (
          <Link to={pathOfId(visit, id)}>
            <Text>{url}</Text>
          </Link>
        ),
      },
      { head: "Status", cell: ({ endpoint }) => <Status>{endpoint.status}</Status> },
      {
        head: "Failing for",
        cell: ({ endpoint: { failing_since: since } }) =>
          since === null ? (
            <span class="none">–</span>
          ) : (
            <span class="bad">
              <Age since={since} />
            </span>
          ),
      },
      { head: "Delivered through", cell: ({ endpoint }) => through(endpoint), isMinor: true, isMoney: true },
      { head: "Undelivered", cell: ({ undelivered }) => <Waiting reading={undelivered} />, isMoney: true },
      {
        head: "Action",
        cell: ({ endpoint: { id, status } }) => (
          <ActLink visit={visit} name={switchOf(status)} linked={{ webhook_endpoint_id: id }} />
        ),
      },
    ];
    return {
      title: "Webhooks",
      body: (
        <>
          <h1>Webhooks</h1>
          <Section title="Endpoints" reading={listed} retry={visit.path}>
            {() => (
              <Table
                columns={columns}
                rows={rows}
                empty="The organization has no endpoint. It makes one with its key: see docs/webhooks.md."
              />
            )}
          </Section>
        </>
      ),
    };
  },
};

/** Returns the act that pauses an endpoint, or the one that sends events to it again. */
function switchOf(status: string): string {
  return status === "active" ? "pause-endpoint" : "enable-endpoint";
}

type Undelivered = ReadingOf<"WebhookService/ListUndeliveredEvents">;

function readUndelivered(visit: Visit, webhook_endpoint_id: string): Promise<Undelivered> {
  return visit.read("WebhookService/ListUndeliveredEvents", { webhook_endpoint_id, page_size: UNDELIVERED_SHOWN });
}

function through({ delivered_through_sequence: sequence }: WebhookEndpoint): string {
  return `#${sequence.toLocaleString("en")}`;
}

function Waiting({ reading }: { readonly reading: Undelivered | undefined }): VNode {
  if (reading?.ok !== true) return <Unknown />;
  const { undelivered_events: events, next_page_token: token } = reading.value;
  return <>{`${String(events.length)}${token === null ? "" : "+"}`}</>;
}

/** What became of each event, and what to do about it? */
export const webhookPage: Page = {
  path: "/:org/webhooks/:whe",
  async show(visit) {
    const { path, query } = visit;
    const webhook_endpoint_id = visit.ids["whe"] ?? "";
    const failed = query.get("failed") === "yes";
    const [endpoint, undelivered, deliveries] = await Promise.all([
      visit.read("WebhookService/GetWebhookEndpoint", { webhook_endpoint_id }),
      readUndelivered(visit, webhook_endpoint_id),
      visit.read("WebhookService/ListWebhookDeliveries", {
        webhook_endpoint_id,
        failed,
        page_size: ROWS,
        page_token: query.get("page") ?? "",
      }),
    ]);
    if (!endpoint.ok && /NOT_FOUND|INVALID_FIELD/.test(endpoint.refusal.reason ?? "")) return undefined;
    return {
      title: "Webhook endpoint",
      body: (
        <>
          {endpoint.ok ? <Head visit={visit} endpoint={endpoint.value.webhook_endpoint} /> : <h1>Webhook endpoint</h1>}
          {endpoint.ok ? null : <Refused refusal={endpoint.refusal} />}
          <Section title="Undelivered events" reading={undelivered} retry={path}>
            {({ undelivered_events: events, next_page_token: token }) => (
              <>
                <Table columns={undeliveredColumns(visit)} rows={events} empty="Every event was delivered." />
                {token === null ? null : <p>There are more. These are the newest of them.</p>}
              </>
            )}
          </Section>
          <Section title="Deliveries, newest first" reading={deliveries} retry={path}>
            {({ deliveries: rows, next_page_token: token }) => (
              <>
                <form method="get" action={path} class="filters">
                  <label class="choice">
                    <input type="checkbox" name="failed" value="yes" checked={failed} /> failed only
                  </label>
                  <button type="submit">Filter</button>
                </form>
                <Table
                  columns={deliveryColumns(visit)}
                  rows={rows}
                  empty={failed ? "No delivery has failed." : "No delivery yet. Send a test event."}
                />
                <More to={moreOf(path, query, token)} isEmpty={rows.length === 0} />
              </>
            )}
          </Section>
          {endpoint.ok ? <Details endpoint={endpoint.value.webhook_endpoint} /> : null}
        </>
      ),
    };
  },
};

interface HeadProps {
  readonly visit: Visit;
  readonly endpoint: WebhookEndpoint;
}

function Head({ visit, endpoint }: HeadProps): VNode {
  const { id, url, status, disabled_reason: reason, failing_since: since } = endpoint;
  const acts = [switchOf(status), "test-endpoint", "replay"];
  return (
    <>
      <h1>
        <Text>{url}</Text> <Status>{status}</Status>
      </h1>
      <p>{visit.meaningOf("WebhookEndpointStatus", status)}</p>
      {reason === null ? null : (
        <p class="refused bad">Why it was disabled: {visit.meaningOf("WebhookDisabledReason", reason)}</p>
      )}
      {since === null ? null : (
        <p class="refused bad">
          Every delivery has failed for <Age since={since} />, since <Time>{since}</Time>.
        </p>
      )}
      <Acts visit={visit} acts={acts.map((name) => [name, { webhook_endpoint_id: id }])} />
    </>
  );
}

function Details({ endpoint }: Pick<HeadProps, "endpoint">): VNode {
  const { id, replay } = endpoint;
  return (
    <section>
      <h2>Details</h2>
      <Facts
        facts={{
          Description: endpoint.description,
          "Types of events": endpoint.types.includes("*") ? "all" : endpoint.types.join(", "),
          "Delivered through": through(endpoint),
          "Replay under way":
            replay === null
              ? null
              : `#${replay.delivered_through_sequence.toLocaleString("en")} of #${(replay.end_sequence - 1).toLocaleString("en")}`,
          Created: <Time>{endpoint.created_at}</Time>,
          "Last change": <Time>{endpoint.updated_at}</Time>,
          Id: <Id>{id}</Id>,
        }}
      />
      <p class="advice">The address and the secret are the organization's: it changes them with its key.</p>
    </section>
  );
}

type OfEvent = Pick<UndeliveredEvent, "sequence" | "event_type">;

/** The columns that say which event a row is about. Its sequence is that of its row in the book. */
function eventColumns<Row extends OfEvent>(visit: Visit): readonly Column<Row>[] {
  return [
    {
      head: "Row",
      cell: ({ sequence }) => (sequence === 0 ? "a test" : <RowLink visit={visit} sequence={sequence} />),
    },
    { head: "Event", cell: ({ event_type }) => event_type },
  ];
}

function resendColumn<Row extends OfEvent>(visit: Visit): Column<Row> {
  const webhook_endpoint_id = visit.ids["whe"] ?? "";
  return {
    head: "Action",
    cell: ({ sequence }) =>
      sequence === 0 ? null : (
        <ActLink visit={visit} name="resend" linked={{ webhook_endpoint_id, sequence: String(sequence) }}>
          Send again
        </ActLink>
      ),
  };
}

const undeliveredColumns = (visit: Visit): readonly Column<UndeliveredEvent>[] => [
  ...eventColumns<UndeliveredEvent>(visit),
  { head: "Tries", cell: ({ attempt_count }) => attempt_count.toLocaleString("en"), isMoney: true, isMinor: true },
  { head: "Last try", cell: ({ last_attempted_at }) => <Time>{last_attempted_at}</Time>, isMinor: true },
  { head: "Response", cell: (row) => response(row.last_http_status, row.last_problem) },
  {
    head: "Next try",
    cell: ({ next_attempt_at: at }) => (at === null ? <Status tone="bad">given up</Status> : <Time>{at}</Time>),
  },
  resendColumn(visit),
];

const deliveryColumns = (visit: Visit): readonly Column<WebhookDelivery>[] => [
  { head: "When", cell: ({ attempted_at }) => <Time>{attempted_at}</Time> },
  ...eventColumns<WebhookDelivery>(visit),
  {
    head: "Result",
    cell: ({ succeeded }) => <Status tone={succeeded ? "good" : "bad"}>{succeeded ? "delivered" : "failed"}</Status>,
  },
  { head: "Response", cell: (row) => response(row.http_status, row.problem) },
  { head: "Try", cell: ({ attempt }) => attempt.toLocaleString("en"), isMoney: true, isMinor: true },
  { head: "ms", cell: ({ duration_millis }) => duration_millis.toLocaleString("en"), isMoney: true, isMinor: true },
  resendColumn(visit),
];

/** The problem names the status. */
function response(status: number | null, problem: string | null): string {
  return problem ?? (status === null ? "none" : String(status));
}
