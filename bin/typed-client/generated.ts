// Stands for the types that `kontor client` writes in front of runtime.ts, so that runtime.ts is checked and linted like all other code.

/** The routes of the description. */
export interface paths {
  '/v1/orgs/{orgId}/records/{typeKey}': {
    get: {
      parameters: { query?: { limit?: number; filter?: string; page?: number; offset?: number }; path: { orgId?: string; typeKey: string } }
      responses: { 200: { content: { 'application/json': { data: { records: unknown[]; next_cursor?: string; total?: number } } } } }
    }
  }
  '/v1/orgs/{orgId}/records/{typeKey}/import': {
    post: {
      parameters: { query?: { upsert_by?: string; map?: string; dry_run?: boolean }; path: { orgId?: string; typeKey: string } }
      requestBody: { content: { 'text/csv': Blob } }
      responses: { 200: { content: { 'application/json': { data: { created: number; updated: number; failed: number } } } } }
    }
  }
}

/** Schemas of the description. */
export interface components {
  schemas: {
    WorkspaceRecord: { id: string; object_type: string; created_at: string; values: Record<string, unknown> }
  }
}

/** The fields that a record is read with, by record type. */
export interface ReadTypes {
  sample: { name: string | null }
}

/** The fields that a record is created with, by record type. */
export interface SentTypes {
  sample: { name: string }
}

/** The fields that a change may have, by record type. */
export interface ChangedTypes {
  sample: { name?: string }
}

/** The codes of failures with their statuses. */
export const statuses = { INTERNAL: 500, VALIDATION_ERROR: 400 } as const

/** What routes answer that do not always answer JSON with `data`. */
export const answers: Readonly<Partial<Record<string, 'file' | 'nothing' | 'any'>>> = {
  'PUT /v1/orgs/{orgId}/records/{typeKey}/{recordId}/values': 'nothing',
  'DELETE /v1/orgs/{orgId}/records/{typeKey}/{recordId}': 'nothing',
}
