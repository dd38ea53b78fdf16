import { resolve } from 'node:path'
import { parseSigningKey } from '#shared/platform/kernel/crypto/signing-key.ts'

/** Everything that the environment decides, read once at the start of a process and passed as a value. */
export interface Config {
  readonly databaseUrl: string
  readonly port: number
  /** Root of the public routes; the authenticated ones stand under `${publicUrl}/v1` (decisions, Running it). */
  readonly publicUrl: string
  /** Where website content is served; with `{org}` in its host, each workspace's at one of its own. Null beside everything else. */
  readonly contentUrl: string | null
  readonly dataDir: string
  /** 32 bytes from which the keys of stored secrets are derived. */
  readonly secretKey: Buffer
  readonly smtpUrl: string | null
  readonly mailFrom: string
  /** The service that files lie in; null keeps them below `dataDir`. */
  readonly s3: S3Settings | null
  /** The largest file that a caller may send. */
  readonly maxUploadBytes: number
  /** Bytes that nothing names any more are gone after so many seconds. */
  readonly driveSweepSeconds: number
  /** What mails are signed with that no connection signs; null leaves them unsigned. */
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null
  /** The chat endpoint, in OpenAI's form, that drafts flows; null where there is none. */
  readonly agent: { readonly url: string; readonly model: string; readonly key: string | null } | null
  /** Endpoints that a workspace may name besides those of the public internet: `host:port`, in the spelling of the URL standard. */
  readonly egressAllow: readonly string[]
  /** Where payment providers are called. The operator's word: stand-ins take their place in tests. */
  readonly stripeApiUrl: string
  readonly razorpayApiUrl: string
  /** Hops of reverse proxies in front of the API; 0 takes the socket's address as the client's. */
  readonly trustProxy: number
  readonly defaultPlan: 'paid' | 'free'
  readonly freePlan: { readonly records: number; readonly fileBytes: number; readonly members: number; readonly spaces: number }
  readonly databaseConnections: number
  readonly workerPort: number
  readonly logLevel: string
  /** The longest that a call waits for a worker: then it is answered 202, or on a public route told that the time is up. */
  readonly answerWithinSeconds: number
  /** Requests that take longer than this, in milliseconds, are logged as slow with their request id. */
  readonly slowRequestMs: number
  /** The same for statements to the database. */
  readonly slowStatementMs: number
}

/** How to reach a bucket of a service that speaks S3; without an endpoint it is Amazon's. */
export interface S3Settings {
  readonly endpoint: string | null
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether the bucket stands in the path and not in the host name. */
  readonly pathStyle: boolean
}

/** One variable: how it is read. A reader throws a short text that says what would be right. */
type Reader<T> = (value: string | undefined) => T

const text =
  (fallback?: string): Reader<string> =>
  (value) => {
    const chosen = value || fallback
    if (chosen === undefined) throw new Error('is required')
    return chosen
  }

const integer =
  (fallback: number, min: number, max: number): Reader<number> =>
  (value) => {
    if (!value) return fallback
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) throw new Error(`must be a whole number from ${min} to ${max}, got ${value}`)
    return number
  }

const oneOf =
  <const T extends string>(options: readonly T[], fallback: T): Reader<T> =>
  (value) => {
    const chosen = options.find((option) => option === (value || fallback))
    if (!chosen) throw new Error(`must be one of ${options.join(', ')}, got ${value}`)
    return chosen
  }

const address =
  (protocols: readonly string[], fallback?: string): Reader<string> =>
  (value) => {
    const chosen = value || fallback
    if (chosen === undefined) throw new Error('is required')
    if (!URL.canParse(chosen) || !protocols.includes(new URL(chosen).protocol)) {
      throw new Error(`must be an address that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`)
    }
    return chosen.replace(/\/+$/, '')
  }

/** An address that paths are put behind, so it ends before a query, and goes into mails, so it holds no password. */
const baseAddress =
  (fallback?: string): Reader<string> =>
  (value) => {
    const base = address(['http:', 'https:'], fallback)(value)
    if (!/^[^\s?#@]+$/.test(base)) throw new Error('must be an address such as https://kontor.example, without blanks, password, ? and #')
    return base
  }

const mailServer: Reader<string> = (value) => {
  const server = address(['smtp:', 'smtps:'])(value)
  if (!URL.parse(server)?.hostname) throw new Error('must name a mail server, such as smtps://user:password@mail.example')
  return server
}

const sender: Reader<string> = (value) => {
  const chosen = text('Kontor <no-reply@localhost>')(value)
  const isRight = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(chosen)
  if (!isRight) throw new Error('must be an address such as Kontor <no-reply@kontor.example>')
  return chosen
}

/** Reads the address of a database. Throws what would be right, without the name of the variable. */
export const databaseAddress = address(['postgres:', 'postgresql:'])

/** An address without a path, whose host may hold `{org}` for the id of a workspace. */
const hostOfContent: Reader<string> = (value) => {
  const address = (value ?? '').replace(/\/+$/, '')
  const filled = address.replace('{org}', '00000000-0000-0000-0000-000000000000')
  const isRight = URL.canParse(filled) && /^https?:\/\/[^/?#@]+$/i.test(filled) && !/[{}]/.test(filled)
  if (!isRight) throw new Error('must be an address such as https://content.example or https://{org}.content.example')
  return address
}

const secret: Reader<Buffer> = (value) => {
  const bytes = /^[0-9a-f]{64}$/i.test(value ?? '') ? Buffer.from(value ?? '', 'hex') : Buffer.from(value ?? '', 'base64')
  if (bytes.length !== 32) throw new Error('must be 32 random bytes as 64 hexadecimal digits or as base64')
  return bytes
}

const endpoints: Reader<readonly string[]> = (value) =>
  (value ?? '').split(',').flatMap((part) => {
    if (part.trim() === '') return []
    const [, host = '', port = ''] = /^([^/?#@\\]+):(\d{1,5})$/.exec(part.trim()) ?? []
    const url = `http://${host}/`
    if (!URL.canParse(url) || new URL(url).host !== new URL(url).hostname || Number(port) > 65_535) {
      throw new Error(`must be a list of host:port with commas between, got ${part.trim()}`)
    }
    return [`${new URL(url).hostname}:${Number(port)}`]
  })

/** Reads the configuration; a bad start throws one error that lists every bad variable. */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const problems: string[] = []
  const read = <T>(name: string, reader: Reader<T>): T => {
    try {
      return reader(environment[name])
    } catch (error) {
      problems.push(`${name} ${(error as Error).message}`)
      return undefined as T
    }
  }
  const port = read('PORT', integer(3000, 0, 65535))
  const config: Config = {
    databaseUrl: read('DATABASE_URL', databaseAddress),
    port,
    publicUrl: read('PUBLIC_URL', baseAddress(`http://localhost:${port ?? 0}`)),
    contentUrl: environment.CONTENT_URL ? read('CONTENT_URL', hostOfContent) : null,
    dataDir: resolve(read('DATA_DIR', text('.data'))),
    secretKey: read('SECRET_KEY', secret),
    smtpUrl: environment.SMTP_URL ? read('SMTP_URL', mailServer) : null,
    mailFrom: read('MAIL_FROM', sender),
    s3: ['S3_ENDPOINT', 'S3_BUCKET'].some((name) => environment[name])
      ? {
          endpoint: environment.S3_ENDPOINT ? read('S3_ENDPOINT', baseAddress()) : null,
          bucket: read('S3_BUCKET', text()),
          region: read('S3_REGION', text('us-east-1')),
          accessKeyId: read('S3_ACCESS_KEY_ID', text()),
          secretAccessKey: read('S3_SECRET_ACCESS_KEY', text()),
          // What is not Amazon's seldom has a host name for each bucket.
          pathStyle: read('S3_PATH_STYLE', oneOf(['true', 'false'], environment.S3_ENDPOINT ? 'true' : 'false')) === 'true',
        }
      : null,
    maxUploadBytes: read('DRIVE_MAX_UPLOAD_BYTES', integer(100 * 1024 * 1024, 1, 5 * 1024 ** 3)),
    driveSweepSeconds: read('DRIVE_SWEEP_SECONDS', integer(3_600, 2, 86_400)),
    dkim: ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_KEY'].some((name) => environment[name])
      ? {
          domain: read('DKIM_DOMAIN', text()),
          selector: read('DKIM_SELECTOR', text()),
          privateKey: read('DKIM_KEY', (value) => parseSigningKey(text()(value))),
        }
      : null,
    agent: environment.AGENT_URL
      ? {
          url: read('AGENT_URL', address(['http:', 'https:'])),
          model: read('AGENT_MODEL', text('default')),
          key: environment.AGENT_KEY || null,
        }
      : null,
    egressAllow: read('EGRESS_ALLOW', endpoints),
    stripeApiUrl: read('STRIPE_API_URL', baseAddress('https://api.stripe.com')),
    razorpayApiUrl: read('RAZORPAY_API_URL', baseAddress('https://api.razorpay.com')),
    trustProxy: read('TRUST_PROXY', integer(0, 0, 10)),
    defaultPlan: read('DEFAULT_PLAN', oneOf(['paid', 'free'], 'paid')),
    freePlan: {
      records: read('FREE_RECORDS', integer(1_000, 0, 1e9)),
      fileBytes: read('FREE_FILE_BYTES', integer(100 * 1024 * 1024, 0, 1e15)),
      members: read('FREE_MEMBERS', integer(5, 1, 1e6)),
      spaces: read('FREE_SPACES', integer(3, 0, 1e6)),
    },
    databaseConnections: read('DATABASE_CONNECTIONS', integer(16, 2, 500)),
    workerPort: read('WORKER_PORT', integer(0, 0, 65535)),
    logLevel: read('LOG_LEVEL', oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info')),
    answerWithinSeconds: read('ANSWER_WITHIN_SECONDS', integer(60, 1, 600)),
    slowRequestMs: read('SLOW_REQUEST_MS', integer(1_000, 1, 600_000)),
    slowStatementMs: read('SLOW_STATEMENT_MS', integer(500, 1, 600_000)),
  }
  if (problems.length > 0) throw new Error(`The environment is not complete:\n${problems.map((line) => `  ${line}`).join('\n')}`)
  return Object.freeze(config)
}
