import * as examples from '#api/core/records/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { WithETag } from '#api/http/reply/reply.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import { aggregateRecords } from '#shared/core/records/aggregate/aggregate-records.ts'
import { aggregateAnswer, aggregateQuery } from '#shared/core/records/aggregate/schemas.ts'
import { requireEarlierOperations } from '#shared/core/records/change/batch-references.ts'
import { batchInput, typedBatchInput } from '#shared/core/records/change/batch-schemas.ts'
import { removeRecord } from '#shared/core/records/change/delete-record.ts'
import { deleteMatchingInput, updateMatchingInput } from '#shared/core/records/change/matching-schemas.ts'
import { changeRecord } from '#shared/core/records/change/update-record.ts'
import { createRecord } from '#shared/core/records/create/create-record.ts'
import { importQuery } from '#shared/core/records/csv/schemas.ts'
import { listReadableTypes } from '#shared/core/records/declarations/readable-types.ts'
import { readableTypes } from '#shared/core/records/declarations/schemas.ts'
import { getRecordAsOf } from '#shared/core/records/history/record-as-of.ts'
import { changeMatchingJob, changeRecordsJob, exportRecordsJob, importRecordsJob } from '#shared/core/records/jobs.ts'
import { listOrSearch } from '#shared/core/records/query/list-or-search.ts'
import { getRecord } from '#shared/core/records/read.ts'
import { getExpandedRecord } from '#shared/core/records/references/get-expanded.ts'
import {
  exportQuery,
  listBody,
  listQuery,
  record,
  recordChanges,
  recordInput,
  recordPage,
  recordQuery,
  recordValues,
} from '#shared/core/records/schemas.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { rowParametersOf } from '#shared/platform/kernel/cursor.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { TypeOf } from '#shared/platform/kernel/schema.ts'

/** Resolves the record type of a route, on whose key the permission is checked. Throws NOT_FOUND. */
const onType = async ({ params }: { params: { typeKey: string } }, scope: Scope) => byKey(await requireRecordType(scope, params.typeKey))

/** The largest CSV file of an import (docs/contract/records.md#files). */
const maxImportBytes = 25 * 1024 * 1024

const common = { tag: 'Records', app: null, limit: null, on: onType } as const
const all = `${orgPath}/records/:typeKey` as const
const one = `${all}/:recordId` as const

/** What the routes of batches have in common. */
const batch = {
  tag: 'Records',
  app: null,
  limit: null,
  method: 'POST',
  permission: 'member',
  fails: ['FORBIDDEN', 'LIMIT_EXCEEDED', 'DUPLICATE_VALUE'],
  job: changeRecordsJob,
  makes: 'json',
} as const

const batchRules =
  'Atomic makes it all or nothing. {"$of": n} in a reference field names the record of an earlier change. Batches of a workspace run one after the other. The records of an answer hold at most 10,000,000 characters of text; a change beyond that is refused.'

/** The payload of a batch on one type, or on those that its operations name. Throws VALIDATION_ERROR for a reference of a wrong form. */
function batchPayload(typeKey: string | null, { operations, atomic = false }: TypeOf<typeof batchInput | typeof typedBatchInput>) {
  requireEarlierOperations(operations)
  return { typeKey, operations: JSON.stringify(operations), atomic }
}

export const routes = [
  answer({
    tag: 'Records',
    app: null,
    limit: null,
    method: 'GET',
    path: `${orgPath}/records`,
    summary: 'List the record types that you may read',
    description: 'Each with the fields that you may read, for programs that read and write records; built-in types first.',
    example: { query: { limit: 20 }, answer: [examples.readableOrders] },
    permission: 'records:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: readableTypes,
    handle: async (request, scope) => withNextLink(request, scope, await listReadableTypes(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a record',
    description: 'Required fields must be sent unless they have a default or automatic numbering. Computed fields are ignored.',
    example: {
      params: { typeKey: 'orders' },
      body: {
        values: {
          customer: 'Café Lindgren',
          order_total: 128.5,
          order_status: 'open',
          previous_order: ids.previousOrder,
        },
      },
      answer: examples.order,
    },
    permission: 'records:create',
    fails: ['LIMIT_EXCEEDED', 'DUPLICATE_VALUE'],
    body: recordInput,
    status: 201,
    response: record,
    handle: ({ resource: type, body }, scope) => createRecord(scope, type, body.values ?? {}),
  }),
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List or search records',
    description:
      'Newest first by cursor; any of q, filter, sort, page and offset selects search mode, with a total. A page holds at most 10 MB, or one larger record: a page by cursor ends early, a search asks for a smaller limit.',
    example: {
      params: { typeKey: 'orders' },
      query: { filter: '[{"field":"order_status","op":"eq","value":"open"}]', sort: 'order_total', dir: 'desc', limit: 20 },
      answer: { records: [examples.order], total: 1 },
    },
    permission: 'records:read',
    query: listQuery,
    status: 200,
    response: recordPage,
    handle: ({ params, query }, scope) => listOrSearch(scope, params.typeKey, query),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${all}/query`,
    summary: 'List or search records by a body',
    description: 'Takes the parameters of the list as JSON, for a filter that is too long for an address. It changes nothing.',
    example: {
      params: { typeKey: 'orders' },
      body: {
        filter: {
          any: [
            { field: 'order_status', op: 'eq', value: 'open' },
            { field: 'order_total', op: 'lt', value: '100' },
          ],
        },
        sort: 'created_at',
        dir: 'desc',
        limit: 20,
      },
      answer: { records: [examples.order, examples.previousOrder], total: 2 },
    },
    permission: 'records:read',
    body: listBody,
    status: 200,
    response: recordPage,
    onlyReads: true,
    // The body chooses the rows, so a cursor belongs to it.
    handle: ({ resource: type, body }, scope) =>
      listOrSearch({ ...scope, cursorBinding: () => [scope.cursorBinding?.(), rowParametersOf(body)] }, type.key, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${all}/aggregate`,
    summary: 'Count and measure records in groups',
    description: 'Exact, of the records that you may read. Sums, averages and extremes of a currency field are by currency.',
    example: {
      params: { typeKey: 'orders' },
      query: { metrics: 'count,sum:order_total', group_by: 'created_at:month' },
      answer: { groups: [{ by: { 'created_at:month': '2026-11' }, metrics: { count: 2, 'sum:order_total': 224.5 } }], total_groups: 1 },
    },
    permission: 'records:read',
    query: aggregateQuery,
    status: 200,
    response: aggregateAnswer,
    handle: ({ params, query }, scope) => aggregateRecords(scope, params.typeKey, query),
  }),
  delegate({
    ...common,
    method: 'GET',
    path: `${all}/export`,
    summary: 'Export records as CSV',
    description: 'At most 10,000; when more match, X-Export-Truncated is true.',
    example: { params: { typeKey: 'orders' }, query: { q: 'Lindgren' }, file: examples.ordersFile },
    permission: 'records:export',
    query: exportQuery,
    job: exportRecordsJob,
    makes: 'text/csv',
    payload: ({ params, query: { q = null, filter = null, sort = null, dir = null } }) => ({
      typeKey: params.typeKey,
      q,
      filter,
      sort,
      dir,
    }),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${all}/import`,
    summary: 'Import records from CSV',
    description:
      'The first row names fields; up to 500 data rows, each independent: a bad row is reported and skipped. With upsert_by a row changes the record that holds its value of that field.',
    example: {
      params: { typeKey: 'orders' },
      body: 'customer,order_total,order_status\nCafé Lindgren,128.5,open\nBakery Holm,84,open\n',
      answer: { created: 2, updated: 0, unchanged: 0, failed: 0, errors: [], ignored_columns: [] },
    },
    permission: 'records:import',
    query: importQuery,
    upload: { maxBytes: maxImportBytes, contentTypes: ['text/csv'] },
    job: importRecordsJob,
    makes: 'json',
    payload: ({ params, query }, _scope, fileId) => ({ typeKey: params.typeKey, fileId, query }),
  }),
  delegate({
    ...batch,
    on: onType,
    path: `${all}/batch`,
    summary: 'Create, change, delete or upsert several records',
    description: `Up to 500 changes, each with its own permission check and result. ${batchRules}`,
    example: {
      params: { typeKey: 'orders' },
      body: {
        operations: [
          { op: 'create', values: { customer: 'Café Lindgren', order_total: 128.5 } },
          { op: 'update', id: ids.previousOrder, values: { order_status: 'done' } },
        ],
      },
      answer: {
        results: [
          { status: 201, record: examples.order, error: null },
          { status: 200, record: examples.previousOrder, error: null },
        ],
      },
    },
    body: batchInput,
    payload: ({ params, body }) => batchPayload(params.typeKey, body),
  }),
  delegate({
    ...batch,
    path: `${orgPath}/batch`,
    summary: 'Create, change, delete or upsert records of several types',
    description: `Up to 500 changes, each with its type, its own permission check and result. ${batchRules}`,
    example: {
      body: {
        operations: [
          { type: 'orders', op: 'create', values: { customer: 'Café Lindgren', order_total: 96, order_status: 'done' } },
          { type: 'orders', op: 'create', values: { customer: 'Café Lindgren', order_total: 128.5, previous_order: { $of: 0 } } },
        ],
      },
      answer: {
        results: [
          { status: 201, record: examples.previousOrder, error: null },
          { status: 201, record: examples.order, error: null },
        ],
      },
    },
    body: typedBatchInput,
    payload: ({ body }) => batchPayload(null, body),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${all}/update-where`,
    summary: 'Change all records that match a filter',
    description:
      'At most 10,000 records that you may read, oldest first; an empty filter matches all. Each is changed as it would be alone, or skipped with an error code; every 100 are committed.',
    example: {
      params: { typeKey: 'orders' },
      body: {
        filter: [
          { field: 'order_status', op: 'eq', value: 'open' },
          { field: 'order_total', op: 'lt', value: '1' },
        ],
        values: { order_status: 'done' },
      },
      answer: { matched: 2, changed: 1, skipped: [{ id: ids.order, code: 'FORBIDDEN' }] },
    },
    permission: 'records:update',
    body: updateMatchingInput,
    job: changeMatchingJob,
    makes: 'json',
    payload: ({ params, body: { filter, values } }) => ({
      typeKey: params.typeKey,
      filter: JSON.stringify(filter),
      values: JSON.stringify(values),
    }),
  }),
  delegate({
    ...common,
    method: 'POST',
    path: `${all}/delete-where`,
    summary: 'Delete all records that match a filter',
    description:
      'At most 10,000 records that you may read, oldest first; an empty filter matches all. Each is deleted as it would be alone, or skipped with an error code; every 100 are committed.',
    example: {
      params: { typeKey: 'orders' },
      body: { filter: { field: 'order_total', op: 'eq', value: '0' } },
      answer: { matched: 3, changed: 3, skipped: [] },
    },
    permission: 'records:delete',
    body: deleteMatchingInput,
    job: changeMatchingJob,
    makes: 'json',
    payload: ({ params, body: { filter } }) => ({ typeKey: params.typeKey, filter: JSON.stringify(filter), values: null }),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a record',
    description:
      'ETag is its version: send it as If-Match with a change or deletion to refuse it when the record has changed since. With as_of the record as it was then, also a deleted one, by the fields of now; an answer with as_of has no ETag.',
    example: { params: { typeKey: 'orders', recordId: ids.order }, answer: examples.order },
    permission: 'records:read',
    query: recordQuery,
    status: 200,
    response: record,
    tagged: true,
    handle: async ({ params, query }, scope) => {
      const { as_of, expand, fields } = query
      if (as_of !== undefined && expand !== undefined)
        throw problem('VALIDATION_ERROR', 'expand shows records as they are now, so it cannot be sent with as_of')
      if (as_of !== undefined) return getRecordAsOf(scope, params.typeKey, params.recordId, as_of, fields)
      const { record, etag } = await getExpandedRecord(scope, params.typeKey, params.recordId, query)
      return new WithETag(record, etag)
    },
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/values`,
    summary: 'Get the values of a record',
    description: 'Values that the caller may not read are omitted.',
    example: { params: { typeKey: 'orders', recordId: ids.order }, answer: { values: examples.order.values } },
    permission: 'records:read',
    status: 200,
    response: recordValues,
    handle: async ({ params }, scope) => ({ values: (await getRecord(scope, params.typeKey, params.recordId)).values }),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: `${one}/values`,
    summary: 'Change values of a record',
    description:
      'Fields that are not sent keep their values; null clears a field. Immutable fields cannot change, and required ones cannot be cleared.',
    example: { params: { typeKey: 'orders', recordId: ids.order }, body: { values: { order_status: 'done' } } },
    permission: 'records:update',
    fails: ['DUPLICATE_VALUE', 'PRECONDITION_FAILED'],
    body: recordChanges,
    carries: record,
    stored: ({ params }, scope) => getRecord(scope, params.typeKey, params.recordId),
    status: 204,
    response: null,
    handle: ({ resource: type, params, body, header }, scope) =>
      changeRecord(scope, type, params.recordId, body.values, header('if-match')),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a record',
    description: 'Deletes permanently. Records that reference it keep its id.',
    example: { params: { typeKey: 'orders', recordId: ids.order } },
    permission: 'records:delete',
    fails: ['PRECONDITION_FAILED'],
    status: 204,
    response: null,
    handle: ({ resource: type, params, header }, scope) => removeRecord(scope, type, params.recordId, header('if-match')),
  }),
]
