import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { readProcfile } from '#scripts/start/procfile.ts'

const root = join(import.meta.dirname, '..', '..')

export interface Running {
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

/** Starts a program of this project on a free port and waits until it answers. */
export async function startServer(file: string, environment: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<Running> {
  const port = await freePort()
  const child = spawn(process.execPath, [...nodeFlags(file, args), join(root, file), ...args], {
    cwd: root,
    env: { ...process.env, LOG_LEVEL: 'error', NODE_ENV: 'production', ...environment, PORT: String(port), WORKER_PORT: String(port) },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await answers(url, child)
  return { url, pid: child.pid ?? 0, stop: () => stop(child) }
}

/**
 * Node's flags for such a program in the Procfile. A program without a line there, above all the floor, gets the flags of the API, so that
 * both sides run alike.
 */
function nodeFlags(file: string, args: readonly string[]): string[] {
  const types = readProcfile(join(root, 'Procfile'))
  const type = types.find(({ command }) => command.endsWith([file, ...args].join(' '))) ?? types.find(({ name }) => name === 'api')
  const [, ...words] = type?.command.split(' ') ?? []
  return words.slice(
    0,
    words.findIndex((word) => !word.startsWith('--')),
  )
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

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
