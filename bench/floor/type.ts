import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Living } from '#bench/floor/living-statement.ts'

/** A type as the floor needs it. */
export type FloorType = Pick<Pipeline, 'workspaceId' | 'schema' | 'key' | 'typeId' | 'columns'>

/** The floor's options, passed as JSON in FLOOR: the actor of its records, and their types. */
export interface FloorOptions {
  readonly actorId: string
  readonly types: readonly FloorType[]
  readonly living?: Living
}

/** A type's table, quoted. */
export const tableOf = ({ schema, key }: FloorType): string => `"${schema}"."${key}"`

/** The columns of a record that a caller fills. */
export const filledColumns = ({ columns: { name, stage, amount, due, email, notes } }: FloorType): string =>
  [name, stage, amount, `${amount}_code`, due, email, notes].map((column) => `"${column}"`).join(', ')

/** All columns of a record in the order of reading. */
export const allColumns = (type: FloorType): string => `id, created_by, created_at, updated_at, ${filledColumns(type)}`
