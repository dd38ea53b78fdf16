import type { NotificationRule, NotificationRuleChange, NotificationRuleInput } from '#shared/core/notifications/schemas.ts'
import { deleteRule, findRule, findRules, findTitles, insertRule, updateRule } from '#shared/core/notifications/store.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Cache } from '#shared/platform/db/cache/cache.ts'
import type { Executor } from '#shared/platform/db/database.ts'
import { type LinkedPage, type LinkedQuery, listByCreation } from '#shared/platform/db/lists.ts'
import { listen } from '#shared/platform/events/listen.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { isUuid, newId } from '#shared/platform/kernel/ids.ts'

/** What the rules are called among those who listen to changes; their ids there are their own. */
export const notificationSubscriber = 'notifications'

/** What the rules of a workspace say, by their ids; remembered until one of them changes. */
export const readRuleTitles = (cache: Cache, db: Executor, workspaceId: string): Promise<ReadonlyMap<string, string>> =>
  cache.remember(db, workspaceId, 'titles of notifications', async () => {
    const rules = await db.query<{ id: string; title: string }>(findTitles(workspaceId))
    return new Map(rules.map(({ id, title }) => [id, title]))
  })

/** The rules of the workspace, in the order of their creation. Throws VALIDATION_ERROR like `listByCreation`. */
export const listNotificationRules = ({ db, workspace }: Scope, query: LinkedQuery): Promise<LinkedPage<NotificationRule>> =>
  listByCreation<NotificationRule, NotificationRule>(db, query, {
    list: `notification rules ${workspace.id}`,
    find: (...page) => findRules(workspace.id, ...page),
    show: (rows) => rows,
  })

/** One rule; throws NOT_FOUND. */
export async function getNotificationRule({ db, workspace }: Scope, id: string): Promise<NotificationRule> {
  return found(isUuid(id) ? await db.query<NotificationRule>(findRule(workspace.id, id)) : [])
}

/** Makes a rule, which fires on changes from now on. Throws VALIDATION_ERROR when there is no such record type. */
export function createNotificationRule({ db, workspace }: Scope, input: NotificationRuleInput): Promise<NotificationRule> {
  const { name, object_type, event, title, audience = 'all_members' } = input
  return db.transaction(async (tx) => {
    const rule = found(await tx.query<NotificationRule>(insertRule(workspace.id, newId(), name, object_type, event, title, audience)))
    await hear(tx, workspace.id, rule)
    return rule
  })
}

/** Changes what was sent of a rule; one that is disabled rests. Throws NOT_FOUND, and VALIDATION_ERROR like `createRule`. */
export async function changeNotificationRule(
  { db, workspace }: Scope,
  id: string,
  change: NotificationRuleChange,
): Promise<NotificationRule> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  const { name, object_type, event, title, audience, enabled } = change
  return db.transaction(async (tx) => {
    const statement = updateRule(workspace.id, id, name, object_type, event, title, audience, enabled)
    const rule = found(await tx.query<NotificationRule>(statement))
    await hear(tx, workspace.id, rule)
    return rule
  })
}

/** Deletes a rule; what it put into inboxes stays there. Throws NOT_FOUND. */
export async function removeNotificationRule({ db, workspace }: Scope, id: string): Promise<void> {
  if (!isUuid(id)) throw problem('NOT_FOUND')
  await db.transaction(async (tx) => {
    found(await tx.query(deleteRule(workspace.id, id)))
    await listen(tx, { workspaceId: workspace.id, subscriber: notificationSubscriber, id }, [])
  })
}

function hear(tx: Executor, workspaceId: string, { id, enabled, object_type, event }: NotificationRule): Promise<void> {
  return listen(tx, { workspaceId, subscriber: notificationSubscriber, id }, enabled ? [{ objectType: object_type, event }] : [])
}

function found<Row>([row]: readonly Row[]): Row {
  if (!row) throw problem('NOT_FOUND')
  return row
}
