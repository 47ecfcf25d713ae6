import type { Router } from "express";

import type { HttpMethod, Route } from "../contract/contract.js";
import { compareTemplates, PATH_PREFIXES, shapeOf } from "../contract/path-template.js";
import { type Handler, registerPath } from "./allowed-methods.js";
import { type CallDependencies, handleCall } from "./call-handler.js";

/**
 * Registers every route of the contract, at the root and under the version. Both are paths of one
 * router: a second router would route each request twice. One of four changes that cut a request's
 * processor time by 10 % (docs/performance.md).
 */
export function registerRoutes(router: Router, deps: CallDependencies, routes: readonly Route[]): void {
  for (const [first, ...others] of routesByPath(routes)) {
    const handlers = new Map<HttpMethod, Handler>();
    for (const route of [first, ...others]) handlers.set(route.method, (req, res) => handleCall(deps, route, req, res));
    const paths = PATH_PREFIXES.map((prefix) => prefix + expressPath(first));
    registerPath(router, { paths, template: first.path.text, handlers });
  }
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
