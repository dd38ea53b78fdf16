import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '#scripts/ports.ts'
import { isReady } from '#scripts/start/announce.ts'
import { type ProcessType, readProcfile } from '#scripts/start/procfile.ts'
import { type SupervisedProcess, supervise } from '#scripts/start/supervised-process.ts'

/** One supervised process, which is restarted whenever it ends. */
export interface Resident {
  /** `api 1`, `api 2`, or the name of a worker's line in the Procfile. */
  readonly name: string
  readonly url: string
  readonly process: SupervisedProcess
}

/** The processes of the Procfile, with two APIs, supervised as by a host. */
export interface Installation {
  readonly residents: readonly Resident[]
  readonly stop: () => Promise<void>
}

const apis = 2
const graceMs = 15_000

/** Starts the processes and waits until all are ready. `say` receives every line of their output. */
export async function openInstallation(
  databaseUrl: string,
  dataDir: string,
  say: (name: string, line: string) => void,
): Promise<Installation> {
  const types = readProcfile(join(import.meta.dirname, '..', '..', 'Procfile'))
  const shared = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRET_KEY: randomBytes(32).toString('hex'),
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
  }
  const start = async (type: ProcessType, name: string): Promise<Resident> => {
    const port = String(await freePort())
    const process = supervise(type, { ...shared, PORT: port, WORKER_PORT: port }, (line) => say(name, line))
    return { name, url: `http://127.0.0.1:${port}`, process }
  }
  const residents: Resident[] = []
  const stop = async () => {
    await Promise.all(residents.map(({ process }) => process.stop(graceMs)))
  }
  try {
    for (const type of types) {
      const names = type.name === 'api' ? Array.from({ length: apis }, (_, index) => `api ${index + 1}`) : [type.name]
      for (const name of names) residents.push(await start(type, name))
    }
    await Promise.all(residents.map(becomesReady))
    return { residents, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function becomesReady({ name, url, process }: Resident): Promise<void> {
  while (!(await isReady(`${url}/readyz`))) {
    if (process.ends() > 0) throw new Error(`${name} does not start`)
    await delay(50)
  }
}
