import * as examples from '#api/features/functions/examples.ts'
import { Reply } from '#api/http/reply/reply.ts'
import { answer, orgPath } from '#api/http/route.ts'
import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { renderSdkDeclarations } from '#shared/features/functions/declarations/sdk-declarations.ts'

/** The route that answers the TypeScript declarations of the given SDK methods. */
export const createSdkRoute = (sdkMethods: readonly SdkMethod[]) =>
  answer({
    tag: 'Functions',
    app: 'functions',
    limit: null,
    method: 'GET',
    path: `${orgPath}/functions/sdk.d.ts`,
    summary: 'Get the SDK in TypeScript, for editors',
    description: 'With the record types and fields of this workspace that the caller may read.',
    example: { file: examples.sdkTypes },
    permission: 'functions:read',
    perItem: true,
    status: 200,
    response: null,
    contentType: 'application/typescript',
    handle: async (_request, scope) =>
      new Reply(await renderSdkDeclarations(scope, sdkMethods), { 'Content-Type': 'application/typescript; charset=utf-8' }),
  })
