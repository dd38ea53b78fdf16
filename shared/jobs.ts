import { doChore } from '#shared/due/chores.ts'
import { callOut, continueRun, generateFlow, heardEvents, rehearseFlow, scheduleRun } from '#shared/flows/jobs.ts'
import { invokeFunction, runFunction, saveFunction } from '#shared/functions/jobs.ts'
import { sendMail } from '#shared/mail/jobs.ts'
import { testConnection } from '#shared/messages/jobs.ts'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import { mailReset } from '#shared/people/jobs.ts'
import type { AnyJob } from '#shared/queue/job.ts'
import { changeRecords, exportRecords, importRecords } from '#shared/records/jobs.ts'
import { changeField, dropTable, recomputeRecords } from '#shared/types/jobs.ts'
import { setUpWorkspace } from '#shared/workspaces/jobs.ts'

/** Every job there is. A release creates their queues; workers must handle each exactly once. */
export const jobs: readonly AnyJob[] = [
  mailReset,
  sendMail,
  testConnection,
  deliverNotifications,
  exportRecords,
  importRecords,
  changeRecords,
  recomputeRecords,
  changeField,
  setUpWorkspace,
  dropTable,
  saveFunction,
  invokeFunction,
  runFunction,
  heardEvents,
  scheduleRun,
  continueRun,
  callOut,
  rehearseFlow,
  generateFlow,
  doChore,
]
