/**
 * Why a call outward came to nothing: `refused` may not be dialled or sent at all, and trying again changes nothing; `timeout` ran out of
 * its clock; `too_large` answered more bytes than were allowed; `unreachable` did not resolve, connect, or keep the connection.
 */
export type EgressReason = 'refused' | 'timeout' | 'too_large' | 'unreachable'

/** What calls outward throw. The message may be shown to whoever named the address: it holds nothing that they did not send. */
export class EgressFailure extends Error {
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
