/**
 * Why an outgoing call failed. `refused`: the call may not be dialled or sent, and a retry does not help. `timeout`: the deadline passed.
 * `too_large`: the answer has more bytes than allowed. `unreachable`: the name did not resolve, or the connection failed or broke.
 */
export type EgressReason = 'refused' | 'timeout' | 'too_large' | 'unreachable'

/** Error of an outgoing call. The message may be shown to the caller who named the address: it contains nothing that they did not send. */
export class EgressFailure extends Error {
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}
