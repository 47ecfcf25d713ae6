import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { status } from "@grpc/grpc-js";
import type { Express, Response } from "express";

import type { GetOverviewResponse } from "./gen/messages.js";
import { AtOnce } from "./http/limits.js";
import { stateOf } from "./http/request-state.js";
import { type PageDependencies, sendPlain } from "./reply.js";
import type { CallContext, Reading, ReadingOf } from "./upstream/upstream.js";
import { countText, waitingIn } from "./view/frame.js";
import { pathWith } from "./view/link.js";

const POLL_MILLIS = 5_000;
/** Of one session. A browser opens a stream only for the pages that a person sees. */
const STREAMS_MAX = 16;
const SINCE = /^(?<sequence>[0-9]{0,15})\.(?<waiting>[0-9]{1,5})\.(?<mine>[0-9]{1,5})$/;
const ENDED = "event: end\ndata: \n\n";

/** A page that somebody looks at. */
interface OpenPage {
  /** What the page shows. An empty sequence: it does not show what is new in the book. */
  readonly since: Readonly<Record<"sequence" | "waiting" | "mine", string>>;
  /** The proposal that the page shows as pending. */
  readonly proposalId: string | undefined;
  readonly res: Response;
}

type Context = CallContext & { readonly organizationId: string };

/** The path of the stream of a page, which says what is new since the page was read. */
export function livePath(
  organizationId: string,
  overview: GetOverviewResponse,
  { showsBook = false, waitsFor }: { readonly showsBook?: boolean; readonly waitsFor?: string | undefined },
): string {
  const sequence = showsBook ? String(overview.as_of_sequence ?? 0) : "";
  const since = [sequence, waitingIn(overview).count, overview.proposals_for_me.count].join(".");
  return pathWith(`/${organizationId}/live`, { since, proposal: waitsFor });
}

/**
 * Tells open pages what is new. For each session and organization it reads once in five seconds,
 * and such a read does not keep the session alive.
 */
export class Live {
  readonly #deps: PageDependencies;
  readonly #streams = new AtOnce(STREAMS_MAX);
  readonly #pages = new Map<string, Set<OpenPage>>();
  readonly #stopping = new AbortController();

  constructor(app: Express, deps: PageDependencies) {
    this.#deps = deps;
    app.get(/^\/(?<org>org_[0-9a-z]{26})\/live$/, (req, res, next) => {
      stateOf(res).route = "/:org/live";
      const query = new URL(req.url, deps.origin).searchParams;
      const since = SINCE.exec(query.get("since") ?? "")?.groups as OpenPage["since"] | undefined;
      const token = deps.cookie.read(req) ?? "";
      if (since === undefined) next();
      else if (!this.#streams.enter(token)) sendPlain(res, 429, "Too many pages at once");
      else {
        res.set({ "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" }).flushHeaders();
        res.once("close", () => {
          this.#streams.leave(token);
        });
        this.#follow(
          { since, proposalId: query.get("proposal") ?? undefined, res },
          { token, organizationId: req.params["org"] ?? "" },
        );
      }
    });
  }

  /** Ends all streams. Browsers come back by themselves, to this console or to another one. */
  stop(): void {
    this.#stopping.abort();
    for (const { res } of [...this.#pages.values()].flatMap((pages) => [...pages])) res.end();
  }

  #follow(page: OpenPage, caller: Pick<Context, "organizationId"> & { readonly token: string }): void {
    const key = `${caller.token} ${caller.organizationId}`;
    const others = this.#pages.get(key);
    const pages = others ?? new Set();
    pages.add(page);
    page.res.once("close", () => pages.delete(page));
    if (others !== undefined) return;
    this.#pages.set(key, pages);
    void this.#poll(pages, caller).finally(() => this.#pages.delete(key));
  }

  async #poll(pages: ReadonlySet<OpenPage>, caller: Pick<Context, "organizationId" | "token">): Promise<void> {
    while (pages.size > 0 && !this.#stopping.signal.aborted) {
      const context = { ...caller, requestId: randomUUID() };
      const overview = await this.#deps.upstream.read("AdminService/GetOverview", {}, context);
      const told = [...pages].map(async (page) => {
        send(page, await this.#told(page, overview, context));
      });
      await Promise.all(told);
      if (!overview.ok && isOver(overview)) for (const { res } of pages) res.end();
      else await sleep(POLL_MILLIS, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    }
  }

  async #told(
    { since, proposalId }: OpenPage,
    overview: ReadingOf<"AdminService/GetOverview">,
    context: Context,
  ): Promise<string> {
    if (!overview.ok) return isOver(overview) ? ENDED : eventOf({ news: "What is new is unknown." });
    const { value } = overview;
    const decided = proposalId === undefined ? "" : await this.#decisionOn(proposalId, context);
    const waiting = waitingIn(value);
    const rows = since.sequence === "" ? 0 : (value.as_of_sequence ?? 0) - Number(since.sequence);
    const news = [
      decided,
      sentence(waiting.count - Number(since.waiting), ["more waits for a person", "more wait for a person"]),
      sentence(value.proposals_for_me.count - Number(since.mine), ["new proposal for you", "new proposals for you"]),
      sentence(rows, ["new row in the book", "new rows in the book"]),
    ];
    return eventOf({
      attention: countText(waiting),
      approvals: countText(value.waiting_proposals),
      news: news.filter((each) => each !== "").join(" "),
    });
  }

  async #decisionOn(proposal_id: string, context: Context): Promise<string> {
    const { upstream } = this.#deps;
    const read = await upstream.read("AdminService/GetProposal", { proposal_id }, context);
    const state = read.ok ? read.value.proposal.state : "pending";
    return state === "pending" ? "" : `This proposal was ${state}.`;
  }
}

/** Writes an event. Cuts off a browser that does not read, or its events would fill the memory. */
function send({ res }: OpenPage, event: string): void {
  // The console may have stopped while it read.
  if (!res.writableEnded && !res.write(event)) res.destroy();
}

/** Whether the person must sign in again, or asks for what is not there. */
function isOver({ refusal: { code } }: Reading<unknown> & { readonly ok: false }): boolean {
  return code === status.UNAUTHENTICATED || code === status.NOT_FOUND || code === status.INVALID_ARGUMENT;
}

/** The texts, by the names of the places in a page. An empty text, or "0", is hidden. */
function eventOf(texts: Readonly<Record<string, string>>): string {
  return `data: ${JSON.stringify(texts)}\n\n`;
}

function sentence(count: number, [one, many]: readonly [string, string]): string {
  return count > 0 ? `${count.toLocaleString("en")} ${count === 1 ? one : many}.` : "";
}
