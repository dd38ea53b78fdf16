import { isDeepStrictEqual } from 'node:util'
import type { EventFamily } from '#shared/core/events/event-type.ts'
import { expandType, unknownType } from '#shared/core/events/type-names.ts'
import { requireRecordAccess } from '#shared/core/records/access.ts'
import { requireFilter } from '#shared/core/records/query/filter.ts'
import { conditionsOf, type Filter, readStoredFilter } from '#shared/core/records/query/filter-tree.ts'
import { findRefusedGrant } from '#shared/core/roles/grants.ts'
import { readActor } from '#shared/core/scope/actor.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import { findRecordType, type RecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import { lockServiceAccount } from '#shared/core/workspaces/service-accounts/store.ts'
import type { WebhookChange } from '#shared/features/webhooks/schemas.ts'
import type { WebhookRow } from '#shared/features/webhooks/store.ts'
import { parseEndpoint } from '#shared/platform/egress/endpoint.ts'
import { EgressFailure } from '#shared/platform/egress/failure.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid } from '#shared/platform/kernel/ids.ts'

/** What decides which events go where, and who sees them: who changes it becomes the maker. */
interface Definition {
  readonly url: string
  readonly types: readonly string[]
  readonly objectType: string | null
  readonly filter: Filter | null
  readonly serviceAccountId: string | null
}

/** The definition that a body makes of a stored one, unchecked but for the form of its parts. Throws VALIDATION_ERROR. */
export function readDefinition(body: WebhookChange, stored?: WebhookRow): Definition {
  const { url = stored?.url ?? '', types = stored?.types ?? [] } = body
  const account = body.service_account_id === undefined ? (stored?.service_account_id ?? null) : body.service_account_id
  const storedFilter = stored?.filter ?? null
  return {
    url,
    types,
    objectType: body.object_type === undefined ? (stored?.object_type ?? null) : body.object_type,
    filter: body.filter === undefined ? storedFilter : body.filter && readStoredFilter(body.filter, 'filter', storedFilter ?? undefined),
    serviceAccountId: account?.toLowerCase() ?? null,
  }
}

/** Whether a definition is another one than that of a webhook. */
export const differs = (definition: Definition, { url, types, object_type, filter, service_account_id }: WebhookRow): boolean =>
  !isDeepStrictEqual(definition, { url, types, objectType: object_type, filter, serviceAccountId: service_account_id })

/**
 * Throws unless the caller may be the maker of a definition: VALIDATION_ERROR for a part that does not fit, FORBIDDEN for an account that
 * holds more than the caller does and for a filter of a type whose records the caller may not read. Call it in the transaction that stores it.
 */
export async function requireDefinition(scope: Scope, families: readonly EventFamily[], definition: Definition): Promise<void> {
  const { url, types, objectType, filter, serviceAccountId } = definition
  requireUrl(url)
  for (const name of types) if (expandType(families, name).length === 0) throw problem('VALIDATION_ERROR', `types: ${unknownType(name)}`)
  const type = objectType === null ? undefined : await requireType(scope, objectType)
  if (filter !== null) {
    if (!type) throw problem('VALIDATION_ERROR', 'filter needs object_type, whose records it judges')
    requireFilter(type, requireRecordAccess(scope, type, 'records:read').hideable, filter, 'filter')
  }
  if (serviceAccountId !== null) await requireAccount(scope, serviceAccountId)
}

/** Keys of the fields that a filter names. */
export const filterKeysOf = ({ filter }: Definition): string[] =>
  filter === null ? [] : [...new Set(conditionsOf(filter).map(({ field }) => field))]

// `URL` alone accepts `https:example.com` and drops blanks and line breaks.
const absoluteUrl = /^https?:\/\/[^\s/?#\\]/i

function requireUrl(url: string): void {
  const rule = 'url must be an absolute http or https address'
  if (!absoluteUrl.test(url) || /[\s\p{Cc}]/u.test(url)) throw problem('VALIDATION_ERROR', rule)
  try {
    parseEndpoint(url)
  } catch (error) {
    throw error instanceof EgressFailure ? problem('VALIDATION_ERROR', `${rule}: ${error.message}`) : error
  }
}

async function requireType(scope: Scope, key: string): Promise<RecordType> {
  const type = await findRecordType(scope, key)
  if (!type) throw await unknownTypeProblem(scope, 'object_type', key)
  return type
}

async function requireAccount(scope: Scope, id: string): Promise<void> {
  const { db, workspace } = scope
  const isThere = isUuid(id) && (await db.query(lockServiceAccount({ workspaceId: workspace.id, id }))).length > 0
  const account = isThere ? await readActor(db, workspace.id, id) : undefined
  if (!account) throw problem('VALIDATION_ERROR', 'service_account_id must be the id of a service account of the workspace')
  // The reason would name rules of the account, which who manages webhooks need not see.
  if (await findRefusedGrant(scope, account.rules))
    throw problem('FORBIDDEN', 'service_account_id: the account holds rights that you do not hold; name one that holds no more than you do')
}
