import { defineSdkMethod, defineSdkQuery, type SdkMethod } from '#shared/core/automation/sdk-method.ts'
import type { Permission } from '#shared/core/policy/permissions.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { readFilterTree } from '#shared/core/records/query/filter-tree.ts'
import { listOrSearch } from '#shared/core/records/query/list-or-search.ts'
import type { PagedSearchQuery } from '#shared/core/records/query/read-search.ts'
import { getRecord } from '#shared/core/records/read.ts'
import { listQuery } from '#shared/core/records/schemas.ts'
import { requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { type Schema, schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

const type = ['type', schema(t.String())] as const
const id = ['id', schema(t.String())] as const
const valuesByKey = schema(t.Record(t.String(), t.Unknown()))
const values = ['values', valuesByKey] as const
const optionalValues = ['values', schema(t.Unknown())] as const

/** The type of a key, after a check of the permission that the corresponding route requires. Throws NOT_FOUND and FORBIDDEN. */
async function requirePermittedType(scope: Scope, permission: Permission, typeKey: string): Promise<RecordType> {
  const type = await requireRecordType(scope, typeKey)
  requirePermission(scope, permission, type.key)
  return type
}

type RecordQuery = Omit<TypeOf<typeof listQuery>, 'filter'> & PagedSearchQuery

/** Parses the query of a listing: parameters as in a URL, except that `filter` may also be a value. */
function readQuery(given: unknown): RecordQuery {
  if (given === undefined || given === null) return listQuery.parse({}, 'query')
  if (typeof given !== 'object' || Array.isArray(given)) throw problem('VALIDATION_ERROR', 'query must be an object')
  const { filter, ...rest } = given as Readonly<Record<string, unknown>>
  const read = Object.entries(rest).map(([name, value]) => [name, isNumberAsText(name, value) ? Number(value) : value])
  const query = listQuery.parse(Object.fromEntries(read), 'query')
  return filter === undefined ? query : { ...query, filter: readFilterTree(filter) }
}

/** Whether this is a numeric parameter written as text: a function may pass on a parameter of a URL. */
const isNumberAsText = (name: string, value: unknown): boolean =>
  ['limit', 'page', 'offset'].includes(name) && typeof value === 'string' && /^\d{1,15}$/.test(value)

const query = ['query', { json: listQuery.json, parse: readQuery } satisfies Schema<RecordQuery>] as const

/** The SDK methods for records. They work with the rights of the run's caller. */
export const recordMethods: readonly SdkMethod[] = [
  defineSdkQuery(
    'records.list',
    '<K extends TypeKey>(type: K, query?: RecordQuery): Promise<RecordPage<K>>',
    [type, query],
    async ({ scope }, typeKey, query) => listOrSearch(scope, (await requirePermittedType(scope, 'records:read', typeKey)).key, query),
  ),
  defineSdkQuery(
    'records.get',
    '<K extends TypeKey>(type: K, id: string): Promise<RecordOf<K>>',
    [type, id],
    async ({ scope }, typeKey, id) => getRecord(scope, (await requirePermittedType(scope, 'records:read', typeKey)).key, id),
  ),
  defineSdkMethod(
    'records.create',
    '<K extends TypeKey>(type: K, values?: SentValues<K>): Promise<RecordOf<K>>',
    [type, optionalValues],
    async ({ scope }, typeKey, values) =>
      createRecord(scope, await requirePermittedType(scope, 'records:create', typeKey), valuesByKey.parse(values ?? {}, 'values')),
  ),
  defineSdkMethod(
    'records.update',
    '<K extends TypeKey>(type: K, id: string, values: SentValues<K>): Promise<void>',
    [type, id, values],
    async ({ scope }, typeKey, id, values) => changeRecord(scope, await requirePermittedType(scope, 'records:update', typeKey), id, values),
  ),
  defineSdkMethod('records.delete', '<K extends TypeKey>(type: K, id: string): Promise<void>', [type, id], async ({ scope }, typeKey, id) =>
    removeRecord(scope, await requirePermittedType(scope, 'records:delete', typeKey), id),
  ),
]
