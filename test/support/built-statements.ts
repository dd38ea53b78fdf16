import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Params } from '#shared/platform/db/statements/sql-types.ts'
import type { Statement } from '#shared/platform/db/statements/statement.ts'
import { contradictions } from '#test/support/declared-statements.ts'
import type { StatementDescription } from '#test/support/describe-statement.ts'

type Describe = (text: string) => Promise<StatementDescription>

/** A statement that `prepareStatement` made, of any parameters and columns. */
export interface AnyBuilt {
  readonly params: Params
  (...given: never[]): Statement<unknown>
}

/** Stands for the value of a parameter. */
class Marker {
  readonly param: string
  constructor(param: string) {
    this.param = param
  }
}

/**
 * Contradictions between a statement that `prepareStatement` made and PostgreSQL's description of it. Values that are not parameters, such
 * as the conditions of an access rule, have no declared type.
 */
export async function builtContradictions(describe: Describe, name: string, built: AnyBuilt): Promise<string[]> {
  const markers = Object.fromEntries(Object.keys(built.params).map((param) => [param, new Marker(param)]))
  const { text, values = [], columns = {} } = built(markers as never)
  const described = await describe(text)
  const marked = values.flatMap((value, index) => (value instanceof Marker ? [{ param: value.param, index }] : []))
  const params: Params = Object.fromEntries(
    marked.map(({ param, index }) => [`${param} ($${index + 1})`, built.params[param] as Params[string]]),
  )
  const types = marked.map(({ index }) => described.params[index] ?? 'missing')
  return contradictions({ name, text, params, columns }, { params: types, columns: described.columns })
}

/** Contradictions between the declared columns of a statement that runs once and PostgreSQL's description of it. */
export async function columnContradictions(
  describe: Describe,
  name: string,
  { text, columns = {} }: Statement<unknown>,
): Promise<string[]> {
  return contradictions({ name, text, params: {}, columns }, await describe(text))
}

/** The product's files below a folder that build statements by `prepareStatement`. */
export function buildingFiles(folder: string): string[] {
  const root = join(import.meta.dirname, '..', '..')
  return globSync(`${folder}/**/*.ts`, { cwd: root })
    .filter((file) => /\bprepareStatement\(/.test(readFileSync(join(root, file), 'utf8')))
    .sort()
}
