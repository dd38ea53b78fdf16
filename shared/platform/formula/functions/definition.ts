import { chargeSteps, type Evaluate, type Evaluation, takeSteps } from '#shared/platform/formula/evaluation.ts'
import { type ErrorValue, errorValues, isError, type Value } from '#shared/platform/formula/values/value.ts'

/** A function that formulas may call. `usage` and `doc` are its reference; `bind` applies it to its compiled arguments. */
export interface FormulaFunction {
  readonly usage: readonly string[]
  readonly min: number
  readonly max: number
  /** Arguments beyond `min` come in groups of this size, as in IFS. */
  readonly group: number
  readonly doc: string
  /** Whether this argument may be a bare word, because the function compares it with its first argument. */
  readonly takesWord: (index: number, count: number) => boolean
  readonly bind: (args: readonly Evaluate[]) => Evaluate
}

/** One family of functions by upper-case name. */
export type FunctionTable = Readonly<Record<string, FormulaFunction>>

/** A parameter: its name in the reference and the conversion of its value. */
export interface Parameter<T> {
  readonly label: string
  readonly read: (value: Exclude<Value, ErrorValue>) => T | ErrorValue
}

type Parameters = readonly Parameter<unknown>[]
type ParametersOf<T extends readonly unknown[]> = readonly [...{ [K in keyof T]: Parameter<T[K]> }]
type Arguments<T extends readonly unknown[], O extends readonly unknown[], R> = [...T, ...{ [K in keyof O]: O[K] | undefined }, ...R[]]

interface Eager<T extends readonly unknown[], O extends readonly unknown[], R> {
  readonly doc: string
  readonly takes: ParametersOf<T>
  readonly optional?: ParametersOf<O>
  /** Further arguments of one kind, at least `restMin` (default 0). A list contributes each of its items. */
  readonly rest?: Parameter<R>
  readonly restMin?: number
  /** Steps in addition to those for the length of the arguments, for functions far slower than reading them. */
  readonly cost?: (...args: Arguments<T, O, R>) => number
  readonly call: (...args: Arguments<T, O, R>) => Value
}

const never = (): boolean => false

/** Defines a function whose arguments are all evaluated and converted first. The first error among them is the result. */
export function defineEager<T extends readonly unknown[], O extends readonly unknown[] = [], R = never>(
  row: Eager<T, O, R>,
): FormulaFunction {
  const { rest, restMin = 0 } = row
  const optional: Parameters = row.optional ?? []
  const fixed: Parameters = [...row.takes, ...optional]
  // TypeScript checks the types of the arguments where the row is written; from here on they are a list of unknown values.
  const call = row.call as (...args: readonly unknown[]) => Value
  const cost = row.cost as ((...args: readonly unknown[]) => number) | undefined
  return {
    usage: usage(row.takes, optional, rest),
    min: row.takes.length + restMin,
    max: rest === undefined ? fixed.length : Number.POSITIVE_INFINITY,
    group: 1,
    doc: row.doc,
    takesWord: never,
    bind: (args) => (run) => {
      const read = readAll(run, args, fixed, rest)
      if (isError(read)) return read
      if (cost !== undefined) takeSteps(run, cost(...read))
      return run.steps < 0 ? errorValues.limit : call(...read)
    },
  }
}

function readAll(run: Evaluation, args: readonly Evaluate[], fixed: Parameters, rest?: Parameter<unknown>): unknown[] | ErrorValue {
  const read = new Array<unknown>(fixed.length)
  for (let index = 0; index < args.length; index += 1) {
    const value = args[index]!(run)
    if (isError(value)) return value
    chargeSteps(run, value)
    if (index < fixed.length) {
      const item = fixed[index]!.read(value)
      if (isError(item)) return item
      read[index] = item
      continue
    }
    for (const part of isList(value) ? value : [value]) {
      const item = rest!.read(part)
      if (isError(item)) return item
      read.push(item)
    }
  }
  return read
}

const isList = (value: Exclude<Value, ErrorValue>): value is readonly string[] => Array.isArray(value)

const usage = (takes: Parameters, optional: Parameters, rest?: Parameter<unknown>): string[] => [
  ...takes.map(({ label }) => label),
  ...optional.map(({ label }) => `[${label}]`),
  ...(rest === undefined ? [] : [`${rest.label}…`]),
]

/** Defines a function of one or more arguments of one kind. A list contributes each of its items. */
export const defineVariadic = <R>(rest: Parameter<R>, doc: string, call: (...values: R[]) => Value): FormulaFunction =>
  defineEager<[], [], R>({ takes: [], rest, restMin: 1, doc, call })

interface Lazy {
  readonly doc: string
  readonly usage: readonly string[]
  readonly min: number
  readonly max?: number
  readonly group?: number
  readonly takesWord?: FormulaFunction['takesWord']
  readonly call: (args: readonly Evaluate[], run: Evaluation) => Value
}

/** Defines a function that evaluates its arguments itself: to skip those it does not need, or to inspect their errors. */
export const defineLazy = (row: Lazy): FormulaFunction => ({
  usage: row.usage,
  min: row.min,
  max: row.max ?? Number.POSITIVE_INFINITY,
  group: row.group ?? 1,
  doc: row.doc,
  takesWord: row.takesWord ?? never,
  bind: (args) => (run) => {
    run.steps -= 1
    return run.steps < 0 ? errorValues.limit : row.call(args, run)
  },
})
