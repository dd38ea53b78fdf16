import { randomUUID } from 'node:crypto'
import { cookieName, operatorFormToken, signInSubject } from '#api/access/operator-session.ts'
import { makeSecret } from '#shared/core/people/tokens.ts'
import { type Caller, createPerson } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/** Creates a person who is an operator. Its address is `<id>@example.com`. */
export async function createOperator(world: World, readOnly = false, name = 'Otto Operator'): Promise<Caller> {
  const person = await createPerson(world, name)
  await makeOperator(world, person.id, readOnly)
  return person
}

/** Makes a person an operator, past the command line. */
export async function makeOperator({ db }: World, personId: string, readOnly = false): Promise<void> {
  await db.query('insert into operators (user_id, read_only) values ($1, $2)', [personId, readOnly])
}

/** What the form to sign in to the console sends besides address and password. */
export const signInForm = ({ config, api }: World) => ({
  origin: new URL(config.publicUrl).origin,
  formToken: operatorFormToken({ config: api.services.config }, signInSubject),
})

/** A session in the console, as a browser sends it. */
export interface ConsoleVisit {
  readonly sessionId: string
  /** The headers of a request that a page of the console makes. */
  readonly headers: Readonly<Record<'cookie' | 'origin', string>>
  /** The form token of its pages. */
  readonly formToken: string
}

/** Opens a session in the console, past the form, that ends after so many seconds. */
export async function visitConsole({ db, config, api }: World, operatorId: string, seconds = 3_600): Promise<ConsoleVisit> {
  const { text, hash } = makeSecret()
  const sessionId = randomUUID()
  await db.query(
    'insert into operator_sessions (id, user_id, token_hash, expires_at) values ($1, $2, $3, now() + make_interval(secs => $4))',
    [sessionId, operatorId, hash, seconds],
  )
  return {
    sessionId,
    headers: { cookie: `${cookieName(config.publicUrl)}=${text}`, origin: new URL(config.publicUrl).origin },
    formToken: operatorFormToken({ config: api.services.config }, sessionId),
  }
}

const formType = { 'content-type': 'application/x-www-form-urlencoded' }

/** Sends the fields of a form of the console. */
export const sendFields = (
  w: World,
  path: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> => w.visitor.post(path, new URLSearchParams(fields).toString(), { ...formType, ...headers })

/** Presses a button of a page. */
export const pressButton = (w: World, { headers, formToken }: ConsoleVisit, path: string, fields: Readonly<Record<string, string>> = {}) =>
  sendFields(w, path, { form_token: formToken, ...fields }, headers)

/** Opens a page with a session. */
export const openPage = (w: World, { headers: { cookie } }: Pick<ConsoleVisit, 'headers'>, path = '/operator/log') =>
  w.visitor.get(path, { cookie })
