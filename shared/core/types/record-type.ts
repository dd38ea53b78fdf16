import { permits } from '#shared/core/scope/access.ts'
import type { PlatformScope, Scope } from '#shared/core/scope/scope.ts'
import type { KnownTrigrams } from '#shared/core/types/field-kinds/filters/trigrams.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type Computation, compileStoredFormulas } from '#shared/core/types/formulas/computations.ts'
import { codeColumnOf, editionColumnOf, schemaOf } from '#shared/core/types/tables/table-names.ts'
import { readLayoutHints } from '#shared/core/types/types/layout-hints.ts'
import {
  type FieldRow,
  findTypeKeys,
  findTypesHavingFields,
  findTypeWithFields,
  type TrigramsRow,
  type TypeWithFields,
} from '#shared/core/types/types/store.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { findNearestName, isSimilarName } from '#shared/platform/kernel/similar-names.ts'

/** The metadata of a record type: its fields and the table of its records. Reads and writes of records use it. */
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
  /** In creation order. */
  readonly fields: readonly Field[]
  readonly fieldByKey: ReadonlyMap<string, Field>
  /** The computations of the computed fields, in dependency order. */
  readonly computations: readonly Computation[]
  /** PostgreSQL schema of the workspace; the table's name is the type's key. */
  readonly schema: string
  /** The column that every write of a record names. A new edition of the type renames it, so that writes with outdated metadata fail. */
  readonly editionColumn: string
  /** The highest revision of its fields. It is stored with values that are written, to know their fields later. */
  readonly revision: number
  /** Whether any record of the type was ever long (shared/core/records/text-size.ts). */
  readonly longRecords: boolean
  /** Trigram statistics by field id, for fields with a trigram index (shared/core/types/indexes/sample-field.ts). */
  readonly knownTrigrams: ReadonlyMap<string, KnownTrigrams>
}

type TypeReader = Pick<PlatformScope, 'db' | 'cache'> & { readonly workspace: { readonly id: string }; readonly actor?: Scope['actor'] }

/**
 * Returns the metadata of a record type, cached until the type or one of its fields changes; undefined when the workspace has no such type.
 * The cache returns the same object, so that derived data can be keyed by it.
 */
export function findRecordType({ db, cache, workspace }: TypeReader, key: string): Promise<RecordType | undefined> {
  return cache.remember(db, workspace.id, `type ${key}`, () => readRecordType(db, workspace.id, key))
}

/** Returns the metadata of a record type. Throws NOT_FOUND when the workspace has no such type. */
export async function requireRecordType(scope: TypeReader, key: string): Promise<RecordType> {
  const type = await findRecordType(scope, key)
  if (!type) throw problem('NOT_FOUND', `There is no record type ${truncateKey(key)}${await suggestType(scope, key)}`)
  return type
}

/** Returns the VALIDATION_ERROR for a body property at `path` that does not name a record type. */
export const unknownTypeProblem = async (scope: TypeReader, path: string, key: string) =>
  problem(
    'VALIDATION_ERROR',
    `${path} must be the key of a record type, got ${JSON.stringify(truncateKey(key))}${await suggestType(scope, key)}`,
  )

/** Suggests the most similar type that the caller may list, or else how to create one. */
async function suggestType({ db, workspace, actor }: TypeReader, key: string): Promise<string> {
  const rows = actor ? await db.query(findTypeKeys({ workspaceId: workspace.id })) : []
  const known = rows.map(({ key }) => key).filter((key) => actor && permits({ actor }, 'types:read', key))
  const nearest = findNearestName(key, known)
  return nearest !== undefined && isSimilarName(key, nearest) ? `; did you mean ${nearest}?` : '; POST …/types makes one'
}

const truncateKey = (key: string): string => (key.length > 100 ? `${key.slice(0, 100)}…` : key)

/** Reads a record type, bypassing the cache, for callers that hold its lock. */
export async function readRecordType(db: Executor, workspaceId: string, key: string): Promise<RecordType | undefined> {
  const [row] = await db.query(findTypeWithFields({ workspaceId, key }))
  return row && toRecordType(workspaceId, row)
}

/** The types that have a field with one of these keys, bypassing the cache. */
export async function readTypesHavingFields(db: Executor, workspaceId: string, fieldKeys: readonly string[]): Promise<RecordType[]> {
  const rows = await db.query(findTypesHavingFields({ workspaceId, fieldKeys }))
  return rows.map((row) => toRecordType(workspaceId, row))
}

/** Converts a row to a field. */
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
    revision: row.revision,
    column: row.column_name,
    codeColumn: codeColumnOf(row.type, row.column_name),
  }
}

function toRecordType(workspaceId: string, { created_at, edition, long_records, fields: rows, ui, ...row }: TypeWithFields): RecordType {
  const { fields, computations } = compileStoredFormulas(rows.map((field) => toField(row.key, field)))
  const fieldByKey = new Map(fields.map((field) => [field.key, field]))
  const recordType = {
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
    revision: Math.max(0, ...fields.map(({ revision }) => revision)),
    knownTrigrams: new Map(rows.flatMap((field) => (field.common_trigrams ? [[field.id, toKnownTrigrams(field)]] : []))),
  }
  return Object.freeze(recordType)
}

const toKnownTrigrams = ({ common_trigrams, frequent_trigrams }: TrigramsRow): KnownTrigrams => ({
  common: new Set(common_trigrams),
  frequent: new Set(frequent_trigrams),
})
