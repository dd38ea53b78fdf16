import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import { endWithParent } from '#scripts/end-with-parent.mjs'
import { readProcfile } from '#scripts/start/procfile.ts'
import type { Config } from '#shared/platform/kernel/config.ts'
import type { World } from '#test/support/world.ts'

const root = join(import.meta.dirname, '..', '..')

/** Starts the process of this name in the Procfile on a world's database; it ends with the test at the latest. */
export function startProcess(
  t: Pick<ExecutionContext, 'teardown'>,
  { config }: Pick<World, 'config'>,
  name: string,
  environment: Readonly<Record<string, string>> = {},
  umask?: string,
): Promise<NodeProcess> {
  const line = readProcfile(join(root, 'Procfile')).find((type) => type.name === name)
  const [, ...args] = line?.command.split(' ') ?? []
  return startLauncher(t, { config }, args, environment, umask)
}

export type NodeProcess = ChildProcess & { readonly stdout: Readable }

/** The same for `bin/kontor` with any arguments, with a umask if one is given. */
export async function startLauncher(
  t: Pick<ExecutionContext, 'teardown'>,
  { config }: { readonly config: Pick<Config, 'databaseUrl' | 'dataDir' | 'secretKey'> },
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  umask?: string,
): Promise<NodeProcess> {
  const masked = umask === undefined ? [] : ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
  const [command = '', ...rest] = [...masked, ...endWithParent('KILL'), join(root, 'bin', 'kontor'), ...args]
  const child = spawn(command, rest, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: config.databaseUrl,
      DATA_DIR: config.dataDir,
      SECRET_KEY: config.secretKey.toString('hex'),
      DATABASE_CONNECTIONS: '6',
      LOG_LEVEL: 'silent',
      ...environment,
    },
  })
  // Read in any case, since a full pipe blocks its writer.
  child.stdout.resume()
  await once(child, 'spawn')
  t.teardown(() => end(child))
  return child
}

/** Ends a process at once; resolves when it is gone. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
