import type { Expression, Node, parse as Parse, Pattern, Statement } from 'acorn'

/** Where a source is wrong and how: line and column count from 1. */
export interface SourceProblem {
  readonly line: number
  readonly column: number
  readonly message: string
}

/** What is wrong with a source that binds none. */
export const noHandlerProblem: SourceProblem = Object.freeze({
  line: 1,
  column: 1,
  message: 'the source must define a function named handler at top level',
})

/**
 * Finds out without running it whether a source binds a global `handler` that can be a function: by a function declaration, by const,
 * let or var, or by assigning to `handler`, `globalThis.handler` or `this.handler`, at top level. Null means that it does,
 * undefined that acorn cannot follow a source that V8 has compiled, such as one that is nested very deep. Runs in a runner, so it names
 * nothing outside itself.
 */
export function findHandlerProblem(parse: typeof Parse, source: string, noHandler: SourceProblem): SourceProblem | null | undefined {
  const notFunctions = [
    'Literal',
    'TemplateLiteral',
    'ObjectExpression',
    'ArrayExpression',
    'ClassExpression',
    'UnaryExpression',
    'BinaryExpression',
  ]
  const noFunction = (node: Node): SourceProblem => {
    const { line = 1, column = 0 } = node.loc?.start ?? {}
    return { line, column: column + 1, message: 'handler must be a function' }
  }
  const valueProblem = (value: Expression | null | undefined) => (value && notFunctions.includes(value.type) ? noFunction(value) : null)

  const names = (pattern: Pattern | null): readonly string[] => {
    if (pattern?.type === 'Identifier') return [pattern.name]
    if (pattern?.type === 'ArrayPattern') return pattern.elements.flatMap(names)
    if (pattern?.type === 'ObjectPattern')
      return pattern.properties.flatMap((part) => names(part.type === 'Property' ? part.value : part.argument))
    if (pattern?.type === 'AssignmentPattern') return names(pattern.left)
    return pattern?.type === 'RestElement' ? names(pattern.argument) : []
  }

  const isHandler = (target: Node): boolean => {
    if (target.type === 'Identifier') return (target as Node & { name: string }).name === 'handler'
    if (target.type !== 'MemberExpression') return false
    const { object, property, computed } = target as Extract<Expression, { type: 'MemberExpression' }>
    const isGlobal = object.type === 'ThisExpression' || (object.type === 'Identifier' && object.name === 'globalThis')
    return isGlobal && !computed && property.type === 'Identifier' && property.name === 'handler'
  }

  /** Undefined when the statement does not bind handler, null when it does well, else what is wrong with it. */
  const verdict = (statement: Statement): SourceProblem | null | undefined => {
    if (statement.type === 'FunctionDeclaration') return statement.id?.name === 'handler' ? null : undefined
    if (statement.type === 'ClassDeclaration') return statement.id?.name === 'handler' ? noFunction(statement) : undefined
    if (statement.type === 'VariableDeclaration') {
      const binding = statement.declarations.find(({ id }) => names(id).includes('handler'))
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
  const verdicts = body.map(verdict).filter((found) => found !== undefined)
  if (verdicts.includes(null)) return null
  return verdicts[0] ?? noHandler
}
