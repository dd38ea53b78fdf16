import type { NotificationRule, NotificationRuleChange, NotificationRuleInput } from '#shared/core/notifications/schemas.ts'
import { deleteRule, findCrowdedTypes, findRule, findRules, findTitles, insertRule, updateRule } from '#shared/core/notifications/store.ts'
import { permits, requirePermission } from '#shared/core/scope/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { listen } from '#shared/platform/events/listen.ts'
import { problem, requireRow } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** Subscriber name of notification rules; each rule subscribes under its own id. */
export const notificationSubscriber = 'notifications'

/** Maximum rules of a record type; the trigger `notification_rules_cap` refuses more. */
const maxRulesOfType = 100

/** Titles of a workspace's rules by rule id; cached until a rule changes. */
export const readRuleTitles = (cache: Cache, db: Executor, workspaceId: string): Promise<ReadonlyMap<string, string>> =>
  cache.remember(db, workspaceId, 'titles of notifications', async () => {
    const rules = await db.query(findTitles({ workspaceId }))
    return new Map(rules.map(({ id, title }) => [id, title]))
  })

/** The rules that the caller may read, oldest first. Throws VALIDATION_ERROR like `listByCreation`. */
export const listNotificationRules = (scope: Scope, query: LinkedQuery): Promise<LinkedPage<NotificationRule>> =>
  listByCreation<NotificationRule, NotificationRule>(scope, query, {
    find: (afterTime, afterId, limit) => findRules({ workspaceId: scope.workspace.id, afterTime, afterId, limit }),
    isVisible: ({ object_type }) => permits(scope, 'notifications:read', object_type),
    show: (rows) => rows,
  })

/** One rule; undefined when there is none. */
export async function findNotificationRule({ db, workspace }: Scope, id: string): Promise<NotificationRule | undefined> {
  return isUuid(id) ? (await db.query(findRule({ workspaceId: workspace.id, id })))[0] : undefined
}

/** One rule; throws NOT_FOUND. */
export async function getNotificationRule(scope: Scope, id: string): Promise<NotificationRule> {
  const rule = await findNotificationRule(scope, id)
  if (!rule) throw problem('NOT_FOUND')
  return rule
}

/** Creates a rule, which fires on changes from now on. Throws VALIDATION_ERROR for an unknown record type, or one with 100 rules. */
export function createNotificationRule({ db, workspace }: Scope, input: NotificationRuleInput): Promise<NotificationRule> {
  const { object_type: objectType, audience = 'all_members', ...properties } = input
  return db.transaction(async (tx) => {
    const rule = requireRow(await tx.query(insertRule({ ...properties, workspaceId: workspace.id, id: newId(), objectType, audience })))
    await subscribe(tx, workspace.id, rule)
    return rule
  })
}

/**
 * Changes the sent properties of a rule; a disabled rule does not fire. Throws NOT_FOUND, VALIDATION_ERROR like `createNotificationRule`, and
 * FORBIDDEN when the caller may not make rules of another record type that was sent.
 */
export async function changeNotificationRule(scope: Scope, id: string, change: NotificationRuleChange): Promise<NotificationRule> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { db, workspace } = scope
  const { name, object_type: objectType, event, title, audience, enabled } = change
  if (objectType !== undefined) requirePermission(scope, 'notifications:create', objectType)
  return db.transaction(async (tx) => {
    const changed = updateRule({ workspaceId: workspace.id, id, name, objectType, event, title, audience, enabled })
    const rule = requireRow(await tx.query(changed))
    await subscribe(tx, workspace.id, rule)
    return rule
  })
}

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

function subscribe(tx: Executor, workspaceId: string, { id, enabled, object_type, event }: NotificationRule): Promise<void> {
  return listen(tx, { workspaceId, subscriber: notificationSubscriber, id }, enabled ? [{ objectType: object_type, event }] : [])
}
