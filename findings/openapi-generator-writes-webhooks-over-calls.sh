#!/usr/bin/env bash
# openapi-generator 7.25.0 writes `webhooks` of OpenAPI 3.1 as calls, over the calls of paths with the same tag.
#
# Expected: a client has the operations of `paths`. A webhook is a request that comes in, so it is no call,
# or is one beside the others.
# Seen with Java 17 and Python 3.11, a document with one path and one webhook of the same tag:
#   python  hook_api.py has receive_event, not list_hooks; its parameters have no type ("webhook_id: ,"), a SyntaxError
#   go      api_hook.go has ReceiveEvent, not ListHooks, and compiles
# Without the webhook, or with a $ref to components.pathItems in its place, both have list_hooks.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mvn -q -B dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.25.0 -DoutputDirectory=. >/dev/null
cat >item.json <<'JSON'
{"post": {"operationId": "receiveEvent", "tags": ["Hook"], "responses": {"204": {"description": "received"}},
  "parameters": [{"name": "webhook-id", "in": "header", "required": true, "schema": {"type": "string"}}]}}
JSON
cat >start.json <<'JSON'
{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "tags": [{"name": "Hook"}],
 "paths": {"/hooks": {"get": {"operationId": "listHooks", "tags": ["Hook"], "responses": {"204": {"description": "ok"}}}}}
JSON
{ cat start.json; echo ", \"webhooks\": {\"event\": $(cat item.json)}}"; } >inline.json
{
  cat start.json
  echo ", \"webhooks\": {\"event\": {\"\$ref\": \"#/components/pathItems/Event\"}},"
  echo "\"components\": {\"pathItems\": {\"Event\": $(cat item.json)}}}"
} >reference.json
seen=$(for document in inline reference; do
  for language in python go; do
    java -jar openapi-generator-cli-7.25.0.jar generate -g "$language" -i "$document.json" -o "$document-$language" >/dev/null 2>&1
    file=$(find "$document-$language" -name '*hook_api.py' -path '*/api/*' -o -name api_hook.go)
    echo "$document $language $(grep -qiE '(def |\) )list_?hooks\(' "$file" && echo has || echo lacks) the call"
  done
done
python3 -m py_compile inline-python/openapi_client/api/hook_api.py 2>/dev/null || echo "inline python is a SyntaxError")
echo "$seen"
[ "$seen" = "inline python lacks the call
inline go lacks the call
reference python has the call
reference go has the call
inline python is a SyntaxError" ]
