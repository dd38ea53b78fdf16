import * as examples from '#api/core/types/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { ids } from '#api/http/example-ids.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, delegate, orgPath } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { changeRefType, describeField } from '#shared/core/types/fields/change-field.ts'
import { createField } from '#shared/core/types/fields/create-field.ts'
import { deleteField } from '#shared/core/types/fields/delete-field.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { validateFieldChange } from '#shared/core/types/fields/field-change.ts'
import { listFields } from '#shared/core/types/fields/list-fields.ts'
import { requireField } from '#shared/core/types/fields/require-field.ts'
import { descriptionInput, fieldChange, fieldInput, fieldView, refTypeInput, toFieldView } from '#shared/core/types/fields/schemas.ts'
import { removeFieldFormula, setFieldFormula } from '#shared/core/types/formulas/change-formula.ts'
import { formulaInput } from '#shared/core/types/formulas/schemas.ts'
import { changeFieldJob } from '#shared/core/types/jobs.ts'
import { disableAutoNumbering, enableAutoNumbering } from '#shared/core/types/numbering/change-numbering.ts'
import { autogenInput } from '#shared/core/types/numbering/schemas.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { linkedParameters } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

/** Permissions on a field are checked on its record type (docs/contract/types-and-fields.md#fields). */
const onTypeOfField = async ({ params }: { params: { fieldId: string } }, scope: Scope) => {
  const resource = await requireField(scope, params.fieldId)
  return { key: resource.entityType, resource }
}

/** The field named by the path, in its response form. */
const storedField = ({ resource }: { resource: Field }) => toFieldView(resource)

const common = { tag: 'Fields', app: null, limit: null } as const
const collectionPath = `${orgPath}/fields` as const
const itemPath = `${collectionPath}/:fieldId` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: collectionPath,
    summary: 'List the fields of a record type',
    description: 'Built-in fields included, in the order of their creation.',
    example: { query: { entity_type: 'orders', limit: 20 }, answer: [examples.orderNumber, examples.orderTotal] },
    permission: 'fields:read',
    on: async ({ query }, scope) => byKey(await requireRecordType(scope, query().entity_type)),
    query: schema(t.Object({ entity_type: t.String({ minLength: 1, description: 'The key of the record type.' }), ...linkedParameters })),
    status: 200,
    linked: true,
    response: schema(t.Array(fieldView.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listFields(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: collectionPath,
    summary: 'Create a field',
    description: 'Existing records have no value for the field. A default applies to records that are created later.',
    example: {
      body: { entity_type: 'orders', key: 'order_total', label: 'Total', type: 'number', rules: { min: 0 } },
      answer: examples.orderTotal,
    },
    permission: 'fields:create',
    onBody: ({ body }) => body.entity_type,
    fails: ['KEY_TAKEN'],
    body: fieldInput,
    status: 201,
    response: fieldView,
    handle: ({ body }, scope) => createField(scope, body),
  }),
  delegate({
    ...common,
    method: 'PATCH',
    path: itemPath,
    summary: 'Change a field',
    description:
      'Omitted properties stay unchanged; null clears an optional one. Rules are replaced as a whole, but a formula stays. When existing records violate a new restriction, nothing changes and the answer is 400 with their number, as in `rules.max_len: 3 records break it`; a restriction requires that the caller can read the field in every record. Built-in fields answer 404.',
    example: { params: { fieldId: ids.orderTotalField }, body: { description: 'Net, in euros.' }, answer: examples.describedTotal },
    permission: 'fields:create',
    on: onTypeOfField,
    body: fieldChange,
    stored: storedField,
    job: changeFieldJob,
    makes: 'json',
    payload: ({ resource, body }, scope) => validateFieldChange(scope, resource, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: itemPath,
    summary: 'Delete a field',
    description:
      'Deletes its values in every record, too. Answers 403 when a rule that limits the caller on the type tests the field. Built-in fields answer 404.',
    example: { params: { fieldId: ids.orderTotalField } },
    permission: 'fields:delete',
    on: onTypeOfField,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => deleteField(scope, resource),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: `${itemPath}/autogen`,
    summary: 'Enable auto-numbering of a field',
    description: 'For string fields that are not computed. A new record without a value gets the next number.',
    example: { params: { fieldId: ids.orderNumberField }, body: { pattern: 'ORD-{seq}', next: 1042 }, answer: examples.orderNumber },
    permission: 'fields:create',
    on: onTypeOfField,
    body: autogenInput,
    stored: storedField,
    status: 200,
    response: fieldView,
    handle: ({ resource, body }, scope) => enableAutoNumbering(scope, resource, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${itemPath}/autogen`,
    summary: 'Disable auto-numbering of a field',
    description: 'Numbers that were issued stay.',
    example: { params: { fieldId: ids.orderNumberField } },
    permission: 'fields:create',
    on: onTypeOfField,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => disableAutoNumbering(scope, resource),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: `${itemPath}/formula`,
    summary: 'Make a field computed',
    description:
      'Computed on every write; a worker computes it for existing records. Until then the field is hidden from callers who may not read the fields of the previous formula. Answers 403 when the caller reads records of the type but may not read the fields of the formula, and when a rule that limits the caller on the type tests the field.',
    example: {
      params: { fieldId: ids.orderTitleField },
      body: { formula: 'CONCAT("Order of ", customer)' },
      answer: examples.orderTitle,
    },
    permission: 'fields:create',
    on: onTypeOfField,
    body: formulaInput,
    stored: storedField,
    status: 200,
    response: fieldView,
    handle: ({ resource, body }, scope) => setFieldFormula(scope, resource, body.formula),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${itemPath}/formula`,
    summary: 'Remove the formula of a field',
    description:
      'Its values stay if the caller can read the field in every record and no recompute of a changed formula is running; otherwise they are discarded. Answers 403 when the caller reads records of the type but may not read the fields of the formula, and when a rule that limits the caller on the type tests the field.',
    example: { params: { fieldId: ids.orderTitleField } },
    permission: 'fields:create',
    on: onTypeOfField,
    status: 204,
    response: null,
    handle: ({ resource }, scope) => removeFieldFormula(scope, resource),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: `${itemPath}/description`,
    summary: 'Describe a field',
    description: 'Empty text clears the description. Built-in fields answer 404.',
    example: { params: { fieldId: ids.orderTotalField }, body: { description: 'Net, in euros.' }, answer: examples.describedTotal },
    permission: 'fields:create',
    on: onTypeOfField,
    body: descriptionInput,
    stored: storedField,
    status: 200,
    response: fieldView,
    handle: ({ resource, body }, scope) => describeField(scope, resource, body.description ?? ''),
  }),
  answer({
    ...common,
    method: 'PUT',
    path: `${itemPath}/ref-type`,
    summary: 'Point a reference field at another record type',
    description: 'For ref and refs fields; stored ids stay as they are. Built-in fields answer 404.',
    example: { params: { fieldId: ids.previousOrderField }, body: { ref_type: 'orders' }, answer: examples.previousOrder },
    permission: 'fields:create',
    on: onTypeOfField,
    body: refTypeInput,
    stored: storedField,
    status: 200,
    response: fieldView,
    handle: ({ resource, body }, scope) => changeRefType(scope, resource, body.ref_type),
  }),
]
