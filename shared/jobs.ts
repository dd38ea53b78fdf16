import { deliverNotifications } from '#shared/core/notifications/jobs.ts'
import { mailReset } from '#shared/core/people/jobs.ts'
import { changeRecords, exportRecords, importRecords } from '#shared/core/records/jobs.ts'
import { changeField, dropTable, recomputeRecords } from '#shared/core/types/jobs.ts'
import { setUpWorkspace } from '#shared/core/workspaces/jobs.ts'
import { exportLedger, sealBooks, sumLedgerMonths, verifyLedger } from '#shared/features/accounting/jobs.ts'
import { exportCalendar, importCalendar, mailGuests, ringCalendar } from '#shared/features/calendar/jobs.ts'
import { callOut, continueRun, generateFlow, heardEvents, rehearseFlow, scheduleRun } from '#shared/features/flows/jobs.ts'
import { followSubmissions, runEnded } from '#shared/features/forms/jobs.ts'
import { invokeFunction, runFunction, saveFunction } from '#shared/features/functions/jobs.ts'
import { testConnection } from '#shared/features/messages/jobs.ts'
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
} from '#shared/features/payments/jobs.ts'
import { queueJobs } from '#shared/features/queues/jobs.ts'
import { wakeJob } from '#shared/platform/due/defer-job.ts'
import { doChore } from '#shared/platform/due/maintenance.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { sendMail } from '#shared/platform/mail/jobs.ts'

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
