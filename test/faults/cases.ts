import type { FaultCase } from '#test/faults/case.ts'
import { apiKilled } from '#test/faults/cases/api-killed.ts'
import { databaseCrashed, databaseKilled, sessionKilled, sessionsEnded } from '#test/faults/cases/database.ts'
import { dataDiskFull, walDiskFull } from '#test/faults/cases/disk.ts'
import { networkCut, networkForgotten, networkSlow, networkStalled } from '#test/faults/cases/network.ts'
import { workerKilled } from '#test/faults/cases/worker-killed.ts'

/** Every case, in the order in which they run. */
export const cases: readonly FaultCase[] = [
  apiKilled,
  workerKilled,
  sessionsEnded,
  sessionKilled,
  databaseCrashed,
  databaseKilled,
  dataDiskFull,
  walDiskFull,
  networkCut,
  networkStalled,
  networkForgotten,
  networkSlow,
]
