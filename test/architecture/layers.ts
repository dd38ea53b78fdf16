import { posix } from 'node:path'
import { eachFile, isProduct, type Rule } from '#test/architecture/rule.ts'
import { readOrder, type Source } from '#test/architecture/source.ts'

/** The folders of `shared` in their order: a file imports only from its own folder and from those on its left. */
const layers = readOrder()

/** What a folder's files may import beside their own folder. */
const neighbours: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  api: ['shared'],
  workers: ['shared'],
  migrations: [],
}

const folderOf = (path: string): string => path.split('/')[0] ?? ''

const betweenFolders = eachFile(
  'api and workers know shared and never each other; migrations know nothing, so that a change of the code cannot change the past',
  ({ path, files }) => {
    const own = folderOf(path)
    const allowed = neighbours[own]
    if (!allowed) return []
    return files.filter((file) => folderOf(file) !== own && !allowed.includes(folderOf(file))).map((file) => `must not import ${file}`)
  },
  { 'api/a.ts': `import { b } from '#workers/b.ts'`, 'migrations/0001-c.ts': `import { d } from '#shared/d.ts'` },
)

/** A file's place in the order; files on top of `shared` (jobs.ts, release.ts) stand after all folders. */
function placeOf(path: string): number {
  const [, layer = ''] = path.split('/')
  return layer.endsWith('.ts') ? layers.length : layers.indexOf(layer)
}

const insideShared = eachFile(
  'inside shared a file imports only from its left',
  ({ path, files }) => {
    if (folderOf(path) !== 'shared') return []
    const own = placeOf(path)
    if (own < 0) return [`has no place in the order ${layers.join(' · ')}`]
    return files
      .filter((file) => folderOf(file) === 'shared' && placeOf(file) > own)
      .map((file) => `must not import ${file}; move the fact to its left, or let an event carry the reaction`)
  },
  { 'shared/db/a.ts': `import { b } from '#shared/records/b.ts'`, 'shared/unheard-of/c.ts': '' },
)

const circles: Rule = {
  name: 'no files import each other in a circle, not even types',
  violations: (sources) => findCircles(sources.filter(isProduct)),
  broken: { 'shared/db/a.ts': `import { b } from '#shared/db/b.ts'`, 'shared/db/b.ts': `import type { A } from './a.ts'` },
}

/** Each circle as the path along it, found where a walk along the imports comes back to a file that it has not left. */
function findCircles(sources: readonly Source[]): string[] {
  const imports = new Map(sources.map(({ path, files }) => [path, files]))
  const left = new Set<string>()
  const found: string[] = []
  const walk = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) return void found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (left.has(path)) return
    for (const next of imports.get(path) ?? []) walk(next, [...trail, path])
    left.add(path)
  }
  for (const { path } of sources) walk(path, [])
  return found
}

const paths = eachFile(
  'relative imports stay in their domain; what lies elsewhere is named from the root',
  (one) => {
    const domain = one.path.split('/').slice(0, 2).join('/')
    const steps = isProduct(one) ? [...one.text.matchAll(/^(?:import|export)\b.*'(\.[^']*)'/gm)] : []
    const targets = steps.map(([, step = '']) => posix.join(posix.dirname(one.path), step))
    return targets.filter((target) => !target.startsWith(`${domain}/`)).map((target) => `must name #${target}`)
  },
  { 'api/records/a.ts': `import { b } from '../http/b.ts'` },
)

export const layerRules: readonly Rule[] = [betweenFolders, insideShared, circles, paths]
