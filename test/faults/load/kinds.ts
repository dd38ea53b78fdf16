import { randomUUID } from 'node:crypto'
import type { Promises } from '#test/faults/load/promises.ts'
import type { Reply, Sender, Sent } from '#test/faults/load/sender.ts'

/** What one stream of the load goes by. */
export interface Stream {
  readonly sender: Sender
  readonly promises: Promises
  /** Of the workspace. */
  readonly path: string
  readonly functionId: string
  /** Aborts when what was begun need not be tried any more. */
  readonly enough: AbortSignal
}

/** One kind of work: makes what it needs, and gives what is done again and again. */
export type Kind = (stream: Stream) => Promise<() => Promise<void>>

const locations = (path: string): string => `${path}/records/locations`

/** Sent once, as by a caller who does not know of Idempotency-Key: without an answer there may be a record or not. */
export const creations: Kind =
  async ({ sender, promises, path }) =>
  async () => {
    const name = `once ${randomUUID()}`
    promises.ask(name)
    const { status } = await sender.once({ method: 'POST', path: locations(path), body: { values: { name } } })
    if (status === 201) promises.acknowledge(name)
  }

/** Sent until it is answered, always with the same key. */
export const keyedCreations: Kind =
  async ({ sender, promises, path, enough }) =>
  async () => {
    const name = `keyed ${randomUUID()}`
    promises.ask(name)
    const { status } = await sender.persistently(keyed(locations(path), { values: { name } }, name), enough)
    if (status === 201) promises.acknowledge(name)
  }

/** Gives one record higher and higher values. */
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

/** A file of some rows. */
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

/** A function that makes a record; of a run that was interrupted there may be one or not. */
export const invocations: Kind = async (stream) => async () => {
  const { sender, promises, path, functionId } = stream
  const name = `run ${randomUUID()}`
  promises.ask(name)
  const { status, data } = await answered(stream, keyed(`${path}/functions/${functionId}/invoke`, { input: name }, name))
  if (status !== 200) return
  if (data.result === name) promises.acknowledge(name)
  else if (!ours.has(data.error)) sender.wrong.add(`A run answered ${JSON.stringify(data.error)}`)
}

/** How a run may end that a fault has hit. */
const ours = new Set(['the run was interrupted', 'Something went wrong on our side'])

export const reads: Kind =
  async ({ sender, path }) =>
  async () => {
    await sender.once({ method: 'GET', path: `${locations(path)}?limit=20` })
  }

/**
 * Asks until the work is done: the same key gives the same work, so each time it only waits for it. A failure may be what came of the work,
 * or may have hit the request alone; the job tells.
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

/** A POST that does its work once, and does not wait long for it. */
const keyed = (path: string, body: unknown, key: string): Sent => ({
  method: 'POST',
  path,
  body,
  headers: { 'idempotency-key': key, prefer: 'wait=4' },
})
