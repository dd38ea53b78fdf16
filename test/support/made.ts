import type { Answer } from '#test/support/send-request.ts'

/** The data of a created thing; throws the response of a failure. */
export async function made(answer: Promise<Answer>): Promise<{ readonly id: string; readonly runs: readonly { readonly id: string }[] }> {
  const { status, text, data } = await answer
  if (status >= 400) throw new Error(`It could not be made: ${status} ${text}`)
  return data
}
