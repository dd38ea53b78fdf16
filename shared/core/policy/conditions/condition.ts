import { type BoundOperator, equalsAny, type Operator, operators, type Truth } from '#shared/core/policy/conditions/operators.ts'
import { builtInTests, type PolicyPrincipal, type SubjectResolver, type TestedRecord } from '#shared/core/policy/conditions/tested-value.ts'
import { memoizeByObject } from '#shared/core/policy/memoize.ts'
import type { PolicyRule } from '#shared/core/policy/schemas.ts'
import { joinSql, nameSql, plainSql, type SqlText, sql } from '#shared/platform/db/statements/sql-text.ts'
import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/**
 * A rule's condition for one caller. Every test must pass: one failing test makes the condition false; otherwise one test whose sides
 * cannot be compared makes it undefined. SQL has null for undefined.
 */
export interface BoundCondition {
  /** Combined result of the tests that need no record. */
  readonly truth: Truth
  /** The tests that need a record. */
  readonly recordTests: readonly RecordTest[]
}

export interface RecordTest {
  readonly test: (record: TestedRecord) => Truth
  readonly toSql: (alias: string | undefined) => SqlText
  /** Subject and values of a membership test; absent for other tests. */
  readonly among?: { readonly subject: RecordSubject; readonly values: readonly unknown[] }
}

type RecordSubject = Extract<ReturnType<SubjectResolver>, { known: false }>

/** Binds a condition to a caller and the subjects of its tests. An unknown operator counts as a test whose sides cannot be compared. */
export function bindCondition(condition: PolicyRule['condition'], principal: PolicyPrincipal, subjectOf: SubjectResolver): BoundCondition {
  let truth: Truth = true
  const recordTests: RecordTest[] = []
  for (const [tested, tests] of Object.entries(condition ?? {})) {
    const subject = subjectOf(tested)
    for (const [name, writtenOperand] of Object.entries(tests)) {
      const operator = operators.get(name)
      const operand = resolvePrincipalId(writtenOperand, principal)
      if (!operator) truth = andTruth(truth, undefined)
      else if (operand === null) truth = andTruth(truth, operator.acceptsMissing)
      else if (!subject.known)
        recordTests.push(
          operator.among ? createMembershipTest(subject, operator.among(operand)) : createRecordTest(subject, operator, operand),
        )
      else
        truth = andTruth(truth, subject.value == null ? operator.acceptsMissing : operator.bind(subject.kind, operand).test(subject.value))
    }
  }
  return { truth, recordTests }
}

/** Kleene's three-valued `and`: false if either side is false. */
const andTruth = (first: Truth, second: Truth): Truth =>
  first === false || second === false ? false : first === undefined ? undefined : second

/** Evaluates a condition for a record. */
export function evaluateCondition({ truth: truthWithoutRecord, recordTests }: BoundCondition, record: TestedRecord): Truth {
  let truth = truthWithoutRecord
  for (const test of recordTests) {
    if (truth === false) return false
    truth = andTruth(truth, test.test(record))
  }
  return truth
}

/** The condition as SQL. Null stands for undefined. */
export function conditionSql({ truth, recordTests }: BoundCondition, alias: string | undefined): SqlText {
  const parts = recordTests.map((test) => test.toSql(alias))
  if (truth !== true || parts.length === 0) parts.push(plainSql(truth === undefined ? 'null::boolean' : String(truth)))
  return joinSql(parts, 'and')
}

/** Resolves the operand `principal.id`, also inside a list, to the caller's id; null for a caller without one. */
function resolvePrincipalId(operand: unknown, { id }: PolicyPrincipal): unknown {
  if (operand === 'principal.id') return id
  return Array.isArray(operand) ? operand.flatMap((item) => (item === 'principal.id' ? (id ?? []) : [item])) : operand
}

const createRecordTest = (subject: RecordSubject, { acceptsMissing, bind }: Operator, operand: unknown): RecordTest =>
  createLazyTest(subject, acceptsMissing, () => bind(subject.kind, operand))

/** Creates a test that a record's value is one of the given values. */
export const createMembershipTest = (subject: RecordSubject, values: readonly unknown[]): RecordTest => ({
  ...createLazyTest(subject, false, () => equalsAny(subject.kind, values)),
  among: { subject, values },
})

// The operand is parsed on first use: of thousands of tests most are only counted or merged into another.
function createLazyTest({ of, column, nullable }: RecordSubject, acceptsMissing: boolean, bind: () => BoundOperator): RecordTest {
  let bound: BoundOperator | undefined
  const boundOperator = () => {
    bound ??= bind()
    return bound
  }
  return {
    test(record) {
      const value = of(record)
      return value == null ? acceptsMissing : boundOperator().test(value)
    },
    toSql(alias) {
      const name = alias === undefined ? nameSql(column) : nameSql(alias, column)
      const test = boundOperator().toSql(name)
      if (!nullable) return test
      return acceptsMissing ? sql`(${name} is null or ${test})` : sql`(${name} is not null and ${test})`
    },
  }
}

const noCondition: NonNullable<PolicyRule['condition']> = {}

/** Text key that equivalent conditions share; the order of tested values, tests and list items is ignored. */
export const conditionKey = ({ condition = noCondition }: PolicyRule): string => keyOf(condition)

/**
 * Whether a condition means other records for the granter than for the holder of a role, so that it limits each of them differently: it
 * tests or names the caller.
 */
export const dependsOnHolder = ({ condition = noCondition }: PolicyRule): boolean => namesHolder(condition, () => true)

/**
 * Whether an allow rule with such a condition gives the holder other records than the holder's own ones. The operand `principal.id` of `eq`
 * or `in` does not count: each has the own records.
 */
export const reachesPastOwn = ({ condition = noCondition }: PolicyRule): boolean =>
  namesHolder(condition, (operator) => operator !== 'eq' && operator !== 'in')

const namesHolder = (condition: NonNullable<PolicyRule['condition']>, counts: (operator: string) => boolean): boolean =>
  Object.entries(condition).some(
    ([tested, tests]) =>
      tested.startsWith('principal.') || Object.entries(tests).some(([operator, operand]) => namesCaller(operand) && counts(operator)),
  )

const namesCaller = (operand: unknown): boolean => (Array.isArray(operand) ? operand.includes('principal.id') : operand === 'principal.id')

/** Keys of the fields that a condition tests. What every record has, such as its owner, is no field. */
export const testedFields = ({ condition = noCondition }: PolicyRule): string[] =>
  Object.keys(condition).flatMap((tested) =>
    tested.startsWith('resource.') && !builtInTests.has(tested) ? [tested.slice('resource.'.length)] : [],
  )

const keyOf = memoizeByObject((condition: NonNullable<PolicyRule['condition']>) =>
  JSON.stringify(sorted(Object.entries(condition).map(([tested, tests]) => [tested, sorted(Object.entries(tests).map(testKey))]))),
)
const sorted = (parts: readonly unknown[]): string[] => [...new Set(parts.map((part) => JSON.stringify(part)))].sort()
const testKey = ([name, operand]: [string, unknown]): unknown => [
  name,
  Array.isArray(operand) ? sorted(operand.map(scalarKey)) : scalarKey(operand),
]
const scalarKey = (operand: unknown): unknown => {
  const digits = jsonNumberText(operand)
  return digits === undefined ? operand : { digits }
}
