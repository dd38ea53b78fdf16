import { isDeepStrictEqual } from 'node:util'
import type { NotificationRule, NotificationRuleChange, NotificationRuleInput } from '#shared/core/notifications/schemas.ts'
import {
  deleteRule,
  findCrowdedTypes,
  findNoticeRules,
  findRule,
  findRules,
  insertRule,
  lockRule,
  updateRule,
} from '#shared/core/notifications/store.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import { requireFilter } from '#shared/core/records/query/filter.ts'
import { type Filter, readStoredFilter } from '#shared/core/records/query/filter-tree.ts'
import { permits, requirePermission } from '#shared/core/scope/access.ts'
import { type Scope, within } from '#shared/core/scope/scope.ts'
import { findRecordType, unknownTypeProblem } from '#shared/core/types/record-type.ts'
import { type Executor, firstRow } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { listen } from '#shared/platform/events/listen.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Subscriber name of notification rules; each rule subscribes under its own id. */
export const notificationSubscriber = 'notifications'

/** Maximum rules of a record type; the trigger `notification_rules_cap` refuses more. */
const maxRulesOfType = 100

/** What the delivery of events needs of a rule. */
export interface NoticeRule {
  readonly objectType: string
  readonly event: string
  readonly title: string
  /** Which changes fire the rule; null for every one. */
  readonly filter: Filter | null
}

/** Those of the given rules that are on, by id. Not cached: the filters of a type's rules may hold 1.6 MB. */
export async function readNoticeRules(db: Executor, workspaceId: string, ids: readonly string[]): Promise<ReadonlyMap<string, NoticeRule>> {
  const rules = await db.query(findNoticeRules({ workspaceId, ids }))
  return new Map(rules.map(({ id, object_type, event, title, filter }) => [id, { objectType: object_type, event, title, filter }]))
}

/** The rules that the caller may read, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listNotificationRules = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<NotificationRule>> =>
  listByCreation<NotificationRule, NotificationRule>(scope, query, {
    find: (afterTime, afterId, limit) => findRules({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ object_type }) => permits(scope, 'notifications:read', object_type),
    show: (rows) => rows,
  })

/** One rule; undefined when there is none. */
export async function findNotificationRule({ db, workspace }: Scope, id: string): Promise<NotificationRule | undefined> {
  return isUuid(id) ? firstRow(db, findRule({ workspaceId: workspace.id, id })) : undefined
}

/** One rule; throws NOT_FOUND. */
export async function getNotificationRule(scope: Scope, id: string): Promise<NotificationRule> {
  const rule = await findNotificationRule(scope, id)
  if (!rule) throw problem('NOT_FOUND')
  return rule
}

/**
 * Creates a rule, which fires on changes from now on. Throws VALIDATION_ERROR for an unknown record type, one with 100 rules, and a filter
 * that does not fit it or has more than 16 KB, FORBIDDEN for a filter of a caller who may not read every record of the type.
 */
export async function createNotificationRule(scope: Scope, input: NotificationRuleInput): Promise<NotificationRule> {
  const { db, workspace } = scope
  const { object_type: objectType, audience = 'all_members', filter: sent, ...properties } = input
  const filter = sent == null ? null : readStoredFilter(sent)
  if (filter) await requireTestable(scope, objectType, filter)
  return db.transaction(async (tx) => {
    const row = { ...properties, workspaceId: workspace.id, id: newId(), objectType, audience, filter: textOf(filter) }
    const rule = requireRow(await tx.query(insertRule(row)))
    await subscribe(tx, workspace.id, rule)
    return rule
  })
}

/**
 * Changes the sent properties of a rule; a disabled rule does not fire, and a filter that is null is removed. A filter is checked again when
 * it, the record type or the event changes. Throws NOT_FOUND, VALIDATION_ERROR and FORBIDDEN like `createNotificationRule`, and FORBIDDEN when the caller
 * may not make rules of another record type that was sent.
 */
export async function changeNotificationRule(scope: Scope, id: string, change: NotificationRuleChange): Promise<NotificationRule> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { db, workspace } = scope
  const { name, object_type: objectType, event, title, audience, enabled } = change
  const sent = change.filter == null ? change.filter : readStoredFilter(change.filter)
  if (objectType !== undefined) requirePermission(scope, 'notifications:create', objectType)
  return db.transaction(async (tx) => {
    const stored = requireRow(await tx.query(lockRule({ workspaceId: workspace.id, id })))
    const filter = sent === undefined ? stored.filter : sent
    const type = objectType ?? stored.object_type
    const isSameEvent = type === stored.object_type && (event ?? stored.event) === stored.event
    if (filter && !(isSameEvent && isDeepStrictEqual(filter, stored.filter))) await requireTestable(within(scope, tx), type, filter)
    const changed = { workspaceId: workspace.id, id, name, objectType, event, title, audience, enabled, filter: textOf(filter) }
    const rule = requireRow(await tx.query(updateRule(changed)))
    await subscribe(tx, workspace.id, rule)
    return rule
  })
}

/**
 * Throws unless the caller may write a filter of the type's records. An item tells every member that its record matches, the caller included,
 * so the caller must be able to find that out by itself: of every record, and of fields that no rule could hide from it.
 */
async function requireTestable(scope: Scope, typeKey: string, filter: Filter): Promise<void> {
  const type = await findRecordType(scope, typeKey)
  if (!type) throw await unknownTypeProblem(scope, 'object_type', typeKey)
  const { verdict, hideable } = recordAccessFor(scope, type, 'records:read')
  if (verdict !== 'all') throw problem('FORBIDDEN', `filter needs records:read on every record of ${type.key}`)
  requireFilter(type, hideable, filter, 'filter')
}

const textOf = (filter: Filter | null): string | null => (filter === null ? null : JSON.stringify(filter))

/** Deletes a rule; its inbox items stay. Throws NOT_FOUND. */
export async function removeNotificationRule({ db, workspace }: Scope, id: string): Promise<void> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await db.transaction(async (tx) => {
    requireRow(await tx.query(deleteRule({ workspaceId: workspace.id, id })))
    await listen(tx, { workspaceId: workspace.id, subscriber: notificationSubscriber, id }, [])
  })
}

/** Types of all workspaces with more rules than a type may have, which an earlier release allowed: one line for each. */
export async function listCrowdedTypes(db: Executor): Promise<string[]> {
  const found = await db.query(findCrowdedTypes({ most: maxRulesOfType }))
  return found.map(
    ({ workspace_id, object_type, rules }) =>
      `workspace ${workspace_id}: ${object_type} has ${rules} of ${maxRulesOfType} notification rules`,
  )
}

function subscribe(tx: Executor, workspaceId: string, { id, enabled, object_type, event, filter }: NotificationRule): Promise<void> {
  const listened = { objectType: object_type, event, snapshot: filter !== null }
  return listen(tx, { workspaceId, subscriber: notificationSubscriber, id }, enabled ? [listened] : [])
}
