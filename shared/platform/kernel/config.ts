import { resolve } from 'node:path'
import type { SecretKeys } from '#shared/platform/kernel/crypto/secret-keys.ts'
import { parseSigningKey } from '#shared/platform/kernel/crypto/signing-key.ts'
import { startRefusal } from '#shared/platform/kernel/process/start-refusal.ts'

/** The settings of a process, read from the environment once at its start and passed as a value. */
export interface Config extends SecretKeys {
  readonly databaseUrl: string
  readonly port: number
  /** The address that the API listens on; undefined for all of the machine. */
  readonly host: string | undefined
  /** A port of its own for the metrics of the API; null serves them on `port`. */
  readonly metricsPort: number | null
  /** The bearer token without which the API does not answer metrics; null for none. */
  readonly metricsToken: string | null
  /** Root of the public routes; authenticated routes are below `${publicUrl}/v1` (docs/contract/conventions.md#addresses). */
  readonly publicUrl: string
  /** Root of website content; `{org}` in its host gives each workspace a separate origin. Null serves content below `publicUrl`. */
  readonly contentUrl: string | null
  readonly dataDir: string
  readonly smtpUrl: string | null
  readonly mailFrom: string
  /** The object storage for files; null stores them below `dataDir`. */
  readonly s3: S3Settings | null
  /** Maximum size of an uploaded file. */
  readonly maxUploadBytes: number
  /** Seconds within which the bytes of files are deleted after the last row released them. */
  readonly driveSweepSeconds: number
  /** How long numbered events are kept. */
  readonly eventsKeepSeconds: number
  /** Signs the mail that is sent by `smtpUrl`; null leaves it unsigned. */
  readonly dkim: { readonly domain: string; readonly selector: string; readonly privateKey: string } | null
  /** A chat endpoint compatible with OpenAI's, which drafts flows; null for none. */
  readonly agent: { readonly url: string; readonly model: string; readonly key: string | null } | null
  /** Endpoints that workspaces may call although they are private: `host:port`, with the host as the URL standard writes it. */
  readonly egressAllow: readonly string[]
  /** API addresses of payment providers; tests replace them by fakes. */
  readonly stripeApiUrl: string
  readonly razorpayApiUrl: string
  /** Number of reverse proxies in front of the API; with 0 the client's address is the socket's. */
  readonly trustProxy: number
  /** The most requests of visitors per minute and network address: reads of content, calendars, public functions, submissions of forms. */
  readonly visitorLimits: { readonly content: number; readonly calendar: number; readonly functions: number; readonly forms: number }
  readonly defaultPlan: 'paid' | 'free'
  readonly freePlan: { readonly records: number; readonly fileBytes: number; readonly members: number; readonly spaces: number }
  /** Maximum checks of passwords in a minute (docs/contract/limits.md#passwords). */
  readonly signInLimit: { readonly perAccount: number; readonly perIp: number }
  /** Maximum workspaces that a person may own, and make in an hour. The operator's commands are exempt. */
  readonly workspaceLimit: { readonly perPerson: number; readonly perHour: number }
  /** The release that a process runs, for people: a version or a commit. */
  readonly release: string
  readonly databaseConnections: number
  readonly databaseProcessors: number
  readonly workerPort: number
  /** The address that a worker's port listens on; undefined for all of the machine. */
  readonly workerHost: string | undefined
  readonly logLevel: string
  /** Whether each request is logged. */
  readonly accessLog: boolean
  /** Maximum time that a request waits for a worker. After it the answer is 202, or an error on a public route. */
  readonly answerWithinSeconds: number
  /** Time that a process which was told to stop gives running requests and jobs to end. */
  readonly stopWithinSeconds: number
  /** Whether functions also run where the machine lacks some confinement, or the pool refuses to start there. */
  readonly functionsConfinement: 'available' | 'required'
  /** Duration from which a request is logged as slow, with its request id. */
  readonly slowRequestMs: number
  /** Duration from which a database statement is logged as slow. */
  readonly slowStatementMs: number
  /** Whether processes wait until `kontor restored` has run on this copy of the database. */
  readonly restored: boolean
}

/** A bucket of a service with the S3 API. */
export interface S3Settings {
  /** Null for Amazon. */
  readonly endpoint: string | null
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Whether URLs name the bucket in their path instead of their host. */
  readonly pathStyle: boolean
}

/** Parses a variable. It throws an error whose message says what the value must be. */
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

/** An address to which paths are appended, so it has no query. It appears in mails, so it has no password. */
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
  const isValid = /^(?:[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(chosen)
  if (!isValid) throw new Error('must be an address such as Kontor <no-reply@kontor.example>')
  return chosen
}

/** Parses the address of a database. Throws an error that says what it must be, without the name of the variable. */
export const databaseAddress = address(['postgres:', 'postgresql:'])

/** An address without a path, whose host may hold `{org}` for the id of a workspace. */
const contentAddress: Reader<string> = (value) => {
  const chosen = (value ?? '').replace(/\/+$/, '')
  const filled = chosen.replace('{org}', '00000000-0000-0000-0000-000000000000')
  const isValid = URL.canParse(filled) && /^https?:\/\/[^/?#@]+$/i.test(filled) && !/[{}]/.test(filled)
  if (!isValid) throw new Error('must be an address such as https://content.example or https://{org}.content.example')
  return chosen
}

const secret: Reader<Buffer> = (value) => {
  const bytes = /^[0-9a-f]{64}$/i.test(value ?? '') ? Buffer.from(value ?? '', 'hex') : Buffer.from(value ?? '', 'base64')
  if (bytes.length !== 32) throw new Error('must be 32 random bytes as 64 hexadecimal digits or as base64')
  return bytes
}

const metricsToken: Reader<string> = (value = '') => {
  if (!/^[\w.~+/=-]{16,}$/.test(value)) throw new Error('must be 16 or more letters, digits and -._~+/=')
  return value
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

/** Reads the configuration. Throws one refusal to start that lists all missing and invalid variables. */
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
    host: environment.HOST || undefined,
    metricsPort: environment.METRICS_PORT ? read('METRICS_PORT', integer(0, 0, 65535)) : null,
    metricsToken: environment.METRICS_TOKEN ? read('METRICS_TOKEN', metricsToken) : null,
    publicUrl: read('PUBLIC_URL', baseAddress(`http://localhost:${port ?? 0}`)),
    contentUrl: environment.CONTENT_URL ? read('CONTENT_URL', contentAddress) : null,
    dataDir: resolve(read('DATA_DIR', text('.data'))),
    secretKey: read('SECRET_KEY', secret),
    otherSecretKey: environment.SECRET_KEY_OTHER ? read('SECRET_KEY_OTHER', secret) : null,
    smtpUrl: environment.SMTP_URL ? read('SMTP_URL', mailServer) : null,
    mailFrom: read('MAIL_FROM', sender),
    s3: ['S3_ENDPOINT', 'S3_BUCKET'].some((name) => environment[name])
      ? {
          endpoint: environment.S3_ENDPOINT ? read('S3_ENDPOINT', baseAddress()) : null,
          bucket: read('S3_BUCKET', text()),
          region: read('S3_REGION', text('us-east-1')),
          accessKeyId: read('S3_ACCESS_KEY_ID', text()),
          secretAccessKey: read('S3_SECRET_ACCESS_KEY', text()),
          // Services other than Amazon's seldom have a host name per bucket.
          pathStyle: read('S3_PATH_STYLE', oneOf(['true', 'false'], environment.S3_ENDPOINT ? 'true' : 'false')) === 'true',
        }
      : null,
    maxUploadBytes: read('DRIVE_MAX_UPLOAD_BYTES', integer(100 * 1024 * 1024, 1, 5 * 1024 ** 3)),
    driveSweepSeconds: read('DRIVE_SWEEP_SECONDS', integer(3_600, 2, 86_400)),
    eventsKeepSeconds: read('EVENTS_KEEP_SECONDS', integer(604_800, 2, 31_536_000)),
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
    visitorLimits: {
      content: read('VISITOR_READS_PER_MINUTE', integer(240, 1, 1e6)),
      calendar: read('VISITOR_CALENDAR_PER_MINUTE', integer(60, 1, 1e6)),
      functions: read('VISITOR_FUNCTIONS_PER_MINUTE', integer(60, 1, 1e6)),
      forms: read('VISITOR_FORMS_PER_MINUTE', integer(30, 1, 1e6)),
    },
    defaultPlan: read('DEFAULT_PLAN', oneOf(['paid', 'free'], 'paid')),
    freePlan: {
      records: read('FREE_RECORDS', integer(1_000, 0, 1e9)),
      fileBytes: read('FREE_FILE_BYTES', integer(100 * 1024 * 1024, 0, 1e15)),
      members: read('FREE_MEMBERS', integer(5, 1, 1e6)),
      spaces: read('FREE_SPACES', integer(3, 0, 1e6)),
    },
    signInLimit: {
      perAccount: read('SIGN_IN_LIMIT_PER_ACCOUNT', integer(10, 1, 10_000)),
      perIp: read('SIGN_IN_LIMIT_PER_IP', integer(10, 1, 100_000)),
    },
    workspaceLimit: {
      perPerson: read('MAX_WORKSPACES_PER_PERSON', integer(100, 1, 1e6)),
      perHour: read('WORKSPACES_PER_HOUR', integer(20, 1, 1e6)),
    },
    release: read('KONTOR_RELEASE', text('unnamed')),
    databaseConnections: read('DATABASE_CONNECTIONS', integer(18, 4, 500)),
    databaseProcessors: read('DATABASE_CPUS', integer(2, 1, 1_000)),
    workerPort: read('WORKER_PORT', integer(0, 0, 65535)),
    workerHost: environment.WORKER_HOST || undefined,
    logLevel: read('LOG_LEVEL', oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info')),
    accessLog: read('ACCESS_LOG', oneOf(['0', '1'], '0')) === '1',
    answerWithinSeconds: read('ANSWER_WITHIN_SECONDS', integer(60, 1, 600)),
    stopWithinSeconds: read('STOP_WITHIN_SECONDS', integer(40, 1, 3_600)),
    functionsConfinement: read('FUNCTIONS_CONFINEMENT', oneOf(['available', 'required'], 'available')),
    slowRequestMs: read('SLOW_REQUEST_MS', integer(1_000, 1, 600_000)),
    slowStatementMs: read('SLOW_STATEMENT_MS', integer(500, 1, 600_000)),
    restored: read('KONTOR_RESTORED', oneOf(['1', '0'], '0')) === '1',
  }
  if (problems.length > 0) throw startRefusal(`the environment does not fit:\n${problems.map((line) => `  ${line}`).join('\n')}`)
  return Object.freeze(config)
}
