import { IncomingMessage, type ServerOptions, ServerResponse } from "node:http";

import type { Express } from "express";

type MessageClasses = Pick<ServerOptions, "IncomingMessage" | "ServerResponse">;

/**
 * Returns the classes of which Node's server makes the requests and responses of this app. They
 * have the app's prototypes, so that Express does not replace the prototype of each object. V8 is
 * slow with objects whose prototype was replaced: a bare Express app serves three times as many
 * requests with these classes (ADR 15).
 */
export function messageClassesOf(app: Express): MessageClasses {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as Express["request"];
  app.response = AppResponse.prototype as Express["response"];
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
