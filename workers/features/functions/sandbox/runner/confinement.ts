import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { startRefusal } from '#shared/platform/kernel/process/start-refusal.ts'
import type { RunnerFiles } from '#workers/features/functions/sandbox/runner/program.ts'

/** The command that starts a runner process. */
export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Whether the kernel kills the runner when its worker dies, even while the runner is paused. */
  readonly diesWithWorker: boolean
}

/** Finds the files that a runner loads. The worker itself never loads isolated-vm. */
export function runnerFiles(): RunnerFiles {
  const { resolve } = createRequire(import.meta.url)
  const manifest = resolve('isolated-vm/package.json')
  const { path } = createRequire(manifest)('node-gyp-build') as { path: (folder: string) => string }
  return { addon: path(dirname(manifest)), parser: resolve('acorn') }
}

/** Builds the command that starts a runner under every confinement that this machine supports. */
export function buildLaunchCommand(files: RunnerFiles): LaunchCommand {
  const node = [
    process.execPath,
    '--no-node-snapshot',
    '--permission',
    '--allow-addons',
    ...Object.values(files).map((path) => `--allow-fs-read=${path}`),
    '--enable-sharedarraybuffer-per-context',
    '--disable-warning=SecurityWarning',
    '-',
  ]
  const [command = '', ...rest] = [...confinement().command, ...node]
  return { command, args: rest, diesWithWorker: rest.includes('--pdeathsig') }
}

const unshare = 'the program unshare (package util-linux) and user namespaces, in a container a seccomp profile that allows them'

/** What confines a runner beside Node's own permissions, by name, and what a machine needs for it. */
export const confinementNeeds = {
  /** A user namespace: no rights over the machine, even if the worker is root. */
  user: unshare,
  /** A network namespace without interfaces. */
  network: unshare,
  /** No new privileges, and an end with the worker. */
  privileges: 'the program setpriv (package util-linux)',
  /** No writing of files, not even a core dump. */
  files: 'the program prlimit (package util-linux)',
  /** The kernel kills a runner first when the machine is out of memory. */
  first_to_end: 'the program choom (package util-linux)',
  /** Resident memory is counted, in pages of the machine's size. */
  memory: 'Linux and the program getconf (package libc-bin, on Alpine musl-utils)',
} as const

type ConfinementName = keyof typeof confinementNeeds

interface Step {
  readonly tool: readonly string[]
  readonly gives: readonly ConfinementName[]
}

/**
 * The tools that confine a runner, step by step. Of a step's alternatives the first that works here is used. Each tool replaces itself by
 * the next (exec), so the process id stays the runner's. In its own user namespace a runner reads files as the worker's user.
 */
const steps: readonly (readonly Step[])[] = [
  [
    { tool: ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--net', '--ipc', '--'], gives: ['user', 'network'] },
    { tool: ['unshare', '--net', '--'], gives: ['network'] },
  ],
  [{ tool: ['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--'], gives: ['privileges'] }],
  [{ tool: ['prlimit', '--core=0', '--fsize=0', '--'], gives: ['files'] }],
  [{ tool: ['choom', '-n', '1000', '--'], gives: ['first_to_end'] }],
]

/** How runners are confined on this machine. */
export interface Confinement {
  /** The prefix of a command by which Linux confines it. */
  readonly command: readonly string[]
  readonly holds: Readonly<Record<ConfinementName, boolean>>
  /** Bytes of a page of memory; 4,096 where the system does not say. */
  readonly pageBytes: number
}

let found: Confinement | undefined

/** The confinement of this machine, looked for once. */
export function confinement(): Confinement {
  found ??= findConfinement()
  return found
}

const systemFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

/** The full path of a program, because a runner has no PATH. */
const pathOf = (name: string, folders: readonly string[]): string =>
  join(folders.find((folder) => existsSync(join(folder, name))) ?? '/', name)

/** Looks for the tools in these folders, and tries each. Those that do not work are left out. */
export function findConfinement(folders: readonly string[] = systemFolders): Confinement {
  const withFullPath = ([name = '', ...options]: readonly string[]) => [pathOf(name, folders), ...options]
  const run = ([command = '', ...args]: readonly string[]) => spawnSync(command, args, { env: {}, stdio: ['ignore', 'pipe', 'ignore'] })
  const works = ({ tool }: Step) => run([...withFullPath(tool), pathOf('true', systemFolders)]).status === 0
  const isLinux = process.platform === 'linux'
  const chosen = isLinux ? steps.flatMap((alternatives) => alternatives.find(works) ?? []) : []
  const held = new Set<string>(chosen.flatMap(({ gives }) => gives))
  const pageBytes = Number(run(withFullPath(['getconf', 'PAGESIZE'])).stdout)
  const hasPages = isLinux && Number.isInteger(pageBytes) && pageBytes > 0
  if (hasPages) held.add('memory')
  const holds = Object.fromEntries(Object.keys(confinementNeeds).map((name) => [name, held.has(name)]))
  return {
    command: chosen.flatMap(({ tool }) => withFullPath(tool)),
    holds: holds as Confinement['holds'],
    pageBytes: hasPages ? pageBytes : 4_096,
  }
}

/**
 * Logs which confinements hold, once at the start of a worker that runs functions. What is missing is a warning that names what brings it,
 * or with `required` a refusal to start, which is thrown.
 */
export function reportConfinement(mode: 'available' | 'required', { holds }: Confinement, log: Pick<Logger, 'info' | 'warn'>): void {
  const names = Object.keys(confinementNeeds) as ConfinementName[]
  const missing = names.filter((name) => !holds[name])
  if (missing.length === 0) {
    log.info({ confinement: holds }, 'functions run under every confinement')
    return
  }
  const parts = missing.map((name) => `${name} (needs ${confinementNeeds[name]})`).join('; ')
  if (mode === 'required') throw startRefusal(`FUNCTIONS_CONFINEMENT is required, and functions would run without ${parts}`)
  log.warn({ confinement: holds }, `functions run without ${parts}`)
}
