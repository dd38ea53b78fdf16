/** The version of pg-boss's tables that the statements of this folder, and the functions of migrations 0002 and 0026, are written for. */
export const tableVersion = 42

/** Throws unless the database holds this version of the tables. */
export function requireTableVersion(found: number | null): void {
  if (found === tableVersion) return
  const way = (found ?? 0) < tableVersion ? 'run kontor migrate' : 'a newer release has migrated the database, run that one'
  throw new Error(`The tables of pg-boss have version ${found}, this release of Kontor is written for ${tableVersion}: ${way}`)
}
