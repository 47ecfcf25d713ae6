// Loaded before a client: what it sends to Safaricom's hosts goes to the simulator, at DARAJA.
// Nothing else leaves: an address other than the loopback is refused.
const http = require("node:http");
const https = require("node:https");

const daraja = new URL(process.env.DARAJA);
const SAFARICOM = /^(sandbox|api)\.safaricom\.co\.ke$/;

https.request = (...parts) => {
  const [first, second] = parts;
  const callback = parts.find((part) => typeof part === "function");
  const isUrl = typeof first === "string" || first instanceof URL;
  const url = isUrl ? new URL(first) : {};
  const options = { ...(isUrl ? second : first) };
  const hostname = options.hostname ?? options.host ?? url.hostname;
  if (!SAFARICOM.test(hostname)) throw new Error(`${hostname} is not for peers`);
  const path = options.path ?? `${url.pathname}${url.search}`;
  const { hostname: host, port } = daraja;
  return http.request(
    { ...options, protocol: "http:", hostname: host, host, port, path, agent: undefined, agents: undefined },
    callback,
  );
};
https.get = (...parts) => {
  const request = https.request(...parts);
  request.end();
  return request;
};
