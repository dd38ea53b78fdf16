import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import ts from 'typescript'

/** A file of the project as rules see it. */
export interface Source {
  /** From the project's root, with slashes. */
  readonly path: string
  readonly text: string
  /** Files of the project that it imports, as paths from the root; type imports count. */
  readonly files: readonly string[]
  /** Packages and built-in modules that it imports, such as `koa` or `node:fs`. */
  readonly packages: readonly string[]
}

const root = join(import.meta.dirname, '..', '..')
const folders = ['api', 'bench', 'bin', 'migrations', 'scripts', 'shared', 'test', 'workers']
/** Input of tests, and stand-in programs. */
const foreign = ['test/fixtures', 'test/contracts', 'test/scripts/stand-in']

/** Every source file of the project, read once. */
export function readSources(): Source[] {
  return folders.flatMap(pathsBelow).map((path) => source(path, readFileSync(join(root, path), 'utf8')))
}

/** The names of the packages that package.json needs at run time. */
export function readDependencies(): string[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
  return Object.keys(dependencies)
}

/**
 * The folders of `shared` in their order, such as `core/records`, from its README: a line for each floor, `platform: kernel · db · …` in one
 * pair of backticks.
 */
export function readOrder(): string[] {
  const text = readFileSync(join(root, 'shared', 'README.md'), 'utf8')
  return [...text.matchAll(/^`(platform|core|features): ([^`]*)`/gm)].flatMap(([, floor = '', order = '']) =>
    order.split('·').map((name) => `${floor}/${name.trim()}`),
  )
}

/** Makes a source of a path and its text. */
export function source(path: string, text: string): Source {
  const targets = specifiers(text).map((specifier) => resolve(path, specifier))
  const files = targets.flatMap((target) => ('file' in target ? [target.file] : []))
  const packages = targets.flatMap((target) => ('package' in target ? [target.package] : []))
  return { path, text, files: [...new Set(files)], packages: [...new Set(packages)] }
}

/** Every name that the code of a source declares or uses, once; names in texts and comments are excluded. */
export function readIdentifiers(one: Source): readonly string[] {
  const known = identifiers.get(one)
  if (known) return known
  const names = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(one.path, one.text, ts.ScriptTarget.ESNext))
  identifiers.set(one, [...names])
  return [...names]
}

/** Two rules read the names of each file, and parsing takes longer than all other work of the rules. */
const identifiers = new WeakMap<Source, readonly string[]>()

function pathsBelow(folder: string): string[] {
  if (foreign.includes(folder)) return []
  return entriesOf(folder).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return pathsBelow(path)
    return /\.m?[jt]s$/.test(entry.name) ? [path] : []
  })
}

function entriesOf(folder: string) {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

const statements = /^(?:import|export)\s+(?:[\w\s{},*$]+?\s+from\s+)?'([^']+)'/gm
const expressions = /\bimport\(\s*'([^']+)'/g

const specifiers = (text: string): string[] =>
  [...text.matchAll(statements), ...text.matchAll(expressions)].map(([, specifier]) => specifier ?? '')

type Target = { readonly file: string } | { readonly package: string }

function resolve(from: string, specifier: string): Target {
  if (specifier.startsWith('#')) return { file: specifier.slice(1) }
  if (specifier.startsWith('.')) return { file: posix.join(dirname(from), specifier) }
  const [first = '', second = ''] = specifier.split('/')
  return { package: first.startsWith('@') ? `${first}/${second}` : first }
}
