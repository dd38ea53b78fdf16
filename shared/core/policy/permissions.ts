/** All permission names (docs/contract/access.md#permissions). */
export const permissions = [
  'records:read',
  'records:create',
  'records:update',
  'records:delete',
  'records:export',
  'records:import',
  'audit:read',
  'types:read',
  'types:create',
  'types:update',
  'types:delete',
  'fields:read',
  'fields:create',
  'fields:delete',
  'org:update',
  'notifications:read',
  'notifications:create',
  'notifications:delete',
  'iam:manage_groups',
  'iam:manage_members',
  'iam:simulate',
  'functions:read',
  'functions:create',
  'functions:invoke',
  'flows:read',
  'flows:create',
  'flows:update',
  'flows:delete',
  'flows:run',
  'queues:read',
  'queues:create',
  'queues:update',
  'queues:delete',
  'queues:enqueue',
  'queues:transition',
  'accounting:read',
  'accounting:post',
  'payments:read',
  'payments:collect',
  'payments:manage',
  'drive:read',
  'drive:write',
  'drive:manage',
  'calendar:read',
  'calendar:write',
  'calendar:manage',
  'forms:read',
  'forms:submit',
  'forms:manage',
  'content:deliver',
  'content:manage',
  'messages:send',
  'messages:manage',
  'webhooks:manage',
] as const
export type Permission = (typeof permissions)[number]

/**
 * Permissions that are checked for single records: their conditions are tested on a record (docs/contract/access.md#records-under-rules).
 */
export type RecordAction = Extract<Permission, `records:${string}`>
export const isRecordAction = (action: string): action is RecordAction => action.startsWith('records:')

/** A permission or one of the two wildcards: the names that a rule's `actions` may hold. */
export type Action = Permission | 'records:*' | '*'

const permissionsByAction: ReadonlyMap<string, readonly Permission[]> = new Map<Action, readonly Permission[]>([
  ...permissions.map((permission) => [permission, [permission]] as const),
  ['records:*', permissions.filter(isRecordAction)],
  ['*', permissions],
])

/** The permissions that an action of a rule covers; empty for an unknown action. */
export const permissionsOf = (action: string): readonly Permission[] => permissionsByAction.get(action) ?? []

/** The actions that match a permission: its own name and the wildcards that cover it. */
export const actionsNaming = (permission: Permission): readonly Action[] =>
  isRecordAction(permission) ? [permission, 'records:*', '*'] : [permission, '*']
