import { deliverNotificationsJob } from '#shared/core/notifications/jobs.ts'
import { mailResetJob } from '#shared/core/people/jobs.ts'
import { changeRecordsJob, exportRecordsJob, importRecordsJob } from '#shared/core/records/jobs.ts'
import { changeFieldJob, dropTableJob, recomputeRecordsJob } from '#shared/core/types/jobs.ts'
import { setUpWorkspaceJob } from '#shared/core/workspaces/jobs.ts'
import { exportLedger, sealBooks, sumLedgerMonths, verifyLedger } from '#shared/features/accounting/jobs.ts'
import { exportCalendarJob, fireRemindersJob, importCalendarJob, mailGuestsJob } from '#shared/features/calendar/jobs.ts'
import {
  callOutJob,
  continueRunJob,
  generateFlowJob,
  rehearseFlowJob,
  startRunsOnEventsJob,
  startScheduledRunJob,
} from '#shared/features/flows/jobs.ts'
import { processSubmissionsJob, submissionRunEndedJob } from '#shared/features/forms/jobs.ts'
import { invokeFunctionJob, runFunctionJob, saveFunctionJob } from '#shared/features/functions/jobs.ts'
import { testMessageConnectionJob } from '#shared/features/messages/jobs.ts'
import {
  cancelLink,
  createLink,
  deliverSandboxEvent,
  endConnection,
  expireLink,
  handleEvent,
  refreshLink,
  sweepConnection,
  testPaymentConnection,
} from '#shared/features/payments/jobs.ts'
import { queueJobs } from '#shared/features/queues/jobs.ts'
import { requeueDeferred } from '#shared/platform/due/defer-job.ts'
import { runMaintenance } from '#shared/platform/due/maintenance.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { sendMail } from '#shared/platform/mail/jobs.ts'

/** All declared jobs. A release creates their queues; each must have exactly one handler in workers/handlers.ts. */
export const jobs: readonly AnyJob[] = [
  mailResetJob,
  sendMail,
  testMessageConnectionJob,
  deliverNotificationsJob,
  exportRecordsJob,
  importRecordsJob,
  changeRecordsJob,
  recomputeRecordsJob,
  changeFieldJob,
  setUpWorkspaceJob,
  dropTableJob,
  saveFunctionJob,
  invokeFunctionJob,
  runFunctionJob,
  startRunsOnEventsJob,
  startScheduledRunJob,
  continueRunJob,
  callOutJob,
  rehearseFlowJob,
  generateFlowJob,
  processSubmissionsJob,
  submissionRunEndedJob,
  sealBooks,
  verifyLedger,
  exportLedger,
  sumLedgerMonths,
  ...queueJobs,
  runMaintenance,
  requeueDeferred,
  mailGuestsJob,
  fireRemindersJob,
  importCalendarJob,
  exportCalendarJob,
  createLink,
  cancelLink,
  refreshLink,
  expireLink,
  testPaymentConnection,
  sweepConnection,
  endConnection,
  handleEvent,
  deliverSandboxEvent,
]
