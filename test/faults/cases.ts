import type { FaultCase } from '#test/faults/case.ts'
import { apiKilled } from '#test/faults/cases/api-killed.ts'
import { booksKilled } from '#test/faults/cases/books.ts'
import { calendarKilled } from '#test/faults/cases/calendar.ts'
import { clockMoved } from '#test/faults/cases/clock.ts'
import { databaseCrashed, databaseKilled, sessionKilled, sessionsEnded } from '#test/faults/cases/database.ts'
import { dataDiskFull, walDiskFull } from '#test/faults/cases/disk.ts'
import { driveKilledOnDisk, driveKilledOnS3, fileDiskFull } from '#test/faults/cases/drive.ts'
import { eventsKilled } from '#test/faults/cases/events.ts'
import { flowKilled } from '#test/faults/cases/flow-killed.ts'
import { formsKilled, submissionsCut } from '#test/faults/cases/forms.ts'
import { memoryPressure } from '#test/faults/cases/memory.ts'
import { networkCut, networkForgotten, networkSlow, networkStalled } from '#test/faults/cases/network.ts'
import { connectionsUsedUp, databaseAway, spoolFull } from '#test/faults/cases/outages.ts'
import { mailServerAway, storeAway } from '#test/faults/cases/parts.ts'
import { paymentsKilled } from '#test/faults/cases/payments.ts'
import { poisonJob } from '#test/faults/cases/poison-job.ts'
import { queueKilled } from '#test/faults/cases/queues.ts'
import { rollingRestart } from '#test/faults/cases/rolling-restart.ts'
import { slowClients } from '#test/faults/cases/slow-clients.ts'
import { streamsKilled } from '#test/faults/cases/streams.ts'
import { workerKilled } from '#test/faults/cases/worker-killed.ts'

/** Every case, in the order in which they run. */
export const cases: readonly FaultCase[] = [
  apiKilled,
  workerKilled,
  flowKilled,
  formsKilled,
  submissionsCut,
  streamsKilled,
  sessionsEnded,
  sessionKilled,
  databaseCrashed,
  databaseKilled,
  dataDiskFull,
  walDiskFull,
  rollingRestart,
  poisonJob,
  slowClients,
  memoryPressure,
  clockMoved,
  networkCut,
  networkStalled,
  networkForgotten,
  networkSlow,
  driveKilledOnDisk,
  driveKilledOnS3,
  fileDiskFull,
  databaseAway,
  connectionsUsedUp,
  spoolFull,
  paymentsKilled,
  queueKilled,
  eventsKilled,
  booksKilled,
  calendarKilled,
  storeAway,
  mailServerAway,
]
