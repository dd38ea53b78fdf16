import { equalsAny, type Forms, type Operator, operators, type Truth } from '#shared/core/policy/conditions/operators.ts'
import type { Principal, SubjectOf, TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { rememberByObject } from '#shared/core/policy/memoize.ts'
import type { PolicyRule } from '#shared/core/policy/policy-rules.ts'
import { builder, type Knex } from '#shared/platform/db/statements/builder.ts'
import { numberText } from '#shared/platform/kernel/values/json.ts'

/**
 * A rule's condition for one caller. Every test must pass: one failing test makes the condition false; otherwise one test whose sides
 * cannot be compared makes it undefined. SQL has null for undefined.
 */
export interface Condition {
  /** Combined result of the tests that need no record. */
  readonly known: Truth
  /** The tests that need a record. */
  readonly open: readonly OpenTest[]
}

export interface OpenTest {
  readonly holds: (record: TestedRecord) => Truth
  readonly where: (alias: string | undefined) => Knex.Raw
  /** Subject and values of a membership test; absent for other tests. */
  readonly among?: { readonly subject: OpenSubject; readonly values: readonly unknown[] }
}

type OpenSubject = Extract<ReturnType<SubjectOf>, { known: false }>

/** Binds a condition to a caller and the subjects of its tests. An unknown operator counts as a test whose sides cannot be compared. */
export function bindCondition(condition: PolicyRule['condition'], principal: Principal, subjectOf: SubjectOf): Condition {
  let known: Truth = true
  const open: OpenTest[] = []
  for (const [tested, tests] of Object.entries(condition ?? {})) {
    const subject = subjectOf(tested)
    for (const [name, writtenOperand] of Object.entries(tests)) {
      const operator = operators.get(name)
      const operand = resolvePrincipalId(writtenOperand, principal)
      if (!operator) known = and(known, undefined)
      else if (operand === null) known = and(known, operator.passesMissing)
      else if (!subject.known)
        open.push(operator.among ? amongTest(subject, operator.among(operand)) : createRecordTest(subject, operator, operand))
      else known = and(known, subject.value == null ? operator.passesMissing : operator.bind(subject.kind, operand).holds(subject.value))
    }
  }
  return { known, open }
}

/** Kleene's three-valued `and`: false if either side is false. */
export const and = (first: Truth, second: Truth): Truth =>
  first === false || second === false ? false : first === undefined ? undefined : second

/** Evaluates a condition for a record. */
export function holdsFor({ known, open }: Condition, record: TestedRecord): Truth {
  let truth = known
  for (const test of open) {
    if (truth === false) return false
    truth = and(truth, test.holds(record))
  }
  return truth
}

/** The condition as SQL: true, false, or null if its sides cannot be compared. */
export function conditionWhere({ known, open }: Condition, alias: string | undefined): Knex.Raw {
  const parts = open.map((test) => test.where(alias))
  if (known !== true || parts.length === 0) parts.push(builder.raw(known === undefined ? 'null::boolean' : String(known)))
  return allOf(parts)
}

/** Joins conditions by `and`. */
export const allOf = (parts: readonly Knex.Raw[]): Knex.Raw => joinSql(parts, ' and ')
/** Joins conditions by `or`. */
export const anyOf = (parts: readonly Knex.Raw[]): Knex.Raw => joinSql(parts, ' or ')

function joinSql(parts: readonly Knex.Raw[], word: string): Knex.Raw {
  const [first, ...others] = parts
  return first && others.length === 0 ? first : builder.raw(`(${parts.map(() => '?').join(word)})`, [...parts])
}

/** Resolves the operand `principal.id`, also inside a list, to the caller's id; null for a caller without one. */
function resolvePrincipalId(operand: unknown, { id }: Principal): unknown {
  if (operand === 'principal.id') return id
  return Array.isArray(operand) ? operand.flatMap((item) => (item === 'principal.id' ? (id ?? []) : [item])) : operand
}

const createRecordTest = (subject: OpenSubject, { passesMissing, bind }: Operator, operand: unknown): OpenTest =>
  createLazyTest(subject, passesMissing, () => bind(subject.kind, operand))

/** Creates a test that a record's value is one of the given values. */
export const amongTest = (subject: OpenSubject, values: readonly unknown[]): OpenTest => ({
  ...createLazyTest(subject, false, () => equalsAny(subject.kind, values)),
  among: { subject, values },
})

// The operand is parsed on first use: of tens of thousands of tests most are only counted or merged into another.
function createLazyTest({ of, column, nullable }: OpenSubject, passesMissing: boolean, bind: () => Forms): OpenTest {
  let bound: Forms | undefined
  const forms = () => {
    bound ??= bind()
    return bound
  }
  return {
    holds(record) {
      const value = of(record)
      return value == null ? passesMissing : forms().holds(value)
    },
    where(alias) {
      const name = builder.raw('??', [alias === undefined ? column : `${alias}.${column}`])
      const test = forms().where(name)
      return nullable ? builder.raw(passesMissing ? '(? is null or ?)' : '(? is not null and ?)', [name, test]) : test
    },
  }
}

const noCondition: NonNullable<PolicyRule['condition']> = {}

/** Text key that equivalent conditions share; the order of tested values, tests and list items is ignored. */
export const conditionKey = ({ condition = noCondition }: PolicyRule): string => keyOf(condition)

/**
 * Whether a condition tests the caller. Its result differs between principals, so it cannot be compared between the granter and the holder
 * of a role. An operand `principal.id`, as in a condition on own records, does not count.
 */
export const testsPrincipal = ({ condition = noCondition }: PolicyRule): boolean =>
  Object.keys(condition).some((tested) => tested.startsWith('principal.'))

const keyOf = rememberByObject((condition: NonNullable<PolicyRule['condition']>) =>
  JSON.stringify(sorted(Object.entries(condition).map(([tested, tests]) => [tested, sorted(Object.entries(tests).map(testKey))]))),
)
const sorted = (parts: readonly unknown[]): string[] => [...new Set(parts.map((part) => JSON.stringify(part)))].sort()
const testKey = ([name, operand]: [string, unknown]): unknown => [
  name,
  Array.isArray(operand) ? sorted(operand.map(scalarKey)) : scalarKey(operand),
]
const scalarKey = (operand: unknown): unknown => {
  const digits = numberText(operand)
  return digits === undefined ? operand : { digits }
}
