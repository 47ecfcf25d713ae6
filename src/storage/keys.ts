import {
  asWritten,
  type FoundOrganization,
  isLive,
  isWhole,
  namesOfCredential,
  type Organization,
} from "../domain/api-key.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Keys } from "../ledger/ports/keys.js";
import type { Database } from "./database.js";
import { CellKeys, type FoundKey, isKey, type OnChangedKey } from "./organizations/cell-keys.js";
import type { Session } from "./sql/engine.js";

const SECRET = /^kesc_(?:test_)?(0|[1-9][0-9]{0,2})_[A-Za-z0-9_-]{43}$/;

/** Implements the port `Keys` for all cells of the database. */
export function keys({ cells }: Database, now: () => UnixMillis, onChangedKey?: OnChangedKey): Keys {
  const [first, ...others] = cells.map((cell) => new CellKeys(cell, now, onChangedKey));
  if (first === undefined) throw new Error("the database has no cell");
  const all = [first, ...others];

  /** Returns the first result that is not undefined. */
  const inSomeCell = async <Result>(
    find: (cell: CellKeys) => Promise<Result | undefined>,
  ): Promise<Result | undefined> => (await Promise.all(all.map(find))).find((result) => result !== undefined);

  const organizations = async (): Promise<readonly FoundOrganization[]> =>
    (await Promise.all(all.map((cell) => cell.organizations()))).flat().sort(byAge);

  const homeOf = async (id: OrganizationId): Promise<readonly [Organization, CellKeys]> => {
    const organization = await inSomeCell((cell) => cell.organization(id));
    if (organization === undefined || !isWhole(organization)) throw new Error(`there is no organization ${id}`);
    const cell = all[organization.cell];
    if (cell === undefined) throw new Error(`there is no organization ${id}`);
    return [organization, cell];
  };

  /** Returns the one valid key, or an invalid one if there is no valid key. */
  const certificateKey = async (names: readonly string[], session?: Session): Promise<FoundKey> => {
    const finding = names.flatMap((name) => all.map((cell) => cell.newestCertificateKey(name, session)));
    const found = await Promise.all(finding);
    const known = found.filter(isKey);
    const live = known.filter((key) => isLive(key, now()));
    // With two, nobody could say who calls.
    if (live.length > 1) return undefined;
    return live[0] ?? known[0] ?? found.find((key) => key === "moved");
  };

  /**
   * A key names the cell in which it was made. If the organization has moved, another cell has the
   * key, with the same text.
   */
  const secretKey = async (secret: string, number: number): Promise<FoundKey> => {
    const named = await all[number]?.apiKeyWithSecret(secret);
    if (isKey(named)) return named;
    const elsewhere = all.filter((_, index) => index !== number);
    const found = await Promise.all(elsewhere.map((cell) => cell.apiKeyWithSecret(secret)));
    return found.find(isKey) ?? [named, ...found].find((key) => key === "moved");
  };

  return {
    async createOrganization(name, given) {
      const number = given?.cell ?? emptiestOf(all.length, await organizations());
      const cell = all[number];
      if (cell === undefined) throw new RangeError(`there is no cell ${String(number)}`);
      const made = await cell.createOrganization(name, given?.isSandbox === true);
      if ("reason" in made) throw new Error(made.reason);
      return made;
    },

    organizations,

    organization: (id) => inSomeCell((cell) => cell.organization(id)),

    async createApiKey(key) {
      const [organization, cell] = await homeOf(key.organizationId);
      const { secret, sha256 } = cell.newSecret(organization);
      const { key: made } = await cell.createApiKey({ ...key, secretSha256: sha256 });
      return { key: made, secret };
    },

    async createCertificateKey(key) {
      const [{ id }, cell] = await homeOf(key.organizationId);
      return cell.createCertificateKey(id, key, (session) => certificateKey([key.certificateName], session));
    },

    async apiKeys(organizationId) {
      const found = await Promise.all(all.map((cell) => cell.apiKeys(organizationId)));
      return found.flat();
    },

    async apiKeyWithSecret(secret) {
      const names = namesOfCredential(secret);
      if (names !== undefined) return certificateKey(names);
      const [, number] = SECRET.exec(secret) ?? [];
      return number === undefined ? undefined : secretKey(secret, Number(number));
    },
  };
}

function byAge(first: FoundOrganization, second: FoundOrganization): number {
  const [left, right] = [asWritten(first), asWritten(second)];
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

/** Returns the number of the cell with the fewest organizations. */
export function emptiestOf(cellCount: number, organizations: readonly FoundOrganization[]): number {
  const counts = Array.from({ length: cellCount }, () => 0);
  for (const { cell } of organizations.map(asWritten)) counts[cell] = (counts[cell] ?? 0) + 1;
  return counts.indexOf(Math.min(...counts));
}
