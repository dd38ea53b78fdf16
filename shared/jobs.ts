import { exportLedger, sealBooks, sumLedgerMonths, verifyLedger } from '#shared/accounting/jobs.ts'
import { exportCalendar, importCalendar, mailGuests, ringCalendar } from '#shared/calendar/jobs.ts'
import { doChore } from '#shared/due/chores.ts'
import { wakeJob } from '#shared/due/rest.ts'
import { callOut, continueRun, generateFlow, heardEvents, rehearseFlow, scheduleRun } from '#shared/flows/jobs.ts'
import { followSubmissions, runEnded } from '#shared/forms/jobs.ts'
import { invokeFunction, runFunction, saveFunction } from '#shared/functions/jobs.ts'
import { sendMail } from '#shared/mail/jobs.ts'
import { testConnection } from '#shared/messages/jobs.ts'
import { deliverNotifications } from '#shared/notifications/jobs.ts'
import {
  cancelLink,
  createLink,
  endConnection,
  expireLink,
  handleEvent,
  refreshLink,
  sweepConnection,
  tellSandbox,
  testPaymentConnection,
} from '#shared/payments/jobs.ts'
import { mailReset } from '#shared/people/jobs.ts'
import type { AnyJob } from '#shared/queue/job.ts'
import { queueJobs } from '#shared/queues/jobs.ts'
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
  followSubmissions,
  runEnded,
  sealBooks,
  verifyLedger,
  exportLedger,
  sumLedgerMonths,
  ...queueJobs,
  doChore,
  wakeJob,
  mailGuests,
  ringCalendar,
  importCalendar,
  exportCalendar,
  createLink,
  cancelLink,
  refreshLink,
  expireLink,
  testPaymentConnection,
  sweepConnection,
  endConnection,
  handleEvent,
  tellSandbox,
]
