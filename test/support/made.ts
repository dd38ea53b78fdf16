import type { Answer } from '#test/support/client.ts'

/** A made thing's `data`; throws what was answered when it was not made. */
export async function made(answer: Promise<Answer>): Promise<{ readonly id: string; readonly runs: readonly { readonly id: string }[] }> {
  const { status, text, data } = await answer
  if (status >= 400) throw new Error(`It could not be made: ${status} ${text}`)
  return data
}
