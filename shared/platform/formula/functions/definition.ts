import { chargeSteps, type Evaluate, type Evaluation, takeSteps } from '#shared/platform/formula/evaluation.ts'
import { type ErrorValue, errorValues, isError, type Value } from '#shared/platform/formula/values/value.ts'

/** A function that formulas may call. `usage` and `doc` are its reference; `bind` joins it to its compiled arguments. */
export interface FormulaFunction {
  readonly usage: readonly string[]
  readonly min: number
  readonly max: number
  /** Arguments beyond `min` come in groups of so many, as in IFS. */
  readonly group: number
  readonly doc: string
  /** Whether a bare word may stand at this place, because the function compares it with its first argument. */
  readonly takesWord: (index: number, count: number) => boolean
  readonly bind: (args: readonly Evaluate[]) => Evaluate
}

/** One family of functions by name, in capitals. */
export type FunctionTable = Readonly<Record<string, FormulaFunction>>

/** An argument: its name in the reference and how its value is read. */
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
  /** Further arguments of one kind, none or more unless `restMin` asks for some; a list gives each of its items. */
  readonly rest?: Parameter<R>
  readonly restMin?: number
  /** Steps beyond those for the arguments' length, for what takes far longer than reading them. */
  readonly cost?: (...args: Arguments<T, O, R>) => number
  readonly call: (...args: Arguments<T, O, R>) => Value
}

const never = (): boolean => false

/** A function whose arguments are all evaluated and read first. An argument that is an error, or cannot be read, is the answer. */
export function defineEager<T extends readonly unknown[], O extends readonly unknown[] = [], R = never>(
  row: Eager<T, O, R>,
): FormulaFunction {
  const { rest, restMin = 0 } = row
  const optional: Parameters = row.optional ?? []
  const fixed: Parameters = [...row.takes, ...optional]
  // What each argument reads as is checked where the row is written; from here on they are a list of anything.
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

/** A function of one argument or more, all of one kind; a list gives each of its items. */
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

/** A function that evaluates its arguments itself: only those it needs, or to look at their errors. */
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
