import { permits } from '#shared/core/scope/access.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import type { Field, FieldRules } from '#shared/core/types/fields/field.ts'
import { type Computation, compileTypeComputations } from '#shared/core/types/formulas/computations.ts'
import { codeColumnOf, editionColumnOf, schemaOf } from '#shared/core/types/tables/table-names.ts'
import { readLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import { findTypeKeys, findTypeWithFields } from '#shared/core/types/types/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'
import { findNearestName, isSimilarName } from '#shared/platform/kernel/similar-names.ts'

/** A record type with its fields and the table that keeps its records: the picture that reading and writing records works from. */
export interface RecordType {
  readonly workspaceId: string
  readonly id: string
  readonly key: string
  readonly label: string
  readonly icon: string
  readonly app: string
  readonly ui: Readonly<Record<string, unknown>>
  readonly description: string
  readonly system: boolean
  readonly createdAt: string
  /** In the order of their creation. */
  readonly fields: readonly Field[]
  readonly fieldByKey: ReadonlyMap<string, Field>
  /** What computes the computed fields, in an order in which each finds what it reads. */
  readonly computations: readonly Computation[]
  /** PostgreSQL schema of the workspace; the table in it is named by the type's key. */
  readonly schema: string
  /** The column that every write of a record names: the table has it as long as this picture is good to write from. */
  readonly editionColumn: string
  /** Whether a record of the type was ever long (shared/core/records/text-size.ts). */
  readonly longRecords: boolean
  /** By a field's id, what is known of the trigrams of its values, where it has an index of them (shared/core/types/indexes/sample-field.ts). */
  readonly knownTrigrams: ReadonlyMap<string, KnownTrigrams>
}

interface Row {
  readonly id: string
  readonly key: string
  readonly label: string
  readonly icon: string
  readonly app: string
  readonly ui: string
  readonly description: string
  readonly system: boolean
  readonly edition: number
  readonly long_records: boolean
  readonly created_at: string
  readonly fields: readonly (FieldRow & TrigramsRow)[]
}

interface TrigramsRow {
  readonly common_trigrams: readonly string[] | null
  readonly frequent_trigrams: readonly string[] | null
}

/** A field as its table keeps it: a row of `fieldColumns`. */
export interface FieldRow {
  readonly id: string
  readonly key: string
  readonly label: string
  readonly type: FieldType
  readonly required: boolean
  readonly is_unique: boolean
  readonly immutable: boolean
  readonly autogen: string
  readonly description: string
  readonly rules: FieldRules
  readonly system: boolean
  readonly column_name: string
  readonly stale_reads: readonly string[] | null
  readonly created_at: string
}

type Reader = Pick<PlatformScope, 'db' | 'cache'> & { readonly workspace: { readonly id: string }; readonly actor?: Scope['actor'] }

/**
 * The picture of a record type, remembered until the type or a field of it changes; undefined when the workspace has no such type. The
 * same picture is the same object, so what is derived from it can be kept beside it.
 */
export function findRecordType({ db, cache, workspace }: Reader, key: string): Promise<RecordType | undefined> {
  return cache.remember(db, workspace.id, `type ${key}`, () => readRecordType(db, workspace.id, key))
}

/** The same; throws NOT_FOUND when there is none. */
export async function requireRecordType(scope: Reader, key: string): Promise<RecordType> {
  const type = await findRecordType(scope, key)
  if (!type) throw problem('NOT_FOUND', `There is no record type ${shortened(key)}${await adviceOn(scope, key)}`)
  return type
}

/** VALIDATION_ERROR for a place of a body that should name a record type and does not. */
export const unknownTypeProblem = async (scope: Reader, path: string, key: string) =>
  problem(
    'VALIDATION_ERROR',
    `${path} must be the key of a record type, got ${JSON.stringify(shortened(key))}${await adviceOn(scope, key)}`,
  )

/** The type that was probably meant, of those that the caller may list; else how one is made. */
async function adviceOn({ db, workspace, actor }: Reader, key: string): Promise<string> {
  const rows = actor ? await db.query<{ key: string }>(findTypeKeys(workspace.id)) : []
  const known = rows.map(({ key }) => key).filter((key) => actor && permits({ actor }, 'types:read', key))
  const nearest = findNearestName(key, known)
  return nearest !== undefined && isSimilarName(key, nearest) ? `; did you mean ${nearest}?` : '; POST …/types makes one'
}

const shortened = (key: string): string => (key.length > 100 ? `${key.slice(0, 100)}…` : key)

/** Reads a record type past the cache, for whoever holds a lock on it. */
export async function readRecordType(db: Executor, workspaceId: string, key: string): Promise<RecordType | undefined> {
  const [row] = await db.query<Row>(findTypeWithFields(workspaceId, key))
  return row && pictureOf(workspaceId, row)
}

/** Makes the domain's field of a stored one. */
export function toField(entityType: string, row: FieldRow): Field {
  return {
    id: row.id,
    entityType,
    key: row.key,
    label: row.label,
    type: row.type,
    required: row.required,
    unique: row.is_unique,
    immutable: row.immutable,
    autogen: row.autogen,
    description: row.description,
    rules: row.rules,
    createdAt: row.created_at,
    system: row.system,
    staleReads: row.stale_reads ?? [],
    column: row.column_name,
    codeColumn: codeColumnOf(row.type, row.column_name),
  }
}

function pictureOf(workspaceId: string, { created_at, edition, long_records, fields: rows, ui, ...row }: Row): RecordType {
  const { fields, computations } = compileTypeComputations(rows.map((field) => toField(row.key, field)))
  const fieldByKey = new Map(fields.map((field) => [field.key, field]))
  const picture = {
    ...row,
    ui: readLayoutHints(ui),
    createdAt: created_at,
    fields,
    fieldByKey,
    computations,
    workspaceId,
    schema: schemaOf(workspaceId),
    editionColumn: editionColumnOf(edition),
    longRecords: long_records,
    knownTrigrams: new Map(rows.flatMap((field) => (field.common_trigrams ? [[field.id, trigramsOfRow(field)]] : []))),
  }
  return Object.freeze(picture)
}

const trigramsOfRow = ({ common_trigrams, frequent_trigrams }: TrigramsRow): KnownTrigrams => ({
  common: new Set(common_trigrams),
  frequent: new Set(frequent_trigrams),
})
