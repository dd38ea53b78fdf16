import { formulaLimits } from '#shared/platform/formula/limits.ts'
import { binaryOperators, percentPower, signPower } from '#shared/platform/formula/parse/operators.ts'
import { type Token, tokenize } from '#shared/platform/formula/parse/tokens.ts'
import { formulaProblem, quoteSource } from '#shared/platform/formula/problems.ts'
import { bounded } from '#shared/platform/formula/values/number.ts'
import { type ErrorValue, errorValues } from '#shared/platform/formula/values/value.ts'
import { Decimal } from '#shared/platform/kernel/values/decimal.ts'

/**
 * Syntax tree of a formula. A name is not resolved yet: it is a field, TRUE, FALSE or a bare word, which is text without quotes. The constant null is an omitted
 * argument. `at` is the position in the source, from 0.
 */
export type FormulaNode =
  | { readonly type: 'constant'; readonly value: Decimal | string | ErrorValue | null; readonly at: number }
  | { readonly type: 'name'; readonly name: string; readonly at: number }
  | { readonly type: 'unary'; readonly operator: string; readonly operand: FormulaNode; readonly at: number }
  | { readonly type: 'binary'; readonly operator: string; readonly left: FormulaNode; readonly right: FormulaNode; readonly at: number }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly FormulaNode[]; readonly at: number }

interface Parser {
  readonly tokens: readonly Token[]
  next: number
  depth: number
  nodes: number
}

const errorsByCode = new Map<string, ErrorValue>(Object.values(errorValues).map((error) => [error.code, error]))

/** Parses a formula by operator precedence (Pratt). Throws VALIDATION_ERROR that names the position of a syntax error. */
export function parseFormula(source: string): FormulaNode {
  const parser: Parser = { tokens: tokenize(source), next: 0, depth: 0, nodes: 0 }
  const tree = parseExpression(parser, 0)
  const last = peek(parser)
  if (last.kind !== 'end') throw unexpected(last)
  return tree
}

const peek = (parser: Parser): Token => parser.tokens[parser.next]!

const isSymbol = (token: Token, text: string): boolean => token.kind === 'symbol' && token.text === text

function take(parser: Parser): Token {
  const token = peek(parser)
  parser.next += 1
  return token
}

function expect(parser: Parser, symbol: string): void {
  const token = take(parser)
  if (!isSymbol(token, symbol)) throw unexpected(token, symbol)
}

function unexpected(token: Token, wanted?: string): Error {
  const found = token.kind === 'end' ? 'unexpected end' : `unexpected ${quoteSource(token.text)}`
  return formulaProblem(wanted === undefined ? found : `${found} instead of ${quoteSource(wanted)}`, token.at)
}

function countNode<N extends FormulaNode>(parser: Parser, node: N): N {
  parser.nodes += 1
  if (parser.nodes > formulaLimits.nodes) throw formulaProblem(`more than ${formulaLimits.nodes} parts`, node.at)
  return node
}

/** Parses, one level deeper, what is inside parentheses or after a sign. */
function parseNested<T>(parser: Parser, at: number, parse: () => T): T {
  parser.depth += 1
  if (parser.depth > formulaLimits.depth) throw formulaProblem(`nested deeper than ${formulaLimits.depth} levels`, at)
  const result = parse()
  parser.depth -= 1
  return result
}

/** Parses an operand and the operators after it that bind tighter than `power`. */
function parseExpression(parser: Parser, power: number): FormulaNode {
  let left = parseOperand(parser)
  for (let token = peek(parser); token.kind === 'symbol'; token = peek(parser)) {
    const operator = token.text
    if (operator === '%') {
      if (percentPower <= power) break
      take(parser)
      left = countNode(parser, { type: 'unary', operator, operand: left, at: token.at })
      continue
    }
    const operatorPower = binaryOperators.get(operator)?.power ?? 0
    if (operatorPower <= power) break
    take(parser)
    left = countNode(parser, { type: 'binary', operator, left, right: parseExpression(parser, operatorPower), at: token.at })
  }
  return left
}

function parseOperand(parser: Parser): FormulaNode {
  const token = take(parser)
  const { at, text } = token
  if (token.kind === 'number') return countNode(parser, { type: 'constant', value: literal(text, at), at })
  if (token.kind === 'text') return countNode(parser, { type: 'constant', value: text, at })
  if (token.kind === 'error') return countNode(parser, { type: 'constant', value: errorsByCode.get(text.toUpperCase())!, at })
  if (token.kind === 'name')
    return isSymbol(peek(parser), '(') ? parseCall(parser, token) : countNode(parser, { type: 'name', name: text, at })
  if (isSymbol(token, '(')) return parseNested(parser, at, () => parseGroup(parser))
  if (!isSymbol(token, '-') && !isSymbol(token, '+')) throw unexpected(token)
  const operand = parseNested(parser, at, () => parseExpression(parser, signPower))
  return countNode(parser, { type: 'unary', operator: text, operand, at })
}

function literal(text: string, at: number): Decimal {
  const value = bounded(new Decimal(text))
  if (!(value instanceof Decimal)) throw formulaProblem(`number ${quoteSource(text)} out of range`, at)
  return value
}

function parseGroup(parser: Parser): FormulaNode {
  const inner = parseExpression(parser, 0)
  expect(parser, ')')
  return inner
}

function parseCall(parser: Parser, name: Token): FormulaNode {
  expect(parser, '(')
  const args = isSymbol(peek(parser), ')') ? [] : parseNested(parser, name.at, () => parseArguments(parser))
  expect(parser, ')')
  return countNode(parser, { type: 'call', name: name.text, args, at: name.at })
}

/** Parses arguments up to the closing parenthesis. An omitted argument, as in `IF(paid, , 5)`, is empty. */
function parseArguments(parser: Parser): FormulaNode[] {
  const args: FormulaNode[] = []
  for (;;) {
    const token = peek(parser)
    const isOmitted = isSymbol(token, ',') || isSymbol(token, ')')
    args.push(isOmitted ? countNode(parser, { type: 'constant', value: null, at: token.at }) : parseExpression(parser, 0))
    if (!isSymbol(peek(parser), ',')) return args
    take(parser)
  }
}
