import * as examples from '#api/core/workspaces/examples.ts'
import { ids } from '#api/http/example-ids.ts'
import { answer, orgPath } from '#api/http/route.ts'
import { createAccessKey, getAccessKey, listAccessKeys, revokeAccessKey } from '#shared/core/workspaces/service-accounts/access-keys.ts'
import { accessKey, accessKeyInput, accessKeyList, newAccessKey } from '#shared/core/workspaces/service-accounts/access-keys-schemas.ts'
import { serviceAccount, serviceAccountInput, serviceAccountList } from '#shared/core/workspaces/service-accounts/schemas.ts'
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listServiceAccounts,
} from '#shared/core/workspaces/service-accounts/service-accounts.ts'

const common = { tag: 'Service accounts', app: null, permission: 'iam:manage_members', limit: null } as const
const all = `${orgPath}/service-accounts` as const
const one = `${all}/:id` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List service accounts',
    description: 'Oldest first.',
    example: { answer: [examples.serviceAccount] },
    status: 200,
    response: serviceAccountList,
    handle: (_, scope) => listServiceAccounts(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a service account',
    description: 'Access keys belong to service accounts. The roles of the account may grant no more than the caller holds.',
    example: { body: { name: 'Web shop', role_ids: [ids.salesRole] }, answer: examples.serviceAccount },
    body: serviceAccountInput,
    status: 201,
    response: serviceAccount,
    handle: ({ body }, scope) => createServiceAccount(scope, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: one,
    summary: 'Get a service account',
    description: 'Its roles are listed with the members of each role.',
    example: { params: { id: ids.robot }, answer: examples.serviceAccount },
    status: 200,
    response: serviceAccount,
    handle: ({ params }, scope) => getServiceAccount(scope, params.id),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a service account and its keys',
    description: 'Its keys are invalid from the next request on. Data that it created stays.',
    example: { params: { id: ids.robot } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => deleteServiceAccount(scope, params.id),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/keys`,
    summary: 'List access keys',
    description: 'Oldest first, without their secrets.',
    example: { params: { id: ids.robot }, answer: [examples.accessKey] },
    status: 200,
    response: accessKeyList,
    handle: ({ params }, scope) => listAccessKeys(scope, params.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/keys`,
    summary: 'Create an access key',
    description: 'The service account must hold no more than the caller does.',
    example: { params: { id: ids.robot }, body: { name: 'Production', expires_at: '2027-11-05T00:00:00Z' }, answer: examples.newAccessKey },
    body: accessKeyInput,
    status: 201,
    response: newAccessKey,
    handle: ({ params, body }, scope) => createAccessKey(scope, params.id, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/keys/:keyId`,
    summary: 'Get an access key, without its secret',
    description: '`prefix` shows enough of the key to recognise it.',
    example: { params: { id: ids.robot, keyId: ids.accessKey }, answer: examples.accessKey },
    status: 200,
    response: accessKey,
    handle: ({ params }, scope) => getAccessKey(scope, params.id, params.keyId),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${one}/keys/:keyId`,
    summary: 'Revoke an access key',
    description: 'It is invalid from the next request on.',
    example: { params: { id: ids.robot, keyId: ids.accessKey } },
    status: 204,
    response: null,
    handle: ({ params }, scope) => revokeAccessKey(scope, params.id, params.keyId),
  }),
]
