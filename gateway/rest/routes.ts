import type { Router } from "express";

import type { HttpMethod, Route } from "../../contract/contract.js";
import { isHttpBody } from "../../contract/json-support.js";
import { compareTemplates, PATH_PREFIXES, shapeOf } from "../../contract/path-template.js";
import { formsOf } from "../forms/forms.js";
import { type CallDependencies, handleCall } from "./call-handler.js";
import { byAccept, type Handler, registerPath } from "./path-handlers.js";
import { handleStream, type StreamDependencies, type StreamRoute } from "./stream-handler.js";

export type RouteDependencies = CallDependencies & StreamDependencies;

/**
 * Registers every route of the contract, at the root and under the version. Both are paths of one
 * router: a second router would route each request twice. One of four changes that cut a request's
 * processor time by 10 % (docs/performance.md).
 */
export function registerRoutes(router: Router, deps: RouteDependencies, routes: readonly Route[]): void {
  for (const [first, ...others] of routesByPath(routes)) {
    const group = [first, ...others];
    const calls = new Map(group.filter((route) => !isStream(route)).map((route) => [route.method, route]));
    const streams = new Map(group.filter(isStream).map((route) => [route.method, route]));
    const handlers = group.map(({ method }): [HttpMethod, Handler] => [
      method,
      handlerOf(deps, calls.get(method), streams.get(method)),
    ]);
    const paths = PATH_PREFIXES.map((prefix) => prefix + expressPath(first));
    registerPath(router, { paths, template: first.path.text, handlers: new Map(handlers) });
  }
}

function isStream(route: Route): route is StreamRoute {
  return route.stream !== undefined;
}

/** Serves the call as JSON, and the stream of the same method and path, if any, in its forms. */
function handlerOf(deps: RouteDependencies, call: Route | undefined, stream: StreamRoute | undefined): Handler {
  const handlers = new Map<string, Handler>();
  if (call !== undefined) {
    const handle: Handler = (req, res) => handleCall(deps, call, req, res);
    // The type of a body that the server has written itself is known only then.
    if (isHttpBody(call.responseField)) return handle;
    handlers.set("application/json", handle);
  }
  if (stream !== undefined) {
    for (const [type, makeForm] of formsOf(stream.stream, deps.messageWriter, call !== undefined)) {
      handlers.set(type, (req, res) => handleStream(deps, { route: stream, form: makeForm() }, req, res));
    }
  }
  return byAccept(handlers);
}

type PathRoutes = readonly [Route, ...Route[]];

/**
 * Groups the routes by path, and sorts the paths in the order in which the router must try them.
 */
function routesByPath(routes: readonly Route[]): PathRoutes[] {
  const byShape = new Map<string, [Route, ...Route[]]>();
  for (const route of routes) {
    const shape = shapeOf(route.path);
    const others = byShape.get(shape);
    if (others === undefined) byShape.set(shape, [route]);
    else others.push(route);
  }
  return [...byShape.values()].sort(([left], [right]) => compareTemplates(left.path, right.path));
}

/** Names the fields p0, p1 …: routes that share a path may name its fields differently. */
function expressPath(route: Route): string {
  let index = 0;
  return route.path.segments.map(({ kind, name }) => `/${kind === "field" ? `:p${String(index++)}` : name}`).join("");
}
