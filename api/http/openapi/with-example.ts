import type { JsonObject } from '#api/http/openapi/collect-schemas.ts'

/** The example of a parameter, a body or an answer; nothing without one. */
export const withExample = (example: unknown): JsonObject => (example === undefined ? {} : { example })
