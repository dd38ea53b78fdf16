import type { Bench } from '#bench/case.ts'
import { peakMegabytes } from '#bench/servers/memory.ts'
import { type Running, startServer } from '#bench/servers/start.ts'

export interface RunningWorker extends Running {
  /** Memory after the start. */
  readonly idleMegabytes: number
}

/** Starts a worker of some pools, until the group's cases are measured. */
export async function startWorker({ environment, atEnd }: Pick<Bench, 'environment' | 'atEnd'>, pools: string): Promise<RunningWorker> {
  const worker = await startServer('worker', environment, [`--pools=${pools}`])
  atEnd(worker.stop)
  return { ...worker, idleMegabytes: peakMegabytes(worker.pid) }
}
