import { Router } from "express";
import { handleCall, type CallDependencies } from "./call-handler.js";
import type { HttpMethod, Route } from "./contract.js";
import { compareTemplates, shapeOf } from "./path-template.js";
import { servePath, type Handler } from "./serve-path.js";

/**
 * A router that answers every route of the contract. Letter case and a slash at the end count: one resource has one
 * path.
 */
export function createRouter(deps: CallDependencies, routes: readonly Route[]): Router {
  const router = Router({ caseSensitive: true, strict: true });
  for (const [first, ...others] of routesByPath(routes)) {
    const handlers = new Map<HttpMethod, Handler>();
    for (const route of [first, ...others]) handlers.set(route.method, (req, res) => handleCall(deps, route, req, res));
    servePath(router, { path: expressPath(first), template: first.path.text, handlers });
  }
  return router;
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
