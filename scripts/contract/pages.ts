import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markersOf } from './fill-tables.ts'

const root = join(import.meta.dirname, '..', '..')

/** A page of docs/contract. */
interface ContractPage {
  /** Path from the root of the project. */
  readonly path: string
  /** Absolute path. */
  readonly file: string
  readonly text: string
}

/** Reads the pages of docs/contract, in the order of their names. */
export const readContractPages = (): ContractPage[] =>
  readdirSync(join(root, 'docs', 'contract'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const path = `docs/contract/${name}`
      const file = join(root, path)
      return { path, file, text: readFileSync(file, 'utf8') }
    })

/** Names of the tables that no page asks for. */
export function unplacedTables(pages: readonly Pick<ContractPage, 'text'>[], tables: ReadonlyMap<string, string>): string[] {
  const placed = new Set(pages.flatMap(({ text }) => markersOf(text)))
  return [...tables.keys()].filter((name) => !placed.has(name))
}
