import pg from 'pg'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Reads a cell's text. */
export type ParseCell = (text: string) => unknown

/** Numbers beyond a float, dates, instants and readings of a clock stay text: the domain's own forms are exact text (shared/platform/kernel/field-type.ts). */
const parsers: Readonly<Record<number, ParseCell>> = {
  [pg.types.builtins.INT8]: Number,
  [pg.types.builtins.NUMERIC]: String,
  [pg.types.builtins.DATE]: String,
  [pg.types.builtins.TIMESTAMPTZ]: toRfc3339,
  // The driver would take a reading for one of the process's own zone.
  [pg.types.builtins.TIMESTAMP]: (text) => text.replace(' ', 'T'),
  [pg.types.builtins.JSON]: parseStoredJson,
  [pg.types.builtins.JSONB]: parseStoredJson,
}

/** What reads the cells of a column, by its type's number. */
export const findParser = (id: number): ParseCell => parsers[id] ?? (pg.types.getTypeParser(id, 'text') as ParseCell)

/** The same as the driver asks for it. */
export const typeParsers: pg.CustomTypesConfig = { getTypeParser: findParser as pg.CustomTypesConfig['getTypeParser'] }

/** `2026-11-21 08:00:00.5+00`, as PostgreSQL writes an instant in UTC, becomes `2026-11-21T08:00:00.500000Z` (decisions, Instants). */
function toRfc3339(text: string): string {
  // A record that nobody has changed was updated when it was created, so the same text often comes twice.
  if (text !== latest.text) latest = { text, made: `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, -3).padEnd(6, '0')}Z` }
  return latest.made
}

let latest = { text: '', made: '' }
