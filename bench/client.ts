import type { Loaded } from '#bench/data/load.ts'

/** Sends a request to a workspace's routes as its owner and returns the `data` of the response; throws if it is refused. */
export type Send = <Data = { readonly id: string }>(method: string, path: string, body?: object) => Promise<Data>

/** The path of a workspace's route. */
export const pathIn = ({ workspaceId }: Pick<Loaded, 'workspaceId'>, path: string): string => `/v1/orgs/${workspaceId}${path}`

/** Creates the sender for a workspace, the loaded one or another of the same owner. */
export function sender(url: string, workspace: Pick<Loaded, 'workspaceId' | 'token'>): Send {
  const headers = { authorization: `Bearer ${workspace.token}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const answer = await fetch(url + pathIn(workspace, path), {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return text === '' ? undefined : JSON.parse(text).data
  }
}
