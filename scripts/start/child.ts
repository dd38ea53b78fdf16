import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'
import { endWithParent } from '../end-with-parent.mjs'
import { forward, type Say } from './output.ts'

/** A running process. `ended` resolves with its exit code or signal as text, or with an empty text for success. */
export type Child = {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined
  readonly ended: Promise<string>
  readonly kill: (signal: NodeJS.Signals) => void
  readonly sweep: () => void
}

/**
 * Runs a command line by the shell, with the running Node as `node`, and passes its lines on. The command ends with this process, even
 * after SIGKILL. A process group of its own keeps the terminal's Ctrl-C away, so that processes stop in order; `sweep` kills the whole
 * group.
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

// Descendants do not end with a supervisor that was killed, so the launcher ends their groups.
function notifyLauncher(message: { group: number; isRunning: boolean }): void {
  if (process.connected) process.send?.(message, () => {})
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // The group is empty.
  }
}
