import type { Expression, Node, parse as Parse, Pattern, Statement } from 'acorn'

/** A problem of a source; line and column count from 1. */
export interface SourceProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The problem of a source that binds no handler. */
export const noHandlerProblem: SourceProblem = Object.freeze({
  line: 1,
  column: 1,
  message: 'the source must define a function named handler at top level',
})

/**
 * Checks, without executing a source, that it binds a global `handler` that can be a function: by a function declaration, by const, let or
 * var, or by an assignment to `handler`, `globalThis.handler` or `this.handler`, at top level. Returns null if it does, and undefined if
 * acorn cannot parse the source: V8 compiles some sources that acorn does not, such as very deeply nested ones. A runner evaluates the text
 * of this function, so the function may use only its parameters.
 */
export function findHandlerProblem(parse: typeof Parse, source: string, noHandler: SourceProblem): SourceProblem | null | undefined {
  const nonFunctionTypes = [
    'Literal',
    'TemplateLiteral',
    'ObjectExpression',
    'ArrayExpression',
    'ClassExpression',
    'UnaryExpression',
    'BinaryExpression',
  ]
  const nonFunctionProblem = (node: Node): SourceProblem => {
    const { line = 1, column = 0 } = node.loc?.start ?? {}
    return { line, column: column + 1, message: 'handler must be a function' }
  }
  const valueProblem = (value: Expression | null | undefined) =>
    value && nonFunctionTypes.includes(value.type) ? nonFunctionProblem(value) : null

  const boundNames = (pattern: Pattern | null): readonly string[] => {
    if (pattern?.type === 'Identifier') return [pattern.name]
    if (pattern?.type === 'ArrayPattern') return pattern.elements.flatMap(boundNames)
    if (pattern?.type === 'ObjectPattern')
      return pattern.properties.flatMap((part) => boundNames(part.type === 'Property' ? part.value : part.argument))
    if (pattern?.type === 'AssignmentPattern') return boundNames(pattern.left)
    return pattern?.type === 'RestElement' ? boundNames(pattern.argument) : []
  }

  const isHandler = (target: Node): boolean => {
    if (target.type === 'Identifier') return (target as Node & { name: string }).name === 'handler'
    if (target.type !== 'MemberExpression') return false
    const { object, property, computed } = target as Extract<Expression, { type: 'MemberExpression' }>
    const isGlobal = object.type === 'ThisExpression' || (object.type === 'Identifier' && object.name === 'globalThis')
    return isGlobal && !computed && property.type === 'Identifier' && property.name === 'handler'
  }

  /** Null if the statement binds `handler` to what may be a function, undefined if it does not bind `handler`, otherwise the problem. */
  const problemOf = (statement: Statement): SourceProblem | null | undefined => {
    if (statement.type === 'FunctionDeclaration') return statement.id?.name === 'handler' ? null : undefined
    if (statement.type === 'ClassDeclaration') return statement.id?.name === 'handler' ? nonFunctionProblem(statement) : undefined
    if (statement.type === 'VariableDeclaration') {
      const binding = statement.declarations.find(({ id }) => boundNames(id).includes('handler'))
      return binding && (binding.id.type === 'Identifier' ? valueProblem(binding.init) : null)
    }
    if (statement.type !== 'ExpressionStatement' || statement.expression.type !== 'AssignmentExpression') return undefined
    return isHandler(statement.expression.left) ? valueProblem(statement.expression.right) : undefined
  }

  let body: readonly Statement[]
  try {
    body = parse(source, { ecmaVersion: 'latest', sourceType: 'script', allowHashBang: true, locations: true }).body as Statement[]
  } catch {
    return undefined
  }
  const bindings = body.map(problemOf).filter((found) => found !== undefined)
  if (bindings.includes(null)) return null
  return bindings[0] ?? noHandler
}
