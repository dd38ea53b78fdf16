import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Living } from '#bench/floor/living-statement.ts'

/** What the floor is told of a type. */
export type FloorType = Pick<Pipeline, 'workspaceId' | 'schema' | 'key' | 'typeId' | 'columns'>

/** What the floor is told, as JSON in FLOOR: whose records it writes, and of which types. */
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

/** All columns that a record is read by. */
export const allColumns = (type: FloorType): string => `id, created_by, created_at, updated_at, ${filledColumns(type)}`
