import pg from 'pg'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Parses a cell's text. */
export type ParseCell = (text: string) => unknown

/** Exact numbers, dates, instants and local times stay text, as the domain needs them (shared/platform/kernel/field-type.ts). */
const parsers: Readonly<Record<number, ParseCell>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: String,
  [pg.types.builtins.DATE]: String,
  [pg.types.builtins.TIMESTAMPTZ]: toRfc3339,
  // The driver would read a local time in the process's own time zone.
  [pg.types.builtins.TIMESTAMP]: (text) => text.replace(' ', 'T'),
  [pg.types.builtins.JSON]: parseStoredJson,
  [pg.types.builtins.JSONB]: parseStoredJson,
}

/** The parser of a column, by its type's OID. */
export const findParser = (id: number): ParseCell => parsers[id] ?? (pg.types.getTypeParser(id, 'text') as ParseCell)

/** The parsers in the form of the driver. */
export const typeParsers: pg.CustomTypesConfig = { getTypeParser: findParser as pg.CustomTypesConfig['getTypeParser'] }

/** `2026-11-21 08:00:00.5+00`, as PostgreSQL writes an instant in UTC, becomes `2026-11-21T08:00:00.500000Z` (decisions, Instants). */
function toRfc3339(text: string): string {
  // An unchanged record has equal creation and update times, so the same text often comes twice in a row.
  if (text !== latest.text) latest = { text, instant: `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(6, '0')}Z` }
  return latest.instant
}

let latest = { text: '', instant: '' }
