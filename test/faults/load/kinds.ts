import { randomUUID } from 'node:crypto'
import type { Promises } from '#test/faults/load/promises.ts'
import type { Reply, Sender, Sent } from '#test/faults/load/sender.ts'

/** The context of one stream of the load. */
export interface Stream {
  readonly sender: Sender
  readonly promises: Promises
  /** The path of the workspace. */
  readonly path: string
  readonly functionId: string
  /** Aborts when begun requests need not be repeated any more. */
  readonly enough: AbortSignal
}

/** A kind of work: creates what it needs, and returns the step that is repeated. */
export type Kind = (stream: Stream) => Promise<() => Promise<void>>

const locations = (path: string): string => `${path}/records/locations`

/** Sent once, as by a caller without an Idempotency-Key: without a response there may be a record or not. */
export const creations: Kind =
  async ({ sender, promises, path }) =>
  async () => {
    const name = `once ${randomUUID()}`
    promises.ask(name)
    const { status } = await sender.once({ method: 'POST', path: locations(path), body: { values: { name } } })
    if (status === 201) promises.acknowledge(name)
  }

/** Sent until it is answered, with the same key. */
export const keyedCreations: Kind =
  async ({ sender, promises, path, enough }) =>
  async () => {
    const name = `keyed ${randomUUID()}`
    promises.ask(name)
    const { status } = await sender.persistently(keyed(locations(path), { values: { name } }, name), enough)
    if (status === 201) promises.acknowledge(name)
  }

/** Gives one record increasing values. */
export const changes: Kind = async ({ sender, promises, path, enough }) => {
  const name = `changed ${randomUUID()}`
  const { data } = await sender.persistently(keyed(locations(path), { values: { name } }, name), enough)
  promises.acknowledge(name)
  let value = 0
  return async () => {
    value += 1
    promises.askValue(data.id, value)
    const request: Sent = { method: 'PUT', path: `${locations(path)}/${data.id}/values`, body: { values: { address: String(value) } } }
    if ((await sender.persistently(request, enough)).status === 204) promises.acknowledgeValue(data.id, value)
  }
}

const rowsOfAnImport = 20

/** A file of 20 rows. */
export const imports: Kind = async (stream) => async () => {
  const { sender, promises, path } = stream
  const names = Array.from({ length: rowsOfAnImport }, () => `row ${randomUUID()}`)
  const [key = ''] = names
  promises.ask(...names)
  const file = new FormData()
  file.append('file', new Blob([`name\n${names.join('\n')}\n`], { type: 'text/csv' }), 'rows.csv')
  const { status, data } = await answered(stream, keyed(`${locations(path)}/import`, file, key))
  if (status !== 200) return
  promises.acknowledge(...names)
  if (data.created !== rowsOfAnImport) sender.wrong.add(`An import of ${rowsOfAnImport} rows answered ${JSON.stringify(data)}`)
}

/** A function that creates a record; an interrupted run may have created one or not. */
export const invocations: Kind = async (stream) => async () => {
  const { sender, promises, path, functionId } = stream
  const name = `run ${randomUUID()}`
  promises.ask(name)
  const { status, data } = await answered(stream, keyed(`${path}/functions/${functionId}/invoke`, { input: name }, name))
  if (status !== 200) return
  if (data.result === name) promises.acknowledge(name)
  else if (!ours.some((beginning) => String(data.error).startsWith(beginning)))
    sender.wrong.add(`A run answered ${JSON.stringify(data.error)}`)
}

/**
 * Beginnings of the errors of a run that a fault interrupted, and of one whose call of the SDK a fault refused or left without an answer: the
 * program ends by it.
 */
const ours = ['the run was interrupted', 'Something went wrong on our side', 'The database ', 'The connection to the database ']

export const reads: Kind =
  async ({ sender, path }) =>
  async () => {
    await sender.once({ method: 'GET', path: `${locations(path)}?limit=20` })
  }

/**
 * Repeats the request until the work is done: the same key gives the same work, so a repetition only waits. A failure may be the result of
 * the work or of the request; the job tells which.
 */
async function answered({ sender, path, enough }: Stream, request: Sent): Promise<Reply> {
  for (;;) {
    const reply = await sender.once(request)
    if (reply.status === 200 || (reply.status >= 400 && reply.status < 500)) return reply
    const { data } = await sender.persistently({ ...request, headers: { ...request.headers, prefer: 'respond-async' } }, enough)
    const job = await sender.persistently({ method: 'GET', path: `${path}/jobs/${data?.job_id}` }, enough)
    if (job.data?.status === 'failed') sender.givenUp += 1
    if (job.data?.status === 'failed' || enough.aborted) return reply
  }
}

/** A POST that is done once and does not wait long. */
const keyed = (path: string, body: unknown, key: string): Sent => ({
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': key, prefer: 'wait=4' },
})
