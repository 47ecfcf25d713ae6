import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { Logger } from "pino";

import { ICON } from "../runtime/look.js";
import { breachOf } from "../runtime/transport/http-server.js";
import { SCRIPT } from "./assets/script.js";
import { STYLE } from "./assets/style.js";
import { sessionCookie } from "./http/cookie.js";
import { FORM_BYTES_MAX, isOwnForm } from "./http/forms.js";
import { isOwnHost, secureHeaders } from "./http/headers.js";
import { beginRequest, stateOf } from "./http/request-state.js";
import { Live } from "./live.js";
import { type PageDependencies, sendPlain } from "./reply.js";
import { addSignIn } from "./sign-in.js";
import { ICON_PATH, SCRIPT_PATH, STYLE_PATH } from "./view/frame.js";
import { addPages } from "./visits.js";

interface AppDependencies extends Omit<PageDependencies, "cookie"> {
  readonly log: Logger;
}

/** Makes the console: its assets, the sign-in, the pages, and the streams of open pages. */
export function createApp(deps: AppDependencies): { readonly app: Express; readonly live: Live } {
  const app = express();
  app.set("case sensitive routing", true);
  app.set("strict routing", true);
  app.set("x-powered-by", false);
  app.set("etag", false);
  app.set("query parser", false);

  app.use(beginRequest(deps.log), secureHeaders(deps.origin), checkRequest);
  // Before the check of the host: an orchestrator does not know the name.
  app.get("/livez", (_req, res) => {
    res.type("text/plain").send("ok\n");
  });
  app.use(checkHost(deps.origin));
  addAssets(app);
  app.use(checkForm(deps.origin), express.urlencoded({ extended: false, limit: FORM_BYTES_MAX }));
  const ofPages = { ...deps, cookie: sessionCookie(deps.origin) };
  addSignIn(app, ofPages);
  addPages(app, ofPages);
  const live = new Live(app, ofPages);
  app.use((_req, res) => {
    sendPlain(res, 404, "There is no such page");
  });
  app.use(handleError(deps.log));
  return { app, live };
}

function addAssets(app: Express): void {
  const assets = [
    [STYLE_PATH, "text/css", STYLE],
    [SCRIPT_PATH, "text/javascript", SCRIPT],
    [ICON_PATH, "image/svg+xml", ICON],
  ] as const;
  for (const [path, type, text] of assets) {
    app.get(path, (_req, res) => {
      stateOf(res).route = path;
      res.set("Cache-Control", "public, max-age=31536000, immutable").type(type).send(text);
    });
  }
}

/** Refuses what a proxy and the console could read differently. The connection ends. */
const checkRequest: RequestHandler = (req, res, next) => {
  const breach = breachOf(req);
  if (breach === undefined) next();
  else sendPlain(res.set("Connection", "close"), 400, "The request is malformed", breach);
};

/** Does not repeat the name that was asked for: a stranger has chosen it. */
function misdirected(origin: string): string {
  return (
    `This console is at ${origin}. The request named another host or port: ` +
    "open that address, or let the proxy pass the header Host on as it is.\n"
  );
}

function checkHost(origin: string): RequestHandler {
  return (req, res, next) => {
    if (isOwnHost(req.headers.host, origin)) next();
    else res.status(421).type("text/plain").send(misdirected(origin));
  };
}

/** Refuses every form that no page of the console has sent. */
function checkForm(origin: string): RequestHandler {
  return (req, res, next) => {
    if (req.method === "GET" || req.method === "HEAD") next();
    else if (req.method !== "POST") sendPlain(res, 405, "There is no such act");
    else if (isOwnForm(req.headers, origin)) next();
    else
      sendPlain(
        res,
        403,
        "Another site has sent this form",
        "Nothing was done. Open the console, and send the form there.",
      );
  };
}

/** Logs an error that no other code handles. The person sees only the request's id. */
function handleError(log: Logger): ErrorRequestHandler {
  return (error: unknown, _req, res, next) => {
    if (res.headersSent) {
      next(error);
      return;
    }
    const status = typeof error === "object" && error !== null && "status" in error ? Number(error.status) : 500;
    if (status === 413) {
      // What the browser still sends is no next request.
      sendPlain(
        res.set("Connection", "close"),
        413,
        "The form is too large",
        "A form has at most 64 KiB, and a file 32 MiB. Nothing was done.",
      );
      return;
    }
    if (status >= 400 && status < 500) {
      sendPlain(res, status, "The request is malformed", "Nothing was done.");
      return;
    }
    log.error({ request_id: stateOf(res).requestId, err: error }, "bug");
    sendPlain(res, 500, "The console has made a mistake", "It is in the log, under the id below.");
  };
}
