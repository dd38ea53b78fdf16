import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import { eventually } from '#test/support/eventually.ts'
import { type NodeProcess, startProcess } from '#test/support/process.ts'
import type { World } from '#test/support/world.ts'

/** A line of a process's log. */
export type LogLine = Readonly<Record<string, unknown>>

/** A process whose log is read. */
interface LoggedProcess {
  readonly child: NodeProcess
  /** All lines so far. Throws when one is not JSON. */
  readonly lines: () => readonly LogLine[]
  /** Resolves with the first line of this message. Throws when the process ends before. */
  readonly line: (message: string) => Promise<LogLine>
  /** Its address, once it is ready. */
  readonly root: () => Promise<string>
}

/** Starts a process of the Procfile that logs all but slow statements and requests; it ends with the test. */
export async function startLogged(
  t: ExecutionContext,
  w: Pick<World, 'config'>,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<LoggedProcess> {
  const settings = { PORT: '0', LOG_LEVEL: 'info', SLOW_REQUEST_MS: '600000', SLOW_STATEMENT_MS: '600000', ...environment }
  const child = await startProcess(t, w, name, settings)
  let text = ''
  child.stdout.on('data', (bytes) => {
    text += String(bytes)
  })
  const lines = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as LogLine)
  const line = async (message: string) => {
    for (;;) {
      const found = lines().find(({ msg }) => msg === message)
      if (found) return found
      if (child.exitCode !== null) throw new Error(`The process ended without the line ${message}: ${text}`)
      await delay(20)
    }
  }
  const root = async () => {
    await eventually(() => lines().some(({ port }) => port !== undefined))
    return `http://127.0.0.1:${lines().find(({ port }) => port !== undefined)?.port}`
  }
  return { child, lines, line, root }
}
