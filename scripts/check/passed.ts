import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')
const folder = join(root, '.cache', 'passed')

/** Digests of what a check reads, by path or by name. */
export type Inputs = Readonly<Record<string, string>>

/** Digest of a text or of bytes. */
export const digest = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64url')

/** Digest of the installed packages, as npm lists them, and the version of Node. */
export function installed(): Inputs {
  const list = join(root, 'node_modules', '.package-lock.json')
  return { node: process.version, node_modules: existsSync(list) ? digest(readFileSync(list)) : '' }
}

/** Digests of every file of the project, without what .gitignore names, and of what is installed. */
export const readInputs = (): Inputs => ({
  ...installed(),
  ...Object.fromEntries(pathsBelow('').map((path) => [path, digest(readFileSync(join(root, path)))])),
})

const ignored = /^(?:node_modules|\.git|\.data|\.cache|\.bench-.*|.*\.log)$/

function pathsBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (ignored.test(entry.name)) return []
    return entry.isDirectory() ? pathsBelow(path) : entry.isFile() ? [path] : []
  })
}

/** Names of inputs that are other, more or fewer than when the check passed last; undefined if it has not, and always in CI. */
export function changesSincePassed(check: string, inputs: Inputs): string[] | undefined {
  const passed = readPassed(check)
  return passed && [...new Set([...Object.keys(passed), ...Object.keys(inputs)])].filter((name) => passed[name] !== inputs[name])
}

function readPassed(check: string): Inputs | undefined {
  if (process.env.CI) return undefined
  try {
    return JSON.parse(readFileSync(join(folder, `${check}.json`), 'utf8')) as Inputs
  } catch {
    // It has never passed.
    return undefined
  }
}

/** Remembers that a check passed with these inputs. */
export function keepPassed(check: string, inputs: Inputs): void {
  const file = join(folder, `${check}.json`)
  mkdirSync(folder, { recursive: true })
  // Another run reads the old file or the new one, never a part.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(inputs))
  renameSync(`${file}.${process.pid}`, file)
}
