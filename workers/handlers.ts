import deliverNotificationsJob from '#workers/core/notifications/deliver.ts'
import mailResetJob from '#workers/core/people/mail-reset.ts'
import changeRecordsJob from '#workers/core/records/change-records.ts'
import exportRecordsJob from '#workers/core/records/export-records.ts'
import importRecordsJob from '#workers/core/records/import-records.ts'
import recomputeRecordsJob from '#workers/core/records/recompute-records.ts'
import changeFieldJob from '#workers/core/types/change-field.ts'
import dropTableJob from '#workers/core/types/drop-table.ts'
import setUpWorkspaceJob from '#workers/core/workspaces/set-up.ts'
import exportLedger from '#workers/features/accounting/export.ts'
import sumLedgerMonths from '#workers/features/accounting/month-sums.ts'
import sealBooks from '#workers/features/accounting/seal.ts'
import verifyLedger from '#workers/features/accounting/verify.ts'
import exportCalendarJob from '#workers/features/calendar/export.ts'
import fireRemindersJob from '#workers/features/calendar/fire-reminders.ts'
import importCalendarJob from '#workers/features/calendar/import.ts'
import mailGuestsJob from '#workers/features/calendar/mail-guests.ts'
import callOutJob from '#workers/features/flows/call-out.ts'
import continueRunJob from '#workers/features/flows/continue-run.ts'
import generateFlowJob from '#workers/features/flows/generate.ts'
import rehearseFlowJob from '#workers/features/flows/rehearse.ts'
import startRunsOnEventsJob from '#workers/features/flows/start-on-events.ts'
import startScheduledRunJob from '#workers/features/flows/start-on-schedule.ts'
import processSubmissionsJob from '#workers/features/forms/process-submissions.ts'
import submissionRunEndedJob from '#workers/features/forms/run-ended.ts'
import { handleInvokeFunction, handleRunFunction } from '#workers/features/functions/invoke.ts'
import saveFunctionJob from '#workers/features/functions/save.ts'
import testMessageConnectionJob from '#workers/features/messages/test-connection.ts'
import { handleCancelLink, handleExpireLink, handleRefreshLink } from '#workers/features/payments/change-link.ts'
import { handleEndConnection, handleSweepConnection, handleTestConnection } from '#workers/features/payments/connections.ts'
import createLink from '#workers/features/payments/create-link.ts'
import { handleProviderEvent, sendSandboxEvent } from '#workers/features/payments/events.ts'
import clearQueue from '#workers/features/queues/clear.ts'
import intakeRecordChanges from '#workers/features/queues/intake.ts'
import runOnEnter from '#workers/features/queues/on-enter.ts'
import pressButton from '#workers/features/queues/press.ts'
import verifyQueue from '#workers/features/queues/verify.ts'
import requeueDeferred from '#workers/platform/due/requeue-deferred.ts'
import runMaintenance from '#workers/platform/due/run-maintenance.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import sendMail from '#workers/platform/mail/send-mail.ts'

/** The handlers of all declared jobs. */
export const handlers: readonly AnyHandler[] = [
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
  handleInvokeFunction,
  handleRunFunction,
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
  runOnEnter,
  intakeRecordChanges,
  pressButton,
  verifyQueue,
  clearQueue,
  runMaintenance,
  requeueDeferred,
  mailGuestsJob,
  fireRemindersJob,
  importCalendarJob,
  exportCalendarJob,
  createLink,
  handleCancelLink,
  handleRefreshLink,
  handleExpireLink,
  handleTestConnection,
  handleSweepConnection,
  handleEndConnection,
  handleProviderEvent,
  sendSandboxEvent,
]
