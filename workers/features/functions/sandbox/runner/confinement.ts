import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { RunnerFiles } from '#workers/features/functions/sandbox/runner/program.ts'

/** How a runner process is started: a command and its arguments. */
export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Whether the system kills it when its worker dies, also while it is stopped. */
  readonly diesWithWorker: boolean
}

/** Finds the two files that a runner reads. The worker itself never loads isolated-vm. */
export function runnerFiles(): RunnerFiles {
  const { resolve } = createRequire(import.meta.url)
  const manifest = resolve('isolated-vm/package.json')
  const { path } = createRequire(manifest)('node-gyp-build') as { path: (folder: string) => string }
  return { addon: path(dirname(manifest)), parser: resolve('acorn') }
}

/** The command that starts a runner under every confinement that this machine offers. */
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

// Each tool replaces itself by the next, so the process id stays the runner's. In a user namespace of its own a runner has no rights over
// the machine even when the worker is root, and files are still read as the worker's user.
const tools: readonly (readonly (readonly string[])[])[] = [
  [
    ['unshare', '--user', '--map-user=65534', '--map-group=65534', '--net', '--ipc', '--'],
    ['unshare', '--net', '--'],
  ],
  [['setpriv', '--no-new-privs', '--pdeathsig', 'KILL', '--']],
  // It writes no file, not even a core dump,
  [['prlimit', '--core=0', '--fsize=0', '--']],
  // and it is the first to go when the machine is out of memory.
  [['choom', '-n', '1000', '--']],
]

let found: readonly string[] | undefined

/** What goes before a command so that Linux takes network, new privileges and files from it. Tried once: what does not work is left out. */
export function confinementCommand(): readonly string[] {
  found ??= process.platform === 'linux' ? tools.flatMap((choices) => choices.map(located).find(works) ?? []) : []
  return found
}

const works = ([command = '', ...rest]: readonly string[]): boolean =>
  spawnSync(command, [...rest, ...located(['true'])], { env: {}, stdio: 'ignore' }).status === 0

/** The tool by its full path: a runner has no PATH to look it up. */
const located = ([name = '', ...options]: readonly string[]): readonly string[] => {
  const folder = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].find((folder) => existsSync(join(folder, name)))
  return [join(folder ?? '/', name), ...options]
}
