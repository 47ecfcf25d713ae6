/** Returns the command that creates a key of the organization. */
export function keyCreation(org: string): string {
  return `kesc key create --org ${org} --name NAME --all-scopes --expires-in 90d`;
}
