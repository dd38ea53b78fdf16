import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
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
  const [command = '', ...rest] = [...confinementCommand(), ...node]
  return { command, args: rest, diesWithWorker: rest.includes('--pdeathsig') }
}

/**
 * The tools that confine a runner, step by step. Of a step's alternatives the first that works here is used. Each tool replaces itself by
 * the next (exec), so the process id stays the runner's. In its own user namespace a runner has no rights over the machine even if the
 * worker is root, and it reads files as the worker's user.
 */
const tools: readonly (readonly (readonly string[])[])[] = [
  [
    ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--net', '--ipc', '--'],
    ['unshare', '--net', '--'],
  ],
  [['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--']],
  // The runner cannot write files, not even a core dump.
  [['prlimit', '--core=0', '--fsize=0', '--']],
  // The kernel kills this process first when the machine is out of memory.
  [['choom', '-n', '1000', '--']],
]

let supported: readonly string[] | undefined

/**
 * Returns the prefix of a command by which Linux denies the command access to the network, new privileges and writing of files. Tools that
 * do not work on this machine are left out.
 */
export function confinementCommand(): readonly string[] {
  supported ??= process.platform === 'linux' ? tools.flatMap((alternatives) => alternatives.map(withFullPath).find(works) ?? []) : []
  return supported
}

const works = ([command = '', ...rest]: readonly string[]): boolean =>
  spawnSync(command, [...rest, ...withFullPath(['true'])], { env: {}, stdio: 'ignore' }).status === 0

/** Gives the tool its full path, because a runner has no PATH. */
const withFullPath = ([name = '', ...options]: readonly string[]): readonly string[] => {
  const folder = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].find((folder) => existsSync(join(folder, name)))
  return [join(folder ?? '/', name), ...options]
}
