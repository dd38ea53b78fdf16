import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, lchownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** As whom PostgreSQL runs, for it refuses to run as root. */
export type Identity = {
  /** What stands before each of its commands. */
  readonly prefix: readonly string[]
  /** The user and group to become first, when the files have to belong to another than us. */
  readonly account: { readonly uid: number; readonly gid: number } | null
  /** Its programs, in a folder that this identity can read. */
  readonly binaries: string
}

const unshare = ['unshare', '--user', '--map-user=65534', '--']

/**
 * Finds a way to run PostgreSQL here. Root gets a user namespace in which it looks like somebody else: no account is
 * needed, files stay root's and closed folders work. Where namespaces are forbidden it becomes the postgres or nobody account.
 */
export function chooseIdentity(binaries: string): Identity {
  if (process.getuid?.() !== 0) return { prefix: [], account: null, binaries }
  if (works([...unshare, 'true'])) return { prefix: unshare, account: null, binaries }
  const account = findAccount()
  return { prefix: [], account, binaries: readableBinaries(binaries, account) }
}

/** Gives a folder and all in it to whom PostgreSQL runs as, where root decides that and it belongs to another. */
export function changeOwner(identity: Identity, folder: string): void {
  const { uid, gid } = identity.account ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (process.getuid?.() !== 0 || lstatSync(folder).uid === uid) return
  for (const path of ['.', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) lchownSync(join(folder, path), uid, gid)
}

function works([program = '', ...args]: readonly string[], account: Identity['account'] = null): boolean {
  // Not in our folder: one that the account may not enter would make any program fail.
  return spawnSync(program, args, { cwd: '/', stdio: 'ignore', ...account }).status === 0
}

function findAccount(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10))
    if (uid && gid) return { uid, gid }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user namespace nor a postgres or nobody account for it.')
}

// The account may not enter the project's folder: then it gets a copy, made whole under another name, that stays root's.
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
    // Another run may have been quicker.
    rmSync(unfinished, { recursive: true })
    if (!existsSync(to)) throw error
  }
}
