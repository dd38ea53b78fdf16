import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '#test/architecture/source.ts'

const root = join(import.meta.dirname, '..', '..')

/** A text for readers, such as a README. */
export interface Page {
  /** From the project's root, with slashes. */
  readonly path: string
  readonly text: string
}

const folders = '{api,bench,bin,deploy,docs,migrations,scripts,shared,test,workers}'

/** Every page of the project: those at its root and below `docs`, every README, and the journeys. */
export const readPages = (): Page[] =>
  globSync(['*.md', `${folders}/**/*.md`], { cwd: root, exclude: ['test/fixtures/**'] })
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

/** Names of libraries that a decision weighs against the present code. */
const ofLibraries = ['exitOverride', 'configureOutput', 'parseFragment', 'groupConcurrency']

const pathForm = /^(?:api|bench|bin|docs|migrations|scripts|shared|test|workers)\/[\w./-]+$/
const nameForm = /^(?:[a-z]+(?:[A-Z][a-z]*)+|(?:[A-Z][a-z]+){2,})$/

/** The paths and the camelCase names in backticks of pages below `docs` that do not exist in the project. */
export function unknownNames(pages: readonly Page[], sources: readonly Source[]): string[] {
  const code = sources.filter(({ path }) => !path.startsWith('test/architecture'))
  const known = new Set([...ofLibraries, ...code.flatMap(({ text }) => text.match(/\w+/g) ?? [])])
  const inDocs = pages.filter(({ path }) => path.startsWith('docs/'))
  const named = inDocs.flatMap(({ text }) => [...text.matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name))
  return named.filter((name) => (pathForm.test(name) ? !existsSync(join(root, name)) : nameForm.test(name) && !known.has(name)))
}
