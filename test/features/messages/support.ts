import type { ExecutionContext, TestFn } from 'ava'
import { type MailServer, shareMailServer } from '#test/platform/mail/smtp.ts'
import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import { shareWorld } from '#test/support/shared-world.ts'
import type { World } from '#test/support/world.ts'

/** A world with a mail server on this machine that workspaces may name, shared by tests. */
export interface PostOffice extends World {
  readonly server: MailServer
}

/** One of each for all files of a thread that ask for this environment; each test takes a workspace of its own. */
export function shareOffice(test: TestFn, environment: Readonly<Record<string, string>> = {}): () => Promise<PostOffice> {
  const mail = shareMailServer(test, 'mail server of workspaces')
  const allowing = async () => ({ ...environment, LOG_LEVEL: 'silent', EGRESS_ALLOW: `127.0.0.1:${(await mail()).port}` })
  const fresh = shareWorld(test, allowing, { key: `world of messages ${JSON.stringify(environment)}` })
  return async () => ({ ...(await fresh()), server: await mail() })
}

/** The data of a successful answer; throws the answer otherwise. */
export async function made(answer: Promise<Answer>): Promise<Answer['data']> {
  const { status, text, data } = await answer
  if (status >= 300) throw new Error(`It could not be made: ${status} ${text}`)
  return data
}

/** Makes a connection of a workspace to a mail server on this machine. */
export const connect = ({ owner, path }: Org, port: number, more: object = {}): Promise<Answer['data']> =>
  made(owner.post(`${path}/messages/connections`, { name: 'Post', host: '127.0.0.1', port, from: 'Shop <shop@example.com>', ...more }))

/** Sends messages by a function of the workspace, as the owner unless another invokes it. */
export type Send = (
  message: object,
  client?: Client,
) => Promise<{ readonly message_id: string; readonly skipped: boolean; readonly error?: string }>

/** Creates the function. Errors of the SDK are returned as `error`, code first. */
export async function sender(t: ExecutionContext, { owner, path }: Org): Promise<Send> {
  const source = `async function handler(message) {
    try { return await sdk.messages.send(message) } catch (error) { return { error: error.code + ': ' + error.message } }
  }`
  const { id } = await made(owner.post(`${path}/functions`, { name: 'Send', source, timeout_ms: 30_000 }))
  return async (message, client = owner) => {
    const answer = await client.post(`${path}/functions/${id}/invoke`, { input: message })
    t.is(answer.status, 200, answer.text)
    t.is(answer.data.error, undefined)
    return answer.data.result
  }
}

/** One message as it is read. */
export const read = ({ owner, path }: Org, id: string): Promise<Answer['data']> => made(owner.get(`${path}/messages/${id}`))
