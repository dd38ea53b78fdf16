import { posix } from 'node:path'
import { eachFile, isAny, isProduct, type Rule, together, within } from '#test/architecture/rule.ts'
import { readOrder, type Source } from '#test/architecture/source.ts'

/** The folders of `shared` in their order, such as `core/records`: a file imports only from its own folder and from earlier ones. */
const domains = readOrder()

/** Folders that files of each top folder may import beside their own. */
const neighbours: Readonly<Record<string, readonly string[]>> = {
  shared: [],
  api: ['shared'],
  workers: ['shared'],
  migrations: [],
}

const folderOf = (path: string): string => path.split('/')[0] ?? ''

const betweenFolders = eachFile(
  'api and workers import shared and never each other; migrations import nothing, so that a change of the code cannot change the past',
  ({ path }) => neighbours[folderOf(path)] !== undefined,
  ({ path, files }) => {
    const own = folderOf(path)
    return files
      .filter((file) => folderOf(file) !== own && !neighbours[own]?.includes(folderOf(file)))
      .map((file) => `must not import ${file}`)
  },
  { 'api/http/a.ts': `import { b } from '#workers/b.ts'`, 'migrations/0001-c.ts': `import { d } from '#shared/d.ts'` },
)

/** The domain of a path: the folder below its floor, such as `core/records`. */
const domainOf = (path: string): string => path.split('/').slice(1, 3).join('/')

/** Whether a file is above the floors, where the features are listed and joined. */
const isAbove = (path: string): boolean => !/^\w+\/(?:platform|core|features)\//.test(path)

/** The position of a file of `shared` in the order; files above the floors come after all domains. */
const positionOf = (path: string): number => (isAbove(path) ? domains.length : domains.indexOf(domainOf(path)))

const floors = ['platform', 'core', 'features']
const floorOf = (path: string): number => (isAbove(path) ? floors.length : floors.indexOf(path.split('/')[1] ?? ''))

/** The line of shared/README.md that orders the folders of a path's floor. */
const lineOf = (path: string): string => `the line \`${path.split('/')[1]}:\` of shared/README.md`

const inOrder = together(
  'every folder of shared has a place in the order',
  ({ path }) => folderOf(path) === 'shared',
  (sources) => {
    const missing = new Set(sources.filter(({ path }) => positionOf(path) < 0).map(({ path }) => `shared/${domainOf(path)}`))
    return [...missing].map((folder) => `${folder} is missing in ${lineOf(folder)}`)
  },
  { 'shared/core/unheard-of/c.ts': '' },
)

const insideShared = eachFile(
  'inside shared a file imports only from its left',
  ({ path }) => folderOf(path) === 'shared' && positionOf(path) >= 0,
  ({ path, files }) =>
    files
      .filter((file) => folderOf(file) === 'shared' && positionOf(file) > positionOf(path))
      .map((file) => {
        const isNeighbour = !isAbove(file) && floorOf(file) === floorOf(path)
        const ownWay = isNeighbour ? `, or move ${posix.basename(domainOf(file))} left in ${lineOf(file)}` : ''
        return `must not import ${file}; move the fact to its left, or let an event carry the reaction${ownWay}`
      }),
  { 'shared/platform/db/a.ts': `import { b } from '#shared/core/records/b.ts'` },
)

const upwards = eachFile(
  'workers and api import nothing from a floor above their own',
  ({ path }) => ['api', 'workers'].includes(folderOf(path)) && !isAbove(path),
  ({ path, files }) =>
    files
      .filter((file) => ['api', 'workers', 'shared'].includes(folderOf(file)) && floorOf(file) > floorOf(path))
      .filter((file) => !(folderOf(path) === 'api' && within(file, ['api/http', 'api/access', 'api/pages'])))
      .map((file) => `must not import ${file}`),
  { 'workers/platform/due/a.ts': `import { b } from '#shared/features/flows/b.ts'` },
)

const circles = together('no files import each other in a cycle, not even types', isAny, (sources) => findCircles(sources), {
  'shared/platform/db/a.ts': `import { b } from '#shared/platform/db/b.ts'`,
  'shared/platform/db/b.ts': `import type { A } from './a.ts'`,
})

/** Each cycle as a path, found where a walk along the imports returns to a file on the path. */
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
  'files are imported by their path from the root',
  isProduct,
  ({ path, text }) =>
    [...text.matchAll(/\bfrom '(\.[^']*)'/g)].map(([, step = '']) => `must name #${posix.join(posix.dirname(path), step)}`),
  { 'api/core/records/a.ts': `import { b } from './b.ts'` },
)

/** Maximum of files in a folder, without its subfolders. */
const maxFiles = 15

const sizes = together(
  `a folder of api, workers, shared and bin holds at most ${maxFiles} files`,
  ({ path }) => within(path, ['api', 'workers', 'shared', 'bin']),
  (sources) =>
    [...Map.groupBy(sources, ({ path }) => posix.dirname(path))]
      .filter(([, files]) => files.length > maxFiles)
      .map(([folder, files]) => `${folder} holds ${files.length} files; cut it into subjects`),
  Object.fromEntries(Array.from({ length: maxFiles + 1 }, (_, index) => [`shared/core/records/file${index}.ts`, ''])),
)

export const layerRules: readonly Rule[] = [betweenFolders, inOrder, insideShared, upwards, circles, paths, sizes]
