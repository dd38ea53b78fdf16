import ts from 'typescript'
import { eachFile, type Rule, within } from '#test/architecture/rule.ts'
import type { Source } from '#test/architecture/source.ts'

/** Tests whose subject is SQL itself, with the reason. They give each statement a name. */
const subjects: Readonly<Record<string, string>> = {
  'test/core/policy/forms.property.test.ts': 'compares the condition of a policy in memory and in SQL',
  'test/core/policy/letter-case.test.ts': 'compares letter case in JavaScript and in SQL',
  'test/core/policy/operators.test.ts': 'compares operators in memory and in SQL',
  'test/core/records/statements.test.ts': 'compares declarations with a statement',
  'test/core/types/fields/trigrams.test.ts': 'runs the condition of a filter',
  'test/platform/db': 'runs statements, transactions and connections',
  'test/platform/jobs/bursts.test.ts': 'counts the rows that statements of the job queue read',
  'test/platform/jobs/plans.test.ts': 'explains a statement of the job queue',
  'test/platform/kernel/slow-statements.test.ts': 'logs a statement',
  'test/support/watch/watch.test.ts': 'judges statements',
}

const isTest = ({ path }: Source): boolean => path.endsWith('.test.ts')
const isSubject = ({ path }: Source): boolean => within(path, Object.keys(subjects))

const beginnings = [
  /select\s+[\w(*$'"]/,
  /insert\s+into\s/,
  /update\s+[\w."$]+\s+(?:as\s+\w+\s+)?set\s/,
  /delete\s+from\s/,
  /truncate\s/,
  /with\s+\w+\s+as\s/,
  /(?:create|alter|drop)\s+(?:or\s+replace\s+|temporary\s+)*(?:table|index|schema|function|trigger|extension|database)\s/,
  /lock\s+table\s/,
  /(?:begin|commit|rollback)$/,
  /set\s+\w+\s*=/,
  /(?:explain|vacuum|analyze|prepare)\s/,
]
const statement = new RegExp(`^\\s*(?:${beginnings.map(({ source }) => source).join('|')})`, 'i')

/** The statements of SQL that a source holds as text, up to the first value in it. */
function findStatements({ path, text }: Source): ts.StringLiteralLike[] {
  const found: ts.StringLiteralLike[] = []
  const visit = (node: ts.Node): void => {
    const head = ts.isTemplateExpression(node) ? node.head : node
    if ((ts.isStringLiteralLike(head) || ts.isTemplateHead(head)) && statement.test(head.text)) found.push(head as ts.StringLiteralLike)
    else ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true))
  return found
}

/** Whether text is written as an argument of `query` or `executeSql`. */
function isArgument(node: ts.Node): boolean {
  if (!node.parent || ts.isFunctionLike(node)) return false
  const { parent } = node
  const isCall = ts.isCallExpression(parent) && parent.expression !== node && ts.isPropertyAccessExpression(parent.expression)
  return (isCall && ['query', 'executeSql'].includes(parent.expression.name.text)) || isArgument(parent)
}

const excerptOf = ({ text }: ts.StringLiteralLike): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)

const inHelpers = eachFile(
  'tests name their SQL: statements are in helpers, such as rows.ts',
  (one) => isTest(one) && !isSubject(one),
  (one) => findStatements(one).map((found) => `move it into a function of rows.ts: ${excerptOf(found)}`),
  {
    'test/core/records/a.test.ts': `t.is((await w.db.query('select from operations where workspace_id = $1', [w.org.id])).rowCount, 0)`,
    'test/core/records/b.test.ts': 'await w.db.query(`delete from operations`)',
    'test/core/records/c.test.ts': `const holder = await w.db.connect()\nawait holder.query('begin')`,
  },
)

const inConstants = eachFile(
  'tests of SQL itself give each statement a name',
  (one) => isTest(one) && isSubject(one),
  (one) => findStatements(one).flatMap((found) => (isArgument(found) ? [`make it a constant: ${excerptOf(found)}`] : [])),
  { 'test/platform/db/a.test.ts': `const rows = await database.query({ text: 'select 1 as one' })` },
)

export const testStatementRules: readonly Rule[] = [inHelpers, inConstants]

/** Every path that these rules name. */
export const testStatementPaths: readonly string[] = Object.keys(subjects)
