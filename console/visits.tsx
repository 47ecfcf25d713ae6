import { status } from "@grpc/grpc-js";
import type { Express, Request, Response } from "express";
import { LRUCache } from "lru-cache";

import { Turns } from "../runtime/turns.js";
import { type KnownAct, knownActs } from "./acts/act-contract.js";
import type { Operator, Organization } from "./gen/messages.js";
import { fitsForm, formToken, TOKEN_FIELD } from "./http/forms.js";
import { AtOnce, PerMinute } from "./http/limits.js";
import { stateOf } from "./http/request-state.js";
import { uploadedForm } from "./http/uploads.js";
import { livePath } from "./live.js";
import type { Page, Visit } from "./page.js";
import { PAGES } from "./pages/pages.js";
import { SIGN_IN_PATH } from "./pages/sign-in.js";
import { formOf, type PageDependencies, send, sendFile, sendPlain } from "./reply.js";
import { PastReads } from "./upstream/past-reads.js";
import type { CallContext, Reading, Upstream } from "./upstream/upstream.js";
import { Frame } from "./view/frame.js";
import { pathWith } from "./view/link.js";

const SEARCH_FORM = "find";
const AT_ONCE_MAX = 16;
const DOWNLOADS_AT_ONCE_MAX = 2;
const UPLOADS_AT_ONCE_MAX = 1;
/** Of all people: each keeps a file in memory. */
const ALL_UPLOADS_MAX = 4;
const SEARCHES_PER_MINUTE = 60;
const ORGANIZATIONS_MAX = 1_000;
const SESSIONS_REMEMBERED_MAX = 1_000;
const READS_OF_PERSON = { runningMax: 6, waitingMax: 256, failsAll: () => false };
const MINUTE_MILLIS = 60_000;
const TRY_AGAIN = "Try again in a moment: reload this page.";
/** The names in the paths of pages, and the form of each id. */
const ID_FORMS: Readonly<Record<string, string>> = {
  org: "org_[0-9a-z]{26}",
  acc: "acc_[0-9a-z]{26}",
  txn: "txn_[0-9a-z]{26}",
  dep: "dep_[0-9a-z]{26}",
  whe: "whe_[0-9a-z]{26}",
  prp: "prp_[0-9a-z]{26}",
  sha: "[0-9a-f]{64}",
  id: "(?:[a-z]{3}_[0-9a-z]{26}|row-[0-9]{1,15})",
  sequence: "[1-9][0-9]{0,14}",
  act: "[a-z-]{1,32}",
};

/** Adds the pages of people who have signed in. */
export function addPages(app: Express, deps: PageDependencies): void {
  const visits = new Visits(deps);
  for (const page of PAGES) {
    // A path with another form of id is no page, and no call to the server.
    const source = page.path
      .replaceAll(".", "\\.")
      .replaceAll(/:([a-z]+)/g, (_, name: string) => `(?<${name}>${ID_FORMS[name] ?? ""})`);
    const pattern = new RegExp(`^${source}$`);
    app[page.method === "POST" ? "post" : "get"](pattern, async (req, res) => {
      stateOf(res).route = page.path;
      await visits.serve(page, req, res, pattern.exec(req.path)?.groups ?? {});
    });
  }
}

class Visits {
  readonly #deps: PageDependencies;
  readonly #acts: ReadonlyMap<string, KnownAct>;
  readonly #past = new PastReads();
  readonly #atOnce = new AtOnce(AT_ONCE_MAX);
  readonly #downloads = new AtOnce(DOWNLOADS_AT_ONCE_MAX);
  readonly #uploads = new AtOnce(UPLOADS_AT_ONCE_MAX);
  readonly #allUploads = new AtOnce(ALL_UPLOADS_MAX);
  readonly #searches = new PerMinute(SEARCHES_PER_MINUTE);
  /** The names of organizations, for a minute, by the token of a session. */
  readonly #organizations = new LRUCache<string, readonly Organization[]>({
    max: SESSIONS_REMEMBERED_MAX,
    ttl: MINUTE_MILLIS,
  });

  readonly #turns = new LRUCache<string, Turns<string>>({ max: SESSIONS_REMEMBERED_MAX });

  constructor(deps: PageDependencies) {
    this.#deps = deps;
    this.#acts = knownActs(deps.contract);
  }

  /** Serves a page to a person. The server says who that is, at each request. */
  async serve(page: Page, req: Request, res: Response, ids: Readonly<Record<string, string>>): Promise<void> {
    const { cookie, upstream } = this.#deps;
    const token = cookie.read(req);
    const context = { token, requestId: stateOf(res).requestId };
    const who = token === undefined ? undefined : await upstream.read("AdminService/WhoAmI", {}, context);
    if (token === undefined || who === undefined || (!who.ok && who.refusal.code === status.UNAUTHENTICATED)) {
      if (token !== undefined) cookie.clear(res);
      res.redirect(
        303,
        pathWith(SIGN_IN_PATH, { next: req.method === "GET" && req.path !== "/" ? req.url : undefined }),
      );
      return;
    }
    if (!who.ok) {
      sendPlain(res, 503, who.refusal.text, TRY_AGAIN);
      return;
    }
    const { operator: person } = who.value;
    stateOf(res).person = person.id;
    if (!this.#atOnce.enter(person.id)) {
      sendPlain(
        res,
        429,
        "Too many pages at once",
        `A person can load ${String(AT_ONCE_MAX)} pages at once. Try again.`,
      );
      return;
    }
    try {
      const received = { req, res, ids, person, context: { ...context, token } };
      if (page.isDownload === true) await this.#download(page, received);
      else if (page.takesFile === true) await this.#upload(page, received);
      else await this.#show(page, received);
    } finally {
      this.#atOnce.leave(person.id);
    }
  }

  /** A file takes the place of a page until the browser has all of it. A person has two at once. */
  async #download(page: Page, received: Received): Promise<void> {
    const { res, person } = received;
    if (!this.#downloads.enter(person.id)) {
      const most = `A person can download ${String(DOWNLOADS_AT_ONCE_MAX)} files at once. Try again when one is done.`;
      sendPlain(res, 429, "Too many downloads at once", most);
      return;
    }
    try {
      await this.#show(page, received);
    } finally {
      this.#downloads.leave(person.id);
    }
  }

  /** A form with a file is in memory until its page is shown. */
  async #upload(page: Page, received: Received): Promise<void> {
    const { res, person } = received;
    const isOwn = this.#uploads.enter(person.id);
    const isFree = isOwn && this.#allUploads.enter("");
    try {
      if (isFree) await this.#show(page, received);
      else {
        const why = isOwn ? "Other people send files now." : "A person can send one file at once.";
        sendPlain(res.set("Connection", "close"), 429, "Too many files at once", `${why} Try again in a moment.`);
      }
    } finally {
      if (isFree) this.#allUploads.leave("");
      if (isOwn) this.#uploads.leave(person.id);
    }
  }

  async #show(page: Page, { req, res, ids, person, context }: Received): Promise<void> {
    const { token } = context;
    const { form, files } = page.takesFile === true ? await uploadedForm(req) : { form: formOf(req), files: [] };
    const url = new URL(req.url, this.#deps.origin);
    if (page.method === "POST") {
      if (!fitsForm(token, page.isSearch === true ? SEARCH_FORM : url.pathname, form[TOKEN_FIELD])) {
        sendPlain(
          res,
          403,
          "The form is of another session",
          "Nothing was done. Go back, reload the page, and send the form again.",
        );
        return;
      }
      if (page.isSearch === true && !this.#searches.take(person.id)) {
        res.set("Retry-After", "60");
        sendPlain(res, 429, "Too many searches", `A person can search ${String(SEARCHES_PER_MINUTE)} times a minute.`);
        return;
      }
    }
    const listed = await this.#organizationsWith(ids["org"], context);
    if (!listed.ok) {
      sendPlain(res, 503, listed.refusal.text, TRY_AGAIN);
      return;
    }
    const organizations = listed.value;
    const organization =
      ids["org"] === undefined ? onlyOf(organizations) : organizations.find(({ id }) => id === ids["org"]);
    if (ids["org"] !== undefined && organization === undefined) {
      sendPlain(res, 404, "There is no such page");
      return;
    }
    const visit = this.#visitOf(
      { path: url.pathname, ids, query: url.searchParams, form, files },
      { context, person, organization, organizations, hasOverview: page.method !== "POST" && !page.isDownload },
    );
    const shown = await page.show(visit);
    if (shown === undefined) sendPlain(res, 404, "There is no such page");
    else if ("redirect" in shown) res.redirect(303, shown.redirect);
    else if ("file" in shown) {
      stateOf(res).download = { made: shown.made, organization: organization?.id };
      await sendFile(res, shown);
    } else {
      const overview = await visit.overview;
      const isLive = page.method !== "POST" && shown.past === undefined && shown.isForm !== true;
      const body = (
        <Frame
          path={url.pathname}
          person={person}
          organization={organization}
          hasOthers={organizations.length !== 1}
          overview={overview}
          signOutToken={formToken(token, "/sign-out")}
          findToken={formToken(token, SEARCH_FORM)}
          past={shown.past}
          live={isLive && organization && overview?.ok ? livePath(organization.id, overview.value, shown) : undefined}
          self={page.method === "POST" || shown.isForm ? undefined : url.pathname + url.search}
          sought={shown.sought}
        >
          {shown.body}
        </Frame>
      );
      send(res, shown.status ?? 200, shown.title, body);
    }
  }

  #visitOf(
    asked: Pick<Visit, "path" | "ids" | "query" | "form" | "files">,
    { context, person, organization, organizations, hasOverview }: Known & { readonly hasOverview: boolean },
  ): Visit {
    const { upstream, contract } = this.#deps;
    const read: Upstream["read"] = (...call) => this.#inTurn(person.id, () => upstream.read(...call));
    const contextOf = (rpc: string, organizationId = organization?.id): CallContext =>
      contract.isOfOrganization(rpc) ? { ...context, organizationId } : context;
    let reading: Visit["overview"];
    const overview = (): Visit["overview"] => {
      if (organization !== undefined)
        reading ??= read("AdminService/GetOverview", {}, contextOf("AdminService/GetOverview"));
      return reading;
    };
    // An act may change the counts, so they are read after it. A file shows none.
    if (hasOverview) void overview();
    return {
      ...asked,
      person,
      organization,
      organizations,
      get overview() {
        return overview();
      },
      acts: this.#acts,
      formToken: formToken(context.token, asked.path),
      act: (rpc, fields, options) => upstream.act(rpc, fields, { ...contextOf(rpc), ...options }),
      send: (rpc, fields, sent) => upstream.send(rpc, fields, sent, contextOf(rpc)),
      download: (rpc, fields, field) => upstream.download(rpc, fields, { field }, contextOf(rpc)),
      read: (rpc, fields, organizationId) => read(rpc, fields, contextOf(rpc, organizationId)),
      readPast: (rpc, fields) => this.#past.read(read, rpc, fields, { ...context, organizationId: organization?.id }),
      meaningOf: (enumName, value) => contract.meaningOf(enumName, value),
    };
  }

  /** The server refuses a person's ninth list at once, and ten pages open together have more. */
  async #inTurn<T>(personId: string, read: () => Promise<T>): Promise<T> {
    const turns = this.#turns.get(personId) ?? new Turns<string>(READS_OF_PERSON);
    this.#turns.set(personId, turns);
    return turns.run(personId, read) ?? read();
  }

  /** Reads the list again if it does not have `wanted`: that one may be new. */
  async #organizationsWith(
    wanted: string | undefined,
    context: Known["context"],
  ): Promise<Reading<readonly Organization[]>> {
    const known = this.#organizations.get(context.token);
    if (known !== undefined && (wanted === undefined || known.some(({ id }) => id === wanted)))
      return { ok: true, value: known };
    const request = { page_size: ORGANIZATIONS_MAX };
    const listed = await this.#deps.upstream.read("AdminService/ListOrganizations", request, context);
    if (!listed.ok) return listed;
    this.#organizations.set(context.token, listed.value.organizations);
    return { ok: true, value: listed.value.organizations };
  }
}

interface Known {
  readonly context: CallContext & { readonly token: string };
  readonly person: Operator;
  readonly organization: Organization | undefined;
  readonly organizations: readonly Organization[];
}

interface Received extends Pick<Known, "context" | "person"> {
  readonly req: Request;
  readonly res: Response;
  readonly ids: Readonly<Record<string, string>>;
}

function onlyOf(organizations: readonly Organization[]): Organization | undefined {
  return organizations.length === 1 ? organizations[0] : undefined;
}
