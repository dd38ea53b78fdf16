import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { Environment } from '../environment.ts'
import { type Api, connectApi } from './api.ts'

/**
 * Address and key of the API. Missing values come from KONTOR_URL, KONTOR_KEY and KONTOR_ORG, then from the bootstrap file of the first
 * start.
 */
export interface TargetOptions {
  readonly url?: string | undefined
  readonly key?: string | undefined
  /** The workspace's id, for the token of a person who belongs to several. */
  readonly org?: string | undefined
}

/** A workspace and a client to call it. */
export interface ApiTarget {
  readonly api: Api
  readonly orgId: string
  /** The key as example commands show it: `$KONTOR_KEY` when it came from that variable. */
  readonly shownKey: string
  /** The key itself. */
  readonly token: string
}

interface Bootstrap {
  readonly base_url?: string
  readonly org_id?: string
  readonly api_key?: string
}

/** Resolves the API and the workspace. Throws VALIDATION_ERROR that names the missing option. */
export async function findTarget(options: TargetOptions, environment: Environment): Promise<ApiTarget> {
  const named = { url: options.url ?? environment.KONTOR_URL, key: options.key ?? environment.KONTOR_KEY }
  const bootstrap = named.url && named.key ? {} : readBootstrap(environment)
  const url = named.url ?? bootstrap.base_url
  // The key of the bootstrap file is only sent to the server that wrote the file.
  const key = named.key ?? (named.url === undefined ? bootstrap.api_key : undefined)
  if (!url || !key)
    throw problem('VALIDATION_ERROR', 'Name the API and a key: --url and --key, or KONTOR_URL and KONTOR_KEY; or start Kontor here first.')
  const api = connectApi(baseOf(url), key)
  const shownKey = options.key === undefined && environment.KONTOR_KEY !== undefined ? '$KONTOR_KEY' : key
  return { api, shownKey, token: key, orgId: options.org ?? environment.KONTOR_ORG ?? (await onlyOrg(api)) }
}

/** Normalizes the base address: it includes the version, `/v1`, which is added when missing (docs/contract/conventions.md#versions). */
function baseOf(url: string): string {
  if (!URL.canParse(url)) throw problem('VALIDATION_ERROR', `--url must be an address such as http://localhost:3000/v1, got ${url}`)
  const bare = url.replace(/\/+$/, '')
  return bare.endsWith('/v1') ? bare : `${bare}/v1`
}

async function onlyOrg(api: Api): Promise<string> {
  const { orgs } = await api.get<{ orgs: readonly { id: string; name: string }[] }>('/auth/me')
  const [first] = orgs
  if (first && orgs.length === 1) return first.id
  const choices = orgs.map(({ id, name }) => `  ${id}  ${name}`).join('\n')
  throw problem('VALIDATION_ERROR', first ? `Choose a workspace with --org:\n${choices}` : 'The key belongs to no workspace.')
}

function readBootstrap({ DATA_DIR }: Environment): Bootstrap {
  try {
    return JSON.parse(readFileSync(join(resolve(DATA_DIR || '.data'), 'bootstrap.json'), 'utf8')) as Bootstrap
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return {}
    throw error
  }
}
