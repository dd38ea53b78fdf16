import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A function of a domain, as its file exports it. */
type DomainFunction = (...args: readonly unknown[]) => unknown

/** The functions of one folder of `shared`, by their names, which are different in all of its files. */
export type Room = Readonly<Record<string, DomainFunction>>

const shared = join(import.meta.dirname, '..', '..', 'shared')

/** All rooms by the names of their folders; what lies in folders of those is their own business. */
export async function loadRooms(): Promise<Readonly<Record<string, Room>>> {
  const folders = (await readdir(shared, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  const rooms = folders.map(async ({ name }) => [name, await loadRoom(join(shared, name))] as const)
  return Object.fromEntries(await Promise.all(rooms))
}

async function loadRoom(folder: string): Promise<Room> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts')).sort()
  const modules = await Promise.all(files.map((name) => import(pathToFileURL(join(folder, name)).href) as Promise<object>))
  const exported = modules.flatMap((module) => Object.entries(module))
  return Object.fromEntries(exported.filter((entry): entry is [string, DomainFunction] => typeof entry[1] === 'function'))
}
