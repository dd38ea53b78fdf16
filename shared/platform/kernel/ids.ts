import { randomUUIDv7 } from 'node:crypto'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether text has the form of a UUID, of any version. */
export const isUuid = (text: string): boolean => uuid.test(text)

/** A new UUID, version 7: ids sort roughly by creation time (docs/contract/conventions.md#identifiers). */
export const newId = (): string => randomUUIDv7()

/** Creation time of an id from `newId`, in milliseconds since 1970 by the clock of the process that created it. */
export const idTimeMs = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Ids that no row has, below and above all others: a page after the lowest or before the highest begins at the first row. */
export const lowestId = '00000000-0000-0000-0000-000000000000'
export const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
