import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { freePort } from '#scripts/ports.ts'
import { readProcfile } from '#scripts/start/procfile.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Running {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts the API, a worker, or a file of this project on a free port and waits until it answers. */
export async function startServer(program: string, environment: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<Running> {
  const port = await freePort()
  const [command = '', ...rest] = [...commandOf(program), ...args]
  const child = spawn(command, rest, {
    cwd: root,
    env: { ...process.env, LOG_LEVEL: 'error', NODE_ENV: 'production', ...environment, PORT: String(port), WORKER_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await answers(url, child)
  return { url, pid: child.pid ?? 0, stop: () => stop(child) }
}

/** Does some work while such a server runs. */
export async function whileRunning<T>(
  work: (pid: number) => Promise<T>,
  program: string,
  environment: NodeJS.ProcessEnv,
  args: readonly string[] = [],
): Promise<T> {
  const server = await startServer(program, environment, args)
  try {
    return await work(server.pid)
  } finally {
    await server.stop()
  }
}

/** The command line of `api`, of `worker`, or of a file, above all of the floor, which gets the flags of the API so that both sides run alike. */
function commandOf(program: string): string[] {
  if (program === 'api' || program === 'worker') return [join(root, 'bin', 'kontor'), program]
  const flags = readProcfile(join(root, 'bin', 'node-flags')).find(({ name }) => name === 'api')?.command ?? ''
  return [process.execPath, ...flags.split(' '), join(root, program)]
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`A server ended with ${child.exitCode} before it answered`)
    const up = await fetch(`${url}/healthz`).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}
