import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

/** Entries that take longest: they start first, so none of them runs alone at the end. */
const first = [
  'scripts',
  'scripts-start',
  'scripts-stop',
  'functions-runners',
  'functions-sandbox',
  'functions-faults',
  'functions-workers',
  'records-workers',
  'records-takeovers',
  'flows-runs',
  'api-walk',
  'types-indexes',
  'races-business',
]

// Two more than there are cores, because tests also wait (on 2 cores a sixth faster than one more). Each thread has databases, APIs and
// workers of its own; many more threads would wait for each other.
const threads = Math.min(availableParallelism() + 2, 8)

/**
 * The arguments of AVA for those of `npm test`. `calendar` means the entries `calendar` and `calendar-…` of `test/entries`, and for a
 * folder with routes its races and the tests of these routes; paths and options stay as they are. Entries run beside each other, and named
 * files one after the other, as package.json says.
 */
export function chooseEntries(args: readonly string[]): string[] {
  const isName = (arg: string) => !/^-|[/.]/.test(arg)
  const others = args.filter((arg) => !isName(arg))
  if (others.some((arg) => !arg.startsWith('-'))) return [...args]
  const names = args.filter(isName)
  const entries = globSync('test/entries/*.ts', { cwd: root }).sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1))
  const chosen = names.length === 0 ? entries : names.flatMap((name) => requireEntries(entries, name))
  const features = names.filter(hasRoutes)
  // With other entries, such as `api-walk`, the tests of routes take all routes.
  if (features.length > 0 && features.length === names.length) {
    process.env.TEST_FEATURES = features.join()
    chosen.push(...makeEntries(features))
  }
  return ['--no-serial', `--concurrency=${threads}`, ...others, ...chosen]
}

const hasRoutes = (name: string): boolean => ['core', 'features'].some((floor) => existsSync(join(root, 'api', floor, name, 'feature.ts')))

/** Tests that take each route from its declaration, which `test/api/walk/chosen.ts` limits to the features, and the contracts. */
const routeTests = {
  routes: ['test/api/walk.test.ts', 'test/api/cursors.test.ts', 'test/api/unknown-keys.test.ts'],
  ids: ['test/api/foreign-ids.test.ts', 'test/contracts.test.ts'],
}

/** Writes entries of tests that other entries hold in a whole run, and returns their paths. */
function makeEntries(features: readonly string[]): string[] {
  const races = globSync('test/races/*.test.ts', { cwd: root }).filter((path) => features.some((feature) => isRaceOf(path, feature)))
  mkdirSync(join(root, '.cache', 'entries'), { recursive: true })
  return Object.entries({ ...routeTests, races }).flatMap(([name, tests]) => {
    if (tests.length === 0) return []
    const path = `.cache/entries/${name}.ts`
    const imports = ['test/support/one-at-a-time.ts', ...tests].map((test) => `import '#${test}'\n`)
    writeFileSync(join(root, path), imports.join(''))
    return [path]
  })
}

/** Whether a file of races has the feature's name, or uses its helpers and has no other feature's name. */
function isRaceOf(path: string, feature: string): boolean {
  const name = basename(path, '.test.ts')
  const helpers = new RegExp(`#test/(?:core|features)/${feature}/`)
  return name === feature || (!hasRoutes(name) && helpers.test(readFileSync(join(root, path), 'utf8')))
}

function requireEntries(entries: readonly string[], name: string): string[] {
  const found = entries.filter((entry) => nameOf(entry) === name || nameOf(entry).startsWith(`${name}-`))
  if (found.length > 0 || hasRoutes(name)) return found
  console.error(`There is no entry '${name}'. Entries: ${entries.map(nameOf).sort().join(', ')}`)
  process.exit(1)
}

const nameOf = (entry: string): string => basename(entry, '.ts')

function placeOf(entry: string): number {
  const place = first.indexOf(nameOf(entry))
  return place < 0 ? first.length : place
}
