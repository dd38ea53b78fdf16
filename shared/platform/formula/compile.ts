import { chargeSteps, type Evaluate, evaluateOnce } from '#shared/platform/formula/evaluation.ts'
import { formulaFunctions } from '#shared/platform/formula/functions/catalogue.ts'
import type { FormulaFunction } from '#shared/platform/formula/functions/definition.ts'
import { binaryOperators, unaryOperators } from '#shared/platform/formula/parse/operators.ts'
import type { FormulaNode } from '#shared/platform/formula/parse/parser.ts'
import { formulaProblem, quoteSource, suggestName } from '#shared/platform/formula/problems.ts'
import { truths } from '#shared/platform/formula/values/coerce.ts'
import { fieldReaders, textLikeTypes } from '#shared/platform/formula/values/field-value.ts'
import { errorValues, isError, type Value } from '#shared/platform/formula/values/value.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A field as the compiler sees it. */
export interface FormulaField {
  readonly type: FieldType
  /** The options of a select or multiselect field. */
  readonly options?: readonly string[] | undefined
}

/**
 * The fields that a formula may name, and the names that it was found to use so far: `slots` maps a field's key to its index in
 * `Evaluation.slots`.
 */
interface CompileScope {
  readonly fields: ReadonlyMap<string, FormulaField>
  readonly slots: Map<string, number>
  /** Names that are not fields: bare words, and TRUE and FALSE as spelled in the source. */
  readonly words: Set<string>
  /** Whether an error message may suggest this field or its options. Without it every field may be suggested. */
  readonly mayName?: ((key: string) => boolean) | undefined
}

type NameNode = Extract<FormulaNode, { type: 'name' }>
type CallNode = Extract<FormulaNode, { type: 'call' }>
type BinaryNode = Extract<FormulaNode, { type: 'binary' }>
type UnaryNode = Extract<FormulaNode, { type: 'unary' }>

/**
 * Compiles a tree to one closure. Throws VALIDATION_ERROR, with the position, for an unknown name, an unknown function or a wrong number of
 * arguments.
 */
export function compileNode(node: FormulaNode, scope: CompileScope): Evaluate {
  switch (node.type) {
    case 'constant':
      return constant(node.value)
    case 'name':
      return compileName(node, scope)
    case 'unary':
      return compileUnary(node, scope)
    case 'binary':
      return compileBinary(node, scope)
    case 'call':
      return compileCall(node, scope)
  }
}

const constant =
  (value: Value): Evaluate =>
  () =>
    value

/** Resolves a name: a field by its exact key, else TRUE or FALSE in any case. */
function compileName(node: NameNode, scope: CompileScope): Evaluate {
  const field = scope.fields.get(node.name)
  if (field !== undefined) return compileField(node.name, field, scope)
  const truth = truths.get(node.name.toUpperCase())
  if (truth === undefined) {
    throw formulaProblem(
      `unknown name ${quoteSource(node.name)}`,
      node.at,
      suggestName(
        node.name,
        [...scope.fields.keys()].filter((key) => scope.mayName?.(key) !== false),
      ),
    )
  }
  scope.words.add(node.name)
  return constant(truth)
}

function compileField(key: string, { type }: FormulaField, { slots }: CompileScope): Evaluate {
  const slot = slots.get(key) ?? slots.size
  slots.set(key, slot)
  const read = fieldReaders[type]
  return (run) => {
    const known = run.slots[slot]
    if (known !== undefined) return known
    const value = read(run.values.get(key))
    run.slots[slot] = value
    return value
  }
}

function compileUnary(node: UnaryNode, scope: CompileScope): Evaluate {
  const apply = unaryOperators.get(node.operator)!
  const operand = compileNode(node.operand, scope)
  return (run) => {
    const value = operand(run)
    return isError(value) ? value : apply(value)
  }
}

function compileBinary(node: BinaryNode, scope: CompileScope): Evaluate {
  const { apply, cost = 0, isComparison = false } = binaryOperators.get(node.operator)!
  const left = isComparison ? compileCompared(node.left, node.right, scope) : compileNode(node.left, scope)
  const right = isComparison ? compileCompared(node.right, node.left, scope) : compileNode(node.right, scope)
  return evaluateOnce((run) => {
    const first = left(run)
    if (isError(first)) return first
    const second = right(run)
    if (isError(second)) return second
    chargeSteps(run, first)
    chargeSteps(run, second)
    run.steps -= cost
    return run.steps < 0 ? errorValues.limit : apply(first, second)
  })
}

/** Compiles one side of a comparison. A bare word beside a text-like field is text; beside a field with options it must be an option. */
function compileCompared(node: FormulaNode, other: FormulaNode, scope: CompileScope): Evaluate {
  if (node.type !== 'name' || other.type !== 'name' || scope.fields.has(node.name)) return compileNode(node, scope)
  const field = scope.fields.get(other.name)
  if (field === undefined || !textLikeTypes.has(field.type)) return compileNode(node, scope)
  if (field.options === undefined && truths.has(node.name.toUpperCase())) return compileNode(node, scope)
  scope.words.add(node.name)
  if (field.options === undefined || field.options.includes(node.name)) return constant(node.name)
  const options = scope.mayName?.(other.name) === false ? [] : field.options
  throw formulaProblem(`${quoteSource(node.name)} is not an option of ${other.name}`, node.at, suggestName(node.name, options))
}

function compileCall(node: CallNode, scope: CompileScope): Evaluate {
  const row = formulaFunctions.get(node.name.toUpperCase())
  if (row === undefined) {
    throw formulaProblem(`unknown function ${quoteSource(node.name)}`, node.at, suggestName(node.name, formulaFunctions.keys()))
  }
  checkCount(node, row)
  const [first] = node.args
  return evaluateOnce(
    row.bind(
      node.args.map((arg, index) =>
        first !== undefined && row.takesWord(index, node.args.length) ? compileCompared(arg, first, scope) : compileNode(arg, scope),
      ),
    ),
  )
}

function checkCount({ name, args, at }: CallNode, { min, max, group }: FormulaFunction): void {
  if (args.length >= min && args.length <= max && (args.length - min) % group === 0) return
  const wanted = max === min ? `${min}` : max === Number.POSITIVE_INFINITY ? `${min} or more` : `${min} to ${max}`
  const inGroups = group > 1 ? `, in groups of ${group}` : ''
  throw formulaProblem(`${name.toUpperCase()} takes ${wanted} argument${wanted === '1' ? '' : 's'}${inGroups}, got ${args.length}`, at)
}
