import { globSync } from 'node:fs'
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
 * The arguments of AVA for those of `npm test`. `calendar` means the entries `calendar` and `calendar-…` of `test/entries`; paths and
 * options stay as they are. Entries run beside each other, and named files one after the other, as package.json says.
 */
export function chooseEntries(args: readonly string[]): string[] {
  const isName = (arg: string) => !/^-|[/.]/.test(arg)
  const others = args.filter((arg) => !isName(arg))
  if (others.some((arg) => !arg.startsWith('-'))) return [...args]
  const names = args.filter(isName)
  const entries = globSync('test/entries/*.ts', { cwd: root }).sort((one, other) => placeOf(one) - placeOf(other) || (one < other ? -1 : 1))
  const chosen = names.length === 0 ? entries : names.flatMap((name) => requireEntries(entries, name))
  return ['--no-serial', `--concurrency=${threads}`, ...others, ...chosen]
}

function requireEntries(entries: readonly string[], name: string): string[] {
  const found = entries.filter((entry) => nameOf(entry) === name || nameOf(entry).startsWith(`${name}-`))
  if (found.length > 0) return found
  console.error(`There is no entry '${name}'. Entries: ${entries.map(nameOf).sort().join(', ')}`)
  process.exit(1)
}

const nameOf = (entry: string): string => basename(entry, '.ts')

function placeOf(entry: string): number {
  const place = first.indexOf(nameOf(entry))
  return place < 0 ? first.length : place
}
