import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '#test/architecture/source.ts'

const root = join(import.meta.dirname, '..', '..')

/** The text of every page below `docs`. */
export const readPages = (): string[] =>
  readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => readFileSync(join(root, 'docs', path), 'utf8'))

/** Names of libraries that a decision weighs against the present code. */
const ofLibraries = ['exitOverride', 'configureOutput', 'parseFragment', 'groupConcurrency']

const pathForm = /^(?:api|bench|bin|docs|migrations|scripts|shared|test|workers)\/[\w./-]+$/
const nameForm = /^(?:[a-z]+(?:[A-Z][a-z]*)+|(?:[A-Z][a-z]+){2,})$/

/** The paths and the camelCase names in backticks that do not exist in the project. */
export function unknownNames(pages: readonly string[], sources: readonly Source[]): string[] {
  const code = sources.filter(({ path }) => !path.startsWith('test/architecture'))
  const known = new Set([...ofLibraries, ...code.flatMap(({ text }) => text.match(/\w+/g) ?? [])])
  const named = pages.flatMap((page) => [...page.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name))
  return named.filter((name) => (pathForm.test(name) ? !existsSync(join(root, name)) : nameForm.test(name) && !known.has(name)))
}
