import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** An exported function of a domain. */
type DomainFunction = (...args: readonly unknown[]) => unknown

/** The functions of one domain by name. */
export type DomainFunctions = Readonly<Record<string, DomainFunction>>

const shared = join(import.meta.dirname, '..', '..', 'shared')

/** The functions of every domain, such as `records`, by the name of its folder; subfolders are included. */
export async function loadDomains(): Promise<Readonly<Record<string, DomainFunctions>>> {
  const folders = globSync('{platform,core,features}/*/', { cwd: shared })
  const domains = folders.map(async (folder) => [folder.split('/')[1] ?? '', await loadDomain(join(shared, folder))] as const)
  return Object.fromEntries(await Promise.all(domains))
}

async function loadDomain(folder: string): Promise<DomainFunctions> {
  const files = globSync('**/*.ts', { cwd: folder, exclude: ['**/*.d.ts'] }).sort()
  const modules = await Promise.all(files.map((name) => import(pathToFileURL(join(folder, name)).href) as Promise<object>))
  const exported = modules.flatMap((module) => Object.entries(module))
  return Object.fromEntries(exported.filter((entry): entry is [string, DomainFunction] => typeof entry[1] === 'function'))
}
