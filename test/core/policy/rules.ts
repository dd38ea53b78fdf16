import type { TestedField, TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { compilePolicy, type Policy, type PolicyPrincipal } from '#shared/core/policy/evaluate.ts'
import { parsePolicy } from '#shared/core/policy/policy-rules.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { ids } from '#test/core/policy/random.ts'

export const me: PolicyPrincipal = { id: ids[0] ?? null, type: 'user', owner: false }

/** An invoice type for rules: `due` and `total` are fields that rules test, `tax` reads `total`, and `label` reads `tax`. */
export const invoiceFields: readonly TestedField[] = [
  { key: 'status', type: 'select', column: 'status' },
  { key: 'total', type: 'currency', column: 'total' },
  { key: 'due', type: 'date', column: 'due' },
  { key: 'constructor', type: 'string', column: 'constructor' },
  { key: 'tax', type: 'number', column: 'tax', reads: ['total'] },
  { key: 'label', type: 'string', column: 'label', reads: ['tax', 'status'] },
]

/** An invoice of mine with these values. */
export const invoice = (values: TestedRecord['values'] = {}): TestedRecord => ({
  id: ids[3] ?? null,
  object_type: 'invoices',
  created_by: me.id,
  created_at: '2026-01-31T09:30:00Z',
  values,
})

/** The rules of one role, parsed and compiled as those of a caller. */
export const policyOf = (rules: readonly unknown[], principal: PolicyPrincipal = me): Policy =>
  compilePolicy(
    parsePolicy(rules).map((rule, index) => ({ ...rule, role_id: 'role', index })),
    principal,
  )

export const allow = (actions: string | string[], rest: Omit<PolicyRule, 'effect' | 'actions'> = {}) => ({
  effect: 'allow' as const,
  actions: [actions].flat(),
  ...rest,
})
export const deny = (actions: string | string[], rest: Omit<PolicyRule, 'effect' | 'actions'> = {}) => ({
  ...allow(actions, rest),
  effect: 'deny' as const,
})
