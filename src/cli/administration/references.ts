import { parseOperatorId, parseOrganizationId } from "../../domain/values/ids.js";
import { normalName } from "../../domain/values/names-of-persons.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { MessageJson, NamedResource, ReferredResource } from "./row.js";
import type { AdminSession } from "./session.js";

/**
 * Finds a resource by its id, or by its name if only one has it. Throws an OperatorError if there
 * is none.
 */
export function referenceTo(
  session: AdminSession,
  resource: ReferredResource,
  idOrName: string,
): Promise<NamedResource> {
  return resource === "organization" ? organization(session, idOrName) : operator(session, idOrName);
}

async function organization(session: AdminSession, idOrName: string): Promise<NamedResource> {
  if (parseOrganizationId(idOrName).ok) {
    const { organization: found } = await session.call("GetOrganization", { organization_id: idOrName });
    return referenceOf(found as MessageJson);
  }
  const named = await session.list("ListOrganizations", { name: idOrName }, { items: "organizations" });
  const [only, another] = named;
  if (only === undefined) {
    throw new OperatorError(`There is no organization "${idOrName}". To list the organizations: kesc org list`);
  }
  if (another === undefined) return referenceOf(only);
  throw new OperatorError(
    `Several are named "${idOrName}". Give an id: ${named.map((each) => referenceOf(each).id).join(", ")}.`,
  );
}

async function operator(session: AdminSession, idOrName: string): Promise<NamedResource> {
  const all = (await session.list("ListOperators", {}, { items: "operators" })).map(referenceOf);
  const found = parseOperatorId(idOrName).ok
    ? all.find(({ id }) => id === idOrName)
    : all.find(({ name }) => normalName(name) === normalName(idOrName));
  if (found !== undefined) return found;
  throw new OperatorError(`There is no operator "${idOrName}". To list the operators: kesc operator list`);
}

function referenceOf(resource: MessageJson): NamedResource {
  return { id: String(resource["id"]), name: String(resource["name"]) };
}
