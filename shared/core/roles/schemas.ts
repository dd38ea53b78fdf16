import { type Permission, permissions } from '#shared/core/policy/permissions.ts'
import { type PolicyRule, policySchema, type SourcedRule } from '#shared/core/policy/schemas.ts'
import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, t, uuid } from '#shared/platform/kernel/schema.ts'

const rules = t.Unsafe<readonly PolicyRule[]>(policySchema.json)

const roleSchema = t.Object(
  {
    id: uuid,
    name: t.String(),
    description: t.String(),
    policy: rules,
    is_anonymous: t.Boolean({ description: 'Whether the role applies to visitors, who are not signed in.' }),
    created_at: instant,
    updated_at: instant,
  },
  { title: 'Role', description: 'A named set of rules.' },
)
export const role = schema(roleSchema)
export const roleList = schema(t.Array(roleSchema))

/** Body that creates or replaces a role. Omitted properties become empty. */
export const roleInput = schema(
  t.Object(
    {
      name: nameSchema(120),
      description: t.Optional(t.String({ maxLength: 1_000 })),
      policy: t.Optional(rules),
      is_anonymous: t.Optional(
        t.Boolean({ description: 'Whether the role applies to visitors, who are not signed in. Only the owner may change it to true.' }),
      ),
    },
    { title: 'RoleInput' },
  ),
)
export type RoleInput = ReturnType<(typeof roleInput)['parse']>

/** A role in the description of its holder. */
export interface RoleName {
  readonly id: string
  readonly name: string
}
export const roleNames = t.Unsafe<readonly RoleName[]>(t.Array(t.Object({ id: uuid, name: t.String() }, { title: 'RoleName' })))

/** Persons and service accounts that hold a role. */
export const roleMembers = schema(
  t.Array(
    t.Object({ id: uuid, type: t.Enum(['user', 'service']), name: t.String() }, { title: 'Principal', description: 'Who holds the role.' }),
  ),
)
export const roleMemberInput = schema(
  t.Object({ user_id: t.String({ description: 'Id of a member or service account.' }) }, { title: 'RoleMemberInput' }),
)

/** Identity and rights of the caller. */
export const ownPolicy = schema(
  t.Object(
    {
      principal: t.Object({ id: uuid, type: t.Enum(['user', 'service']), name: t.String() }),
      owner: t.Boolean({ description: 'The owner holds everything, whatever the rules say.' }),
      roles: roleNames,
      policy: rules,
    },
    { title: 'OwnPolicy' },
  ),
)

/** A query of a principal's rights (docs/contract/access.md#simulation). */
export const simulation = schema(
  t.Object(
    {
      user_id: t.String({ description: 'Id of a member or service account.' }),
      action: t.Unsafe<Permission>({ type: 'string', enum: permissions }),
      resource: t.Optional(t.String({ maxLength: 100, description: 'Key of the resource, or `*` for every resource.' })),
      attrs: t.Optional(t.Record(t.String(), t.Unknown(), { description: 'Values that conditions test, by field key.' })),
    },
    { title: 'Simulation' },
  ),
)
export type Simulation = ReturnType<(typeof simulation)['parse']>

export const decision = schema(
  t.Object(
    {
      allowed: t.Boolean(),
      effect: t.Enum(['allow', 'deny']),
      matched: nullable(
        t.Unsafe<SourcedRule>({
          allOf: [
            (policySchema.json as unknown as { items: object }).items,
            { type: 'object', properties: { role_id: { type: 'string', format: 'uuid' }, index: { type: 'integer' } } },
          ],
          description: 'The rule that decided; null when none did.',
        }),
      ),
    },
    { title: 'Decision' },
  ),
)
