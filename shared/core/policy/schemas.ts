import type { Action } from '#shared/core/policy/permissions.ts'
import { schema, type TypeOf, t } from '#shared/platform/kernel/schema.ts'

/** Maximum rules of one role (docs/contract/limits.md#roles-and-rules). */
const maxRules = 50

const fieldKeys = t.Optional(t.Array(t.String({ minLength: 1, maxLength: 64 }), { description: 'field keys' }))

const policyRule = t.Object({
  effect: t.Enum(['allow', 'deny']),
  actions: t.Array(t.Unsafe<Action>({ type: 'string' }), { minItems: 1, description: 'permission names, `records:*` or `*`' }),
  resources: t.Optional(
    t.Unsafe<'*' | string[]>({
      type: ['string', 'array'],
      pattern: '^\\*$',
      items: { type: 'string', minLength: 1, maxLength: 100 },
      description: '`*` or a list of keys; absent or empty means every item',
    }),
  ),
  condition: t.Optional(
    t.Record(t.String(), t.Record(t.String(), t.Unknown()), {
      description: 'tests by tested value, such as `resource.status`; every one must pass',
    }),
  ),
  fields: t.Optional(t.Object({ allow: fieldKeys, deny: fieldKeys }, { description: 'what a matching read rule reveals of a record' })),
})

/** A role's rules (docs/contract/access.md#rules). Requests, storage and answers share this shape. */
export const policySchema = schema(t.Array(policyRule, { maxItems: maxRules }))
export type PolicyRule = Frozen<TypeOf<typeof policySchema>[number]>

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T

/** A rule with its role and its index in that role, counted from 0. */
export type SourcedRule = PolicyRule & { readonly role_id: string; readonly index: number }
