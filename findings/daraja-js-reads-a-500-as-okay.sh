#!/usr/bin/env bash
# daraja.js 1.0.2 (npm) says isOkay() of a push that was answered with HTTP 500, and of no answer.
#
# Expected: a push that Daraja refused with 500.001.1001 rejects, or is not okay.
# Seen with Node 24.21: the promise resolves, isOkay() is true, and the code and the id
# are empty, whether the answer is HTTP 500 or the connection breaks off. A 400 rejects. A shop that
# asks isOkay() waits for a payment that nobody was asked for.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --ignore-scripts --no-audit --no-fund --loglevel=error daraja.js@1.0.2 >/dev/null
cat >push.cjs <<'JS'
const http = require("node:http");
const https = require("node:https");

const { Mpesa } = require("daraja.js");

let status = 500;
const server = http.createServer((request, response) => {
  request.resume();
  if (request.url.startsWith("/oauth")) return response.end('{"access_token":"t","expires_in":"3599"}');
  if (status === 0) return response.destroy();
  response.writeHead(status, { "content-type": "application/json" });
  response.end('{"requestId":"1","errorCode":"500.001.1001","errorMessage":"Wrong credentials"}');
});
server.listen(0, "127.0.0.1", async () => {
  // The client has a fixed address: what it sends goes to the server above.
  const { port } = server.address();
  https.request = (options, callback) =>
    http.request({ ...options, protocol: "http:", host: "127.0.0.1", hostname: "127.0.0.1", port, agent: undefined, agents: undefined }, callback);
  for (status of [500, 0, 400]) {
    const client = new Mpesa({ consumerKey: "k", consumerSecret: "s", securityCredential: "c" }, "sandbox");
    const push = client.stkPush().shortCode("174379").lipaNaMpesaPassKey("p").amount(1).phoneNumber(254712345678);
    push.callbackURL("https://example.com/c").accountNumber("ref").description("text");
    await push.send().then(
      (answer) => console.log(status, answer.isOkay(), JSON.stringify(answer.getTransactionID())),
      () => console.log(status, "rejected"),
    );
  }
  server.close();
});
JS
seen=$(node push.cjs)
echo "$seen"
[ "$seen" = '500 true ""
0 true ""
400 rejected' ]
