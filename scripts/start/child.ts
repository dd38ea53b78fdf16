import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { endWithParent } from '../end-with-parent.mjs'
import { forward, type Say } from './output.ts'

/** A process that runs. `ended` settles with its exit code or its signal as text, and with an empty text when all went well. */
export type Child = {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined
  readonly ended: Promise<string>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly sweep: () => void
}

/**
 * Runs a command line by the shell, with `node` being the Node that runs this, and passes its lines on. It ends with this
 * process whatever becomes of it. A process group of its own keeps the terminal's Ctrl-C from it, so that processes stop in
 * order, and holds what it starts: `sweep` ends all of that.
 */
export function runChild(command: string, environment: NodeJS.ProcessEnv, say: Say): Child {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const [program = '', ...args] = [...endWithParent('KILL'), 'sh', '-c', `exec ${command}`]
  const child = spawn(program, args, {
    env: { ...process.env, ...environment, PATH: path },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  forward(child.stdout, say)
  forward(child.stderr, say)
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('exit', (code, signal) => resolve(code === 0 ? '' : (signal ?? `exit code ${code}`)))
  })
  const group = child.pid
  if (!group) return { pid: group, ended, kill: () => {}, sweep: () => {} }
  notifyLauncher({ group, isRunning: true })
  return {
    pid: group,
    ended,
    kill: (signal) => child.kill(signal),
    sweep: () => {
      endGroup(group)
      notifyLauncher({ group, isRunning: false })
    },
  }
}

// The launcher ends the groups of a supervisor that was killed: what a process has started does not end with it by itself.
function notifyLauncher(message: { group: number; isRunning: boolean }): void {
  if (process.connected) process.send?.(message, () => {})
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}
