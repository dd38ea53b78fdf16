import deliverNotifications from '#workers/core/notifications/deliver.ts'
import mailReset from '#workers/core/people/mail-reset.ts'
import changeRecords from '#workers/core/records/change-records.ts'
import exportRecords from '#workers/core/records/export-records.ts'
import importRecords from '#workers/core/records/import-records.ts'
import recomputeRecords from '#workers/core/records/recompute-records.ts'
import changeField from '#workers/core/types/change-field.ts'
import dropTable from '#workers/core/types/drop-table.ts'
import setUpWorkspace from '#workers/core/workspaces/set-up.ts'
import exportLedger from '#workers/features/accounting/export.ts'
import sumLedgerMonths from '#workers/features/accounting/month-sums.ts'
import sealBooks from '#workers/features/accounting/seal.ts'
import verifyLedger from '#workers/features/accounting/verify.ts'
import exportCalendar from '#workers/features/calendar/export.ts'
import ringCalendar from '#workers/features/calendar/fire-reminders.ts'
import importCalendar from '#workers/features/calendar/import.ts'
import mailGuests from '#workers/features/calendar/mail-guests.ts'
import callOut from '#workers/features/flows/call-out.ts'
import continueRun from '#workers/features/flows/continue-run.ts'
import generateFlow from '#workers/features/flows/generate.ts'
import rehearseFlow from '#workers/features/flows/rehearse.ts'
import heardEvents from '#workers/features/flows/start-on-events.ts'
import scheduleRun from '#workers/features/flows/start-on-schedule.ts'
import followSubmissions from '#workers/features/forms/process-submissions.ts'
import runEnded from '#workers/features/forms/run-ended.ts'
import { invoke, runAsPart } from '#workers/features/functions/invoke.ts'
import saveFunction from '#workers/features/functions/save.ts'
import testConnection from '#workers/features/messages/test-connection.ts'
import { cancel, expire, refresh } from '#workers/features/payments/change-link.ts'
import { end, sweep, test } from '#workers/features/payments/connections.ts'
import createLink from '#workers/features/payments/create-link.ts'
import { act, tell } from '#workers/features/payments/events.ts'
import clearQueue from '#workers/features/queues/clear.ts'
import takeIn from '#workers/features/queues/intake.ts'
import enteredStage from '#workers/features/queues/on-enter.ts'
import pressButton from '#workers/features/queues/press.ts'
import verifyQueue from '#workers/features/queues/verify.ts'
import wakeJob from '#workers/platform/due/requeue-deferred.ts'
import doChore from '#workers/platform/due/run-maintenance.ts'
import type { AnyHandler } from '#workers/platform/jobs/handler.ts'
import sendMail from '#workers/platform/mail/send-mail.ts'

/** What does each declared job. */
export const handlers: readonly AnyHandler[] = [
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
  invoke,
  runAsPart,
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
  enteredStage,
  takeIn,
  pressButton,
  verifyQueue,
  clearQueue,
  doChore,
  wakeJob,
  mailGuests,
  ringCalendar,
  importCalendar,
  exportCalendar,
  createLink,
  cancel,
  refresh,
  expire,
  test,
  sweep,
  end,
  act,
  tell,
]
