import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, lchownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The account that PostgreSQL runs as; it refuses to run as root. */
export type Identity = {
  /** Arguments in front of each of its commands. */
  readonly prefix: readonly string[]
  /** The user and group to run as, when the files must belong to another account. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  /** PostgreSQL's programs, in a folder that this identity can read. */
  readonly binaries: string
}

const unshare = ['unshare', '--user', '--map-user=65534', '--']

/**
 * Finds an identity for PostgreSQL. Root gets a user namespace in which it appears as another user: no account is needed, files stay root's
 * and closed folders work. Where namespaces are forbidden, PostgreSQL runs as the account postgres or nobody.
 */
export function chooseIdentity(binaries: string): Identity {
  if (process.getuid?.() !== 0) return { prefix: [], account: null, binaries }
  if (works([...unshare, 'true'])) return { prefix: unshare, account: null, binaries }
  const account = findAccount()
  return { prefix: [], account, binaries: readableBinaries(binaries, account) }
}

/** Gives a folder and its content to PostgreSQL's account. Does nothing unless run as root, or if the account owns it already. */
export function changeOwner(identity: Identity, folder: string): void {
  const { uid, gid } = identity.account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (process.getuid?.() !== 0 || lstatSync(folder).uid === uid) return
  for (const path of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) lchownSync(join(folder, path), uid, gid)
}

function works([program = '', ...args]: readonly string[], account: Identity['account'] = null): boolean {
  // Not in the current folder: if the account may not enter it, every program fails.
  return spawnSync(program, args, { cwd: '/', stdio: 'ignore', ...account }).status === 0
}

function findAccount(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10))
    if (uid && gid) return { uid, gid }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user namespace nor a postgres or nobody account for it.')
}

// If the account may not enter the project's folder, it gets a copy that root owns and that is complete before it gets its name.
function readableBinaries(binaries: string, account: NonNullable<Identity['account']>): string {
  if (works([join(binaries, 'bin', 'postgres'), '--version'], account)) return binaries
  const { version }: { version: string } = JSON.parse(readFileSync(join(binaries, '..', 'package.json'), 'utf8'))
  const copy = join(tmpdir(), `kontor-postgres-${version}`)
  if (!existsSync(copy)) copyWhole(binaries, copy)
  if (lstatSync(copy).uid === 0) return copy
  throw new Error(`${copy} belongs to somebody else. Remove it, or run Kontor as another user than root.`)
}

function copyWhole(from: string, to: string): void {
  const unfinished = mkdtempSync(`${to}-`)
  cpSync(from, unfinished, { recursive: true, verbatimSymlinks: true })
  chmodSync(unfinished, 0o755)
  try {
    renameSync(unfinished, to)
  } catch (error) {
    // Another run may have created it meanwhile.
    rmSync(unfinished, { recursive: true })
    if (!existsSync(to)) throw error
  }
}
