/**
 * The release of the schema that this program makes. A release with new migrations counts one up.
 * See docs/upgrades.md.
 */
export const SCHEMA_RELEASE = 1;

// An older program knows nothing of a newer migration but its name, which Knex stores in the same
// transaction. So the name says which programs may serve the schema: "0002-tiers.serves-1".
const SERVES = /\.serves-([1-9][0-9]*)$/;

/**
 * Returns the oldest release whose servers may serve a schema with this migration. Undefined: those
 * that do not know the migration may not.
 */
export function servesFrom(name: string): number | undefined {
  const [, release] = SERVES.exec(name) ?? [];
  return release === undefined ? undefined : Number(release);
}

/** Whether servers of a release may serve a schema with migrations that they do not know. */
export function mayServe(unknown: readonly string[], release = SCHEMA_RELEASE): boolean {
  return unknown.every((name) => (servesFrom(name) ?? Infinity) <= release);
}

/**
 * Whether the servers that run may go on while these migrations run. Migrations of two releases in
 * one step would skip the release between.
 */
export function mayRunBesideServers(pending: readonly string[]): boolean {
  const releases = new Set(pending.map(servesFrom));
  return !releases.has(undefined) && releases.size <= 1;
}
