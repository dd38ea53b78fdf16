import { nameSchema } from '#shared/platform/kernel/name.ts'
import { instant, nullable, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const domainName = { maxLength: 253, pattern: `^${label}(?:\\.${label})+$`, description: 'a domain name' }

const signature = {
  domain: t.String(domainName),
  selector: t.String({ maxLength: 63, pattern: `^${label}(?:\\.${label})*$`, description: 'letters, digits and hyphens' }),
}
const privateKey = t.String({ maxLength: 10_000, description: 'RSA, in PEM. Never returned.' })
const dkimInput = t.Object({ ...signature, private_key: privateKey }, { title: 'MessageDkimInput' })

/** An omitted private key stays as stored, so a connection as read can be sent back. */
const dkimChange = t.Object({ ...signature, private_key: t.Optional(privateKey) }, { title: 'MessageDkimChange' })

const parts = {
  name: nameSchema(120),
  host: t.String({ minLength: 1, maxLength: 253, description: 'The mail server, at a public address.' }),
  port: t.Integer({ minimum: 1, maximum: 65_535 }),
  secure: t.Boolean({ description: 'True for TLS from the first byte; otherwise STARTTLS is used where the server offers it.' }),
  username: t.String({ maxLength: 250, description: 'Empty for a server that asks for none.' }),
  password: nullable(t.String({ maxLength: 1_000, description: 'Never returned.' })),
  from: t.String({ maxLength: 320, description: 'The address that messages come from, with a name or without.' }),
  dkim: nullable(dkimInput),
}

/** Body that creates a connection. */
export const connectionInput = schema(
  t.Object(
    {
      name: parts.name,
      host: parts.host,
      port: t.Optional(parts.port),
      secure: t.Optional(parts.secure),
      username: t.Optional(nullable(parts.username)),
      password: t.Optional(parts.password),
      from: parts.from,
      dkim: t.Optional(parts.dkim),
    },
    { title: 'MessageConnectionInput' },
  ),
)
export type ConnectionInput = TypeOf<typeof connectionInput>

/** Body that changes a connection. Omitted properties stay unchanged, but for the password when the server or the username changes. */
export const connectionChange = schema(
  t.Object(
    { ...t.Partial(t.Object({ ...parts, username: nullable(parts.username), dkim: nullable(dkimChange) })).properties },
    { title: 'MessageConnectionChange' },
  ),
)
export type ConnectionChange = TypeOf<typeof connectionChange>

const view = {
  id: uuid,
  name: t.String(),
  host: t.String(),
  port: t.Integer(),
  secure: t.Boolean(),
  username: t.String(),
  from: t.String(),
  dkim: nullable(t.Object({ domain: t.String(), selector: t.String() }, { title: 'MessageDkim' })),
  webhook_url: t.String({ description: 'Where the provider reports bounces and complaints.' }),
  status: t.Enum(['unchecked', 'ok', 'failed'], { description: 'Result of the last test of these settings.' }),
  error: nullable(t.String({ description: 'What the server said.' })),
  warnings: t.Array(t.String(), {
    description: 'What keeps mail programs from trusting its messages, and a password that the change removed.',
  }),
  checked_at: nullable(instant),
  created_at: instant,
  updated_at: instant,
}

/** A connection in a response, without its secrets. */
export const connectionView = schema(
  t.Object(view, { title: 'MessageConnection', description: 'A mail server through which a workspace sends messages.' }),
)
export type ConnectionView = TypeOf<typeof connectionView>

/** A connection in the response to its creation, the only one with its webhook secret. */
export const newConnectionView = schema(
  t.Object({ ...view, webhook_secret: t.String({ description: 'Signs callbacks. Shown this once.' }) }, { title: 'NewMessageConnection' }),
)
export type NewConnectionView = TypeOf<typeof newConnectionView>
