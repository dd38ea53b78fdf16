import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')
const folder = join('.cache', 'tests')

/** Maximum number of files that share a thread: more save little, and the last thread would run alone for long. */
const maxFilesPerThread = 12

/** Folders whose tests mostly wait: they start first, beside tests that compute, so they do not run alone at the end. */
const waiting = ['scripts', 'features/functions/sandbox', 'platform/jobs']

const placeOf = (file: string): number => (waiting.some((name) => file.startsWith(`${name}/`)) ? 0 : 1)

/**
 * Groups neighbouring test files, writes for each group a file that runs it in one thread, and returns their paths, relative to the
 * project.
 */
export function writeGroups(): string[] {
  rmSync(join(root, folder), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  const files = globSync('**/*.test.ts', { cwd: join(root, 'test') }).sort(
    (one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1),
  )
  const count = Math.ceil(files.length / maxFilesPerThread)
  return Array.from({ length: count }, (_, index) => {
    const path = join(folder, `${String(index + 1).padStart(2, '0')}.test.ts`)
    const group = files.slice(index * maxFilesPerThread, (index + 1) * maxFilesPerThread)
    const names = group.map((file) => `  '${file}',\n`).join('')
    writeFileSync(join(root, path), `import { runSections } from '#scripts/test/sections.ts'\n\nawait runSections([\n${names}])\n`)
    return path
  })
}
