import { answer, org } from '#api/http/route.ts'
import { accessKey, accessKeyInput, accessKeyList, createKey, getKey, listKeys, newAccessKey, revokeKey } from '#shared/workspaces/keys.ts'
import {
  createServiceAccount,
  deleteServiceAccount,
  getServiceAccount,
  listServiceAccounts,
  serviceAccount,
  serviceAccountInput,
  serviceAccountList,
} from '#shared/workspaces/service-accounts.ts'

const common = { tag: 'Service accounts', app: null, permission: 'iam:manage_members', limit: null } as const
const all = `${org}/service-accounts` as const
const one = `${all}/:id` as const

export const routes = [
  answer({
    ...common,
    method: 'GET',
    path: all,
    summary: 'List service accounts',
    status: 200,
    response: serviceAccountList,
    handle: (_, scope) => listServiceAccounts(scope),
  }),
  answer({
    ...common,
    method: 'POST',
    path: all,
    summary: 'Create a service account',
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
    status: 200,
    response: serviceAccount,
    handle: ({ params }, scope) => getServiceAccount(scope, params.id),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: one,
    summary: 'Delete a service account and its keys',
    status: 204,
    response: null,
    handle: ({ params }, scope) => deleteServiceAccount(scope, params.id),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/keys`,
    summary: 'List access keys',
    status: 200,
    response: accessKeyList,
    handle: ({ params }, scope) => listKeys(scope, params.id),
  }),
  answer({
    ...common,
    method: 'POST',
    path: `${one}/keys`,
    summary: 'Create an access key',
    description: 'The service account must hold no more than the caller does.',
    body: accessKeyInput,
    status: 201,
    response: newAccessKey,
    handle: ({ params, body }, scope) => createKey(scope, params.id, body),
  }),
  answer({
    ...common,
    method: 'GET',
    path: `${one}/keys/:keyId`,
    summary: 'Get an access key, without its secret',
    status: 200,
    response: accessKey,
    handle: ({ params }, scope) => getKey(scope, params.id, params.keyId),
  }),
  answer({
    ...common,
    method: 'DELETE',
    path: `${one}/keys/:keyId`,
    summary: 'Revoke an access key',
    status: 204,
    response: null,
    handle: ({ params }, scope) => revokeKey(scope, params.id, params.keyId),
  }),
]
