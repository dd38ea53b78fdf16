import { createHash } from 'node:crypto'
import { conditionSql } from '#shared/core/policy/conditions/condition.ts'
import { type PolicyPrincipal, subjectsOfType, type TestedField, type TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { compileFieldAccess } from '#shared/core/policy/fields/field-access.ts'
import { appliesTo, type BoundRule, bindRule, type Verdict, verdictOf } from '#shared/core/policy/rules/bound-rule.ts'
import { distinctRules, mergeMembershipRules } from '#shared/core/policy/rules/fold-rules.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import type { Knex } from '#shared/platform/db/statements/builder.ts'
import { joinSql, plainSql, type SqlText, sql, toRaw } from '#shared/platform/db/statements/sql-text.ts'

/** A caller's access to the records of one type for one action, in memory and in SQL. */
export interface RecordAccess {
  /** `none`: no allow rule, or a deny rule on every record; the route answers 403. `some`: call `test` or add `where`. */
  readonly verdict: Verdict
  /** Whether the action is allowed on this record. */
  readonly test: (record: TestedRecord) => boolean
  /** Same as `test`, as an SQL condition on the type's table; undefined if every row passes. */
  readonly where: (alias?: string) => Knex.Raw | undefined
  /** Ids of the roles whose conditions limit `where`. */
  readonly limitingRoles: readonly string[]
  /** Columns that `where` filters by value, for which an index helps; empty if it accepts every row. */
  readonly searchColumns: ReadonlySet<string>
  /** True if every field of every permitted record is shown, so `hideable` is empty. */
  readonly alwaysVisible: boolean
  /** Fields that may be hidden in some record. Allow rules that never apply to this caller count too. */
  readonly hideable: ReadonlySet<string>
  /** Fields that no record of the type shows to the caller; exports omit their columns. */
  readonly neverVisible: ReadonlySet<string>
  /** Keys of the fields of this record that the caller may see; empty if the record does not pass `test`. */
  readonly visibleFields: (record: TestedRecord) => ReadonlySet<string>
  /** SQL condition that shows this field of a row that passes `where`; undefined if it is always shown. */
  readonly fieldWhere: (key: string, alias?: string) => Knex.Raw | undefined
  /** Accesses with equal signatures have the same SQL text in `where` and in `fieldWhere` of every field; only their parameters may differ. */
  readonly signature: string
}

/** Compiles the rules that match an action and a type, in any order. */
export function compileRecordAccess(
  rules: readonly (PolicyRule & { readonly role_id?: string })[],
  principal: PolicyPrincipal,
  typeKey: string,
  fields: readonly TestedField[],
): RecordAccess {
  const subjectOf = subjectsOfType(principal, typeKey, fields)
  const bound = mergeMembershipRules(distinctRules(rules).map((rule) => bindRule(rule, principal, subjectOf)))
  const allows = bound.filter(({ effect }) => effect === 'allow')
  const granting = allows.filter(({ applies }) => applies !== 'never')
  const denying = bound.filter(({ effect, applies }) => effect === 'deny' && applies !== 'never')
  const verdict = verdictOf(bound)
  const refused = verdict === 'none'
  const isDenied = (record: TestedRecord) => refused || denying.some((rule) => appliesTo(rule, record))
  const shown = compileFieldAccess(refused ? [] : allows, fields)
  const where = memoizeSql((alias?: string) => (refused ? plainSql('false') : rowsSql(granting, denying, alias)))
  let signature: string | undefined
  return Object.freeze({
    verdict,
    test: (record) => !isDenied(record) && granting.some((rule) => appliesTo(rule, record)),
    where,
    limitingRoles: [...new Set(rules.flatMap(({ condition, role_id: id }) => (condition && id ? [id] : [])))],
    searchColumns: refused ? new Set() : searchedColumns(granting),
    alwaysVisible: shown.hideable.size === 0,
    hideable: shown.hideable,
    neverVisible: shown.neverVisible,
    visibleFields: (record) => shown.visible(isDenied(record) ? [] : granting.filter((rule) => appliesTo(rule, record))),
    fieldWhere: memoizeSql(shown.visibilitySql),
    get signature() {
      signature ??= digest([
        where()?.toSQL().sql,
        shown.hideable.size > 0 && granting.map(({ condition }) => conditionSql(condition, undefined).text),
        [...shown.hideable].map((key) => [key, shown.visibilityName(key)]),
      ])
      return signature
    },
  } satisfies RecordAccess)
}

function searchedColumns(granting: readonly BoundRule[]): ReadonlySet<string> {
  if (granting.some(({ applies }) => applies === 'always')) return new Set()
  return new Set(granting.flatMap(({ condition }) => condition.recordTests.flatMap(({ among }) => among?.subject.column ?? [])))
}

function rowsSql(granting: readonly BoundRule[], denying: readonly BoundRule[], alias: string | undefined): SqlText | undefined {
  const parts = denying.map(({ condition }) => sql`(${conditionSql(condition, alias)}) is false`)
  if (granting.length === 0) return plainSql('false')
  if (!granting.some(({ applies }) => applies === 'always')) {
    const granted = granting.map(({ condition }) => conditionSql(condition, alias))
    parts.unshift(joinSql(granted, 'or'))
  }
  return parts.length === 0 ? undefined : joinSql(parts, 'and')
}

function memoizeSql<Of extends (string | undefined)[]>(make: (...of: Of) => SqlText | undefined): (...of: Of) => Knex.Raw | undefined {
  const made = new Map<string, { readonly raw: Knex.Raw | undefined }>()
  return (...of) => {
    const name = JSON.stringify(of)
    const found = made.get(name)
    if (found) return found.raw
    const text = make(...of)
    const raw = text && toRaw(text)
    made.set(name, { raw })
    return raw
  }
}

const digest = (content: unknown): string => createHash('sha256').update(JSON.stringify(content)).digest('base64url')

/** Full access to the records of a type, for the owner and the platform itself. */
export function createFullRecordAccess(fields: readonly TestedField[]): RecordAccess {
  const all: ReadonlySet<string> = new Set(fields.map(({ key }) => key))
  return Object.freeze({
    verdict: 'all',
    test: () => true,
    where: () => undefined,
    limitingRoles: [],
    searchColumns: new Set<string>(),
    alwaysVisible: true,
    hideable: new Set<string>(),
    neverVisible: new Set<string>(),
    visibleFields: () => all,
    fieldWhere: () => undefined,
    signature: 'full',
  })
}
