import exportLedger from '#workers/accounting/export.ts'
import sumLedgerMonths from '#workers/accounting/months.ts'
import sealBooks from '#workers/accounting/seal.ts'
import verifyLedger from '#workers/accounting/verify.ts'
import exportCalendar from '#workers/calendar/export.ts'
import importCalendar from '#workers/calendar/import.ts'
import mailGuests from '#workers/calendar/mail-guests.ts'
import ringCalendar from '#workers/calendar/ring.ts'
import doChore from '#workers/due/chore.ts'
import wakeJob from '#workers/due/wake.ts'
import callOut from '#workers/flows/call.ts'
import continueRun from '#workers/flows/continue.ts'
import generateFlow from '#workers/flows/generate.ts'
import heardEvents from '#workers/flows/heard.ts'
import rehearseFlow from '#workers/flows/rehearse.ts'
import scheduleRun from '#workers/flows/schedule.ts'
import followSubmissions from '#workers/forms/follow.ts'
import runEnded from '#workers/forms/run-ended.ts'
import { invoke, runAsPart } from '#workers/functions/invoke.ts'
import saveFunction from '#workers/functions/save.ts'
import type { AnyHandler } from '#workers/handler.ts'
import sendMail from '#workers/mail/send.ts'
import testConnection from '#workers/messages/test-connection.ts'
import deliverNotifications from '#workers/notifications/deliver.ts'
import { cancel, expire, refresh } from '#workers/payments/change-link.ts'
import { end, sweep, test } from '#workers/payments/connections.ts'
import createLink from '#workers/payments/create-link.ts'
import { act, tell } from '#workers/payments/events.ts'
import mailReset from '#workers/people/mail-reset.ts'
import clearQueue from '#workers/queues/clear.ts'
import enteredStage from '#workers/queues/entered.ts'
import takeIn from '#workers/queues/intake.ts'
import pressButton from '#workers/queues/press.ts'
import verifyQueue from '#workers/queues/verify.ts'
import changeRecords from '#workers/records/change.ts'
import exportRecords from '#workers/records/export.ts'
import importRecords from '#workers/records/import.ts'
import recomputeRecords from '#workers/records/recompute.ts'
import changeField from '#workers/types/change-field.ts'
import dropTable from '#workers/types/drop-table.ts'
import setUpWorkspace from '#workers/workspaces/set-up.ts'

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
