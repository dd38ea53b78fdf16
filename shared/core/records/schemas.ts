import { type Filter, filterForm } from '#shared/core/records/query/filter-tree.ts'
import { cursorParameters } from '#shared/platform/db/lists.ts'
import { instant, nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const values = t.Record(t.String(), t.Unknown(), {
  description: 'By field key. A field without a value is null; one that the caller may not read is absent.',
})

/** A record in a response (docs/contract/records.md#record). */
export const recordSchema = t.Object(
  {
    id: uuid,
    object_type: t.String({ description: 'Key of the record type.' }),
    created_by: nullable(uuid),
    created_at: instant,
    updated_at: instant,
    values,
    expanded: t.Optional(
      t.Record(t.String(), t.Unknown(), {
        description: 'With expand: by key of a ref field the record or null, of a refs field an array of records, each as in this answer.',
      }),
    ),
  },
  { title: 'WorkspaceRecord', description: 'One record of a type that the workspace defines.' },
)

export const record = schema(recordSchema)
export const recordValues = schema(t.Object({ values }, { title: 'RecordValues' }))

/** A page of a listing by cursor, or of a search with its total. */
export const recordPage = schema(
  t.Object(
    {
      records: t.Array(recordSchema),
      next_cursor: t.Optional(t.String({ description: 'Plain listing: where the next page starts; absent on the last.' })),
      total: t.Optional(t.Integer({ description: 'Search mode: how many readable records match, exactly.' })),
    },
    { title: 'RecordPage' },
  ),
)

/** Body that creates a record. */
export const recordInput = schema(
  t.Object(
    { values: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'By field key; null counts as not sent.' })) },
    { title: 'RecordInput' },
  ),
)

/** Body that changes a record. */
export const recordChanges = schema(
  t.Object(
    { values: t.Record(t.String(), t.Unknown(), { description: 'Fields that are not sent keep their values; null clears a field.' }) },
    { title: 'RecordChanges' },
  ),
)

/** The schema of a filter in a body; `readFilterTree` reads it. */
export const filterJson = t.Unsafe<Filter>({
  anyOf: [{ type: 'array' }, { type: 'object' }],
  'x-hint': filterForm,
  description: 'A condition {field, op, value}, an array of filters that must all hold, or {all: []}, {any: []} or {not: filter}.',
})

/** Query parameters of a search and an export. */
const search = {
  q: t.Optional(t.String({ description: 'Search mode: text contained in any string or text field.' })),
  filter: t.Optional(t.String({ description: 'Search mode: JSON of a filter: {field, op, value}, an array, or {all}, {any} or {not}.' })),
  sort: t.Optional(t.String({ description: 'Search mode: a field key or created_at, or several separated by commas.' })),
  dir: t.Optional(
    t.String({
      pattern: '^(asc|desc)(,(asc|desc))*$',
      description: 'asc or desc, for all keys of sort or one for each, separated by commas',
    }),
  ),
}

/** Query parameter that selects the fields of a response. */
const fields = t.Optional(t.String({ description: 'Keys of the fields to show, separated by commas; default: all fields.' }))

/** Query parameter that adds the records which the fields of a response name. */
const expand = t.Optional(
  t.String({
    description: 'Up to 10 paths along ref and refs fields, separated by commas, each of at most two steps: customer,customer.owner_ref.',
  }),
)

/** Query parameters of one record. */
export const recordQuery = schema(
  t.Object({
    fields,
    expand,
    as_of: t.Optional(
      t.String({ description: 'RFC 3339: the record as it was at this instant, which needs audit:read. Not with expand.' }),
    ),
  }),
)

/** Query parameters of an export. */
export const exportQuery = schema(t.Object(search))

/** Query parameters of a listing in either mode (docs/contract/records.md#lists). */
/** The largest number that an address can have: 15 digits. */
const most = 999_999_999_999_999

const listing = {
  ...search,
  fields,
  expand,
  ...cursorParameters({ cursor: 'Plain listing: next_cursor of the previous page.' }),
  ref_field: t.Optional(
    t.String({ description: 'Plain listing, with ref_id: key of a reference field; only records in which the field holds ref_id.' }),
  ),
  ref_id: t.Optional(t.String()),
  page: t.Optional(t.Integer({ minimum: 1, maximum: most, description: 'Search mode: the page, counted from 1.' })),
  offset: t.Optional(t.Integer({ minimum: 0, maximum: most, description: 'Search mode: number of records to skip; overrides page.' })),
}
export const listQuery = schema(t.Object(listing))

/** The parameters of a listing as a body. */
export const listBody = schema(t.Object({ ...listing, filter: t.Optional(filterJson) }, { title: 'RecordQuery' }))
