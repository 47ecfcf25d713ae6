import type { Router } from "express";

import type { HttpMethod, Route } from "../contract/contract.js";
import { compareTemplates, PATH_PREFIXES, shapeOf } from "../contract/path-template.js";
import { type Handler, servePath } from "./allowed-methods.js";
import { type CallDependencies, handleCall } from "./call-handler.js";

/**
 * Serves every route of the contract, at the root and under the version. (A router within another
 * would route twice.)
 */
export function serveRoutes(router: Router, deps: CallDependencies, routes: readonly Route[]): void {
  for (const [first, ...others] of routesByPath(routes)) {
    const handlers = new Map<HttpMethod, Handler>();
    for (const route of [first, ...others]) handlers.set(route.method, (req, res) => handleCall(deps, route, req, res));
    const paths = PATH_PREFIXES.map((prefix) => prefix + expressPath(first));
    servePath(router, { paths, template: first.path.text, handlers });
  }
}

type PathRoutes = readonly [Route, ...Route[]];

/** The routes that share a path, together; the paths in the order in which they are to be tried. */
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

/** Fields become p0, p1 …: routes that share a path may name its fields differently. */
function expressPath(route: Route): string {
  let index = 0;
  return route.path.segments.map(({ kind, name }) => `/${kind === "field" ? `:p${String(index++)}` : name}`).join("");
}
