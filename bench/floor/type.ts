import type { Pipeline } from '#bench/data/pipeline.ts'
import type { Living } from '#bench/floor/living-statement.ts'

/** What the floor's statements need to know of a record type. */
export type FloorType = Pick<Pipeline, 'workspaceId' | 'schema' | 'key' | 'typeId' | 'columns'>

/** The floor's options, passed as JSON in the variable FLOOR. */
export interface FloorOptions {
  /** Who creates and changes the floor's records. */
  readonly actorId: string
  readonly types: readonly FloorType[]
  /** The type whose creations have effects; absent where no case needs it. */
  readonly living?: Living
}

/** The name of a type's table as SQL, quoted. */
export const tableOf = ({ schema, key }: FloorType): string => `"${schema}"."${key}"`

/** SQL list of the columns that a caller fills. */
export const filledColumns = ({ columns: { name, stage, amount, due, email, notes } }: FloorType): string =>
  [name, stage, amount, `${amount}_code`, due, email, notes].map((column) => `"${column}"`).join(', ')

/** SQL list of all columns, in the order in which the floor reads them. */
export const allColumns = (type: FloorType): string => `id, created_by, created_at, updated_at, ${filledColumns(type)}`
