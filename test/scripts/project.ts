import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { endWithParent } from '#scripts/end-with-parent.mjs'
import { eventually } from '#test/support/eventually.ts'

const root = resolve(import.meta.dirname, '..', '..')

/** A copy of the scripts in its own folder, around small stand-ins for the API, the workers and the command line. */
export type Project = {
  readonly folder: string
  readonly run: (command: string, env?: NodeJS.ProcessEnv) => Run
  readonly remove: () => Promise<void>
}

/** A command in its own process group, as a terminal starts it. */
export type Run = {
  readonly pid: number
  readonly output: () => string
  /** Resolves with the match once the output holds it; fails when the command ends without it. */
  readonly says: (text: RegExp) => Promise<RegExpExecArray>
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
  readonly kill: (signal: NodeJS.Signals) => void
  /** Sends SIGINT as Ctrl-C does. */
  readonly interrupt: () => void
}

/** Creates a project around the stand-ins; its dependencies are links to those of this one. */
export function createProject({ isInstalled } = { isInstalled: true }): Project {
  return inNewFolder((folder) => {
    copy(`${join(import.meta.dirname, 'stand-in')}/.`, folder)
    for (const name of ['bin/kontor', 'bin/node-flags', 'scripts', 'shared/platform/kernel', 'package.json', 'package-lock.json', '.npmrc'])
      copy(join(root, name), join(folder, name))
    if (isInstalled) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
}

/** Creates a copy of the whole project without its tests, with all packages or only those that `npm ci --omit=dev` installs. */
export function copyProject({ isProduction } = { isProduction: false }): Project {
  const left = ['.git', '.data', '.cache', 'node_modules', 'test']
  return inNewFolder((folder) => {
    for (const name of readdirSync(root)) if (!left.includes(name)) copy(join(root, name), join(folder, name))
    if (isProduction) linkProductionPackages(join(folder, 'node_modules'))
    else symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
}

function linkProductionPackages(modules: string): void {
  const lockFile = join('node_modules', '.package-lock.json')
  const lock: { packages: Record<string, { dev?: true }> } = JSON.parse(readFileSync(join(root, lockFile), 'utf8'))
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(([, { dev }]) => dev !== true))
  for (const path of Object.keys(packages)) {
    const name = path.slice('node_modules/'.length)
    if (name.includes('node_modules/')) continue
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, path), join(modules, name))
  }
  writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ ...lock, packages }))
}

/** Copies a file or folder. Not by `cpSync`: processes that another thread starts meanwhile inherit the files that it has open. */
export function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  execFileSync('cp', ['-R', from, to])
}

function inNewFolder(fill: (folder: string) => void): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'kontor-project-')))
  fill(folder)
  return {
    folder,
    run: (command, env = {}) => run(folder, command, env),
    remove: async () => {
      // Repeated, since a process may have started another before it was killed.
      await eventually(() => {
        const left = processesIn(folder)
        for (const { pid } of left) kill(pid, 'SIGKILL')
        return left.length === 0
      })
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

// A test file that times out is ended in the middle: its children are asked to stop then.
function run(folder: string, command: string, env: NodeJS.ProcessEnv): Run {
  const [program = '', ...args] = [...endWithParent('TERM'), 'sh', '-c', `exec ${command}`]
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...clean(process.env), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | string>((resolve) => child.on('close', (code, signal) => resolve(signal ?? code ?? 1)))
  return {
    pid: child.pid ?? 0,
    output: () => output,
    says: (text) => says(child, () => output, text),
    ended,
    kill: (signal) => child.kill(signal),
    interrupt: () => kill(-(child.pid ?? 0), 'SIGINT'),
  }
}

// Variables of the surrounding npm and AVA would count as settings of the user.
function clean(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|AVA|NODE_|FORCE_COLOR|DATA_DIR|PORT$|PUBLIC_URL)/.test(name)))
}

function says(child: ChildProcess, output: () => string, text: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = text.exec(output())
      if (found) resolve(found)
      return found
    }
    if (look()) return
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.on('close', () => look() ?? reject(new Error(`It ended without ${text}:\n${output()}`)))
  })
}

/** The processes whose working folder is this one or inside it, which are all that a project started. */
export function processesIn(folder: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const cwd = readlinkSync(`/proc/${name}/cwd`)
        if (cwd !== folder && !cwd.startsWith(`${folder}/`)) return []
        return [{ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() }]
      } catch {
        return []
      }
    })
}

/** Resolves when no process of a folder is left. */
export async function nothingRunsIn(folder: string): Promise<void> {
  await eventually(() => processesIn(folder).length === 0)
}

/** The first process of a folder whose command line matches; waits for one. */
export async function findProcess(folder: string, command: RegExp): Promise<number> {
  const { pid } = await eventually(() => processesIn(folder).find((process) => command.test(process.command)))
  return pid
}

/** Sends a signal to a process, or to its group when the number is negative; does nothing when it is gone. */
export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Gone already.
  }
}
