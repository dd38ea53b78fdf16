import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join('.cache', 'tests')

/** So many files share a thread at most: more of them save little, and the last thread would run alone for long. */
const mostFiles = 12

/** Folders whose tests wait more than they work: they come first, beside those that work, and not alone at the end. */
const waiting = ['scripts', 'features/functions/sandbox', 'platform/jobs']

const placeOf = (file: string): number => (waiting.some((name) => file.startsWith(`${name}/`)) ? 0 : 1)

/**
 * Gathers all test files into groups of neighbours, writes for each a file that runs its group in one thread, and answers the paths of
 * these, relative to the project.
 */
export function writeGroups(): string[] {
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  const files = globSync('**/*.test.ts', { cwd: join(root, 'test') }).sort(
    (one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
  )
  const count = Math.ceil(files.length / mostFiles)
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `${String(index + 1).padStart(2, '0')}.test.ts`)
    const group = files.slice(index * mostFiles, (index + 1) * mostFiles)
    const names = group.map((file) => `  '${file}',\n`).join('')
    writeFileSync(join(root, path), `import { runSections } from '#scripts/test/sections.ts'\n\nawait runSections([\n${names}])\n`)
    return path
  })
}
