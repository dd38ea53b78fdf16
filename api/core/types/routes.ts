import * as examples from '#api/core/types/examples.ts'
import { byKey } from '#api/http/declaration.ts'
import { withNextLink } from '#api/http/reply/link-header.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { requireRecordType } from '#shared/core/types/record-type.ts'
import { changeType } from '#shared/core/types/types/change-type.ts'
import { createType } from '#shared/core/types/types/create-type.ts'
import { deleteType } from '#shared/core/types/types/delete-type.ts'
import { findTypeView, listTypes } from '#shared/core/types/types/list-types.ts'
import { typeChange, typeInput, typeView } from '#shared/core/types/types/schemas.ts'
import { linkedQuery } from '#shared/platform/db/lists.ts'
import { schema, t } from '#shared/platform/kernel/schema.ts'

const onType = async ({ params }: { params: { typeKey: string } }, scope: Scope) => byKey(await requireRecordType(scope, params.typeKey))

const common = { tag: 'Record types', app: null, limit: null } as const
const collectionPath = `${orgPath}/types` as const
const itemPath = `${collectionPath}/:typeKey` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: collectionPath,
    summary: 'List record types',
    description: 'The types that the caller may read: built-in types first, then in creation order.',
    example: { query: { limit: 20 }, answer: [examples.invoices, examples.orders] },
    permission: 'types:read',
    perItem: true,
    query: linkedQuery,
    status: 200,
    linked: true,
    response: schema(t.Array(typeView.json)),
    handle: async (request, scope) => withNextLink(request, scope, await listTypes(scope, request.query)),
  }),
  answer({
    ...common,
    method: 'POST',
    path: collectionPath,
    summary: 'Create a record type',
    description: 'The key cannot be changed later. The type has no fields yet.',
    example: { body: { key: 'orders', label: 'Orders', icon: 'shopping-bag' }, answer: examples.newOrders },
    permission: 'types:create',
    onBody: ({ body }) => body.key,
    fails: ['KEY_TAKEN'],
    body: typeInput,
    status: 201,
    response: typeView,
    handle: ({ body }, scope) => createType(scope, body),
  }),
  answer({
    ...common,
    method: 'PATCH',
    path: itemPath,
    summary: 'Change how a record type is shown',
    description: 'Omitted properties stay unchanged; null clears any property but the label. Built-in types can be changed too.',
    example: { params: { typeKey: 'orders' }, body: { description: 'What customers have ordered.' }, answer: examples.orders },
    permission: 'types:update',
    on: onType,
    body: typeChange,
    stored: ({ params }, scope) => findTypeView(scope, params.typeKey),
    status: 200,
    response: typeView,
    handle: ({ params, body }, scope) => changeType(scope, params.typeKey, body),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: itemPath,
    summary: 'Delete a record type',
    description: 'Deletes its fields and records permanently. Built-in types answer 403.',
    example: { params: { typeKey: 'orders' } },
    permission: 'types:delete',
    on: onType,
    status: 204,
    response: null,
    handle: ({ params }, scope) => deleteType(scope, params.typeKey),
  }),
]
